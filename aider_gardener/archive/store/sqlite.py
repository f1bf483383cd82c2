"""The archive in SQLite: `Store` over one `Database`, redaction in front of every write."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from aider_gardener.archive.store import entries as sqlite_entries
from aider_gardener.archive.store import forget as sqlite_forget
from aider_gardener.archive.store import search
from aider_gardener.archive.store import sessions as sqlite_events
from aider_gardener.archive.store import transfer as sqlite_transfer
from aider_gardener.archive.store import usage as sqlite_retention
from aider_gardener.archive.store import vectors as sqlite_vectors
from aider_gardener.archive.store.base import Chunk, Event, PendingPassage, SessionInfo, StoreStats, TextHit
from aider_gardener.archive.store.entries import Draft
from aider_gardener.archive.store.faults import Unavailable
from aider_gardener.archive.store.sqlite_base import SqliteBase
from aider_gardener.archive.store.values import Holding, VectorHit
from aider_gardener.archive.store.waiting import PATIENCE_MILLISECONDS, Later
from aider_gardener.errors import StoreError
from aider_gardener.messages import ContentClass, Entry, Fidelity, Rendition

if TYPE_CHECKING:
    from aider_gardener.archive.store.base import Vector

BACKLOG_PER_ADD = 16
BACKLOG_AT_ONCE = 500
FORGOTTEN_AT_ONCE = 200
LOG_IN_USE = "the archive's log is in use by another process: deleted text leaves it when that one ends"


class SqliteStore(SqliteBase):
    """See `Store` for what each method promises."""

    @property
    def persistent(self) -> bool:
        return self._db.path is not None

    def open_session(
        self, session_id: str, *, project: str, started_at: float, provider: str = "", model: str = ""
    ) -> None:
        def step(db: apsw.Connection) -> None:
            sqlite_events.open_session(db, session_id, project, started_at, provider, model)
            sqlite_retention.hold(db, session_id, self._clock())

        self._write_or_wait(Later(step))
        self._holds = True

    def add(self, entry: Entry, *, chunks: Sequence[Chunk], renditions: Sequence[Rendition] = ()) -> Entry:
        entry = self._dated(entry)
        body = self._redact(entry.content)
        draft = sqlite_entries.draft(entry, body, self._redact(entry.source.detail).text, chunks)
        draft = sqlite_entries.with_renditions(draft, self._redacted_renditions(renditions))

        def step(db: apsw.Connection) -> tuple[Entry, list[Draft | Later]]:
            written = self._waiting.write(db)
            search.work_off(db, BACKLOG_PER_ADD)
            return sqlite_entries.add(db, draft), written

        try:
            stored, written = self._db.write(step)
        except Unavailable as error:
            if self._db.in_trial:
                raise
            self._wait(draft, error)
            return entry
        self._caught_up(written)
        return stored

    def get(self, entry_id: str) -> Entry | None:
        return self._waiting.get(entry_id) or self._db.read(lambda db: sqlite_entries.get(db, entry_id))

    def get_many(self, ids: Iterable[str]) -> dict[str, Entry]:
        wanted, nothing = list(ids), dict[str, Entry]()
        stored = self._read_or(nothing, lambda db: sqlite_entries.get_many(db, wanted))
        return stored | {each: entry for each in wanted if (entry := self._waiting.get(each))}

    def original(self, entry_id: str) -> str | None:
        waiting = self._waiting.get(entry_id)
        return waiting.content if waiting else self._db.read(lambda db: sqlite_entries.original(db, entry_id))

    def resolve(self, prefix: str) -> list[str]:
        return self._db.read(lambda db: sqlite_entries.resolve(db, prefix))

    def put_renditions(self, entry_id: str, renditions: Sequence[Rendition]) -> None:
        kept = self._redacted_renditions(renditions)

        def step(db: apsw.Connection) -> None:
            number = sqlite_entries.number_of(db, entry_id)
            if number is None:
                raise StoreError(f"there is no entry {entry_id}")
            sqlite_entries.put_renditions(db, number, kept)

        self._write_or_wait(Later(step))

    def renditions(self, entry_id: str) -> dict[Fidelity, Rendition]:
        stored = self._db.read(lambda db: sqlite_entries.renditions(db, entry_id))
        return stored | self._waiting.renditions(entry_id)

    def by_rendition(self, text_hash: str) -> str | None:
        return self._db.read(lambda db: sqlite_entries.by_rendition(db, text_hash))

    def session_entries(self, session_id: str, *, after_seq: int = -1) -> list[Entry]:
        stored = self._db.read(lambda db: sqlite_entries.session_entries(db, session_id, after_seq))
        return stored + self._waiting.session_entries(session_id, after_seq)

    def sessions(self, project: str) -> list[SessionInfo]:
        return self._db.read(lambda db: sqlite_events.sessions(db, project))

    def search_text(
        self,
        query: str,
        *,
        limit: int = 50,
        session: str | None = None,
        exclude_sessions: Collection[str] = (),
        classes: Collection[ContentClass] | None = None,
        min_seq: int | None = None,
        any_word: bool = True,
        remote_only: bool = False,
    ) -> list[TextHit]:
        wanted = search.Filter(session, exclude_sessions, classes, min_seq, remote_only)
        return self._read_or([], lambda db: search.find(db, query, limit, wanted, any_word))

    def work_off(self, limit: int = BACKLOG_AT_ONCE) -> int:
        if not self._db.read(search.has_backlog):
            return 0
        return self._db.write(lambda db: search.work_off(db, limit))

    def vectors_pending(
        self, limit: int, embedder: str, *, session: str | None = None
    ) -> list[PendingPassage]:
        return self._db.read(lambda db: sqlite_vectors.pending(db, limit, embedder, session))

    def put_vectors(self, items: Sequence[tuple[PendingPassage, Vector]], embedder: str) -> int:
        return self._db.write(lambda db: sqlite_vectors.put(db, items, embedder)) if items else 0

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
        remote_only: bool = False,
    ) -> list[VectorHit]:
        wanted = search.Filter(session, exclude_sessions, classes, min_seq, remote_only)
        return self._read_or([], lambda db: self._vectors.find(db, vector, embedder, limit, wanted))

    def warm_vectors(self, embedder: str) -> int:
        while self._db.read(lambda db: self._vectors.grow(db, embedder, sqlite_vectors.SLICE_ROWS)):
            pass
        return self._vectors.count

    def touch(self, ids: Iterable[str], at: float) -> None:
        wanted = list(ids)
        self._write_or_wait(Later(lambda db: sqlite_events.touch(db, wanted, at)))

    def pin(self, entry_id: str, pinned: bool) -> None:
        self._write_or_wait(Later(lambda db: sqlite_events.pin(db, entry_id, pinned)))

    def set_active(self, ids: Iterable[str], active: bool) -> None:
        wanted = list(ids)
        self._write_or_wait(Later(lambda db: sqlite_events.set_active(db, wanted, active)))

    def forget(self, ids: Sequence[str]) -> int:
        wanted = list(ids)
        count = self._waiting.forget(wanted)
        for at in range(0, len(wanted), FORGOTTEN_AT_ONCE):
            some = wanted[at : at + FORGOTTEN_AT_ONCE]
            count += self._forget(partial(sqlite_forget.forget, ids=some))
        self._scrub()
        return count

    def forget_session(self, session_id: str) -> int:
        count = self._forget(lambda db: sqlite_forget.forget_session(db, session_id))
        self._scrub()
        return count

    def record_event(
        self, session_id: str, turn: int, kind: str, data: Mapping[str, object], at: float
    ) -> None:
        clean = {str(key): self._clean(value) for key, value in data.items()}
        self._write_or_wait(
            Later(
                lambda db: sqlite_events.record_event(db, session_id, turn, kind, clean, at),
                event=Event(0, session_id, turn, kind, clean, at),
            )
        )

    def events(
        self, session_id: str | None = None, kind: str | None = None, entry_id: str | None = None
    ) -> list[Event]:
        stored = self._db.read(lambda db: sqlite_events.events(db, session_id, kind, entry_id))
        return stored + self._waiting.events(session_id, kind, entry_id)

    def set_state(self, session_id: str, key: str, value: str) -> None:
        clean = self._redact(value).text
        self._write_or_wait(
            Later(
                lambda db: sqlite_events.set_state(db, session_id, key, clean),
                state=(session_id, key, clean),
            )
        )

    def get_state(self, session_id: str, key: str) -> str | None:
        waiting = self._waiting.state(session_id, key)
        if waiting is not None:
            return waiting
        return self._db.read(lambda db: sqlite_events.get_state(db, session_id, key))

    def holdings(self) -> list[Holding]:
        return self._db.read(sqlite_retention.holdings)

    def size_bytes(self) -> int:
        return self._db.read(sqlite_retention.size_bytes)

    def live_sessions(self) -> frozenset[str]:
        return self._db.read(lambda db: sqlite_retention.live_sessions(db, self._clock()))

    def compact(self) -> None:
        self._db.outside(sqlite_retention.compact)
        if not self._db.outside(sqlite_forget.empty_log):
            self.notice = LOG_IN_USE

    @contextlib.contextmanager
    def trial(self) -> Iterator[None]:
        secrets = dict(self._secrets)
        with self._db.trial():
            held = self._vectors.held
            try:
                yield
            finally:
                self._secrets, self._vectors.held = secrets, held

    def stats(self) -> StoreStats:
        return self._db.read(lambda db: sqlite_events.stats(db, self._db.path))

    def verify(self) -> list[str]:
        return self._db.write(sqlite_transfer.problems)

    def export(self, path: Path) -> int:
        try:
            return self._db.read(lambda db: sqlite_transfer.write_export(db, Path(path)))
        except OSError as error:
            raise StoreError(f"{path} cannot be written ({error.strerror})") from error

    def import_(self, path: Path) -> int:
        try:
            return self._db.write(lambda db: sqlite_transfer.read_import(db, Path(path)))
        except OSError as error:
            raise StoreError(f"{path} cannot be read ({error.strerror})") from error

    def close(self) -> None:
        if self._db.is_open and (self._waiting or self._holds):
            if not self._waiting:
                self._db.set_patience(PATIENCE_MILLISECONDS)
            with contextlib.suppress(StoreError):
                self._waiting.settle(self._db.write(self._let_go))
        self._db.close()

    def _let_go(self, db: apsw.Connection) -> list[Draft | Later]:
        """The last write: what waits, and that this process holds no session open any more."""
        written = self._waiting.write(db)
        sqlite_retention.let_go(db)
        return written

    def _forget(self, step: Callable[[apsw.Connection], int]) -> int:
        if self._db.in_trial:
            raise StoreError("nothing can be forgotten within a trial")
        return self._db.write(step)

    def _scrub(self) -> None:
        """Take what was forgotten out of the index's and the log's bytes; others may write in between."""
        self._secrets.clear()
        while self._db.write(search.scrub):
            pass
        if not self._db.outside(sqlite_forget.empty_log):
            self.notice = LOG_IN_USE
