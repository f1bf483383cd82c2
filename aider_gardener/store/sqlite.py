"""The archive in SQLite: `Store` over one `Database`, redaction in front of every write."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from aider_gardener.errors import StoreError
from aider_gardener.messages import ContentClass, Entry, Fidelity, Rendition
from aider_gardener.store import (
    search,
    sqlite_entries,
    sqlite_events,
    sqlite_forget,
    sqlite_repair,
    sqlite_transfer,
    sqlite_vectors,
)
from aider_gardener.store.base import Chunk, Event, PendingPassage, SessionInfo, StoreStats, TextHit
from aider_gardener.store.redact import Redacted, is_telling, redact
from aider_gardener.store.sqlite_entries import Draft
from aider_gardener.store.sqlite_file import Database, Unavailable, is_index_damage
from aider_gardener.store.sqlite_waiting import PATIENCE_MILLISECONDS, Waiting
from aider_gardener.store.values import VectorHit

if TYPE_CHECKING:
    from aider_gardener.store.base import Vector

KNOWN_SECRETS = 500
BACKLOG_PER_ADD = 16
BACKLOG_AT_ONCE = 500
LOG_IN_USE = "the archive's log is in use by another process: deleted text leaves it when that one ends"


class SqliteStore:
    """See `Store` for what each method promises."""

    def __init__(
        self, database: Database, *, clock: Callable[[], float] = time.time, notice: str = ""
    ) -> None:
        self.notice = notice
        self._db = database
        self._clock = clock
        self._secrets: dict[str, None] = {}
        self._waiting = Waiting()
        self._vectors = sqlite_vectors.VectorCache()
        database.repair = self._repair

    @property
    def persistent(self) -> bool:
        return self._db.path is not None

    def open_session(
        self, session_id: str, *, project: str, started_at: float, provider: str = "", model: str = ""
    ) -> None:
        self._db.write(
            lambda db: sqlite_events.open_session(db, session_id, project, started_at, provider, model)
        )

    def add(self, entry: Entry, *, chunks: Sequence[Chunk], renditions: Sequence[Rendition] = ()) -> Entry:
        if not entry.created_at:
            entry = replace(entry, created_at=self._clock())
        body = self._redact(entry.content)
        draft = sqlite_entries.draft(entry, body, self._redact(entry.source.detail).text, chunks)
        draft = sqlite_entries.with_renditions(draft, self._redacted_renditions(renditions))

        def step(db: apsw.Connection) -> tuple[Entry, list[Draft]]:
            written = self._waiting.write(db)
            search.work_off(db, BACKLOG_PER_ADD)
            return sqlite_entries.add(db, draft), written

        try:
            stored, written = self._db.write(step)
        except Unavailable as error:
            if self._db.in_trial:
                raise
            return self._wait(draft, entry, error)
        self._caught_up(written)
        return stored

    def get(self, entry_id: str) -> Entry | None:
        return self._waiting.get(entry_id) or self._db.read(lambda db: sqlite_entries.get(db, entry_id))

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

        self._db.write(step)

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
    ) -> list[TextHit]:
        wanted = search.Filter(session, exclude_sessions, classes, min_seq)
        return self._db.read(lambda db: search.find(db, query, limit, wanted, any_word))

    def work_off(self, limit: int = BACKLOG_AT_ONCE) -> int:
        """Index what waits of very long originals, at most `limit` chunks; returns how many were done.

        For between turns; each `add` does a little too.
        """
        if not self._db.read(search.backlog):
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
    ) -> list[VectorHit]:
        wanted = search.Filter(session, exclude_sessions, classes, min_seq)
        return self._db.read(lambda db: self._vectors.find(db, vector, embedder, limit, wanted))

    def warm_vectors(self, embedder: str) -> int:
        while self._db.read(lambda db: self._vectors.grow(db, embedder, sqlite_vectors.SLICE_ROWS)):
            pass
        return self._vectors.count

    def touch(self, ids: Iterable[str], at: float) -> None:
        wanted = list(ids)
        self._db.write(lambda db: sqlite_events.touch(db, wanted, at))

    def pin(self, entry_id: str, pinned: bool) -> None:
        self._db.write(lambda db: sqlite_events.pin(db, entry_id, pinned))

    def set_active(self, ids: Iterable[str], active: bool) -> None:
        wanted = list(ids)
        self._db.write(lambda db: sqlite_events.set_active(db, wanted, active))

    def forget(self, ids: Sequence[str]) -> int:
        wanted = list(ids)
        return self._waiting.forget(wanted) + self._forget(lambda db: sqlite_forget.forget(db, wanted))

    def forget_session(self, session_id: str) -> int:
        return self._forget(lambda db: sqlite_forget.forget_session(db, session_id))

    def record_event(
        self, session_id: str, turn: int, kind: str, data: Mapping[str, object], at: float
    ) -> None:
        clean = {str(key): self._clean(value) for key, value in data.items()}
        self._db.write(lambda db: sqlite_events.record_event(db, session_id, turn, kind, clean, at))

    def events(
        self, session_id: str | None = None, kind: str | None = None, entry_id: str | None = None
    ) -> list[Event]:
        return self._db.read(lambda db: sqlite_events.events(db, session_id, kind, entry_id))

    def set_state(self, session_id: str, key: str, value: str) -> None:
        clean = self._redact(value).text
        self._db.write(lambda db: sqlite_events.set_state(db, session_id, key, clean))

    def get_state(self, session_id: str, key: str) -> str | None:
        return self._db.read(lambda db: sqlite_events.get_state(db, session_id, key))

    @contextlib.contextmanager
    def trial(self) -> Iterator[None]:
        secrets = dict(self._secrets)
        with self._db.trial():
            matrix = self._vectors.matrix
            try:
                yield
            finally:
                self._secrets, self._vectors.matrix = secrets, matrix

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
        if self._waiting:
            with contextlib.suppress(StoreError):
                self._waiting.settle(self._db.write(self._waiting.write))
        self._db.close()

    def _wait(self, draft: Draft, entry: Entry, error: StoreError) -> Entry:
        """Keep an entry in memory until the file can be written again."""
        self._waiting.drafts.append(draft)
        self._db.set_patience(PATIENCE_MILLISECONDS)
        self.notice = f"{error}; until then messages wait in memory"
        return entry

    def _caught_up(self, written: list[Draft]) -> None:
        if written:
            self._waiting.settle(written)
            self._db.set_patience()
            self.notice = f"{self._db.path} can be written again; stored what waited: {len(written)}"

    def _forget(self, step: Callable[[apsw.Connection], int]) -> int:
        if self._db.in_trial:
            raise StoreError("nothing can be forgotten within a trial")
        forgotten = self._db.write(step)
        self._secrets.clear()
        if not self._db.outside(sqlite_forget.empty_log):
            self.notice = LOG_IN_USE
        return forgotten

    def _redact(self, text: str) -> Redacted:
        """Redact a text; secrets seen in this process are known, wherever they stand later."""
        found = redact(text, self._secrets)
        for span in found.spans:
            secret = text[span.start : span.end]
            if is_telling(secret) and len(self._secrets) < KNOWN_SECRETS:
                self._secrets[secret] = None
        return found

    def _redacted_renditions(
        self, renditions: Iterable[Rendition]
    ) -> tuple[tuple[Rendition, str | None], ...]:
        return tuple(sqlite_entries.hashed(each, self._redact(each.text).text) for each in renditions)

    def _clean(self, value: object) -> object:
        if isinstance(value, str):
            return self._redact(value).text
        if isinstance(value, Mapping):
            return {str(key): self._clean(each) for key, each in value.items()}
        return [self._clean(each) for each in value] if isinstance(value, (list, tuple)) else value

    def _repair(self, error: apsw.Error) -> bool:
        """Make a damaged archive usable: a new index, or a new file with what can still be read."""
        path = self._db.path
        self._vectors.matrix = None
        if is_index_damage(error):
            self._db.write(search.rebuild)
            self.notice = f"the index of {path or 'the archive'} was damaged; it was built anew"
            return True
        if path is None:
            return False
        self._db.close()
        if self._db.is_replaced():
            self._db.connect()
            return True
        self.notice = sqlite_repair.begin_anew(self._db, path, self._clock())
        return True
