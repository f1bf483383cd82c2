"""The archive of originals. Importing this opens nothing and loads no database library."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aider_gardener.archive.store.opening import open_store, open_to_read
    from aider_gardener.archive.store.sqlite import Store

__all__ = ["Store", "open_store", "open_to_read"]


def __getattr__(name: str) -> object:
    """What opens an archive comes with the database library, once it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from aider_gardener.archive.store import opening

    return getattr(opening, name)
