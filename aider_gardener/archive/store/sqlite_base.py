"""What every part of the SQLite store needs: redaction, writes that wait for better times, repair."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import apsw

from aider_gardener.archive.store import entries as sqlite_entries
from aider_gardener.archive.store import repair as sqlite_repair
from aider_gardener.archive.store import search
from aider_gardener.archive.store import vectors as sqlite_vectors
from aider_gardener.archive.store.database import Database, Result, Step
from aider_gardener.archive.store.entries import Draft
from aider_gardener.archive.store.faults import Unavailable, is_index_damage
from aider_gardener.archive.store.redact import Redacted, is_telling, redact
from aider_gardener.archive.store.waiting import PATIENCE_MILLISECONDS, Later, Waiting
from aider_gardener.errors import StoreError
from aider_gardener.messages import Entry, Rendition

KNOWN_SECRETS = 500
MEMORY_ONLY = "{error}; from here on this session is kept in memory only"


class SqliteBase:
    """One database, the secrets and the writes that wait; see `SqliteStore` for the rest."""

    def __init__(
        self, database: Database, *, clock: Callable[[], float] = time.time, notice: str = ""
    ) -> None:
        self.notice = notice
        self.generation = 0
        self._db = database
        self._clock = clock
        self._secrets: dict[str, None] = {}
        self._waiting = Waiting()
        self._holds = False
        self._vectors = sqlite_vectors.VectorCache()
        database.repair = self._repair

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

    def _dated(self, entry: Entry) -> Entry:
        return entry if entry.created_at else replace(entry, created_at=self._clock())

    def _repair(self, error: apsw.Error) -> bool:
        """Make a damaged archive usable: a new index, or a new file with what can still be read.

        Where even that is impossible the session goes on in memory.
        """
        path = self._db.path
        self._vectors.clear()
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
                self.notice = sqlite_repair.begin_anew(self._db, path, self._clock())
        except (StoreError, apsw.Error, OSError) as fault:
            self._db.go_on_in_memory()
            self.notice = MEMORY_ONLY.format(error=fault)
        return True
