"""The order of a prompt by rest: files and map are put among the history by how long they have been the same.

A provider's cache holds the beginning of a prompt up to the first token that is new. So nothing is moved
without need: what has changed leaves its place and goes behind the history, as something said last, what is
said later goes behind that. A change takes all behind the old place out of the cache once; what
has fallen out can be put in any order, and that is when what rests goes to where it belongs.

That is before what is left of the history, if compacting it would cost more there than a change of the part
would: with n the part's tokens, B those of the history and of parts behind it, q the chance that
the next prompt's history is compacted, and p that the part is changed, if q·n > p·B. Else it is behind.
Both chances are those of Krichevsky and Trofimov (The Performance of Universal Encoding, 1981), half an event
added to those that were counted and one prompt to the prompts.

The host makes its map of the repository anew for every prompt, ranked by what the prompt mentions, and each
time a line of it is different all behind it falls out of the cache. So the last map is kept, unless the new
one shows a file or a definition that was mentioned and that the old one lacks, or has shown a file for some
prompts that the old one lacks, or the old one is no longer true: a file in it was changed, went away, or
entered the chat.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

LOST_SHARE = 0.5
"""Where less than this share of the history stays in the cache, compacting it costs little."""
TREE_MARKS = ("│", "⋮", "█")
"""How the lines below a file's name begin in a map."""
WORD = re.compile(r"\w+")
LEAST_LETTERS = 4
"""Shorter words mention nothing: they are in half of all definitions, and of all names of files."""
MISSED = 2
"""A file that so many new maps in succession show is wanted, mentioned or not."""

Stamp = Callable[[str], object]
"""A file's name to what tells that it was changed; None where it is not there."""


@dataclass(frozen=True)
class Part:
    """A file, the map, or an exchange of the history: what it is called, what tells its texts apart, its
    tokens. An exchange is called by its place, from 0."""

    name: str | int
    key: object
    tokens: int = field(compare=False)

    @property
    def is_history(self) -> bool:
        return isinstance(self.name, int)


@dataclass(frozen=True)
class Life:
    """In how many prompts something was, in how many of them it was changed, and for how many it has been
    the same now."""

    prompts: int = 0
    changes: int = 0
    rested: int = 0

    def seen(self, *, changed: bool) -> Life:
        """With one prompt more."""
        rested = self.rested + 1 if self.prompts and not changed else 0
        return Life(self.prompts + 1, self.changes + changed, rested)

    @property
    def chance(self) -> float:
        """The chance, 0 to 1, of a change before the next prompt."""
        return (self.changes + 0.5) / (self.prompts + 1)


@dataclass
class Order:
    """The parts of the last prompt in their order, and how each has behaved. `sent` is the number of calls
    that had been made by then."""

    last: list[Part] = field(default_factory=list)
    lives: dict[str | int, Life] = field(default_factory=dict)
    compacted: Life = field(default_factory=Life)
    sent: int = -1

    def arrange(
        self, parts: Sequence[Part], history: Sequence[Part], *, sent: int, cold: bool = False
    ) -> list[Part]:
        """Parts and history in the order in which they are sent now; that of the history is its own.

        `sent` calls were made so far: a prompt that is made again without one is no further prompt. `cold`:
        nothing of the last prompt is in the cache.
        """
        kept = self.kept(parts, history)
        if sent == self.sent and len(kept) == len(self.last) == len(parts) + len(history):
            return list(self.last)
        self._count(parts, history)
        kept = [] if cold else kept
        placed = {part.name for part in kept}
        waiting = [part for part in parts if part.name not in placed]
        exchanges = [part for part in history if part.name not in placed]
        waiting.sort(key=lambda part: -self.lives[part.name].rested)
        is_free = len(kept) < len(self.last) or not self.last
        before = self._before(waiting, sum(part.tokens for part in exchanges)) if is_free else []
        behind = [part for part in waiting if part not in before]
        self.last, self.sent = [*kept, *before, *exchanges, *behind], sent
        return list(self.last)

    def kept(self, parts: Sequence[Part], history: Sequence[Part]) -> list[Part]:
        """The beginning of the last prompt that is unchanged."""
        current = {*parts, *history}
        at = next((at for at, part in enumerate(self.last) if part not in current), len(self.last))
        return self.last[:at]

    def breaks(self, parts: Sequence[Part]) -> bool:
        """Whether most of the history falls out of the cache because a part before it was changed."""
        kept = self.kept(parts, [part for part in self.last if part.is_history])
        left = sum(part.tokens for part in kept if part.is_history)
        return left < LOST_SHARE * sum(part.tokens for part in self.last if part.is_history)

    def _count(self, parts: Sequence[Part], history: Sequence[Part]) -> None:
        keys, lives = {part.name: part.key for part in self.last}, self.lives
        self.lives = {
            part.name: lives.get(part.name, Life()).seen(changed=keys.get(part.name, part.key) != part.key)
            for part in parts
        }
        lost = any(part not in history for part in self.last if part.is_history)
        self.compacted = self.compacted.seen(changed=lost)

    def _before(self, parts: Sequence[Part], behind: int) -> list[Part]:
        """Of the parts that rest, those that belong before the rest of the history, `behind` tokens of it, in
        their order."""
        chosen: set[Part] = set()
        calm = [part for part in parts if self.lives[part.name].rested]
        for part in sorted(calm, key=lambda part: -self.lives[part.name].chance):
            if self.compacted.chance * part.tokens > self.lives[part.name].chance * behind:
                chosen.add(part)
                behind += part.tokens
        return [part for part in parts if part in chosen]

    @property
    def behind_history(self) -> int:
        """Tokens of the parts that fall out of the cache with the history."""
        first = next((at for at, part in enumerate(self.last) if part.is_history), len(self.last))
        return sum(part.tokens for part in self.last[first:] if not part.is_history)


def files_of(listing: str) -> dict[str, str]:
    """The files of a map, each with the lines that are shown of it, "" where only its name is."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in listing.splitlines():
        if line.startswith(TREE_MARKS):
            found.setdefault(name, []).append(line)
        elif line.strip():
            name = line.removesuffix(":")
            found[name] = []
    return {name: "\n".join(lines) for name, lines in found.items()}


@dataclass(frozen=True)
class Mentions:
    """What is spoken of: `files` by their names, and the `words` that the user typed, which name a file by
    the last part of its name, with or without its ending."""

    files: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


@dataclass
class RestingMap:
    """The map in the prompts, as text without its head. `stamps` are those of its files when it was made,
    `room` what bounded its length then. `missed` counts how many new maps in succession showed a file that
    it lacks."""

    listing: str = ""
    stamps: dict[str, object] = field(default_factory=dict)
    room: object = None
    missed: dict[str, int] = field(default_factory=dict)

    def holds(self, stamp: Stamp, chat_files: Collection[str], room: object) -> bool:
        """Whether all it says is true: none of its files has changed, is gone or in the chat. The room for
        it must be the same, too."""
        return (
            bool(self.listing)
            and self.room == room
            and all(name not in chat_files and stamp(name) == known for name, known in self.stamps.items())
        )

    def lacks(self, fresh: str, mentions: Mentions) -> bool:
        """Whether a new map shows something that was mentioned and that this one does not show, or for some
        prompts now a file that it does not show. Counts the prompt."""
        old, new = files_of(self.listing), files_of(fresh)
        self.missed = {name: self.missed.get(name, 0) + 1 for name in new if name not in old}
        words = {word for word in mentions.words if len(word) >= LEAST_LETTERS}
        for file, times in self.missed.items():
            path = PurePosixPath(file)
            if times >= MISSED or file in mentions.files or not words.isdisjoint((path.name, path.stem)):
                return True
        return any(
            words.intersection(WORD.findall(lines)).difference(WORD.findall(old.get(name, "")))
            for name, lines in new.items()
        )

    def replace(self, fresh: str, stamp: Stamp, room: object) -> None:
        """Take a new map in its place."""
        self.listing, self.room = fresh, room
        self.stamps = {name: stamp(name) for name in files_of(fresh)}
        self.missed = {}
