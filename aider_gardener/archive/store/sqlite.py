"""The archive in SQLite: `Store` over one `Database`, redaction in front of every write.

What waits and what goes to lines is `beside`'s; what is damaged is `mending`'s.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.archive.store import (
    copies,
    encryption,
    entries,
    evidence,
    files,
    records,
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
)
from aider_gardener.archive.store.database import Database, Step
from aider_gardener.archive.store.fallback import Fallback
from aider_gardener.archive.store.mending import Mending
from aider_gardener.archive.store.notice import Notice
from aider_gardener.archive.store.records import FORGET, FORGET_SESSION, IMPORT, Record
from aider_gardener.archive.store.redact import Redacted, Redactor
from aider_gardener.errors import StoreError
from aider_gardener.messages import Entry, Fidelity, Rendition

if TYPE_CHECKING:
    import apsw
    import numpy as np
    from numpy.typing import NDArray

    from aider_gardener.archive.store.base import Evidence, Vector
    from aider_gardener.archive.store.words import Word

NOT_EXPORTED = "damaged and not exported: {ids}; `gardener store verify` mends what it can"
LOG_IN_USE = "the archive's log is in use by another process: deleted text leaves it when that one ends"
BACKLOG_PER_ADD = 16
BACKLOG_AT_ONCE = 500
FORGOTTEN_AT_ONCE = 200


class SqliteStore:
    """See `Store` for what each method promises. `beside` is what stands beside its file."""

    def __init__(
        self, database: Database, *, clock: Callable[[], float] = time.time, notice: str = ""
    ) -> None:
        self._db = database
        self._clock = clock
        self._notice = Notice(notice)
        self._redactor = Redactor()
        self._vectors = vectors.VectorCache()
        self._places = evidence.PlaceCache()
        self._holds = False
        self.fallback = Fallback(database, clock, self._notice, self.scrub)
        self._mending = Mending(database, clock, self._notice, self.fallback, (self._vectors, self._places))

    @property
    def notice(self) -> str:
        return self._notice.text

    @notice.setter
    def notice(self, line: str) -> None:
        self._notice.text = line

    @property
    def generation(self) -> int:
        return self._mending.generation

    @property
    def persistent(self) -> bool:
        return self._db.path is not None or self.fallback.lines.is_tier

    @property
    def is_file(self) -> bool:
        """Whether it is a file of SQLite's."""
        return self._db.path is not None

    @property
    def directory(self) -> Path | None:
        return self._db.path.parent if self._db.path is not None else self.fallback.lines.directory

    @property
    def database(self) -> Database:
        """The file beneath, for what goes from one archive to another (see `archive.postgres`)."""
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
        self.fallback.write_record(record, (lambda db: sessions.hold(db, session_id, at)) if hold else None)
        self._holds = self._holds or hold

    def redact(self, text: str) -> Redacted:
        return self._redactor(text)

    def add(self, entry: Entry, *, chunks: Sequence[Chunk], renditions: Sequence[Rendition] = ()) -> Entry:
        entry = self._dated(entry)
        body = self.redact(entry.content)
        draft = entries.draft(entry, body, self.redact(entry.source.detail).text, chunks)
        draft = replace(draft, renditions=self._redacted_renditions(renditions))

        def step(db: apsw.Connection) -> tuple[Entry, Record]:
            search.work_off(db, BACKLOG_PER_ADD)
            stored = entries.add(db, draft)
            return stored, records.said(draft, stored.id, stored.seq)

        stored = self.fallback.write(draft, step)
        if stored is None:
            return entry
        return replace(
            stored, segments=entry.segments
        )  # those of its own text, not of the one without secrets

    def _dated(self, entry: Entry) -> Entry:
        return entry if entry.created_at else replace(entry, created_at=self._clock())

    def _redacted_renditions(self, renditions: Iterable[Rendition]) -> tuple[Rendition, ...]:
        return tuple(replace(each, text=self._redactor(each.text).text) for each in renditions)

    def get(self, entry_id: str) -> Entry | None:
        return self.fallback.waiting.get(entry_id) or self._mending.sound(
            entry_id, lambda db: entries.get(db, entry_id)
        )

    def get_many(self, ids: Iterable[str]) -> dict[str, Entry]:
        wanted, nothing = list(ids), dict[str, Entry]()
        stored = self._mending.sound_ones(nothing, lambda db, damaged: entries.get_many(db, wanted, damaged))
        return stored | {each: entry for each in wanted if (entry := self.fallback.waiting.get(each))}

    def original(self, entry_id: str) -> str | None:
        waiting = self.fallback.waiting.get(entry_id)
        if waiting:
            return waiting.content
        return self._mending.sound(entry_id, lambda db: entries.original(db, entry_id))

    def resolve(self, prefix: str) -> list[str]:
        return self._db.read(lambda db: entries.resolve(db, prefix))

    def put_renditions(self, entry_id: str, renditions: Sequence[Rendition]) -> None:
        rows = records.rendition_rows(self._redacted_renditions(renditions))
        self.fallback.write_record({"kind": "renditions", "entry": entry_id, "renditions": rows})

    def renditions(self, entry_id: str) -> dict[Fidelity, Rendition]:
        stored = self._mending.sound(entry_id, lambda db: entries.renditions(db, entry_id))
        return stored | self.fallback.waiting.renditions(entry_id)

    def session_entries(self, session_id: str, *, after_seq: int = -1) -> list[Entry]:
        nothing: list[Entry] = []
        self._mending.look_at_places()
        stored = self._mending.sound_ones(
            nothing, lambda db, damaged: entries.session_entries(db, session_id, after_seq, damaged)
        )
        return stored + self.fallback.waiting.session_entries(session_id, after_seq)

    def sessions(self, project: str) -> list[SessionInfo]:
        return self._db.read(lambda db: sessions.sessions(db, project))

    def evidence(
        self, words: Sequence[Word], *, session: str | None = None, sessions: Collection[str] | None = None
    ) -> Evidence:
        return self._mending.read_or(
            evidence.nothing(len(words)),
            lambda db: evidence.find(db, self._places, words, session=session, sessions=sessions),
        )

    def entry_ids(self, chunks: Sequence[int]) -> dict[int, str]:
        nothing: dict[int, str] = {}
        return self._mending.read_or(nothing, lambda db: evidence.entry_ids(db, chunks))

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

    def similarities(
        self, vector: Vector, *, embedder: str, chunks: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        import numpy as np

        none = np.full(len(chunks), np.nan, dtype=np.float32)
        step = partial(self._vectors.similarities, vector=vector, embedder=embedder, chunks=chunks)
        return self._mending.read_or(none, step)

    def warm_vectors(self, embedder: str) -> int:
        while self._db.read(lambda db: self._vectors.grow(db, embedder)):
            pass
        return self._vectors.count

    def touch(self, ids: Iterable[str], at: float) -> None:
        wanted = list(ids)
        if not self._db.read_only:
            self.fallback.write_record({"kind": "touch", "ids": wanted, "at": at})

    def pin(self, entry_id: str, pinned: bool) -> None:
        self.fallback.write_record({"kind": "pin", "entry": entry_id, "pinned": pinned})

    def set_active(self, ids: Iterable[str], active: bool) -> None:
        self.fallback.write_record({"kind": "active", "ids": list(ids), "active": active})

    def forget(self, ids: Sequence[str], *, told: bool = True) -> int:
        wanted = list(ids)
        self.fallback.take_in()
        count = self.fallback.waiting.forget(wanted)
        for at in range(0, len(wanted), FORGOTTEN_AT_ONCE):
            some = wanted[at : at + FORGOTTEN_AT_ONCE]
            count += self._forget(partial(entries.forget, ids=some, told=told))
        self.scrub()
        self.fallback.forget({"kind": FORGET, "ids": wanted, "told": told})
        return count

    def forget_session(self, session_id: str) -> int:
        self.fallback.take_in()
        count = self._forget(lambda db: entries.forget_session(db, session_id))
        self.scrub()
        self.fallback.forget({"kind": FORGET_SESSION, "session": session_id})
        return count

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

    def _drop_copy(self) -> None:
        """What is forgotten leaves the copy with all else in it; the end of a session makes a new one."""
        if self._db.path is None:
            return
        try:
            copies.remove(self._db.path)
        except OSError as error:
            place = copies.copy_of(self._db.path)
            raise StoreError(f"{place} cannot be deleted ({error.strerror}): delete it") from error

    def record_event(
        self, session_id: str, turn: int, kind: str, data: Mapping[str, object], at: float
    ) -> None:
        clean = {str(key): self._redactor.clean(value) for key, value in data.items()}
        self.fallback.write_record(
            {"kind": "event", "session": session_id, "turn": turn, "event": kind, "data": clean, "at": at}
        )

    def events(
        self, session_id: str | None = None, kind: str | None = None, entry_id: str | None = None
    ) -> list[Event]:
        stored = self._db.read(lambda db: sessions.events(db, session_id, kind, entry_id))
        return stored + self.fallback.waiting.events(session_id, kind, entry_id)

    def set_state(self, session_id: str, key: str, value: str) -> None:
        clean = self._redactor.clean_json(value)
        self.fallback.write_record({"kind": "state", "session": session_id, "key": key, "value": clean})

    def get_state(self, session_id: str, key: str) -> str | None:
        waiting = self.fallback.waiting.state(session_id, key)
        if waiting is not None:
            return waiting
        return self._db.read(lambda db: sessions.get_state(db, session_id, key))

    def holdings(self) -> list[Holding]:
        return self._db.read(sessions.holdings)

    def size_bytes(self) -> int:
        if self.fallback.lines.is_tier:
            return self.fallback.lines.bytes
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
                self._places.clear()

    def stats(self) -> StoreStats:
        found = self._db.read(lambda db: sessions.stats(db, self._db.path))
        if self.fallback.lines.is_tier:
            return replace(found, path=self.fallback.lines.shown, bytes=self.fallback.lines.bytes)
        return found

    def verify(self) -> list[str]:
        return self._mending.verify()

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
            return self._add_lines(
                lambda db: transfer.read_import(db, Path(path), self.fallback.lines.leaving)
            )
        except OSError as error:
            raise StoreError(f"{path} cannot be read ({error.strerror})") from error

    def adopt(self, stranger: Path) -> int:
        try:
            files.check_plain(stranger)
            key = encryption.key_for(stranger, self._db.key_source)
            return self._add_lines(lambda db: transfer.adopt(db, stranger, key, self.fallback.lines.leaving))
        except OSError as error:
            raise StoreError(f"{stranger} cannot be read ({error.strerror})") from error

    def copy_from(self, source: SqliteStore) -> int:
        """Add what another archive holds, this one does not, and may go to where this one is; returns the
        lines of that. All or nothing.

        Raises StoreError, also if an entry of the source is damaged.
        """
        leaving = self.fallback.lines.leaving
        return source._db.read(lambda old: self._add_lines(lambda db: transfer.copy(old, db, leaving)))

    def _add_lines(self, step: Step[int]) -> int:
        """Add what comes from elsewhere, to the lines too where they are the archive."""

        def whole(db: apsw.Connection) -> int:
            before = db.total_changes()
            count = step(db)
            if self.fallback.lines.is_tier and db.total_changes() > before:
                self.fallback.keep_all({"kind": IMPORT, "lines": list(transfer.lines(db, []))})
            return count

        count = self._db.write(whole)
        if self.fallback.lines.told:
            self._notice.add([self.fallback.lines.told])
        return count

    def close(self) -> None:
        if self._db.is_open and (self.fallback.waiting or self._holds):
            with contextlib.suppress(StoreError):
                self.fallback.write_last()
                self._mending.copy()
                self.fallback.settle()
        self.fallback.lines.close()
        self._db.close()
