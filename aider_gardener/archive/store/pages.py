"""A file of SQLite's whose every page is checked as it is read.

Each page of a plain file ends in a check sum, which `cksumvfs` keeps, an extension of SQLite's own; each of
an encrypted one in the tag of its cipher. Any SQLite can read a plain file; what another one writes to it
counts as damaged.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from urllib.parse import quote

import apsw
import apsw.sqlite_extra

from aider_gardener.archive.store import schema
from aider_gardener.errors import StoreError

CHECKSUMS, CHECKSUM_BYTES = "cksmvfs", 8
"""The name under which files are opened so, and the room that it needs at the end of each page."""
CHECKSUM_PLACE = 20
"""Where a file's header says how much room that is."""
NO_CHECKSUMS = "SQLite's page check sums are missing: reinstall apsw-sqlite3mc"
CIPHER = "chacha20"
RAW_KEY = re.compile(r"[0-9a-fA-F]{64}")
"""A key of this form is used as it is; any other text is a passphrase, from which SQLite derives one."""


@cache
def checksums() -> str:
    """The name that makes SQLite check each page, for `apsw.Connection`. Raises StoreError without it."""
    usual = apsw.vfs_names()[0]
    try:
        apsw.sqlite_extra.load(apsw.Connection(":memory:"), "cksumvfs")
    except (apsw.sqlite_extra.NotAvailable, LookupError, apsw.Error) as error:
        raise StoreError(NO_CHECKSUMS) from error
    apsw.set_default_vfs(usual)  # an encrypted file has the cipher's own check
    return CHECKSUMS


def opened(path: Path, flags: int, key: str, *, query: str = "") -> apsw.Connection:
    """A connection to a file whose pages are checked; `query` are parameters of SQLite's URIs."""
    name = f"{path.absolute().as_uri()}?{query}" if query else str(path)
    flags |= apsw.SQLITE_OPEN_NOFOLLOW | (apsw.SQLITE_OPEN_URI if query else 0)
    db = apsw.Connection(name, flags=flags, vfs=None if key else checksums())
    if not key:
        db.reserve_bytes(reserve=CHECKSUM_BYTES)  # of a file that is begun now
    schema.distrust(db)
    if key:  # before anything is read
        db.pragma("cipher", CIPHER)
        db.pragma("key", _cipher_key(key))
    return db


def _cipher_key(key: str) -> str:
    """The key as the cipher wants it."""
    return f"raw:{key.lower()}" if RAW_KEY.fullmatch(key) else key


def new_file(path: Path, key: str) -> str:
    """What `VACUUM INTO` is given so that it makes a file of this kind."""
    kind = f"cipher={CIPHER}&key={quote(_cipher_key(key))}" if key else f"vfs={checksums()}&reserve=8&key="
    return f"file:{quote(path.as_posix())}?{kind}"
