"""The archive in SQLite: `Store` over one `Database`, redaction in front of every write.

Where the file cannot be written the same archive goes on in memory, and each write is a line beside the file
(see `lines`) until it can. Where the file is damaged a new one takes its place (see `repair`).
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from aider_gardener import files
from aider_gardener.archive.store import (
    encryption,
    entries,
    lines,
    location,
    records,
    repair,
    search,
    sessions,
)
from aider_gardener.archive.store.base import (
    Event,
    Holding,
    SessionInfo,
    StoredPassage,
    StoreStats,
)
from aider_gardener.archive.store.database import (
    UNREPAIRED,
    Database,
    LogGone,
    Result,
    Step,
    Unavailable,
    explain,
    has_log,
    is_damage,
)
from aider_gardener.archive.store.lines import FileLines, Lines
from aider_gardener.archive.store.records import FORGET, FORGET_SESSION, Record
from aider_gardener.archive.store.redact import Redacted, Redactor, cleaned
from aider_gardener.errors import StoreError, UsageError
from aider_gardener.messages import Entry, Level, Rendition
from aider_gardener.phrases import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aider_gardener.archive.passages import Span
    from aider_gardener.archive.store.base import Evidence, Vector

LOG_IN_USE = "the archive's log is in use by another process: deleted text leaves it when that one ends"
NOT_NOW = "{path} cannot be written for the moment: try again when it can"
IN_MEMORY_ONLY = "{place} cannot be written ({fault}): until it can what is said is kept in memory only"
LINES_TAKEN = "taken into the archive: {lines} written where it could not be"
COPY_NOT_ENCRYPTED = "the copy in {place} is not encrypted; `gardener store encrypt` encrypts it"
PUT_BACK = "missing, and put back from the copy: {entries}"
BACKLOG_PER_ADD = 16
BACKLOG_AT_ONCE = 200
FORGOTTEN_AT_ONCE = 200
PATIENCE_MILLISECONDS = 250
"""While the file cannot be written, a lock is waited for no longer than this: the first wait was long
enough."""


class Store:
    """Append-only originals with their renditions, occurrences, events and a full-text index.

    Every method may be called from any thread. Every write is one transaction: on disk when the
    method returns, or not at all. Methods raise `StoreError` when the archive cannot be read or
    written, but what a turn cannot do without goes on meanwhile: entries, renditions, events, marks and
    state that cannot be written for the moment (disk full, locked for 10 seconds) wait for the next write
    that succeeds, in memory and where possible in lines of JSON; searches find nothing while the file cannot
    be read, and `notice` says so. `forget` and the like never raise for ids that are unknown. Secrets are
    replaced by placeholders before anything is written, so what comes out may differ from what went in by
    the recorded spans and by nothing else.
    """

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], float] = time.time,
        notice: str = "",
        source: Lines | None = None,
    ) -> None:
        self._notice, self._is_read = notice, False
        self.mended = ""
        """What was wrong with the file as it was opened, which was put right; "" for nothing."""
        self.generation = 0
        self.lines = source
        self._file = database
        self._db = database
        self._clock = clock
        self._lock = threading.RLock()
        self._redactor = Redactor()
        self._vectors = search.VectorCache()
        self._places = search.PlaceCache()
        self._has_live = False
        database.repair = self._repair

    @classmethod
    def of_lines(
        cls, source: Lines, *, clock: Callable[[], float] = time.time, read_only: bool = False
    ) -> Store:
        """The archive that the records of a place say, in memory; what is wrong with them is its notice.
        Raises StoreError."""
        database, source_records = Database(None), source.read()
        database.write(lambda db: records.take(db, source_records))
        database.read_only = read_only
        return cls(database, clock=clock, notice="; ".join(source.problems), source=source)

    @property
    def notice(self) -> str:
        """One line for the user when something was set aside or is unavailable, else ""."""
        self._is_read = True
        return self._notice

    @notice.setter
    def notice(self, line: str) -> None:
        """Say a line, after those that nobody has asked for yet."""
        untold = "" if self._is_read else self._notice
        if line not in self._notice:  # what was told last is not told again
            self._notice, self._is_read = "; ".join(filter(None, [untold, line])), False

    @property
    def persistent(self) -> bool:
        """Whether entries outlive the process."""
        if self.lines is not None:
            return bool(self.lines.place) and not self.lines.fault
        return self._file.path is not None

    @property
    def is_file(self) -> bool:
        """Whether it is a file of SQLite's."""
        return self._file.path is not None

    @property
    def directory(self) -> Path | None:
        """Where the archive lies, None for one in memory."""
        if self._file.path is not None:
            return self._file.path.parent
        return self.lines.directory if self.lines is not None else None

    @property
    def database(self) -> Database:
        """What is read: the file, or the archive in memory."""
        return self._db

    def _write(self, record: Record, step: Step[Result] | None = None) -> Result:
        """Do what a record says, by `step` if given: in the file, or in memory with a line."""
        do: Step[Result] = step or (lambda db: records.apply(db, record))
        with self._lock:
            self._come_back()
            if self.lines is None:
                try:
                    return self._db.write(do)
                except Unavailable as error:
                    if self._file.path is None or self._file.in_transaction:
                        raise
                    self._fall_back(error)

            def with_line(db: apsw.Connection) -> Result:
                result = do(db)
                if self.lines is not None:
                    self.lines.append(record)
                return result

            result = self._db.write(with_line)
            if self.lines is not None and self.lines.fault:
                self.notice = IN_MEMORY_ONLY.format(place=self.lines.directory, fault=self.lines.fault)
            return result

    def together(self, do: Callable[[], Result]) -> Result:
        with self._lock:
            return self._db.write(lambda _db: do())

    def _fall_back(self, error: StoreError) -> None:
        """Go on in memory, with all that the file holds if it can be read, and with lines beside it."""
        path = self._file.path or Path()
        memory = self._in_memory()
        if memory is None:
            memory = Database(None)
            self.generation += 1
        is_secret = encryption.is_secret(path, self._file.key_source)
        # Through a link in the folder's place they would lie where somebody else wants them.
        own = None if is_secret or files.is_link(path.parent) else path.parent
        self.lines = FileLines(own, self._clock)
        self._db = memory
        where = "in lines of JSON beside it" if own else "in memory"
        self.notice = f"{error}; until then messages wait {where}"

    def _in_memory(self) -> Database | None:
        """What the file holds, in memory; None where it cannot be read now or is too large for it."""
        memory, path = Database(None), self._file.path or Path()
        try:
            self._file.set_patience(PATIENCE_MILLISECONDS)
            if path.stat().st_size > repair.LARGEST_COPIED_BYTES:
                return None
            memory.load(self._file)
        except (StoreError, OSError):
            return None
        return memory

    def _come_back(self) -> None:
        """Write to the file what waits, if it can be written again, and go on with it."""
        waiting = self.lines
        if self._db is self._file or not isinstance(waiting, FileLines):
            return
        try:
            self._file.write(lambda db: records.take(db, waiting.records))
        except StoreError:
            return
        self._db, self.lines = self._file, None
        self._file.set_patience()
        message_count = sum(each["kind"] == records.SAID for each in waiting.records)
        waiting.remove()
        self.notice = f"{self._file.path} can be written again; stored what waited: {message_count}"

    def _repair(self, error: apsw.Error) -> bool:
        """Put a new file in the place of one that is damaged or gone, with all that can be saved; where even
        that is impossible go on in memory. What a chat still holds is to be written again. A file that is
        only read is opened anew if another process has begun to write it meanwhile."""
        path, is_read = self._file.path, self._file.read_only
        if path is None or (is_read and not has_log(path)):
            return False
        is_log = isinstance(error, LogGone)
        in_memory = self._in_memory() if is_log and not self._file.take_log() else None
        self._file.close()
        self.generation += 1
        try:
            if is_read:
                self._file.connect()
            else:
                self.notice = repair.open_file(self._file, self._clock(), error)
            if in_memory is not None:
                with contextlib.suppress(StoreError):  # what a chat holds is written again all the same
                    repair.add_from_memory(self._file, in_memory)
        except (StoreError, apsw.Error, OSError) as fault:
            self._file.close()
            self._file.fault = explain(fault, path)
            if is_read:
                raise StoreError(UNREPAIRED.format(path=path)) from fault
            raise Unavailable(self._file.fault) from fault
        return True

    def _read(self, step: Step[Result]) -> Result:
        """Read of the file, or where that is lost of the archive in memory."""
        try:
            return self._db.read(step)
        except Unavailable as error:
            is_lost = not self._file.is_open or is_damage(error.__cause__)
            if not is_lost or self._file.path is None:
                raise
            with self._lock:
                if self._db is self._file:
                    self._fall_back(error)
            return self._db.read(step)

    def _read_or(self, instead: Result, step: Step[Result]) -> Result:
        """Read, or give something instead while the file cannot be read, with a notice."""
        try:
            return self._read(step)
        except Unavailable as error:
            self.notice = str(error)
            return instead

    def open_session(
        self,
        session_id: str,
        *,
        project: str,
        started_at: float,
        live: bool = True,
    ) -> None:
        """Begin a session, or go on with it: a known session keeps its project and start.

        It is live, for `live_sessions`, as long as this store is open; without `live` only while things are
        said in it: for a process that ends at once and whose end is not the session's.
        """
        record: Record = {
            "kind": "session", "id": session_id, "project": project, "started_at": started_at
        }  # fmt: skip

        def step(db: apsw.Connection) -> None:
            records.apply(db, record)
            if live:
                sessions.add_holder(db, session_id, self._clock())

        self._write(record, step)
        self._has_live = self._has_live or live

    def redact(self, text: str) -> Redacted:
        """A text as it would be stored. What is made from a text to be stored beside it (its short forms)
        must be made from this: a part of a secret may look like none."""
        return self._redactor(text)

    def add(self, entry: Entry, *, chunks: Sequence[Span], renditions: Sequence[Rendition] = ()) -> Entry:
        """Store an original with its occurrence, chunks and renditions, in one transaction.

        A content that is already there is stored once; the occurrence is recorded beside it. The
        result is `entry` with the stored id and the stored pinned, active and access figures; its
        content is the caller's, not the redacted one. Adding the same content at the same
        (session, seq) again changes nothing. Another content at a taken (session, seq) gets the
        next free seq, so that nothing is lost. `chunks` are spans of `entry.content`. While an entry
        waits `get`, `original`, `renditions` and `session_entries` know it already.
        """
        entry = entry if entry.created_at else replace(entry, created_at=self._clock())
        record = records.as_record(entry, self._redactor, chunks, renditions)

        def step(db: apsw.Connection) -> entries.StoredEntry:
            search.work_off(db, BACKLOG_PER_ADD)
            stored = entries.add(db, record)
            record.update(id=stored.id, seq=stored.seq)
            return stored

        return replace(entry, **self._write(record, step)._asdict())

    def get(self, entry_id: str) -> Entry | None:
        """The entry with its stored content, as it last occurred, or None."""
        return self._read(lambda db: entries.get_many(db, [entry_id])).get(entry_id)

    def get_many(self, ids: Iterable[str]) -> dict[str, Entry]:
        """What `get` gives for each of the ids, in one go; ids that are unknown are left out."""
        wanted = list(ids)
        return self._read_or({}, lambda db: entries.get_many(db, wanted))

    def original(self, entry_id: str) -> str | None:
        """The stored text alone, or None."""
        return self._read(lambda db: entries.original(db, entry_id))

    def resolve(self, prefix: str) -> list[str]:
        """The ids that start with `prefix` (at most 50, sorted); an exact id gives just that one."""
        return self._read(lambda db: entries.resolve(db, prefix))

    def put_renditions(self, entry_id: str, renditions: Sequence[Rendition]) -> None:
        """Keep renditions below full, each replacing the one of its level; full ones are ignored."""
        rows = [[each.level.value, self.redact(each.text).text, each.tokens] for each in renditions]
        self._write({"kind": "renditions", "id": entry_id, "renditions": rows})

    def renditions(self, entry_id: str) -> dict[Level, Rendition]:
        """The renditions kept for an entry; full is never among them (see `original`)."""
        return self._read(lambda db: entries.renditions(db, entry_id))

    def session_entries(self, session_id: str) -> list[Entry]:
        """One entry for each occurrence of the session, in order."""
        return self._read_or([], lambda db: entries.session_entries(db, session_id))

    def sessions(self, project: str) -> list[SessionInfo]:
        """The sessions of a project, in the order in which they were begun. In an archive that lies in the
        project all are its own, whatever its folder was called when they were held."""
        is_own = self.directory is not None and not location.is_shared(self.directory, project)
        return self._read(lambda db: sessions.sessions(db, None if is_own else project))

    def evidence(self, words: Sequence[str], sessions: Collection[str] | None = None) -> Evidence:
        """Every passage of some sessions, or of all, in the order said, and which of the words it holds. Of a
        word that more than 5,000 passages hold only the newest are told."""
        return self._read_or(
            search.no_evidence(len(words)),
            lambda db: search.find(db, self._places, words, sessions),
        )

    def quoted(self, chunks: Sequence[int]) -> dict[int, StoredPassage]:
        """These chunks of `evidence`, each with the entry that it is from and its text without colour codes;
        those that are gone are left out."""
        none = dict[int, StoredPassage]()
        return self._read_or(none, lambda db: {each.number: each for each in search.quoted(db, chunks)})

    def work_off(self, limit: int = BACKLOG_AT_ONCE) -> int:
        """Index what waits of very long originals, at most `limit` chunks; returns how many were done.

        `add` indexes both ends of an original at once and leaves the middle of very long ones for
        later; each further `add` does a little of it. Call this between turns until it returns 0.
        """
        if self._read(lambda db: db.execute("SELECT 1 FROM chunks WHERE indexed = 0 LIMIT 1").get) is None:
            return 0
        return self._db.write(lambda db: search.work_off(db, limit))

    def vectors_pending(self, limit: int, embedder: str) -> list[StoredPassage]:
        """At most `limit` chunks without a vector of this embedder, the newest first."""
        return self._read(lambda db: list(search.vectors_pending(db, limit, embedder)))

    def put_vectors(self, items: Sequence[tuple[StoredPassage, Vector]], embedder: str) -> int:
        """Keep a vector for each chunk; returns how many were new.

        A chunk that is no longer there, or has a vector of this embedder, is passed over. Vectors of
        one embedder are of one length: the first decides, another raises StoreError.
        """
        return self._db.write(lambda db: search.put_vectors(db, items, embedder)) if items else 0

    def similarities(
        self, vector: Vector, *, embedder: str, chunks: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """The cosine of a vector with that of each chunk; NaN where a chunk has none of this embedder.

        `chunks` are numbers of chunks in any order, also repeatedly; the result is of the same length and in
        the same order. Vectors are kept with a byte a number: of those of a model a cosine is within 0.01 of
        the exact one; equal vectors have equal ones. Raises StoreError for a vector of another length than
        the embedder's.
        """
        import numpy as np

        none = np.full(len(chunks), np.nan, dtype=np.float32)
        step = partial(self._vectors.similarities, vector=vector, embedder=embedder, chunks=chunks)
        return self._read_or(none, step)

    def warm_vectors(self, embedder: str) -> int:
        """Read the vectors of an embedder into memory, bit by bit; returns how many there are.

        `similarities` would do it too, while it holds the archive: call this in the background.
        """
        while self._read(lambda db: self._vectors.grow(db, embedder)):
            pass
        return len(self._vectors.chunks)

    def touch(self, ids: Iterable[str], at: float) -> None:
        """Count one access of each entry at this time."""
        found = list(ids)
        if found and not self._db.read_only:
            self._write({"kind": "touch", "ids": found, "at": at})

    def pin(self, entry_id: str, pinned: bool) -> None:
        self._write({"kind": "pin", "id": entry_id, "pinned": pinned})

    def set_active(self, session: str, seqs: Iterable[int], active: bool) -> None:
        """Say what of a session stands in its chat."""
        self._write({"kind": "active", "session": session, "seqs": list(seqs), "active": active})

    def forget(self, ids: Sequence[str], *, everywhere: bool = True) -> int:
        """Delete entries for good, with occurrences, renditions, index and the events about them.

        When it returns, their bytes are gone from the file, its log and its index. Returns how many
        there were.  A server that the project is shared with hears of the user's own
        entries; without `everywhere` only of those that were said on this machine.
        """
        wanted = list(ids)
        steps = [
            partial(entries.forget, ids=wanted[at : at + FORGOTTEN_AT_ONCE], everywhere=everywhere)
            for at in range(0, len(wanted), FORGOTTEN_AT_ONCE)
        ]
        return self._forget({"kind": FORGET, "ids": wanted, "told": everywhere}, steps)

    def forget_session(self, session_id: str) -> int:
        """Delete a session and, for good, every entry that occurs in no other one; returns how many."""
        record = {"kind": FORGET_SESSION, "session": session_id}
        return self._forget(record, [lambda db: entries.forget_session(db, session_id)])

    def _forget(self, record: Record, steps: Iterable[Step[int]]) -> int:
        with self._lock:
            self._come_back()
            self._refuse_in_fallback()
            self.merge_lines()
            others = self._lines_of_others()
            in_use = [each.path.name for each in others if each.is_alive or self.lines is None]
            if in_use:
                raise StoreError(lines.IN_USE.format(names=", ".join(in_use)))
            if self.lines is not None:  # what others wrote since these were read is to go too
                found = self.lines.read()
                self._db.write(lambda db: records.take(db, found))
            repair.drop_copy(self._file.path)
            count = sum(self._db.write(step) for step in steps)
            self.scrub()
            if self.lines is not None:
                self._put_lines_anew()
                self.lines.append(record)  # an archive that cannot be opened now may hold it too
            return count

    def _refuse_in_fallback(self) -> None:
        if self.lines is not None and self._file.path is not None:
            raise StoreError(NOT_NOW.format(path=self._file.path))

    def _put_lines_anew(self) -> None:
        """Let the lines be what the archive holds, and no more. Raises StoreError."""
        if self.lines is None:
            return
        try:
            notices = self.lines.replace(self._db.read(lambda db: list(records.export(db))))
        except OSError as error:
            fault = error.strerror or str(error)
            raise StoreError(IN_MEMORY_ONLY.format(place=self.lines.place, fault=fault)) from error
        if notices:
            self.notice = "; ".join(notices)

    def _lines_of_others(self) -> list[lines.LinesFile]:
        """The files of lines beside the archive that are not this store's."""
        if self.directory is None:
            return []
        own = self.lines.place if self.lines is not None else ""
        found = lines.read(self.directory, self._clock())
        return [each for each in found.files if str(each.path) != own]

    def merge_lines(self) -> None:
        """Bring into the file what was written in lines while it could not be, also by processes that still
        run. Files that are left behind go then; one with damaged lines is set aside. Says so."""
        path = self._file.path
        if path is None or self.lines is not None or not lines.names(path.parent):
            return
        found = lines.read(path.parent, self._clock())
        try:
            refused = self._file.write(lambda db: records.take(db, found.records))
            if any(each["kind"] in (FORGET, FORGET_SESSION) for each in found.records):
                self.scrub()
        except StoreError as error:
            self.notice = str(error)
            return
        dead = [each for each in found.files if not each.is_alive]
        notices = [line for each in dead for line in lines.dismiss(each, whole=not refused)]
        count = len(found.records) - refused
        taken = [LINES_TAKEN.format(lines=counted(count, "line"))] if count else []
        if lines_notice := "; ".join([*taken, *notices, *found.problems]):
            self.notice = lines_notice

    def scrub(self) -> None:
        """Take what was forgotten out of the index's and the log's bytes; others may write in between."""
        self._redactor.forget()
        repair.drop_copy(self._file.path)
        self._db.write(lambda db: search.scrub(db, begin=True))
        while self._db.write(search.scrub):
            pass
        if not self._db.outside(entries.empty_log):
            self.notice = LOG_IN_USE

    def record_event(
        self, session_id: str, turn: int, kind: str, data: Mapping[str, object], at: float
    ) -> None:
        """Append an event. `data` is JSON; an id of an entry by itself says that it is about that one."""
        clean = cleaned(data, self._redactor)
        self._write(
            {"kind": "event", "session": session_id, "turn": turn, "event": kind, "data": clean, "at": at}
        )

    def events(
        self, session_id: str | None = None, kind: str | None = None, entry_id: str | None = None
    ) -> list[Event]:
        """The events that match all that is given, oldest first."""
        return self._read(lambda db: sessions.events(db, session_id, kind, entry_id))

    def set_state(self, session_id: str, key: str, value: str) -> None:
        clean = self._redactor.clean_json(value)
        self._write({"kind": "state", "session": session_id, "key": key, "value": clean})

    def get_state(self, session_id: str, key: str) -> str | None:
        return self._read(lambda db: sessions.get_state(db, session_id, key))

    def holdings(self) -> list[Holding]:
        """Every original as retention sees it, oldest first."""
        return self._read(sessions.holdings)

    def size_bytes(self) -> int:
        """What the archive takes in bytes, in its file or in memory, without room that deletions left."""
        return self._read(sessions.size_bytes)

    def live_sessions(self) -> frozenset[str]:
        """The sessions that some process holds open, or in which something was said within 24 hours."""
        return self._read(lambda db: sessions.live_sessions(db, self._clock()))

    def open_elsewhere(self) -> frozenset[str]:
        """The sessions that another process of this machine holds open."""
        return self._read(sessions.open_elsewhere)

    def compact(self) -> None:
        """Give room that deletions left back to the disk. Raises StoreError while the file is in use."""
        repair.drop_copy(self._file.path)
        self._db.outside(sessions.compact)
        if not self._db.outside(entries.empty_log):
            self.notice = LOG_IN_USE

    def stats(self) -> StoreStats:
        """Counts of what is stored."""
        found = self._read(lambda db: sessions.stats(db, self._file.path))
        if self.lines is not None and self._file.path is None:
            return replace(found, path=self.lines.place)
        return found

    def verify(self) -> list[str]:
        """Check the file and the hash of every original: one line for each problem, [] when sound."""
        before, generation = self._notice, self.generation
        line_problems = [] if self.lines is None or self.directory is not None else self.lines.problems
        found = [*line_problems, *(line for each in self._lines_of_others() for line in each.problems)]
        try:
            wrong, is_writable = self._read(repair.problems), not self._db.read_only
            found += wrong
            if wrong and self.generation == generation and is_writable and self._db is self._file:
                self._file.outside(lambda _: self._repair(apsw.CorruptError("found by a check")))
            if is_writable and (count := repair.put_back(self._file)):
                found.append(PUT_BACK.format(entries=counted(count, "entry", "entries")))
        except StoreError as error:
            found.append(str(error))
        return [*found, *([self._notice] if self._notice != before else [])]

    def export(self, path: Path) -> int:
        """Write everything as JSON lines (mode 0600), at the end in place of an export; returns the lines.
        Raises UsageError for a file of the archive itself, StoreError for any other."""
        own = self.directory and os.path.realpath(self.directory / location.FILE_NAME)
        if own and os.path.realpath(path).startswith(own):
            raise UsageError(f"{path} is a file of the archive; name another for the export")
        try:
            return self._read(lambda db: records.write_export(db, Path(path)))
        except OSError as error:
            raise StoreError(f"{path} cannot be written ({error.strerror})") from error

    def import_(self, path: Path) -> int:
        """Add the entries of an export that are not there yet; returns how many lines were new.

        All or nothing: a line that cannot be read raises `StoreError` naming it.
        """
        try:
            return self._add_all(
                records.read_export(Path(path)), records.NOT_IMPORTED.replace("{path}", str(path))
            )
        except OSError as error:
            raise StoreError(f"{path} cannot be read ({error.strerror})") from error

    def copy_from(self, source: Store) -> int:
        """Add what another archive holds and this one does not, whatever the tiers of both; returns how many
        records were new. Vectors are made anew here. All or nothing. Raises StoreError."""
        fault = f"{source.directory} cannot be read: nothing was copied"
        count = source._read(lambda old: self._add_all(records.export_of_other(old), fault))
        if source.database.key and self.is_file and not self.database.key:
            self.notice = COPY_NOT_ENCRYPTED.format(place=self.directory)
        return count

    def _add_all(self, found: Iterable[Record], fault: str) -> int:
        """Add what comes from elsewhere, to the lines too where they are the archive; `fault` is what is
        said of a record that cannot be read."""

        def step(db: apsw.Connection) -> int:
            admitted = found if self.lines is None else self.lines.admitted(found)
            if new := records.add_all(db, admitted, fault):
                self._put_lines_anew()
            return new

        with self._lock:
            self._come_back()
            self._refuse_in_fallback()
            return self._db.write(step)

    def copy_if_due(self) -> None:
        """Copy the archive if its copy is an hour old, as the end of a session does: for a host that tells
        only when a turn ends. What cannot be copied now is copied after another turn."""
        with self._lock, contextlib.suppress(StoreError, apsw.Error, OSError):
            path = self._file.path
            if path is not None and self._db is self._file and repair.is_copy_due(path):
                repair.make_copy(self._file)

    def close(self) -> None:
        """Close the archive; closing twice is harmless. Any other call afterwards raises StoreError."""
        with self._lock:
            if self._db.is_open and not self._db.read_only:
                with contextlib.suppress(StoreError):
                    self._come_back()
                if self._has_live:
                    with contextlib.suppress(StoreError, apsw.Error, OSError):
                        self._db.set_patience(PATIENCE_MILLISECONDS)
                        self._db.write(sessions.remove_holders)
                        if self._db is self._file:
                            repair.make_copy(self._file)
            if self.lines is not None:
                self.lines.close()
            self._db.close()
            self._file.close()
