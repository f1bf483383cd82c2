"""Opening an archive so that trouble with its file never stops the chat."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import apsw

from aider_gardener.archive.store import location
from aider_gardener.archive.store.database import BUSY_MILLISECONDS, Database, explain, is_damage
from aider_gardener.archive.store.repair import begin_anew
from aider_gardener.archive.store.sqlite import SqliteStore
from aider_gardener.errors import StoreError

IN_MEMORY = "this session is kept in memory only: {reason}"
NOT_ENCRYPTED = "{path} is not encrypted; `gardener store encrypt` encrypts it"
RETRY_SECONDS = 0.05


def open_sqlite(directory: Path | None, clock: Callable[[], float], key_source: str = "") -> SqliteStore:
    """Open or begin the archive of a directory; in memory, with a notice, where that is impossible."""
    if directory is None:
        return SqliteStore(Database(None), clock=clock)
    try:
        return _open_file(location.prepare_directory(directory) / location.FILE_NAME, clock, key_source)
    except StoreError as error:
        reason = str(error)
    except apsw.Error as error:
        reason = explain(error, directory / location.FILE_NAME)
    except (OSError, ValueError) as error:
        reason = (
            f"{directory} cannot be used ({getattr(error, 'strerror', None) or error}); check its permissions"
        )
    return SqliteStore(Database(None), clock=clock, notice=IN_MEMORY.format(reason=reason))


def _open_file(path: Path, clock: Callable[[], float], key_source: str) -> SqliteStore:
    try:
        database = _patiently(path, key_source)
        notice = NOT_ENCRYPTED.format(path=path) if key_source and not database.key else ""
        return SqliteStore(database, clock=clock, notice=notice)
    except apsw.Error as error:
        if not is_damage(error):
            raise
    database = Database(path, connect=False, key_source=key_source)
    notice = begin_anew(database, path, clock())
    return SqliteStore(database, clock=clock, notice=notice)


def _patiently(path: Path, key_source: str) -> Database:
    """Open a file that another process may be setting up or holding right now."""
    deadline = time.monotonic() + BUSY_MILLISECONDS / 1_000
    while True:
        try:
            return Database(path, key_source=key_source)
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(RETRY_SECONDS)
