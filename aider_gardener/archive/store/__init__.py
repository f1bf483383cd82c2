"""The archive of originals. Importing this opens nothing and loads no database library."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from aider_gardener.archive.store.base import (
    Chunk,
    Event,
    Holding,
    PendingPassage,
    SessionInfo,
    Store,
    StoreStats,
)
from aider_gardener.archive.store.location import store_directory

__all__ = [
    "Chunk",
    "Event",
    "Holding",
    "PendingPassage",
    "SessionInfo",
    "Store",
    "StoreStats",
    "open_store",
    "open_to_read",
    "store_directory",
]


def open_store(
    directory: Path | None,
    *,
    clock: Callable[[], float] = time.time,
    key_source: str = "",
    user: Path | None = None,
) -> Store:
    """Open the archive in a directory, making it if need be; None keeps everything in memory.

    Never raises for trouble with the file: one that is damaged, older or not made by this user on this
    machine is set aside and a new one begun; where none can be used the store works in lines of JSON beside
    it, or in memory. `notice` says so in one line. `key_source` (`env`, `keyring`, `file:PATH`) is where the
    key of an encrypted archive is; a new one is encrypted if it is given. `user` is the folder with what
    tells this user's archives, by default that of the user's data.
    """
    from aider_gardener.archive.store.opening import open_sqlite

    return open_sqlite(directory, clock, key_source, user)


def open_to_read(directory: Path, *, key_source: str = "", user: Path | None = None) -> Store:
    """Open the archive in a directory to be read only: nothing is made, repaired, set aside or signed.

    Raises StoreError, saying what to do, for one that cannot be read as it is, unless lines of JSON lie
    beside it: then it is what they hold. Writes raise it too, but for accesses, which are not counted.
    """
    from aider_gardener.archive.store.opening import open_to_read as opened

    return opened(directory, key_source, user)
