"""Probes: questions about what was said, asked without leaving a trace, and how they are scored.

present: every answer key stands in the messages that would be sent, the question left out.
supported: besides, around some occurrence of each key (40 words either side) stand at least 40 % of
the content words that stood within 14 words of the key where it was said, all its occurrences there
taken together. Where it was said are the texts of turn `about_turn`; a key that doesn't stand there
has no surroundings to be missed.

A word is a run of letters and digits. Content words have at least three characters and aren't among
the commonest English words; they are compared in lower case, each counted once. Texts are joined by
line ends, so surroundings may reach into the message before or after.

Decoys are answers that must not be found. They say how far `supported` can be trusted.

For each probe there are up to two, scored on the very prompt that the probe's question makes.
**never said**: one answer key is replaced by a name or number of the same make that stands nowhere in
the session or its files. **crossed**: the keys of another probe, really said but about something else,
looked for in the surroundings that this probe's own keys had. What supports either is no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from aider_gardener import files
from aider_gardener.replay.measure.result import DecoyResult
from aider_gardener.replay.session.session import Probe, Session

NEAR_WORDS = 14
"""How far from a key, where it was said, words count as its surroundings."""

AROUND_WORDS = 40
"""How far from a key, where it is looked for, those words may stand."""

SUPPORT_SHARE = 0.4
"""The share of the surroundings that must be found again."""

LONGEST_WORDS = 100
"""Characters per word that are looked at around a key, at most: bounds the work on odd texts."""

SHORT_KEY = 4
"""Keys shorter than this must stand as words of their own; longer ones may be inflected."""

WORD = re.compile(r"[^\W_]+")

STOP_WORDS = frozenset(
    WORD.findall(
        "the and for that this with are was not but you have has had from they will what when which "
        "can its our out all one any there their then than them been were would could should into also "
        "only how who why did does done don just like more most some such very too here where your yours "
        "his her him she because about over under after before again once each own same both few off "
        "between through during until while against doesn isn aren won let get got use used using"
    )
)

NEVER_SAID, CROSSED = "never said", "crossed"
APART_TURNS = 3
"""The other probe of a crossed decoy is about a turn at least so far away."""
TRIES = 50
PIECES = re.compile(r"[A-Za-z]{3,}")
LARGEST_FILE = 1_000_000


def content_words(words: Iterable[str]) -> set[str]:
    """The words that carry content, in lower case."""
    lower = {word.lower() for word in words if len(word) >= 3}
    return lower - STOP_WORDS


def around(text: str, start: int, end: int, words: int) -> set[str]:
    """The content words at most `words` words before `start` or after `end`, in characters."""
    reach = words * LONGEST_WORDS
    before = WORD.findall(text[max(0, start - reach) : start])[-words:]
    after = WORD.findall(text[end : end + reach])[:words]
    return content_words(before) | content_words(after)


def key_pattern(key: str) -> re.Pattern[str]:
    """Matches a key in any case, its spaces as any white space.

    A key that begins or ends in a digit doesn't match within a longer number, a short one not within
    a longer word.
    """
    key = key.strip()
    body = r"\s+".join(re.escape(piece) for piece in key.split())
    edge = r"[^\W_]" if len(key) < SHORT_KEY else r"\d"
    before = rf"(?<!{edge})" if re.match(edge, key) else ""
    after = rf"(?!{edge})" if re.search(edge + "$", key) else ""
    return re.compile(before + body + after, re.IGNORECASE)


def texts_of_turn(session: Session, turn: int) -> list[str]:
    """The texts of a turn that enter the chat: what was typed, answered, run and reflected."""
    texts = []
    for event in session.turn(turn):
        if event.kind == "command":
            texts.append(f"{event.command}\n\n{event.output}")
        elif event.kind in ("user", "reply", "commit", "warning", "error"):
            texts.append(event.text)
    return texts


@dataclass(frozen=True)
class Score:
    """Whether a probe is present and supported, and the keys for which it isn't."""

    present: bool
    supported: bool
    missing: tuple[str, ...]
    unsupported: tuple[str, ...]


def score(probe: Probe, said: Sequence[str], sent: Iterable[str]) -> Score:
    """Score a probe: `said` are the texts of its turn, `sent` the contents that would be sent."""
    said_text, sent_text = "\n".join(said), "\n".join(sent)
    missing, unsupported = [], []
    for key in probe.answer_keys:
        pattern = key_pattern(key)
        spans = [match.span() for match in pattern.finditer(sent_text)]
        if not spans:
            missing.append(key)
        elif not key_supported(surroundings(pattern, said_text), sent_text, spans):
            unsupported.append(key)
    present = not missing
    return Score(present, present and not unsupported, tuple(missing), tuple(unsupported))


def surroundings(pattern: re.Pattern[str], said: str) -> set[str]:
    """The content words near a key in the text where it was said."""
    found: set[str] = set()
    for match in pattern.finditer(said):
        found |= around(said, *match.span(), NEAR_WORDS)
    return found


def key_supported(wanted: AbstractSet[str], sent: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether around some span of what is sent stands enough of what is wanted."""
    enough = SUPPORT_SHARE * len(wanted)
    return any(len(wanted & around(sent, *span, AROUND_WORDS)) >= enough for span in spans)


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
        said = "\n".join(texts_of_turn(self.session, probe.about_turn))
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
                    texts.append(files.read_text(path, LARGEST_FILE, errors="replace", follow=True))
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
