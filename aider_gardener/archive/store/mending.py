"""What a store does when its file is damaged or cannot be read: the damage is repaired on the way.

An index is built anew, a row that was altered is put right from the copy, and in place of a damaged file one
is begun with what can still be read. Trouble with the file never stops a chat.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from aider_gardener.archive.store import check, copies, entries, location, repair, search
from aider_gardener.archive.store.database import (
    Database,
    Gone,
    Result,
    Step,
    Unavailable,
    has_log,
    is_index_damage,
)
from aider_gardener.errors import StoreError

if TYPE_CHECKING:
    from aider_gardener.archive.store.evidence import PlaceCache
    from aider_gardener.archive.store.fallback import Fallback
    from aider_gardener.archive.store.notice import Notice
    from aider_gardener.archive.store.vectors import VectorCache

REMOVED = "{path} was removed: it was begun anew with what this chat holds"
DAMAGED_SHOWN = 5


class Mending:
    """The repairs of one database, which asks for one when SQLite reports damage. `generation` counts how
    often another file took the place of the one before: what a chat still holds is to be written again."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], float],
        notice: Notice,
        fallback: Fallback,
        caches: tuple[VectorCache, PlaceCache],
    ) -> None:
        self.generation = 0
        self._db = database
        self._clock = clock
        self._notice = notice
        self._beside = fallback
        self._caches = caches
        self._has_looked = False
        database.repair = self.look_again if database.read_only else self.repair

    def look_again(self, _error: apsw.Error) -> bool:
        """Open a file anew that is only read and that another process has begun to write meanwhile."""
        path = self._db.path
        if path is None or not has_log(path):
            return False
        self._db.close()
        self._db.connect()
        return True

    def repair(self, error: apsw.Error) -> bool:
        """Make a damaged archive usable: a new index, or a new file with what can still be read.

        Where even that is impossible the session goes on in memory.
        """
        path = self._db.path
        for cache in self._caches:
            cache.clear()
        if isinstance(error, Gone) and path is not None and not self._db.is_replaced():
            return self._begin_again(path)
        if is_index_damage(error):
            self._db.write(search.rebuild)
            self._notice.text = f"the index of {path or 'the archive'} was damaged; it was built anew"
            return True
        if path is None:
            return False
        self._db.close()
        self.generation += 1
        try:
            if self._db.is_replaced():
                self._db.connect()
            else:
                self._notice.text = repair.begin_anew(self._db, path, self._clock())
        except (StoreError, apsw.Error, OSError) as fault:
            self._beside.go_on_without_file(fault)
        return True

    def _begin_again(self, path: Path) -> bool:
        """Begin an archive in place of one that is gone or cut off; the chat writes what it holds again."""
        self._db.close()
        self.generation += 1
        try:
            location.prepare_directory(path.parent, self._db.user)
            if path.exists():
                self._notice.text = repair.begin_anew(self._db, path, self._clock())
            else:
                self._notice.text = REMOVED.format(path=path) + copies.put_aside(path)
                self._db.connect()
        except (StoreError, apsw.Error, OSError) as fault:
            self._beside.go_on_without_file(fault)
        return True

    def read_or(self, instead: Result, step: Step[Result]) -> Result:
        """Read, or give something instead while the file cannot be read, with a notice."""
        try:
            return self._db.read(step)
        except Unavailable as error:
            self._notice.text = str(error)
            return instead

    def sound(self, stored_id: str, step: Step[Result]) -> Result:
        """Read of one entry. Raises Damaged if it was altered and no copy of it is sound."""

        def looked(db: apsw.Connection) -> tuple[Result, bool]:
            found = step(db)  # in one transaction: in the next another thread may have stored it
            return found, found is None and entries.is_unlisted(db, stored_id)

        try:
            found, is_unlisted = self._db.read(looked)
            if not is_unlisted:
                return found
            error = apsw.CorruptError("an index that lacks a row")
            if self._db.read_only:
                raise self._db.failure(error)
            self.repair(error)
        except entries.Damaged:
            if not self._mend(stored_id):
                raise
        return self._db.read(step)

    def look_at_places(self) -> None:
        """Look, once, whether the index of places leads to every occurrence: what it leaves out would be
        missing in a session without a word. Raises StoreError for an archive that is only read."""
        if self._has_looked or self._db.path is None:
            return
        self._has_looked = True
        if self.read_or(True, check.are_places_listed):
            return
        error = apsw.CorruptError("an index that lacks a place")
        if self._db.read_only:
            raise self._db.failure(error)
        self.repair(error)

    def sound_ones(
        self, instead: Result, step: Callable[[apsw.Connection, list[entries.Damaged]], Result]
    ) -> Result:
        """Read of many entries: of those that were altered the ones that can be mended, and a notice."""
        damaged: list[entries.Damaged] = []
        found = self.read_or(instead, lambda db: step(db, damaged))
        if not damaged:
            return found
        for error in damaged:
            self._mend(error.stored_id)
        left: list[entries.Damaged] = []
        found = self.read_or(instead, lambda db: step(db, left))
        if left:
            self._notice.text = "; ".join(str(error) for error in left[:DAMAGED_SHOWN])
        return found

    def _mend(self, stored_id: str) -> bool:
        """Put an altered entry right from the copy; whether all of it is sound now. A line says so."""
        if self._db.in_trial or self._db.read_only:
            return False
        if self._db.read(check.structure):
            self.repair(apsw.CorruptError("damaged pages"))
            return True
        try:
            told = self._put_right(stored_id)
        except StoreError:
            return False
        self._notice.text = "; ".join(told) or self._notice.text
        return not any(line.endswith(repair.NOT_MENDED) for line in told)

    def _put_right(self, stored_id: str | None = None) -> list[str]:
        """Put back what was altered, of one entry or of all; a line for each row. Raises StoreError."""
        path = self._db.path
        copy = repair.own_copy(self._db, path) if path else None
        return self._db.write(lambda db: repair.mend(db, copy, self._db.key, stored_id))

    def verify(self) -> list[str]:
        """Look through the whole archive and mend what can be; see `Store.verify`."""

        def step(db: apsw.Connection) -> list[str]:
            return [*check.index(db), *check.loose_ends(db)]

        before, own = self._notice.text, self._beside.lines
        found = [*self._structure(), *(own.read().problems if own.is_tier else [])]
        if self._db.read_only:
            return found or self._db.read(
                lambda db: [*(fault.line for fault in check.faults(db)), *check.loose_ends(db)]
            )
        if found:
            self.repair(apsw.CorruptError("damaged pages"))
            return [*found, self._notice.text]
        found = self._put_right()
        loose = self._db.write(step)
        if any("full-text index" in line for line in loose):
            self._db.write(search.rebuild)
            loose.append("the full-text index was built anew")
        return [*found, *loose, *([self._notice.text] if self._notice.text != before else [])]

    def _structure(self) -> list[str]:
        """What SQLite finds wrong with the file; what it cannot even look through is one line."""
        try:
            return self._db.read(check.structure)
        except StoreError as error:
            return [str(error)]

    def copy(self) -> None:
        """Make the copy of the archive as it is now; without one the former stays. What was altered since the
        former is put back first: the new one must not take it over."""
        path = self._db.path
        if path is not None:
            with contextlib.suppress(OSError, apsw.Error, StoreError):
                if self._db.read(lambda db: next(check.faults(db), None)) is not None:
                    self._put_right()
                self._db.outside(lambda db: copies.make(db, path, self._db.key))
