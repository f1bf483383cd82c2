"""Whose an archive is: what this user made on this machine is signed, all else is a stranger's.

A random key in the user's data folder signs a number that each archive is given as it is made. Nobody who
writes a repository has the key. The signature says who made the archive, not where it lies or what is in it:
it may be moved, restored from a copy and shared by projects of the same user.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import mmap
import os
import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.archive.store import files, location

if TYPE_CHECKING:
    import apsw

KEY_NAME = "archive.key"
KEY_BYTES = 32
SESSION, NAME = "", "owner"
"""Where in the table `state` the signature stands. It is neither exported nor imported."""
SIGNATURE = re.compile(rb"aider-gardener-owner:([0-9a-f]{32}):([0-9a-f]{64})")


def user_key(directory: Path, *, made: bool = True) -> bytes | None:
    """This user's key, made on first use if it may be; None where the user's data folder has none."""
    path = directory / KEY_NAME
    try:
        if made and not path.exists():
            _make_key(path)
        key = files.read(path, KEY_BYTES)
    except OSError:
        return None
    return key if len(key) == KEY_BYTES else None


def sign(db: apsw.Connection, key: bytes) -> None:
    """Sign an archive, within the caller's transaction."""
    value = signature(secrets.token_hex(16).encode(), key)
    db.execute("INSERT OR REPLACE INTO state (session, key, value) VALUES (?, ?, ?)", (SESSION, NAME, value))


def signature(archive: bytes, key: bytes) -> bytes:
    """What says that this user made the archive of a number, which is 32 hex digits."""
    return b"aider-gardener-owner:%s:%s" % (archive, _check(archive, key))


def is_signed(db: apsw.Connection, key: bytes) -> bool:
    """Whether this user made the archive. Its tables must be known to be ours."""
    value = db.execute("SELECT value FROM state WHERE session = ? AND key = ?", (SESSION, NAME)).get
    found = SIGNATURE.fullmatch(value) if isinstance(value, bytes) else None
    return found is not None and _fits(found, key)


def number_of(db: apsw.Connection) -> object:
    """What an archive and its copies have in common; None where that cannot be read."""
    import apsw

    try:
        return db.execute("SELECT value FROM state WHERE session = ? AND key = ?", (SESSION, NAME)).get
    except (apsw.Error, UnicodeDecodeError):
        return None


def holds_signature(path: Path, key: bytes) -> bool:
    """Whether a signature of this user stands anywhere in the bytes of a file that SQLite cannot read."""
    try:
        with files.open_plain(path, location.LARGEST_BYTES) as file:
            if not os.fstat(file.fileno()).st_size:
                return False
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return any(_fits(found, key) for found in SIGNATURE.finditer(data))
    except (OSError, ValueError):
        return False


def _check(archive: bytes, key: bytes) -> bytes:
    return hmac.new(key, b"archive " + archive, hashlib.sha256).hexdigest().encode()


def _fits(found: re.Match[bytes], key: bytes) -> bool:
    return hmac.compare_digest(found[2], _check(found[1], key))


def _make_key(path: Path) -> None:
    """Put a new key there unless another process is quicker."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with location.open_private(part) as handle:
            os.write(handle.fileno(), secrets.token_bytes(KEY_BYTES))
            os.fsync(handle.fileno())
        with contextlib.suppress(FileExistsError):
            _put(part, path)
    finally:
        part.unlink(missing_ok=True)


def _put(part: Path, path: Path) -> None:
    """Give a file its name unless that is taken; in one step where the system can."""
    if os.name != "nt":  # there a rename does not replace
        with contextlib.suppress(PermissionError, NotImplementedError):  # a file system without hard links
            os.link(part, path)
            return
    os.rename(part, path)
