"""A map of the repository that rests: the one that stood stays while it shows what is spoken of.

The host makes its map anew for every prompt, ranked by what the prompt mentions. Each time a line of it is
different, all that stands behind it in the prompt falls out of the provider's cache. So the map that stands
is kept, unless the new one shows a file or a definition that was mentioned and that the old one lacks, or has
shown a file for some prompts that the old one lacks, or the old one is no longer true: a file in it was
changed, went away, or entered the chat.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import PurePosixPath

TREE_MARKS = ("│", "⋮", "█")
"""How the lines below a file's name begin in a map."""
WORD = re.compile(r"\w+")
LEAST_LETTERS = 4
"""Shorter words mention nothing: they are in half of all definitions, and of all names of files."""
MISSED = 2
"""A file that so many new maps in succession show is wanted, mentioned or not."""

Stamp = Callable[[str], object]
"""A file's name to what tells that it was changed; None where it is not there."""


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
    """The map that stands, as text without its head. `stamps` are those of its files when it was made,
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
