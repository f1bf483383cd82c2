"""The archive in SQLite: `Store` over one `Database`, redaction in front of every write.

A write that cannot be made now waits for better times; a damaged file is repaired on the way. Trouble with
the file never stops a chat: where an archive cannot be opened the store works in memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from aider_gardener.archive.store import (
    check,
    copies,
    encryption,
    entries,
    files,
    lines,
    location,
    ownership,
    records,
    repair,
    search,
    sessions,
    transfer,
    vectors,
)
from aider_gardener.archive.store.base import (
    Chunk,
    Event,
    Holding,
    PendingPassage,
    SessionInfo,
    StoreStats,
    TextHit,
    VectorHit,
)
from aider_gardener.archive.store.database import (
    BUSY_MILLISECONDS,
    NOT_OPENED,
    Database,
    Gone,
    Newer,
    Result,
    Step,
    Stranger,
    Unavailable,
    explain,
    has_log,
    is_damage,
    is_index_damage,
)
from aider_gardener.archive.store.entries import NOWHERE, Draft
from aider_gardener.archive.store.journal import Lines
from aider_gardener.archive.store.records import FORGET, FORGET_SESSION, IMPORT, Record
from aider_gardener.archive.store.redact import Redacted, Redactor
from aider_gardener.archive.store.waiting import PATIENCE_MILLISECONDS, Later, Waiting
from aider_gardener.errors import StoreError
from aider_gardener.messages import ContentClass, Entry, Fidelity, Rendition

if TYPE_CHECKING:
    from aider_gardener.archive.store.base import Vector

IN_MEMORY = "this session is kept in memory only: {reason}"
UNUSABLE = "{path} cannot be used ({fault}); check its permissions"
NO_PLAIN_LINES = "; lines of plain text are not written beside an encrypted archive"
IN_LINES = "{reason}; what is said is kept in lines of JSON in {place} until the archive opens"
LINES_ONLY = "{error}; from here on what is said is kept in lines of JSON in {place}"
NOT_IN_LINES = "{place} cannot be written ({fault}): until it can what is said is kept in memory only"
LINES_TAKEN = "{count} lines that were written where the archive could not be are in it now"
LINES_WAIT = (
    "{count} lines wait to be taken into the archive; the next chat or `gardener store verify` does it"
)
LINES_IN_USE = "a running chat still holds it in {names}: it goes when that ends"
NOT_FORGOTTEN = "the lines in {place} cannot be written anew ({fault}): free some space and forget it again"
NOT_ENCRYPTED = "{path} is not encrypted; `gardener store encrypt` encrypts it"
TRACKED = "{path} is part of the repository and is not used: the archive is in {place}"
SET_ASIDE = "{reason}: it was set aside as {aside}; `gardener store adopt` takes over what it holds"
REMOVED = "{path} was removed: it was begun anew with what this chat holds"
NO_ARCHIVE = "{path} is gone: it was begun anew"
KEPT_COPY = "; the copy of the old one is kept as {copy}, `gardener store adopt` takes it over"
FROM_COPY = "; {saved} entries of its copy, which is yours, were put back"
NOT_EXPORTED = "damaged and not exported: {ids}; `gardener store verify` mends what it can"
DAMAGED_SHOWN = 5
RETRY_SECONDS = 0.05
FALTERING = (apsw.IOError, apsw.LockedError, apsw.ProtocolError)
FALTERING_SECONDS = 1.0
"""What a file system that fails for a moment says, and how long opening is tried again then."""
MEMORY_ONLY = "{error}; from here on this session is kept in memory only"

BACKLOG_PER_ADD = 16
BACKLOG_AT_ONCE = 500
FORGOTTEN_AT_ONCE = 200
LOG_IN_USE = "the archive's log is in use by another process: deleted text leaves it when that one ends"


class SqliteBase:
    """One database, the secrets and the writes that wait; see `SqliteStore` for the rest."""

    def __init__(
        self, database: Database, *, clock: Callable[[], float] = time.time, notice: str = ""
    ) -> None:
        self.notice = notice
        self.generation = 0
        self.waiting_lines = 0
        """Of an archive open to be read only: how many lines beside it no file holds yet."""
        self._db = database
        self._clock = clock
        self._redactor = Redactor()
        self._waiting = Waiting()
        self._lines = Lines(clock)
        self._holds = False
        self._vectors = vectors.VectorCache()
        database.repair = self._look_again if database.read_only else self._repair
        if may_write_lines(database):
            self._lines.allow(database.path.parent if database.path else Path(), database.own_key())

    def _write_or_wait(self, record: Record, also: Callable[[apsw.Connection], object] | None = None) -> None:
        """Do what a record says now; if the file cannot be written, with the next write that can be. `also`
        is done with it."""

        def do(db: apsw.Connection) -> None:
            records.apply(db, record)
            if also is not None:
                also(db)

        def step(db: apsw.Connection) -> list[Draft | Later]:
            written = self._waiting.write(db, self._clock)
            do(db)
            self._keep(record)
            return written

        new = Later(do, record)

        try:
            written = self._db.write(step)
        except Unavailable as error:
            if self._db.in_trial:
                raise
            self._wait(new, error)
        else:
            self._caught_up(written)

    def _read_or(self, instead: Result, step: Step[Result]) -> Result:
        """Read, or give something instead while the file cannot be read, with a notice."""
        try:
            return self._db.read(step)
        except Unavailable as error:
            self.notice = str(error)
            return instead

    def _wait(self, new: Draft | Later, error: StoreError) -> None:
        """Keep something in memory, and where possible in a line, until the file can be written again."""
        place = self._lines.place(_record_of(new)) if self._lines.directory else NOWHERE
        self._waiting.items.append(replace(new, place=place))
        self._db.set_patience(PATIENCE_MILLISECONDS)
        where = "in memory" if place == NOWHERE else f"in {self._lines.path}"
        self.notice = f"{error}; until then messages wait {where}"

    def _keep(self, record: Record) -> None:
        """Where lines are the archive, bring a write that was made to them; in a step of the database's."""
        if self._lines.is_tier and not self._db.in_trial:
            self._lines.keep(record)
            self._tell_fault()

    def _tell_fault(self) -> None:
        if self._lines.fault:
            self.notice = NOT_IN_LINES.format(place=self._lines.directory, fault=self._lines.fault)

    def _caught_up(self, written: list[Draft | Later]) -> None:
        if written:
            self._waiting.settle(written)
            self._db.set_patience()
            if not self._waiting:
                self._lines.settle()
            if self._db.path is None:
                return
            entries = sum(isinstance(each, Draft) for each in written)
            self.notice = f"{self._db.path} can be written again; stored what waited: {entries}"

    def _clean_json(self, value: str) -> str:
        """A value without secrets: JSON's strings are read as what they say, not as they are written."""
        with contextlib.suppress(ValueError):
            held = json.loads(value)
            clean = self._redactor.clean(held)
            if clean != held:
                value = json.dumps(clean)
        return self._redactor(value).text

    def _redacted_renditions(self, renditions: Iterable[Rendition]) -> tuple[Rendition, ...]:
        return tuple(replace(each, text=self._redactor(each.text).text) for each in renditions)

    def _dated(self, entry: Entry) -> Entry:
        return entry if entry.created_at else replace(entry, created_at=self._clock())

    def _look_again(self, _error: apsw.Error) -> bool:
        """Open a file anew that is only read and that another process has begun to write meanwhile."""
        path = self._db.path
        if path is None or not has_log(path):
            return False
        self._db.close()
        self._db.connect()
        return True

    def _repair(self, error: apsw.Error) -> bool:
        """Make a damaged archive usable: a new index, or a new file with what can still be read.

        Where even that is impossible the session goes on in memory.
        """
        path = self._db.path
        self._vectors.clear()
        if isinstance(error, Gone) and path is not None and not self._db.is_replaced():
            return self._begin_again(path)
        if is_index_damage(error):
            self._db.write(search.rebuild)
            self.notice = f"the index of {path or 'the archive'} was damaged; it was built anew"
            return True
        if path is None:
            return False
        self._db.close()
        self.generation += 1
        try:
            if self._db.is_replaced():
                self._db.connect()
            else:
                self.notice = repair.begin_anew(self._db, path, self._clock())
        except (StoreError, apsw.Error, OSError) as fault:
            self._go_on_without_file(fault)
        return True

    def _begin_again(self, path: Path) -> bool:
        """Begin an archive in place of one that is gone or cut off; the chat writes what it holds again."""
        self._db.close()
        self.generation += 1
        try:
            location.prepare_directory(path.parent, self._db.user)
            if path.exists():
                self.notice = repair.begin_anew(self._db, path, self._clock())
            else:
                self.notice = REMOVED.format(path=path) + kept_copy(path)
                self._db.connect()
        except (StoreError, apsw.Error, OSError) as fault:
            self._go_on_without_file(fault)
        return True

    def _go_on_without_file(self, fault: Exception) -> None:
        """Leave the file as it is: from here on in memory and, where that is possible, in lines."""
        self._db.go_on_in_memory()
        self.notice = MEMORY_ONLY.format(error=fault)
        if self._lines.directory is None or not is_fault_of_file(fault):
            self._lines.directory = None
            return
        with contextlib.suppress(OSError):
            self._lines.begin()
            self._load_lines()
            self.notice = LINES_ONLY.format(error=fault, place=self._lines.directory)
            for each in self._waiting.items:
                if each.place == NOWHERE:
                    self._lines.keep(_record_of(each))

    def begin_lines(self, directory: Path, key: bytes | None) -> None:
        """Be an archive in lines: all that is in the directory's, and from now on what is said. `key` is this
        user's. Raises OSError where nothing can be written there."""
        self._lines.allow(directory, key)
        self.begin_in(self._lines)

    def begin_in(self, kept: Lines) -> None:
        """Be an archive in these lines: what they hold, and from now on what is said. Raises OSError."""
        self._lines = kept
        kept.begin()
        self._load_lines()

    def show_lines(self, directory: Path, found: lines.Found) -> None:
        """Hold what the lines of a directory say, to be read only."""
        self._take(found)
        self._lines.show(directory)
        self._db.read_only = True
        self.waiting_lines = len({(each.file, each.number) for each in found.records()})

    def _load_lines(self) -> None:
        found = self._lines.read()
        self._take(found)
        self.notice = "; ".join([self.notice, *found.problems] if self.notice else found.problems)

    def _take(self, found: lines.Found) -> tuple[list[records.Numbered], list[records.Numbered]]:
        """Bring into the database what it does not hold yet; returns what was, and what cannot be."""
        held = found.records()
        done = self._db.write(lambda db: records.take(db, held, self._clock()))
        if any(each.record["kind"] in (FORGET, FORGET_SESSION) for each in done[0]):
            self.scrub()
        return done

    def count_waiting(self, found: lines.Found) -> None:
        """Look how many of these lines the file does not hold yet, and say so."""
        self.waiting_lines = self._db.read(lambda db: records.waiting(db, found.records()))
        if self.waiting_lines:
            self.notice = LINES_WAIT.format(count=self.waiting_lines)

    def take_in_lines(self) -> None:
        """Bring into the file what was written in lines while it could not be, also by other processes that
        still run. Files that are left behind go then; one with damaged lines is set aside. Says so."""
        if self._db.path is None or self._db.read_only or not lines.names(self._db.path.parent):
            return
        found = lines.read(self._db.path.parent, self._db.own_key(), self._clock())
        try:
            applied, refused = self._take(found)
        except StoreError as error:
            self.notice = str(error)
            return
        told = [LINES_TAKEN.format(count=len(applied))] if applied else []
        odd = {each.file for each in refused}
        for file in found.left_behind:
            told += lines.dismiss(file, whole=file.token not in odd)
        told = [*([self.notice] if self.notice else []), *told, *found.problems]
        self.notice = "; ".join(told)

    def scrub(self) -> None:
        """Take what was forgotten out of the index's and the log's bytes; others may write in between."""
        self._redactor.forget()
        self._drop_copy()
        while self._db.write(search.scrub):
            pass
        if not self._db.outside(entries.empty_log):
            self.notice = LOG_IN_USE

    def _drop_copy(self) -> None:
        """What is forgotten leaves the copy with all else in it; the end of a session makes a new one."""
        if self._db.path is None:
            return
        try:
            copies.remove(self._db.path)
        except OSError as error:
            place = copies.copy_of(self._db.path)
            raise StoreError(f"{place} cannot be deleted ({error.strerror}): delete it") from error

    def _mend(self, stored_id: str) -> bool:
        """Put an altered entry right from the copy; whether all of it is sound now. A line says so."""
        if self._db.in_trial or self._db.read_only:
            return False
        if self._db.read(check.structure):
            self._repair(apsw.CorruptError("damaged pages"))
            return True
        path = self._db.path
        copy = repair.own_copy(self._db, path) if path else None
        try:
            told = self._db.write(lambda db: repair.mend(db, copy, self._db.key, stored_id))
        except StoreError:
            return False
        self.notice = "; ".join(told) or self.notice
        return not any(line.endswith(repair.NOT_MENDED) for line in told)

    def _sound(self, stored_id: str, step: Step[Result]) -> Result:
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
            self._repair(error)
        except entries.Damaged:
            if not self._mend(stored_id):
                raise
        return self._db.read(step)

    def _sound_ones(
        self, instead: Result, step: Callable[[apsw.Connection, list[entries.Damaged]], Result]
    ) -> Result:
        """Read of many entries: of those that were altered the ones that can be mended, and a notice."""
        damaged: list[entries.Damaged] = []
        found = self._read_or(instead, lambda db: step(db, damaged))
        if not damaged:
            return found
        for error in damaged:
            self._mend(error.stored_id)
        left: list[entries.Damaged] = []
        found = self._read_or(instead, lambda db: step(db, left))
        if left:
            self.notice = "; ".join(str(error) for error in left[:DAMAGED_SHOWN])
        return found


class SqliteStore(SqliteBase):
    """See `Store` for what each method promises."""

    @property
    def persistent(self) -> bool:
        return self._db.path is not None or self._lines.is_tier

    @property
    def is_file(self) -> bool:
        """Whether it is a file of SQLite's."""
        return self._db.path is not None

    @property
    def directory(self) -> Path | None:
        return self._db.path.parent if self._db.path is not None else self._lines.directory

    @property
    def database(self) -> Database:
        """The file beneath, for what goes from one archive to another (see `archive.shared`)."""
        return self._db

    def open_session(
        self,
        session_id: str,
        *,
        project: str,
        started_at: float,
        provider: str = "",
        model: str = "",
        hold: bool = True,
    ) -> None:
        record = {
            "kind": "session", "id": session_id, "project": project, "started_at": started_at,
            "provider": provider, "model": model, "held": hold,
        }  # fmt: skip
        at = self._clock()
        self._write_or_wait(record, (lambda db: sessions.hold(db, session_id, at)) if hold else None)
        self._holds = self._holds or hold

    def redact(self, text: str) -> Redacted:
        return self._redactor(text)

    def add(self, entry: Entry, *, chunks: Sequence[Chunk], renditions: Sequence[Rendition] = ()) -> Entry:
        entry = self._dated(entry)
        body = self.redact(entry.content)
        draft = entries.draft(entry, body, self.redact(entry.source.detail).text, chunks)
        draft = replace(draft, renditions=self._redacted_renditions(renditions))

        def step(db: apsw.Connection) -> tuple[Entry, list[Draft | Later]]:
            written = self._waiting.write(db, self._clock)
            search.work_off(db, BACKLOG_PER_ADD)
            stored = entries.add(db, draft)
            self._keep(records.said(draft, stored.id, stored.seq))
            return stored, written

        try:
            stored, written = self._db.write(step)
        except Unavailable as error:
            if self._db.in_trial:
                raise
            self._wait(draft, error)
            return entry
        self._caught_up(written)
        return replace(
            stored, segments=entry.segments
        )  # those of its own text, not of the one without secrets

    def get(self, entry_id: str) -> Entry | None:
        return self._waiting.get(entry_id) or self._sound(entry_id, lambda db: entries.get(db, entry_id))

    def get_many(self, ids: Iterable[str]) -> dict[str, Entry]:
        wanted, nothing = list(ids), dict[str, Entry]()
        stored = self._sound_ones(nothing, lambda db, damaged: entries.get_many(db, wanted, damaged))
        return stored | {each: entry for each in wanted if (entry := self._waiting.get(each))}

    def original(self, entry_id: str) -> str | None:
        waiting = self._waiting.get(entry_id)
        if waiting:
            return waiting.content
        return self._sound(entry_id, lambda db: entries.original(db, entry_id))

    def resolve(self, prefix: str) -> list[str]:
        return self._db.read(lambda db: entries.resolve(db, prefix))

    def put_renditions(self, entry_id: str, renditions: Sequence[Rendition]) -> None:
        rows = records.rendition_rows(self._redacted_renditions(renditions))
        self._write_or_wait({"kind": "renditions", "entry": entry_id, "renditions": rows})

    def renditions(self, entry_id: str) -> dict[Fidelity, Rendition]:
        stored = self._sound(entry_id, lambda db: entries.renditions(db, entry_id))
        return stored | self._waiting.renditions(entry_id)

    def session_entries(self, session_id: str, *, after_seq: int = -1) -> list[Entry]:
        nothing: list[Entry] = []
        stored = self._sound_ones(
            nothing, lambda db, damaged: entries.session_entries(db, session_id, after_seq, damaged)
        )
        return stored + self._waiting.session_entries(session_id, after_seq)

    def sessions(self, project: str) -> list[SessionInfo]:
        return self._db.read(lambda db: sessions.sessions(db, project))

    def search_text(
        self,
        query: str,
        *,
        limit: int = 50,
        session: str | None = None,
        exclude_sessions: Collection[str] = (),
        classes: Collection[ContentClass] | None = None,
        min_seq: int | None = None,
        project: str | None = None,
    ) -> list[TextHit]:
        wanted = search.Filter(session, exclude_sessions, classes, min_seq, project)
        return self._read_or([], lambda db: search.find(db, query, limit, wanted))

    def work_off(self, limit: int = BACKLOG_AT_ONCE) -> int:
        if not self._db.read(search.has_backlog):
            return 0
        return self._db.write(lambda db: search.work_off(db, limit))

    def vectors_pending(
        self, limit: int, embedder: str, *, session: str | None = None
    ) -> list[PendingPassage]:
        return self._db.read(lambda db: vectors.pending(db, limit, embedder, session))

    def put_vectors(self, items: Sequence[tuple[PendingPassage, Vector]], embedder: str) -> int:
        return self._db.write(lambda db: vectors.put(db, items, embedder)) if items else 0

    def search_vectors(
        self,
        vector: Vector,
        *,
        embedder: str,
        limit: int = 50,
        session: str | None = None,
        exclude_sessions: Collection[str] = (),
        classes: Collection[ContentClass] | None = None,
        min_seq: int | None = None,
        project: str | None = None,
    ) -> list[VectorHit]:
        wanted = search.Filter(session, exclude_sessions, classes, min_seq, project)
        return self._read_or([], lambda db: self._vectors.find(db, vector, embedder, limit, wanted))

    def warm_vectors(self, embedder: str) -> int:
        while self._db.read(lambda db: self._vectors.grow(db, embedder, vectors.SLICE_ROWS)):
            pass
        return self._vectors.count

    def touch(self, ids: Iterable[str], at: float) -> None:
        wanted = list(ids)
        if not self._db.read_only:
            self._write_or_wait({"kind": "touch", "ids": wanted, "at": at})

    def pin(self, entry_id: str, pinned: bool) -> None:
        self._write_or_wait({"kind": "pin", "entry": entry_id, "pinned": pinned})

    def set_active(self, ids: Iterable[str], active: bool) -> None:
        self._write_or_wait({"kind": "active", "ids": list(ids), "active": active})

    def forget(self, ids: Sequence[str], *, told: bool = True) -> int:
        wanted = list(ids)
        self.take_in_lines()
        count = self._waiting.forget(wanted)
        for at in range(0, len(wanted), FORGOTTEN_AT_ONCE):
            some = wanted[at : at + FORGOTTEN_AT_ONCE]
            count += self._forget(partial(entries.forget, ids=some, told=told))
        self.scrub()
        self._forget_lines({"kind": FORGET, "ids": wanted})
        return count

    def forget_session(self, session_id: str) -> int:
        self.take_in_lines()
        count = self._forget(lambda db: entries.forget_session(db, session_id))
        self.scrub()
        self._forget_lines({"kind": FORGET_SESSION, "session": session_id})
        return count

    def record_event(
        self, session_id: str, turn: int, kind: str, data: Mapping[str, object], at: float
    ) -> None:
        clean = {str(key): self._redactor.clean(value) for key, value in data.items()}
        self._write_or_wait(
            {"kind": "event", "session": session_id, "turn": turn, "event": kind, "data": clean, "at": at}
        )

    def events(
        self, session_id: str | None = None, kind: str | None = None, entry_id: str | None = None
    ) -> list[Event]:
        stored = self._db.read(lambda db: sessions.events(db, session_id, kind, entry_id))
        return stored + self._waiting.events(session_id, kind, entry_id)

    def set_state(self, session_id: str, key: str, value: str) -> None:
        clean = self._clean_json(value)
        self._write_or_wait({"kind": "state", "session": session_id, "key": key, "value": clean})

    def get_state(self, session_id: str, key: str) -> str | None:
        waiting = self._waiting.state(session_id, key)
        if waiting is not None:
            return waiting
        return self._db.read(lambda db: sessions.get_state(db, session_id, key))

    def holdings(self) -> list[Holding]:
        return self._db.read(sessions.holdings)

    def size_bytes(self) -> int:
        if self._lines.is_tier:
            return self._lines.bytes
        return self._db.read(sessions.size_bytes)

    def live_sessions(self) -> frozenset[str]:
        return self._db.read(lambda db: sessions.live_sessions(db, self._clock()))

    def open_elsewhere(self) -> frozenset[str]:
        return self._db.read(sessions.open_elsewhere)

    def compact(self) -> None:
        self._drop_copy()
        self._db.outside(sessions.compact)
        if not self._db.outside(entries.empty_log):
            self.notice = LOG_IN_USE

    @contextlib.contextmanager
    def trial(self) -> Iterator[None]:
        with self._redactor.trial(), self._db.trial():
            held = self._vectors.held
            try:
                yield
            finally:
                self._vectors.held = held

    def stats(self) -> StoreStats:
        found = self._db.read(lambda db: sessions.stats(db, self._db.path))
        if self._lines.is_tier:
            return replace(found, path=self._lines.shown, bytes=self._lines.bytes)
        return found

    def verify(self) -> list[str]:
        def step(db: apsw.Connection) -> list[str]:
            return [*check.index(db), *check.loose_ends(db)]

        before = self.notice
        found = [*self._structure(), *(self._lines.read().problems if self._lines.is_tier else [])]
        if self._db.read_only:
            return found or self._db.read(
                lambda db: [*(fault.line for fault in check.faults(db)), *check.loose_ends(db)]
            )
        if found:
            self._repair(apsw.CorruptError("damaged pages"))
            return [*found, self.notice]
        path = self._db.path
        copy = repair.own_copy(self._db, path) if path else None
        found = self._db.write(lambda db: repair.mend(db, copy, self._db.key))
        loose = self._db.write(step)
        if any("full-text index" in line for line in loose):
            self._db.write(search.rebuild)
            loose.append("the full-text index was built anew")
        return [*found, *loose, *([self.notice] if self.notice != before else [])]

    def _structure(self) -> list[str]:
        """What SQLite finds wrong with the file; what it cannot even look through is one line."""
        try:
            return self._db.read(check.structure)
        except StoreError as error:
            return [str(error)]

    def export(self, path: Path) -> int:
        damaged: list[str] = []
        try:
            count = self._db.read(lambda db: transfer.write_export(db, Path(path), damaged))
        except OSError as error:
            raise StoreError(f"{path} cannot be written ({error.strerror})") from error
        if damaged:
            self.notice = NOT_EXPORTED.format(ids=", ".join(damaged))
        return count

    def import_(self, path: Path) -> int:
        try:
            return self._add_lines(lambda db: transfer.read_import(db, Path(path)))
        except OSError as error:
            raise StoreError(f"{path} cannot be read ({error.strerror})") from error

    def adopt(self, stranger: Path) -> int:
        try:
            files.check_plain(stranger)
            key = encryption.key_for(stranger, self._db.key_source)
            return self._add_lines(lambda db: transfer.adopt(db, stranger, key))
        except OSError as error:
            raise StoreError(f"{stranger} cannot be read ({error.strerror})") from error

    def copy_from(self, source: SqliteStore, without: Sequence[Record] = ()) -> int:
        """Add what another archive holds and this one does not; returns the lines read of it. All or nothing.

        `without` are records of what is to be left out as if it were forgotten. Raises StoreError, also if an
        entry of the source is damaged.
        """

        def add(old: apsw.Connection, db: apsw.Connection) -> int:
            return records.copy_without(old, db, without) if without else transfer.copy(old, db)

        return source._db.read(lambda old: self._add_lines(lambda db: add(old, db)))

    def _add_lines(self, step: Step[int]) -> int:
        """Add what comes from elsewhere, to the lines too where they are the archive."""

        def whole(db: apsw.Connection) -> int:
            before = db.total_changes()
            count = step(db)
            if self._lines.is_tier and db.total_changes() > before:
                self._lines.keep_all({"kind": IMPORT, "lines": list(transfer.lines(db, []))})
                self._tell_fault()
            return count

        return self._db.write(whole)

    def close(self) -> None:
        if self._db.is_open and (self._waiting or self._holds):
            if not self._waiting:
                self._db.set_patience(PATIENCE_MILLISECONDS)
            with contextlib.suppress(StoreError):
                self._waiting.settle(self._db.write(self._let_go))
                self._copy()
                if not self._waiting:
                    self._lines.settle()
        self._lines.close()
        self._db.close()

    def _copy(self) -> None:
        """Make the copy of the archive as it is now; without one the former stays. What was altered since the
        former is put back first: the new one must not take it over."""
        path = self._db.path
        if path is not None:
            with contextlib.suppress(OSError, apsw.Error, StoreError):
                if self._db.read(lambda db: next(check.faults(db), None)) is not None:
                    former = repair.own_copy(self._db, path)
                    self._db.write(lambda db: repair.mend(db, former, self._db.key))
                self._db.outside(lambda db: copies.make(db, path, self._db.key))

    def _let_go(self, db: apsw.Connection) -> list[Draft | Later]:
        """The last write: what waits, and that this process holds no session open any more."""
        written = self._waiting.write(db, self._clock)
        sessions.let_go(db)
        return written

    def _forget(self, step: Callable[[apsw.Connection], int]) -> int:
        if self._db.in_trial:
            raise StoreError("nothing can be forgotten within a trial")
        return self._db.write(step)

    def _forget_lines(self, record: Record) -> None:
        """Take what was forgotten out of the lines too."""
        try:
            in_use = self._lines.forget(record)
        except OSError as error:
            place, fault = self._lines.directory, error.strerror or str(error)
            raise StoreError(NOT_FORGOTTEN.format(place=place, fault=fault)) from error
        if in_use:
            self.notice = LINES_IN_USE.format(names=", ".join(in_use))


def _record_of(waiting: Draft | Later) -> Record:
    if isinstance(waiting, Draft):
        return records.said(waiting, waiting.entry.id, waiting.entry.seq)
    return waiting.record


def may_write_lines(database: Database) -> bool:
    """Whether what cannot be written to a file may go to lines beside it: never that of an encrypted one."""
    path = database.path
    return path is not None and not (
        database.read_only or database.key or is_secret(path, database.key_source)
    )


def is_secret(path: Path, key_source: str) -> bool:
    """Whether an archive is encrypted, or a new one would be."""
    marker = encryption.read_marker(path.parent)
    return bool(key_source) or marker is not None or encryption.is_encrypted(path)


def is_fault_of_file(fault: Exception) -> bool:
    """Whether an archive cannot be used for what SQLite or the system says, or because it is of a newer
    version, and not for what somebody put in its place."""
    return isinstance(fault, (apsw.Error, OSError, Unavailable, Newer))


def open_sqlite(
    directory: Path | None,
    clock: Callable[[], float] = time.time,
    key_source: str = "",
    user: Path | None = None,
) -> SqliteStore:
    """Open or begin the archive of a directory; where that is impossible one in lines, or in memory, with a
    notice."""
    if directory is None:
        return SqliteStore(Database(None), clock=clock)
    fault: Exception
    place = None
    try:
        place = location.prepare_directory(directory, user)
        store = _open_file(
            Database(place / location.FILE_NAME, connect=False, key_source=key_source, user=user), clock
        )
        if place != Path(os.path.realpath(directory)):
            store.notice = store.notice or TRACKED.format(path=directory, place=place)
        store.take_in_lines()
        return store
    except StoreError as error:
        reason, fault = str(error), error
    except apsw.Error as error:
        reason, fault = explain(error, directory / location.FILE_NAME), error
    except (OSError, ValueError) as error:
        reason, fault = (
            UNUSABLE.format(path=directory, fault=getattr(error, "strerror", None) or error),
            error,
        )
    if place is not None and is_fault_of_file(fault):
        if is_secret(place / location.FILE_NAME, key_source):
            reason += NO_PLAIN_LINES
        else:
            with contextlib.suppress(OSError):
                return open_lines(place, clock, user, reason)
    return SqliteStore(Database(None), clock=clock, notice=IN_MEMORY.format(reason=reason))


def open_lines(
    place: Path, clock: Callable[[], float], user: Path | None = None, reason: str = ""
) -> SqliteStore:
    """An archive in lines of JSON in a directory that is there and private, held in memory besides.

    `reason` is why it is not in SQLite. Raises OSError where nothing can be written.
    """
    notice = IN_LINES.format(reason=reason, place=place) if reason else ""
    store = SqliteStore(Database(None), clock=clock, notice=notice)
    store.begin_lines(place, ownership.user_key(user or location.user_directory()))
    return store


def open_to_read(directory: Path, key_source: str = "", user: Path | None = None) -> SqliteStore:
    """The archive of a directory, to be read only: whatever is found, nothing there changes.

    Where it cannot be opened, or there is none yet, what the lines beside it hold. Raises StoreError where
    nothing can be read.
    """
    place = Path(os.path.realpath(location.settled_directory(directory, user)))
    path = place / location.FILE_NAME
    found = lines.Found()
    if lines.names(place):
        key = ownership.user_key(user or location.user_directory(), made=False)
        found = lines.read(place, key, time.time())
    try:
        store = opened_to_read(path, key_source, user)
    except StoreError as error:
        is_none = found.files and not encryption.header_of(path)
        if not found.files or not (is_none or is_fault_of_file(error)):
            raise
        told = [*([] if is_none else [str(error)]), *found.problems]
        store = SqliteStore(Database(None), notice="; ".join(told))
        store.show_lines(place, found)
        return store
    store.count_waiting(found)
    return store


def opened_to_read(path: Path, key_source: str, user: Path | None) -> SqliteStore:
    """The archive of a file, to be read only, whatever lies beside it. Raises StoreError."""
    database = Database(path, connect=False, key_source=key_source, user=user, read_only=True)
    try:
        _connect(database)
    except Stranger as error:
        raise StoreError(NOT_OPENED.format(reason=error)) from error
    except apsw.Error as error:
        raise database.failure(error) from error
    except OSError as error:
        raise Unavailable(f"{path} cannot be read ({error.strerror})") from error
    return SqliteStore(database)


def _open_file(database: Database, clock: Callable[[], float]) -> SqliteStore:
    path = database.path or Path()
    notice = "" if path.exists() else kept_copy(path)
    if notice:
        notice = NO_ARCHIVE.format(path=path) + notice
    try:
        _connect(database)
    except Stranger as error:
        notice = _begin_beside(database, path, clock(), error)
    except apsw.Error as error:
        if not is_damage(error):
            raise
        notice = repair.begin_anew(database, path, clock())
    if not notice and database.key_source and not database.key:
        notice = NOT_ENCRYPTED.format(path=path)
    return SqliteStore(database, clock=clock, notice=notice)


def _begin_beside(database: Database, path: Path, now: float, error: Stranger) -> str:
    """Set a stranger's archive aside, unless another process has done so, and begin one of our own with what
    the copy of ours holds."""
    notice = ""
    if location.identity(path) == error.identity:
        aside = repair.set_aside(path, now, "foreign")
        notice = SET_ASIDE.format(reason=error, aside=aside.name)
    _connect(database)
    copy = repair.own_copy(database, path) if notice else None
    if copy is not None:
        saved = database.write(lambda db: repair.salvage(db, None, copy, database.key))
        notice += FROM_COPY.format(saved=saved)
    return notice


def kept_copy(path: Path) -> str:
    """Keep the copy of an archive that is gone, and say where; "" if there is none."""
    try:
        aside = copies.put_aside(path)
    except OSError:
        return ""
    return KEPT_COPY.format(copy=aside.name) if aside else ""


def _connect(database: Database) -> None:
    """Open a file that another process may be setting up or holding right now, or whose file system fails for
    a moment, as one over a network does: without this the whole session would be kept in memory only."""
    began = time.monotonic()
    while True:
        try:
            return database.connect()
        except (apsw.BusyError, *FALTERING) as error:
            patience = FALTERING_SECONDS if isinstance(error, FALTERING) else BUSY_MILLISECONDS / 1_000
            if time.monotonic() >= began + patience:
                raise
            time.sleep(RETRY_SECONDS)
