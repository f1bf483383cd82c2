"""How an archive is opened: as a file of SQLite's, in lines of JSON, in memory, or to be read only.

Trouble with the file never stops a chat: where it cannot be opened the store works in lines or in memory, and
says so.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import apsw

from aider_gardener.archive.store import encryption, lines, location, ownership, repair
from aider_gardener.archive.store.database import (
    BUSY_MILLISECONDS,
    NOT_OPENED,
    Database,
    Older,
    Stranger,
    Unavailable,
    explain,
    is_damage,
    is_fault_of_file,
)
from aider_gardener.archive.store.sqlite import SqliteStore
from aider_gardener.errors import StoreError

IN_MEMORY = "this session is kept in memory only: {reason}"
UNUSABLE = "{path} cannot be used ({fault}); check its permissions"
NO_PLAIN_LINES = "; lines of plain text are not written beside an encrypted archive"
IN_LINES = "{reason}; what is said is kept in lines of JSON in {place} until the archive opens"
LINES_WAIT = (
    "{count} lines wait to be taken into the archive; the next chat or `gardener store verify` does it"
)
NOT_ENCRYPTED = "{path} is not encrypted; `gardener store encrypt` encrypts it"
TRACKED = "{path} is part of the repository and is not used: the archive is in {place}"
LOG_LOST = "the log of {path} was damaged: some of what was said last before a chat ended is lost"
NO_ARCHIVE = "{path} is gone: it was begun anew"
RETRY_SECONDS = 0.05
FALTERING = (apsw.IOError, apsw.LockedError, apsw.ProtocolError)
FALTERING_SECONDS = 1.0
"""What a file system that fails for a moment says, and how long opening is tried again then."""


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
        store.take_in()
        return store
    except StoreError as error:
        reason, fault = str(error), error
    except apsw.Error as error:
        reason, fault = explain(error, directory / location.FILE_NAME), error
    except (OSError, ValueError) as error:
        reason = UNUSABLE.format(path=directory, fault=getattr(error, "strerror", None) or error)
        fault = error
    if place is not None and is_fault_of_file(fault):
        if encryption.is_secret(place / location.FILE_NAME, key_source):
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
    database = Database(None, user=user or location.user_directory())
    kept = lines.FileLines(place, database.own_key(), clock)
    kept.begin()
    store = SqliteStore(database, clock=clock, kept=kept)
    found = kept.read()
    store.hold(found.records, found.problems)
    if reason:
        store.notice = "; ".join(filter(None, [IN_LINES.format(reason=reason, place=place), store.notice]))
    return store


def open_to_read(directory: Path, key_source: str = "", user: Path | None = None) -> SqliteStore:
    """The archive of a directory, to be read only: whatever is found, nothing there changes.

    Where it cannot be opened, or there is none yet, what the lines beside it hold. Raises StoreError where
    nothing can be read.
    """
    place = Path(os.path.realpath(location.settled_directory(directory, user)))
    path = place / location.FILE_NAME
    found = lines.FoundLines()
    if lines.names(place):
        key = ownership.user_key(user or location.user_directory(), made=False)
        found = lines.read(place, key, time.time())
    try:
        store = opened_to_read(path, key_source, user)
    except StoreError as error:
        is_none = found.files and not encryption.header_of(path)
        if not found.files or not (is_none or is_fault_of_file(error)):
            raise
        database = Database(None, user=user or location.user_directory())
        store = SqliteStore(database, kept=lines.FileLines(place, None, time.time))
        store.hold(found.records, found.problems, read_only=True)
        if not is_none:
            store.notice = "; ".join(filter(None, [str(error), store.notice]))
        return store
    if found.records:
        store.notice = LINES_WAIT.format(count=len(found.records))
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
    notice = ""
    if not path.exists() and not repair.finish(path):
        notice = repair.keep_copy(path)
        notice = NO_ARCHIVE.format(path=path) + notice if notice else ""
    try:
        _connect(database)
    except Stranger as error:
        if location.identity(path) == error.identity:
            why = "older" if isinstance(error, Older) else "foreign"
            notice = repair.begin_anew(database, path, clock(), why=why, reason=str(error))
        else:  # another process has set it aside
            _connect(database)
    except apsw.Error as error:
        if not is_damage(error):
            raise
        notice = repair.begin_anew(database, path, clock())
    else:
        if repair.has_lost_log(database):
            notice = LOG_LOST.format(path=path)
    repair.clear_parts(path, older_than=repair.PART_SECONDS)
    if not notice and database.key_source and not database.key:
        notice = NOT_ENCRYPTED.format(path=path)
    return SqliteStore(database, clock=clock, notice=notice)


def _connect(database: Database) -> None:
    """Open a file that another process may be setting up or holding right now, or whose file system fails for
    a moment, as one over a network does: without this the whole session would be kept in memory only."""
    began = time.monotonic()
    while True:
        try:
            return database.connect()
        except (apsw.BusyError, *FALTERING) as error:
            patience = FALTERING_SECONDS if isinstance(error, FALTERING) else BUSY_MILLISECONDS / 1_000
            if is_damage(error) or time.monotonic() >= began + patience:
                raise
            time.sleep(RETRY_SECONDS)
