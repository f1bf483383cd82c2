"""Decoys: answers that must not be found. They say how far `supported` can be trusted.

For each probe there are up to two, scored on the very prompt that the probe's question makes.
**never said**: one answer key is replaced by a name or number of the same make that stands nowhere in
the session or its files. **crossed**: the keys of another probe, really said but about something else,
looked for in the surroundings that this probe's own keys had. What supports either is no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from aider_gardener.replay.measure.probes import key_pattern, key_supported, said_in, surroundings
from aider_gardener.replay.measure.result import DecoyResult
from aider_gardener.replay.session.session import Probe, Session

NEVER_SAID, CROSSED = "never said", "crossed"
APART_TURNS = 3
"""The other probe of a crossed decoy is about a turn at least so far away."""
TRIES = 50
PIECES = re.compile(r"[A-Za-z]{3,}")
LARGEST_FILE = 1_000_000


@dataclass(frozen=True)
class Decoy:
    """Keys that are wrong, each with the words that stood around the right one where it was said."""

    kind: str
    keys: tuple[str, ...]
    wanted: tuple[frozenset[str], ...]


class Decoys:
    """Makes the decoys of a session's probes, the same ones each time."""

    def __init__(self, session: Session, probes: Sequence[Probe]) -> None:
        self.session = session
        self.probes = probes
        self._made: dict[Probe, tuple[Decoy, ...]] = {}

    def of(self, probe: Probe) -> tuple[Decoy, ...]:
        """The decoys of one probe; none for a probe whose keys do not stand where it says."""
        if probe not in self._made:
            self._made[probe] = tuple(self._decoys(probe))
        return self._made[probe]

    def results(self, number: int, probe: Probe, sent: str) -> Iterator[DecoyResult]:
        """How each decoy of a probe does on the text that would be sent."""
        for decoy in self.of(probe):
            spans = [[m.span() for m in key_pattern(key).finditer(sent)] for key in decoy.keys]
            supported = all(
                found and key_supported(wanted, sent, found)
                for wanted, found in zip(decoy.wanted, spans, strict=True)
            )
            yield DecoyResult(number, decoy.kind, decoy.keys, all(spans), supported)

    def _decoys(self, probe: Probe) -> Iterator[Decoy]:
        said = "\n".join(said_in(self.session, probe.about_turn))
        around = [frozenset(surroundings(key_pattern(key), said)) for key in probe.answer_keys]
        if not around or not all(around):
            return
        invented = self.invented(probe.answer_keys[-1])
        if invented:
            yield Decoy(NEVER_SAID, (*probe.answer_keys[:-1], invented), tuple(around))
        other = self.other(probe, said)
        if other is not None:
            wanted = frozenset[str]().union(*around)
            yield Decoy(CROSSED, other.answer_keys, (wanted,) * len(other.answer_keys))

    def invented(self, key: str) -> str:
        """A key of the same make that stands nowhere; "" if none was found."""
        for attempt in range(1, TRIES):
            made = altered(key, attempt, self.pieces)
            if made != key and not key_pattern(made).search(self.everything):
                return made
        return ""

    def other(self, probe: Probe, said: str) -> Probe | None:
        """The next probe in the list, of the same kind if there is one, whose keys are not said here."""
        start = self.probes.index(probe) + 1
        following = [*self.probes[start:], *self.probes[: start - 1]]
        fitting = [
            other
            for other in following
            if abs(other.about_turn - probe.about_turn) >= APART_TURNS
            and other.about_turn < probe.ask_at_turn
            and other.answer_keys
            and not any(key_pattern(key).search(said) for key in other.answer_keys)
        ]
        return next((one for one in fitting if one.kind == probe.kind), fitting[0] if fitting else None)

    @cached_property
    def everything(self) -> str:
        """All that was said in the session and stands in its files at the start."""
        texts = [part for event in self.session.events for part in (event.text, event.command, event.output)]
        if self.session.repo0 is not None:
            for path in sorted(self.session.repo0.rglob("*")):
                if path.is_file() and path.stat().st_size <= LARGEST_FILE:
                    texts.append(path.read_bytes().decode("utf-8", "replace"))
        return "\n".join(texts)

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """Words that the probes' keys are made of."""
        found = (word for probe in self.probes for key in probe.answer_keys for word in PIECES.findall(key))
        return tuple(dict.fromkeys(word.lower() for word in found))


def altered(key: str, attempt: int, pieces: Sequence[str]) -> str:
    """The key with every digit moved on, or where it has none, with its last word exchanged."""
    if any(char.isdigit() for char in key):
        first = next(at for at, char in enumerate(key) if char.isdigit())
        return "".join(moved(char, attempt, leading=at == first) for at, char in enumerate(key))
    words = list(PIECES.finditer(key))
    if not words or not pieces:
        return key
    last, piece = words[-1], pieces[attempt % len(pieces)]
    head = key[: last.start()] if len(words) > 1 else f"{last.group()}_"
    return f"{head}{piece}{key[last.end() :]}"


def moved(char: str, by: int, *, leading: bool) -> str:
    """A digit so many further on, round the circle; a leading one does not become 0."""
    if not char.isascii() or not char.isdigit():
        return char
    if leading and char != "0":
        return str((int(char) - 1 + by) % 9 + 1)
    return str((int(char) + by) % 10)


def tally(results: Sequence[DecoyResult]) -> Mapping[str, tuple[int, int, int]]:
    """For each kind of decoy: how many were scored, present, supported."""
    return {
        kind: (len(own), sum(one.present for one in own), sum(one.supported for one in own))
        for kind in (NEVER_SAID, CROSSED)
        if (own := [one for one in results if one.kind == kind])
    }
