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
    location,
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
    Result,
    Step,
    Stranger,
    Unavailable,
    explain,
    has_log,
    is_damage,
    is_index_damage,
)
from aider_gardener.archive.store.entries import Draft
from aider_gardener.archive.store.redact import Redacted, Redactor
from aider_gardener.archive.store.waiting import PATIENCE_MILLISECONDS, Later, Waiting
from aider_gardener.errors import StoreError
from aider_gardener.messages import ContentClass, Entry, Fidelity, Rendition

if TYPE_CHECKING:
    from aider_gardener.archive.store.base import Vector

IN_MEMORY = "this session is kept in memory only: {reason}"
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
        self._db = database
        self._clock = clock
        self._redactor = Redactor()
        self._waiting = Waiting()
        self._holds = False
        self._vectors = vectors.VectorCache()
        database.repair = self._look_again if database.read_only else self._repair

    def _write_or_wait(self, new: Later) -> None:
        """Write something small now; if the file cannot be written, with the next write that can be."""

        def step(db: apsw.Connection) -> list[Draft | Later]:
            written = self._waiting.write(db)
            new.step(db)
            return written

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
        """Keep something in memory until the file can be written again."""
        self._waiting.items.append(new)
        self._db.set_patience(PATIENCE_MILLISECONDS)
        self.notice = f"{error}; until then messages wait in memory"

    def _caught_up(self, written: list[Draft | Later]) -> None:
        if written:
            self._waiting.settle(written)
            self._db.set_patience()
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
            self._db.go_on_in_memory()
            self.notice = MEMORY_ONLY.format(error=fault)
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
            self._db.go_on_in_memory()
            self.notice = MEMORY_ONLY.format(error=fault)
        return True

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
        return self._db.path is not None

    @property
    def directory(self) -> Path | None:
        return self._db.path.parent if self._db.path is not None else None

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
        def step(db: apsw.Connection) -> None:
            sessions.open_session(db, session_id, project, started_at, provider, model)
            if hold:
                sessions.hold(db, session_id, self._clock())

        self._write_or_wait(Later(step))
        self._holds = self._holds or hold

    def redact(self, text: str) -> Redacted:
        return self._redactor(text)

    def add(self, entry: Entry, *, chunks: Sequence[Chunk], renditions: Sequence[Rendition] = ()) -> Entry:
        entry = self._dated(entry)
        body = self.redact(entry.content)
        draft = entries.draft(entry, body, self.redact(entry.source.detail).text, chunks)
        draft = replace(draft, renditions=self._redacted_renditions(renditions))

        def step(db: apsw.Connection) -> tuple[Entry, list[Draft | Later]]:
            written = self._waiting.write(db)
            search.work_off(db, BACKLOG_PER_ADD)
            return entries.add(db, draft), written

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
        kept = self._redacted_renditions(renditions)

        def step(db: apsw.Connection) -> None:
            number = entries.number_of(db, entry_id)
            if number is None:
                raise StoreError(f"there is no entry {entry_id}")
            entries.put_renditions(db, number, kept)

        self._write_or_wait(Later(step))

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
            self._write_or_wait(Later(lambda db: sessions.touch(db, wanted, at)))

    def pin(self, entry_id: str, pinned: bool) -> None:
        self._write_or_wait(Later(lambda db: sessions.pin(db, entry_id, pinned)))

    def set_active(self, ids: Iterable[str], active: bool) -> None:
        wanted = list(ids)
        self._write_or_wait(Later(lambda db: sessions.set_active(db, wanted, active)))

    def forget(self, ids: Sequence[str], *, told: bool = True) -> int:
        wanted = list(ids)
        count = self._waiting.forget(wanted)
        for at in range(0, len(wanted), FORGOTTEN_AT_ONCE):
            some = wanted[at : at + FORGOTTEN_AT_ONCE]
            count += self._forget(partial(entries.forget, ids=some, told=told))
        self.scrub()
        return count

    def forget_session(self, session_id: str) -> int:
        count = self._forget(lambda db: entries.forget_session(db, session_id))
        self.scrub()
        return count

    def record_event(
        self, session_id: str, turn: int, kind: str, data: Mapping[str, object], at: float
    ) -> None:
        clean = {str(key): self._redactor.clean(value) for key, value in data.items()}
        self._write_or_wait(
            Later(
                lambda db: sessions.record_event(db, session_id, turn, kind, clean, at),
                event=Event(0, session_id, turn, kind, clean, at),
            )
        )

    def events(
        self, session_id: str | None = None, kind: str | None = None, entry_id: str | None = None
    ) -> list[Event]:
        stored = self._db.read(lambda db: sessions.events(db, session_id, kind, entry_id))
        return stored + self._waiting.events(session_id, kind, entry_id)

    def set_state(self, session_id: str, key: str, value: str) -> None:
        clean = self._clean_json(value)
        self._write_or_wait(
            Later(
                lambda db: sessions.set_state(db, session_id, key, clean),
                state=(session_id, key, clean),
            )
        )

    def get_state(self, session_id: str, key: str) -> str | None:
        waiting = self._waiting.state(session_id, key)
        if waiting is not None:
            return waiting
        return self._db.read(lambda db: sessions.get_state(db, session_id, key))

    def holdings(self) -> list[Holding]:
        return self._db.read(sessions.holdings)

    def size_bytes(self) -> int:
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
        return self._db.read(lambda db: sessions.stats(db, self._db.path))

    def verify(self) -> list[str]:
        def step(db: apsw.Connection) -> list[str]:
            return [*check.index(db), *check.loose_ends(db)]

        before = self.notice
        found = self._structure()
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
            return self._db.write(lambda db: transfer.read_import(db, Path(path)))
        except OSError as error:
            raise StoreError(f"{path} cannot be read ({error.strerror})") from error

    def adopt(self, stranger: Path) -> int:
        try:
            files.check_plain(stranger)
            key = encryption.key_for(stranger, self._db.key_source)
            return self._db.write(lambda db: transfer.adopt(db, stranger, key))
        except OSError as error:
            raise StoreError(f"{stranger} cannot be read ({error.strerror})") from error

    def close(self) -> None:
        if self._db.is_open and (self._waiting or self._holds):
            if not self._waiting:
                self._db.set_patience(PATIENCE_MILLISECONDS)
            with contextlib.suppress(StoreError):
                self._waiting.settle(self._db.write(self._let_go))
                self._copy()
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

    def _drop_copy(self) -> None:
        """What is forgotten leaves the copy with all else in it; the end of a session makes a new one."""
        if self._db.path is None:
            return
        try:
            copies.remove(self._db.path)
        except OSError as error:
            place = copies.copy_of(self._db.path)
            raise StoreError(f"{place} cannot be deleted ({error.strerror}): delete it") from error

    def _let_go(self, db: apsw.Connection) -> list[Draft | Later]:
        """The last write: what waits, and that this process holds no session open any more."""
        written = self._waiting.write(db)
        sessions.let_go(db)
        return written

    def _forget(self, step: Callable[[apsw.Connection], int]) -> int:
        if self._db.in_trial:
            raise StoreError("nothing can be forgotten within a trial")
        return self._db.write(step)

    def scrub(self) -> None:
        """Take what was forgotten out of the index's and the log's bytes; others may write in between."""
        self._redactor.forget()
        self._drop_copy()
        while self._db.write(search.scrub):
            pass
        if not self._db.outside(entries.empty_log):
            self.notice = LOG_IN_USE


def open_sqlite(
    directory: Path | None,
    clock: Callable[[], float],
    key_source: str = "",
    user: Path | None = None,
) -> SqliteStore:
    """Open or begin the archive of a directory; in memory, with a notice, where that is impossible."""
    if directory is None:
        return SqliteStore(Database(None), clock=clock)
    try:
        place = location.prepare_directory(directory, user)
        store = _open_file(
            Database(place / location.FILE_NAME, connect=False, key_source=key_source, user=user), clock
        )
        if place != Path(os.path.realpath(directory)):
            store.notice = store.notice or TRACKED.format(path=directory, place=place)
        return store
    except StoreError as error:
        reason = str(error)
    except apsw.Error as error:
        reason = explain(error, directory / location.FILE_NAME)
    except (OSError, ValueError) as error:
        reason = (
            f"{directory} cannot be used ({getattr(error, 'strerror', None) or error}); check its permissions"
        )
    return SqliteStore(Database(None), clock=clock, notice=IN_MEMORY.format(reason=reason))


def open_to_read(directory: Path, key_source: str = "", user: Path | None = None) -> SqliteStore:
    """The archive of a directory, to be read only: whatever is found, nothing there changes.

    Raises StoreError where it cannot be read.
    """
    place = Path(os.path.realpath(location.settled_directory(directory, user)))
    path = place / location.FILE_NAME
    database = Database(path, connect=False, key_source=key_source, user=user, read_only=True)
    try:
        _connect(database)
    except Stranger as error:
        raise StoreError(NOT_OPENED.format(reason=error)) from error
    except apsw.Error as error:
        raise database.failure(error) from error
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror})") from error
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
