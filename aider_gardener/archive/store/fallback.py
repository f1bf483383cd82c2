"""What stands beside the file of a store: writes that wait in memory, and lines of JSON.

A write that cannot be made now waits for better times; in the tier of lines every write goes to them. What
was written in lines while the file could not be written is taken into it as soon as that is possible.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.archive.store import encryption, lines, records, sessions
from aider_gardener.archive.store.database import Database, Result, Step, Unavailable, is_fault_of_file
from aider_gardener.archive.store.entries import NOWHERE, EntryDraft
from aider_gardener.archive.store.journal import JournalLines
from aider_gardener.archive.store.records import FORGET, FORGET_SESSION, Record
from aider_gardener.archive.store.waiting import PATIENCE_MILLISECONDS, Later, Waiting
from aider_gardener.errors import StoreError

if TYPE_CHECKING:
    import apsw

    from aider_gardener.archive.store.notice import Notice

MEMORY_ONLY = "{error}; from here on this session is kept in memory only"
LINES_ONLY = "{error}; from here on what is said is kept in lines of JSON in {place}"
NOT_IN_LINES = "{place} cannot be written ({fault}): until it can what is said is kept in memory only"
LINES_TAKEN = "{count} lines that were written where the archive could not be are in it now"
LINES_WAIT = (
    "{count} lines wait to be taken into the archive; the next chat or `gardener store verify` does it"
)
LINES_IN_USE = "a running chat still holds it in {names}: it goes when that ends"
NOT_FORGOTTEN = "the lines in {place} cannot be written anew ({fault}): free some space and forget it again"


class Fallback:
    """What waits for one database, in memory and in lines. `scrub` is called when lines that were taken in
    have forgotten something. `waiting_lines` counts, for an archive open to be read only, the lines that no
    file holds yet.
    """

    def __init__(
        self, database: Database, clock: Callable[[], float], notice: Notice, scrub: Callable[[], None]
    ) -> None:
        self.waiting = Waiting()
        self.lines = JournalLines(clock)
        self.waiting_lines = 0
        self._db = database
        self._clock = clock
        self._notice = notice
        self._scrub = scrub
        if database.path is not None and _may_have_lines(database, database.path):
            self.lines.allow(database.path.parent, database.own_key())

    def write(self, new: EntryDraft | Later, step: Step[tuple[Result, Record]]) -> Result | None:
        """Write what waits, then do a step, which also returns what it did as a record. If the file cannot be
        written, None: then `new` waits for the next write that can be made."""

        def whole(db: apsw.Connection) -> tuple[Result, list[EntryDraft | Later]]:
            written = self.waiting.write(db, self._clock)
            result, record = step(db)
            self.keep(record)
            return result, written

        try:
            result, written = self._db.write(whole)
        except Unavailable as error:
            if self._db.in_trial:
                raise
            self._wait(new, error)
            return None
        self._caught_up(written)
        return result

    def write_record(self, record: Record, also: Callable[[apsw.Connection], object] | None = None) -> None:
        """Do what a record says, now or later. `also` is done with it."""

        def do(db: apsw.Connection) -> Record:
            records.apply(db, record)
            if also is not None:
                also(db)
            return record

        self.write(Later(do, record), lambda db: (do(db), record))

    def keep(self, record: Record) -> None:
        """Where lines are the archive, bring a write that was made to them; in a step of the database's."""
        if self.lines.is_tier and not self._db.in_trial:
            self.lines.keep(record)
            self._tell_fault()

    def keep_all(self, record: Record) -> None:
        """Bring to the lines a record of all that the database holds; in a step of the database's."""
        self.lines.keep_all(record)
        self._tell_fault()

    def _tell_fault(self) -> None:
        if self.lines.fault:
            self._notice.text = NOT_IN_LINES.format(place=self.lines.directory, fault=self.lines.fault)

    def _wait(self, new: EntryDraft | Later, error: StoreError) -> None:
        """Keep something in memory, and where possible in a line, until the file can be written again."""
        place = self.lines.place(_record_of(new)) if self.lines.directory else NOWHERE
        self.waiting.items.append(replace(new, place=place))
        self._db.set_patience(PATIENCE_MILLISECONDS)
        where = "in memory" if place == NOWHERE else f"in {self.lines.path}"
        self._notice.text = f"{error}; until then messages wait {where}"

    def _caught_up(self, written: list[EntryDraft | Later]) -> None:
        if written:
            self.waiting.settle(written)
            self._db.set_patience()
            self.settle()
            if self._db.path is None:
                return
            entries = sum(isinstance(each, EntryDraft) for each in written)
            self._notice.text = f"{self._db.path} can be written again; stored what waited: {entries}"

    def write_last(self) -> None:
        """Write what waits, and that this process holds no session open any more. Raises StoreError."""
        if not self.waiting:
            self._db.set_patience(PATIENCE_MILLISECONDS)
        self.waiting.settle(self._db.write(self._let_go))

    def _let_go(self, db: apsw.Connection) -> list[EntryDraft | Later]:
        written = self.waiting.write(db, self._clock)
        sessions.let_go(db)
        return written

    def settle(self) -> None:
        """Remove the lines of this process if nothing waits any more."""
        if not self.waiting:
            self.lines.settle()

    def begin(self, directory: Path, key: bytes | None) -> None:
        """Be an archive in lines: all that is in the directory's, and from now on what is said. `key` is this
        user's. Raises OSError where nothing can be written there."""
        self.lines.allow(directory, key)
        self._begin()

    def begin_in(self, kept: JournalLines) -> None:
        """Be an archive in these lines: what they hold, and from now on what is said."""
        self.lines = kept
        self._begin()

    def _begin(self) -> None:
        self.lines.begin()
        found = self.lines.read()
        self._take(found)
        self._notice.add(found.problems)

    def go_on_without_file(self, fault: Exception) -> None:
        """Leave the file as it is: from here on in memory and, where that is possible, in lines."""
        self._db.go_on_in_memory()
        self._notice.text = MEMORY_ONLY.format(error=fault)
        if self.lines.directory is None or not is_fault_of_file(fault):
            self.lines.directory = None
            return
        with contextlib.suppress(OSError):
            self._begin()
            self._notice.text = LINES_ONLY.format(error=fault, place=self.lines.directory)
            for each in self.waiting.items:
                if each.place == NOWHERE:
                    self.lines.keep(_record_of(each))

    def show(self, directory: Path, found: lines.FoundLines) -> None:
        """Hold what the lines of a directory say, to be read only."""
        self._take(found)
        self.lines.show(directory)
        self._db.read_only = True
        self.waiting_lines = len({(each.file, each.number) for each in found.records()})

    def count(self, found: lines.FoundLines) -> None:
        """Look how many of these lines the file does not hold yet, and say so."""
        self.waiting_lines = self._db.read(lambda db: records.waiting(db, found.records()))
        if self.waiting_lines:
            self._notice.text = LINES_WAIT.format(count=self.waiting_lines)

    def take_in(self) -> None:
        """Bring into the file what was written in lines while it could not be, also by other processes that
        still run. Files that are left behind go then; one with damaged lines is set aside. Says so."""
        if self._db.path is None or self._db.read_only or not lines.names(self._db.path.parent):
            return
        found = lines.read(self._db.path.parent, self._db.own_key(), self._clock())
        try:
            applied, refused = self._take(found)
        except StoreError as error:
            self._notice.text = str(error)
            return
        told = [LINES_TAKEN.format(count=len(applied))] if applied else []
        odd = {each.file for each in refused}
        for file in found.left_behind:
            told += lines.dismiss(file, whole=file.token not in odd)
        self._notice.add([*told, *found.problems])

    def _take(self, found: lines.FoundLines) -> tuple[list[records.Numbered], list[records.Numbered]]:
        """Bring into the database what it does not hold yet; returns what was, and what cannot be."""
        held = found.records()
        done = self._db.write(lambda db: records.take(db, held, self._clock()))
        if any(each.record["kind"] in (FORGET, FORGET_SESSION) for each in done[0]):
            self._scrub()
        return done

    def forget(self, record: Record) -> None:
        """Take what was forgotten out of the lines too. Raises StoreError."""
        try:
            in_use = self.lines.forget(record)
        except OSError as error:
            place, fault = self.lines.directory, error.strerror or str(error)
            raise StoreError(NOT_FORGOTTEN.format(place=place, fault=fault)) from error
        if in_use:
            self._notice.text = LINES_IN_USE.format(names=", ".join(in_use))


def _may_have_lines(database: Database, path: Path) -> bool:
    """Whether what cannot be written to a file may go to lines beside it: never that of an encrypted one."""
    return not (database.read_only or database.key or encryption.is_secret(path, database.key_source))


def _record_of(waiting: EntryDraft | Later) -> Record:
    if isinstance(waiting, EntryDraft):
        return records.said(waiting, waiting.entry.id, waiting.entry.seq)
    return waiting.record
