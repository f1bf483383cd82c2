"""Decoys: answers that must not be found, asked with the very questions of the probes. What supports one is
no evidence, so they say how far `supported` can be trusted.

**never said**: one answer key is replaced by a name or number of the same make that stands nowhere in the
session or its files. **crossed**: the keys of another probe, really said but about something else, looked
for in the surroundings that this probe's own keys had.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from aider_gardener.replay.measure.probes import key_pattern, surroundings, texts_of_turn
from aider_gardener.replay.session.session import Probe, Session

NEVER_SAID, CROSSED = "never said", "crossed"
APART_TURNS = 3
"""The other probe of a crossed decoy is about a turn at least so far away."""
TRIES = 50
PIECES = re.compile(r"[A-Za-z]{3,}")
LARGEST_FILE = 1_000_000


def decoys_of(session: Session) -> Iterator[Probe]:
    """The decoys of a session's probes, the same ones each time, as probes of their kinds; none for a probe
    whose keys do not stand where it says."""
    made = _Decoys(session, session.probes)
    for probe in session.probes:
        said = "\n".join(texts_of_turn(session, probe.about_turn))
        if not probe.answer_keys or not all(surroundings([key], said) for key in probe.answer_keys):
            continue
        decoy = replace(probe, near=probe.answer_keys)
        invented = made.invented(probe.answer_keys[-1])
        if invented:
            yield replace(decoy, kind=NEVER_SAID, answer_keys=(*probe.answer_keys[:-1], invented))
        other = made.other(probe, said)
        if other is not None:
            yield replace(decoy, kind=CROSSED, answer_keys=other.answer_keys)


class _Decoys:
    def __init__(self, session: Session, probes: Sequence[Probe]) -> None:
        self.session = session
        self.probes = probes

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
