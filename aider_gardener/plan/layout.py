"""The files of a prompt that only grows: each stands once, whole, before the history; what changed of it
stands behind the exchange in which it did, as a diff against what was sent before.

A provider's cache holds the beginning of a prompt up to the first token that is new. aider sends every file
whole behind the history, so each change of one takes all of them out of it. Here nothing before the newest
exchange changes but by a compaction. That leaves the *bases*, files as they were sent whole, where they
are and gathers the diffs behind them. So it goes where a file leaves the chat, too, and where there is more
of diffs and old copies than of files: they are thrown away as a copying collector does with what is dead.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from aider_gardener.plan.diffs import apply, diff, lines_of
from aider_gardener.plan.repo_map import MapNow, RestingMap

DIFF_SHARE = 0.5
"""A file whose diffs are longer than this share of it is shown whole again."""
GARBAGE_SHARE = 1.0
"""Where diffs and old copies are more than this share of the files as they are, all from the first file that
changed on is made anew. (Half of it came to 0, 0 and 4 % more on three sessions.)"""
STACKED = 3
"""So many diffs of the same lines are too many to read one after the other: the file is shown whole."""
LEAST_CHARS = 8
"""Shorter lines are in many places: they do not tell whether two diffs meet."""


class File(NamedTuple):
    """A file of the chat as it is now. `name` is the one that model and user know it by."""

    name: str
    text: str
    read_only: bool = False


class Sent(NamedTuple):
    """A file as it was sent: whole, or as a `diff` against what was sent of it before. `is_new`: that was
    nothing."""

    file: File
    diff: str = ""
    is_new: bool = False

    @property
    def name(self) -> str:
        return self.file.name


class Update(NamedTuple):
    """What changed behind so many messages of the history: files, and lines of the repository map."""

    at: int
    files: tuple[Sent, ...] = ()
    map: str = ""


@dataclass(frozen=True)
class Layout:
    """The parts of the last prompt, in this order: `bases`, `map`, `gathered` diffs, the history with its
    `updates`. `history` tells its messages apart. `changed` says in which prompt each file last changed;
    `prompts` counts them, `renewals` how often all was laid out anew. `head` is what stands before the
    bases."""

    bases: tuple[Sent, ...] = ()
    map: RestingMap = field(default_factory=RestingMap)
    gathered: tuple[Sent, ...] = ()
    updates: tuple[Update, ...] = ()
    history: tuple[Hashable, ...] = ()
    changed: Mapping[str, int] = field(default_factory=dict)
    prompts: int = 0
    renewals: int = 0
    head: tuple[Mapping[str, object], ...] = ()

    @property
    def begun(self) -> bool:
        return self.prompts > 0

    @property
    def sent(self) -> list[Sent]:
        """Everything that was sent of files, in the order of the prompt."""
        return [*self.bases, *self.gathered, *(each for update in self.updates for each in update.files)]

    @cached_property
    def since_whole(self) -> dict[str, list[Sent]]:
        """What was sent of each file from its last whole text on."""
        found: dict[str, list[Sent]] = {}
        for each in self.sent:
            found[each.name] = [*found.get(each.name, []), each] if each.diff else [each]
        return found

    @property
    def last(self) -> dict[str, Sent]:
        """What was sent last of each file."""
        return {name: sent[-1] for name, sent in self.since_whole.items()}

    def read(self, name: str) -> str | None:
        """A file as a reader of the prompt puts it together; None where that cannot be."""
        found = None
        for each in self.since_whole.get(name, []):
            try:
                found = apply(found or "", each.diff) if each.diff else each.file.text
            except ValueError:
                return None
        return found

    def wrong(self, files: Sequence[File]) -> set[str]:
        """The files that a reader would not get right."""
        return {file.name for file in files if self.read(file.name) != file.text}

    def diffs(self, name: str) -> list[str]:
        """The diffs of a file since it was last shown whole."""
        return [each.diff for each in self.since_whole.get(name, []) if each.diff]

    def next(
        self,
        files: Sequence[File],
        map_now: MapNow,
        history: Sequence[Hashable],
        *,
        cold: bool = False,
        whole: Collection[str] = (),
    ) -> Layout:
        """The layout of the next prompt, which goes on from this one where it can.

        `cold`: the cache holds nothing, so all is sent anew. `whole` names files that must be shown whole
        again.
        """
        last, prompt = self.last, self.prompts + 1
        same = {file.name for file in files if file.name in last and last[file.name].file == file}
        changed = {file.name: self.changed[file.name] if file.name in same else prompt for file in files}
        noted = replace(self, history=tuple(history), changed=changed, prompts=prompt)
        roles = {file.name: file.read_only for file in files}
        moved = {name for name, each in last.items() if roles.get(name) is not each.file.read_only}
        goes_on = self.begun and noted.history[: len(self.history)] == self.history
        if goes_on and not cold and not moved:
            grown = noted._grown(files, map_now, whole)
            if grown.garbage <= GARBAGE_SHARE * sum(len(file.text) for file in files):
                return grown
        until = next((at for at, base in enumerate(self.bases) if base.name in moved), len(self.bases))
        return noted._anew({file.name: file for file in files}, map_now, 0 if cold else until, whole)

    @property
    def garbage(self) -> int:
        """Characters that bring the files no nearer: diffs, and whatever a later copy of a file replaces."""
        dead = [each for each in self.sent if self.since_whole[each.name][0] is not each]
        return sum(len(each.diff or each.file.text) for each in dead)

    def _grown(self, files: Sequence[File], map_now: MapNow, whole: Collection[str]) -> Layout:
        """With what changed behind the history so far."""
        found, last = list[Sent](), self.last
        for file in files:
            sent = last.get(file.name)
            if sent is None:
                found.append(Sent(file, is_new=True))
            elif file.name in whole:
                found.append(Sent(file))
            elif sent.file.text != file.text:
                found.append(Sent(file, self._diff(sent.file, file)))
        resting, lines = self.map.next(map_now)
        if not found and not lines:
            return replace(self, map=resting)
        update = Update(len(self.history), tuple(found), lines)
        return replace(self, map=resting, updates=(*self.updates, update))

    def _diff(self, old: File, new: File) -> str:
        """What changed of a file; "" where it is better shown whole."""
        change, before = diff(old.text, new.text), self.diffs(new.name)
        if change is None or sum(map(len, [*before, change])) > DIFF_SHARE * len(new.text):
            return ""
        return "" if _stacked([*before, change]) >= STACKED else change

    def _anew(self, files: Mapping[str, File], map_now: MapNow, until: int, whole: Collection[str]) -> Layout:
        """With the first bases kept as they are and what changed of those gathered behind; the others are
        made anew, what changed longest ago first."""
        bases, gathered = self.bases[:until], list[Sent]()
        alone = replace(self, bases=bases, gathered=(), updates=())
        for base in bases:
            file = files[base.name]
            if file.text != base.file.text or file.name in whole:
                change = "" if file.name in whole else alone._diff(base.file, file)
                gathered.append(Sent(file, change))
        base_names = {base.name for base in bases}
        rest = sorted(
            (file for file in files.values() if file.name not in base_names),
            key=lambda file: (not file.read_only, self.changed[file.name], file.name),
        )
        anew = replace(
            self,
            bases=(*bases, *map(Sent, rest)),
            map=self.map.anew(map_now),
            gathered=tuple(gathered),
            updates=(),
            renewals=self.renewals + 1,
        )
        if anew.garbage <= GARBAGE_SHARE * sum(len(file.text) for file in files.values()):
            return anew
        first = next(at for at, base in enumerate(bases) if base.file.text != files[base.name].text)
        return self._anew(files, map_now, first, whole)


def _stacked(diffs: Sequence[str]) -> int:
    """How many diffs lie on one another at most, each changing lines that the one below it put in."""
    below: list[tuple[frozenset[str], int]] = []
    for text in diffs:
        lines = {line for line in lines_of(text, "-") if len(line) >= LEAST_CHARS}
        height = 1 + max((high for added, high in below if not lines.isdisjoint(added)), default=0)
        below.append((lines_of(text, "+"), height))
    return max((height for _added, height in below), default=0)
