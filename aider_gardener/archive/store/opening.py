"""How an archive is opened, and in which tier: as a file of SQLite's, lines of JSON where that cannot be
written, else in memory; or to be read only.

Trouble with the file never stops a chat: the store works in a lower tier then, and says so.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import apsw

from aider_gardener.archive.store import encryption, lines, location, repair
from aider_gardener.archive.store.database import Database, OtherVersion, Unavailable, explain
from aider_gardener.archive.store.sqlite import Store
from aider_gardener.errors import StoreError
from aider_gardener.phrases import counted

IN_MEMORY = "this session is kept in memory only: {reason}"
NO_PLAIN_LINES = "; lines of plain text are not written beside an encrypted archive"
IN_LINES = "{reason}; what is said is kept in lines of JSON in {place} until the archive opens"
LINES_WAIT = "not in the archive yet: {lines}; the next chat or `gardener store verify` takes them in"
NOT_ENCRYPTED = "{path} is not encrypted; `gardener store encrypt` encrypts it"
LOG_LOST = "the log of {path} was damaged: some of what was said last before a chat ended is lost"
FAULTS = (StoreError, apsw.Error, OSError, ValueError)
"""What opening raises: nothing of it stops a chat."""


def open_store(
    directory: Path | None,
    *,
    clock: Callable[[], float] = time.time,
    key_source: str = "",
    or_memory: bool = True,
    patience_milliseconds: int = 0,
) -> Store:
    """Open the archive in a directory, making it if need be; None keeps everything in memory.

    Does not raise for trouble with the file: one that is damaged is set aside and a new one begun;
    where none can be used the store works in lines of JSON beside it, or in memory. Without `or_memory`, for
    a command, memory raises StoreError, and so do lines beside an archive, which only a chat goes on with.
    `notice` says so in one line. `key_source` (`env`, `keyring`, `file:PATH`) is where the key of an
    encrypted archive is; a new one is encrypted if it is given. `patience_milliseconds` is how long each
    write waits for a lock of another process; 0: as long as is usual for the place.
    """
    if directory is None:
        return Store(Database(None), clock=clock)
    place = None
    try:
        place = location.prepare_directory(directory)
        path = place / location.FILE_NAME
        database = Database(path, key_source=key_source, patience_milliseconds=patience_milliseconds)
        store = _open_file(database, path, clock)
        store.merge_lines()
        return store
    except FAULTS as error:
        path = directory / location.FILE_NAME
        reason = explain(error, path)
        if not or_memory and os.path.exists(path) and os.path.getsize(path):
            raise StoreError(reason) from error
        is_writable = isinstance(error, (apsw.Error, OSError, Unavailable, OtherVersion))
    if place is not None and is_writable:  # what somebody put in its place is no fault of the file's
        if encryption.is_secret(place / location.FILE_NAME, key_source):
            reason += NO_PLAIN_LINES
        else:
            with contextlib.suppress(OSError):
                return open_lines(place, clock, reason)
    if not or_memory:
        raise StoreError(reason)
    return Store(Database(None), clock=clock, notice=IN_MEMORY.format(reason=reason))


def open_lines(place: Path, clock: Callable[[], float], reason: str = "") -> Store:
    """An archive in lines of JSON in a directory that is there and private, held in memory besides.

    `reason` is why it is not in SQLite. Raises OSError where nothing can be written.
    """
    file_lines = lines.FileLines(place, clock)
    file_lines.begin()
    store = Store.of_lines(file_lines, clock=clock)
    if reason:
        store.notice = IN_LINES.format(reason=reason, place=place)
    return store


def open_to_read(directory: Path, *, key_source: str = "") -> Store:
    """Open the archive in a directory to be read only: nothing is made, repaired or set aside.

    Raises StoreError, saying what to do, for one that cannot be read as it is, unless lines of JSON lie
    beside it: then it is what they hold. Writes raise it too, but for accesses, which are not counted.
    """
    location.check_whose(directory)
    place = Path(os.path.realpath(directory))
    path, found = place / location.FILE_NAME, lines.read(place, time.time())
    try:
        store = _open_file_to_read(path, key_source)
    except StoreError as error:
        is_there = bool(encryption.header_of(path))
        if not found.files or (is_there and not isinstance(error, Unavailable)):
            raise
        store = Store.of_lines(lines.FileLines(place, time.time), read_only=True)
        if is_there:
            store.notice = str(error)
        return store
    if found.records:
        store.notice = LINES_WAIT.format(lines=counted(len(found.records), "line"))
    return store


def _open_file_to_read(path: Path, key_source: str) -> Store:
    """The archive of a file, to be read only, whatever lies beside it. Raises StoreError."""
    database = Database(path, key_source=key_source, read_only=True)
    try:
        database.connect()
    except apsw.Error as error:
        raise database.failure(error) from error
    except OSError as error:
        raise Unavailable(f"{path} cannot be read ({error.strerror})") from error
    return Store(database)


def _open_file(database: Database, path: Path, clock: Callable[[], float]) -> Store:
    logged_frames, is_cut = repair.log_left(path)
    is_cut = is_cut and repair.stays(lambda: repair.log_left(path)[1])
    mended = repair.open_file(database, clock())
    if not mended and (is_cut or repair.has_lost_log(database, logged_frames)):
        mended = LOG_LOST.format(path=path)
    is_unsealed = database.key_source and not database.key
    notice = mended or (NOT_ENCRYPTED.format(path=path) if is_unsealed else "")
    store = Store(database, clock=clock, notice=notice)
    store.mended = mended
    return store
