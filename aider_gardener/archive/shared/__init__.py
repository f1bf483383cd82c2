"""An archive shared by several machines and people: a PostgreSQL server beside the SQLite file of each.

Local first: a chat writes its own file and never waits for the server. What is new goes there by number and
comes back by number; importing this opens nothing and loads no library of the server's.
"""

from __future__ import annotations

from aider_gardener.archive.store import Store, shares
from aider_gardener.archive.store.shares import Share
from aider_gardener.archive.store.sqlite import SqliteStore


def share_in(store: Store, project: str) -> Share | None:
    """How a project is shared, None if it is not or its archive is no file. Raises StoreError."""
    if not isinstance(store, SqliteStore) or not store.is_file:
        return None
    return store.database.read(lambda db: shares.share_of(db, project))
