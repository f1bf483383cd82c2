"""An archive is encrypted, or decrypted: a copy is made whole, then put in its place in one step.

Whenever this is interrupted, the archive is the old one or the new one, and opens. No other process may
have it open meanwhile.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import apsw

from aider_gardener.archive.store import encryption, location, schema
from aider_gardener.errors import StoreError

PART_NAME = "gardener.db.rekeyed"
IN_USE = "{path} is in use by another process: end the chats of this project first"
RETIRED = 1_000_000
"""The schema version of the file that was replaced: whoever still opens it leaves it alone."""
BLOCK_BYTES = 1 << 20


def encrypt(directory: Path, source: str) -> list[str]:
    """Encrypt the archive of a directory with the key of a source, which is made if there is none yet.

    Returns the names of files in the directory that stay readable. Raises StoreError.
    """
    path = _archive_of(directory)
    if encryption.is_encrypted(path):
        raise StoreError(f"{path} is encrypted already")
    key = encryption.make_key(source)
    with _replaced(path, old_key="", new_key=key):
        encryption.write_marker(path.parent, source, key)
    aside = sorted(path.parent.glob("*.damaged-*"))
    return [each.name for each in aside if not encryption.is_encrypted(each)]


def decrypt(directory: Path, source: str = "") -> None:
    """Decrypt the archive of a directory. Raises StoreError; Locked without its key."""
    path = _archive_of(directory)
    if not encryption.is_encrypted(path):
        raise StoreError(f"{path} is not encrypted")
    with _replaced(path, old_key=encryption.key_for(path, source), new_key=""):
        pass
    encryption.remove_marker(path.parent)


def clear_part(path: Path) -> None:
    """Remove what an interrupted run left beside an archive. The caller has the archive open."""
    with contextlib.suppress(OSError):
        path.with_name(PART_NAME).unlink(missing_ok=True)


def _archive_of(directory: Path) -> Path:
    path = location.prepare_directory(directory) / location.FILE_NAME
    if not path.is_file():
        raise StoreError(f"there is no archive in {directory}")
    return path


@contextlib.contextmanager
def _replaced(path: Path, *, old_key: str, new_key: str) -> Iterator[None]:
    """Make the copy, do what is done inside, then put the copy in place of the archive."""
    db = _held(path, old_key)
    part = path.with_name(PART_NAME)
    try:
        part.unlink(missing_ok=True)
        location.open_private(part).close()
        wanted = quote(encryption.cipher_key(new_key)) if new_key else ""
        db.execute("VACUUM INTO ?", (f"file:{quote(part.as_posix())}?cipher=chacha20&key={wanted}",))
        _synced(part)
        yield
        _put_in_place(db, part, path)
    except apsw.Error as error:
        raise StoreError(f"{path} could not be rewritten ({' '.join(str(error).split())})") from error
    finally:
        db.close()
        part.unlink(missing_ok=True)


def _held(path: Path, key: str) -> apsw.Connection:
    """The archive, held so that no other process can open it, its log moved into the file."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOFOLLOW
    db = apsw.Connection(str(path), flags=flags)
    try:
        encryption.unlock(db, key)
        if schema.application_of(db) != schema.APPLICATION_ID or schema.version_of(db) > schema.VERSION:
            raise StoreError(f"{path} is not an archive of this version")
        db.pragma("locking_mode", "exclusive")
        if db.pragma("journal_mode", "delete") != "delete":
            raise apsw.BusyError
        db.execute("BEGIN EXCLUSIVE")
        db.execute("COMMIT")
    except (apsw.BusyError, apsw.LockedError):
        db.close()
        raise StoreError(IN_USE.format(path=path)) from None
    except BaseException:
        db.close()
        raise
    return db


def _put_in_place(db: apsw.Connection, part: Path, path: Path) -> None:
    """Replace the file while it is held; the old one is retired and overwritten, then it is gone."""
    if os.name == "nt":  # a file that is open cannot be replaced there
        db.close()
        os.replace(part, path)
        return
    old = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    try:
        os.replace(part, path)
        _synced(path.parent)
        db.pragma("journal_mode", "memory")
        db.pragma("user_version", RETIRED)
        db.close()
        size = os.fstat(old).st_size
        os.lseek(old, 0, os.SEEK_SET)
        for at in range(0, size, BLOCK_BYTES):
            os.write(old, bytes(min(BLOCK_BYTES, size - at)))
        os.fsync(old)
    finally:
        os.close(old)


def _synced(path: Path) -> None:
    """Bring a file, or a directory's names, to the disk where the system can."""
    try:
        handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    except OSError:
        return
    try:
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)
