"""The archive of originals. Importing this opens nothing and loads no database library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aider_gardener.archive.store.base import (
    Event,
    Holding,
    PendingPassage,
    SessionInfo,
    StoreStats,
)
from aider_gardener.archive.store.location import store_directory

if TYPE_CHECKING:
    from aider_gardener.archive.store.opening import open_store, open_to_read
    from aider_gardener.archive.store.sqlite import Store

__all__ = [
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


def __getattr__(name: str) -> Any:
    """What opens an archive comes with the database library, once it is asked for."""
    if name not in ("Store", "open_store", "open_to_read"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from aider_gardener.archive.store import opening

    return getattr(opening, name)
