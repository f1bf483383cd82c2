"""One copy of the archive, made as a session ends: what is damaged later is put back from it.

What is forgotten leaves the copy as well: the copy goes, and the next session's end makes a new one.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import apsw

from aider_gardener.archive.store import encryption, files, location, schema, sums

LARGEST_COPIED_BYTES = 512 * 1024 * 1024
"""A larger archive is not copied: that would take seconds at every end, and the room twice."""
KEPT = "; the copy of the old one is kept as {copy}, `gardener store adopt` takes it over"


def copy_of(path: Path) -> Path:
    """Where the copy of an archive lies."""
    return path.with_name(location.COPY_NAME)


def make(db: apsw.Connection, path: Path, key: str) -> bool:
    """Copy the archive as it stands now, unless it is large or damaged; whether there is a new copy.

    The copy is encrypted if the archive is. Raises OSError or apsw.Error; the former copy then stays.
    """
    if int(db.pragma("page_count")) * int(db.pragma("page_size")) > LARGEST_COPIED_BYTES:
        return False
    part = path.with_name(f"{location.COPY_NAME}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        location.open_private(part).close()
        target = apsw.Connection(str(part), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
        try:
            encryption.unlock(target, key)
            with target.backup("main", db, "main") as backup:
                backup.step(-1)
            is_sound = bool(target.execute("PRAGMA quick_check(1)").get == "ok")
        finally:
            target.close()
        if is_sound:
            os.replace(part, copy_of(path))
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            part.with_name(part.name + ending).unlink(missing_ok=True)
    return is_sound


def remove(path: Path) -> None:
    """Remove the copy: something in it was forgotten or is to be encrypted. Raises OSError."""
    copy_of(path).unlink(missing_ok=True)


def put_aside(path: Path) -> str:
    """Give the copy of an archive that is gone another name, so that no other takes its place; returns what
    is to be said of it, "" if there is none."""
    copy = copy_of(path)
    try:
        if not copy.is_file():
            return ""
        name = path.with_name(f"{path.name}.removed-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}")
        os.replace(copy, name)
    except OSError:
        return ""
    return KEPT.format(copy=name.name)


def opened(copy: Path, key: str) -> apsw.Connection | None:
    """The copy, to be read; None where there is none that is whole and of this version."""
    try:
        files.check_plain(copy)
        uri = f"{copy.absolute().as_uri()}?mode=ro&immutable=1"
        db = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    except (OSError, apsw.Error):
        return None
    try:
        schema.distrust(db)
        encryption.unlock(db, key)
        sums.register(db)
        is_ours = schema.application_of(db) == schema.APPLICATION_ID and schema.is_exact(db)
        if is_ours and schema.version_of(db) == schema.VERSION:
            return db
    except apsw.Error:
        pass
    db.close()
    return None
