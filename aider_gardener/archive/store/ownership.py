"""Whose an archive is: what this user made on this machine is signed, all else is a stranger's.

A random key in the user's data folder signs a number that each archive is given as it is made. Nobody who
writes a repository has the key. The signature says who made the archive, not where it lies or what is in it:
it may be moved, restored from a copy and shared by projects of the same user.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener import files

if TYPE_CHECKING:
    import apsw

KEY_NAME = "archive.key"
KEY_BYTES = 32
SESSION, NAME = "", "owner"
"""Where in the table `state` the signature stands. It is neither exported nor imported."""
SIGNED = b"aider-gardener-owner:"
SIGNATURE = re.compile(SIGNED + rb"([0-9a-f]{32}):([0-9a-f]{64})")
SIGNATURE_BYTES = len(SIGNED) + 32 + 1 + 64
SEARCHED_BYTES = 1 << 33
"""A larger file that cannot be read counts as a stranger's: to look for a signature in it takes too long."""


def user_key(directory: Path, *, made: bool = True) -> bytes | None:
    """This user's key, made on first use if it may be; None where the user's data folder has none."""
    path = directory / KEY_NAME
    try:
        if made and not path.exists():
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):  # another process is quicker
                files.put(path, [secrets.token_bytes(KEY_BYTES)], place=_named)
        key = files.read(path, KEY_BYTES)
    except OSError:
        return None
    return key if len(key) == KEY_BYTES else None


def _named(part: Path, path: Path) -> None:
    """Give a file its name unless that is taken, in one step where the file system has hard links."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:
        os.rename(part, path)


def sign(db: apsw.Connection, key: bytes) -> None:
    """Sign an archive, within the caller's transaction."""
    number = secrets.token_hex(16).encode()
    value = b"aider-gardener-owner:%s:%s" % (number, _check(number, key))
    db.execute("INSERT OR REPLACE INTO state (session, key, value) VALUES (?, ?, ?)", (SESSION, NAME, value))


def is_signed(db: apsw.Connection, key: bytes) -> bool:
    """Whether this user made the archive. Its tables must be known to be ours. Raises apsw.Error."""
    value = _signature_in(db)
    found = SIGNATURE.fullmatch(value) if isinstance(value, bytes) else None
    return found is not None and _fits(found, key)


def number_of(db: apsw.Connection) -> object:
    """What an archive and its copies have in common; None where that cannot be read."""
    import apsw

    try:
        return _signature_in(db)
    except (apsw.Error, UnicodeDecodeError):
        return None


def _signature_in(db: apsw.Connection) -> object:
    return db.execute("SELECT value FROM state WHERE session = ? AND key = ?", (SESSION, NAME)).get


def holds_signature(path: Path, key: bytes) -> bool:
    """Whether a signature of this user stands anywhere in the bytes of a file that SQLite cannot read."""
    last = b""
    with contextlib.suppress(OSError), files.open_plain(path, SEARCHED_BYTES) as file:
        while block := file.read(files.BLOCK_BYTES):
            data = last + block
            if SIGNED in data and any(_fits(found, key) for found in SIGNATURE.finditer(data)):
                return True
            last = data[-SIGNATURE_BYTES:]
    return False


def _check(archive: bytes, key: bytes) -> bytes:
    return hmac.new(key, b"archive " + archive, hashlib.sha256).hexdigest().encode()


def _fits(found: re.Match[bytes], key: bytes) -> bool:
    return hmac.compare_digest(found[2], _check(found[1], key))
