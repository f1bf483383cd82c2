"""The host's map of the repository as it rests in the prompts: sent once, and of later ones what is missed.

The host makes its map anew for every prompt, ranked by what the prompt mentions; each time a line of it were
different all behind it would fall out of the provider's cache. So the one that was sent stands, and of a new
one the files are added that were mentioned or that several new maps in succession show otherwise, and those
that were changed on the disk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import NamedTuple

TREE_MARKS = ("│", "⋮", "█")
"""How the lines below a file's name begin in a map."""
WORD = re.compile(r"\w+")
LEAST_LETTERS = 4
"""Shorter words mention nothing: they are in half of all definitions, and of all names of files."""
MISSED = 2
"""What so many new maps in succession show of a file is wanted, mentioned or not."""
DELETED = "No longer there: "

Stamp = Callable[[str], object]
"""A file's name to what tells that it was changed; None where it is not there."""


class Mentions(NamedTuple):
    """What is spoken of: `files` by their names, and the `words` that the user typed, which name a file by
    the last part of its name, with or without its ending."""

    files: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    def names(self, name: str, lines: str, shown: str) -> bool:
        """Whether it is spoken of the file or of one of its lines that is not known."""
        words = {word for word in self.words if len(word) >= LEAST_LETTERS}
        path = PurePosixPath(name)
        is_named = name in self.files or not words.isdisjoint((path.name, path.stem))
        return is_named or bool(words.intersection(WORD.findall(lines)).difference(WORD.findall(shown)))


class MapNow(NamedTuple):
    """The map that the host has made for this prompt, with the words above it. `mentions` is asked only where
    the map shows something that was not sent: finding them takes a look at every file of the repository."""

    head: str = ""
    listing: str = ""
    stamp: Stamp = lambda name: None
    mentions: Callable[[], Mentions] = Mentions


@dataclass(frozen=True)
class RestingMap:
    """The map that was sent as `listing` below `head`, and since then the lines of some files again. `shown`
    are the lines that were sent last of each file, `stamps` those of the files then. `missed` counts how many
    new maps in succession showed of a file what was not sent."""

    head: str = ""
    listing: str = ""
    shown: Mapping[str, str] = field(default_factory=dict)
    stamps: Mapping[str, object] = field(default_factory=dict)
    missed: Mapping[str, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What was sent whole."""
        return self.head + self.listing if self.listing else ""

    def next(self, now: MapNow) -> tuple[RestingMap, str]:
        """The map after one prompt more, and the lines that are to be added for it."""
        new = files_of(now.listing)
        stale = {name for name, stamp in self.stamps.items() if now.stamp(name) != stamp}
        deleted = sorted(name for name in stale if now.stamp(name) is None)
        lacking = {
            name: lines
            for name, lines in new.items()
            if name not in deleted
            and (self.shown.get(name) != lines if name in stale else not _shows(self.shown.get(name), lines))
        }
        missed = {name: self.missed.get(name, 0) + 1 for name in lacking}
        due = {
            name: lines
            for name, lines in lacking.items()
            if name in stale
            or missed[name] >= MISSED
            or now.mentions().names(name, lines, self.shown.get(name, ""))
        }
        shown = {name: lines for name, lines in {**self.shown, **due}.items() if name not in deleted}
        stamps = {
            name: now.stamp(name) if name in due or name in new else self.stamps[name] for name in shown
        }
        missed_yet = {name: times for name, times in missed.items() if name not in due}
        added = [f"{name}:\n{lines}" if lines else name for name, lines in due.items()]
        added += [DELETED + ", ".join(deleted)] if deleted else []
        return replace(self, shown=shown, stamps=stamps, missed=missed_yet), "\n".join(added)

    def anew(self, now: MapNow) -> RestingMap:
        """The map to be sent where nothing behind it is in the cache: this one, if it was sent whole and
        nothing new is known."""
        new = files_of(now.listing)
        if (
            files_of(self.listing) == self.shown
            and all(_shows(self.shown.get(name), lines) for name, lines in new.items())
            and all(now.stamp(name) == stamp for name, stamp in self.stamps.items())
        ):
            return replace(self, missed={})
        return RestingMap(now.head, now.listing, new, {name: now.stamp(name) for name in new})


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


def _shows(shown: str | None, lines: str) -> bool:
    """Whether the lines that were shown of a file are all of these."""
    return shown is not None and set(lines.splitlines()) <= set(shown.splitlines())
