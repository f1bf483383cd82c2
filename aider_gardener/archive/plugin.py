"""The plug-in that brings an archive to several machines and people, found by its entry point.

Whether a project is shared is known without it: a small value of the archive says so.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

GROUP, NAME = "aider_gardener.stores", "postgresql"
OWN = "aider_gardener.archive.postgres"
"""What a source tree without an installation has."""


def is_shared(store: Store, project: str) -> bool:
    """Whether a project is shared from this archive. Raises StoreError."""
    from aider_gardener.archive.store.forgotten import KEY
    from aider_gardener.archive.store.schema import OWN

    return store.get_state(OWN, KEY + project) is not None


def part(name: str = "") -> Any:
    """The plug-in, or one of its modules by name."""
    from importlib.metadata import entry_points  # a hundredth of a second

    found = next(iter(entry_points(group=GROUP, name=NAME)), None)
    place = found.value if found else OWN
    return import_module(f"{place}.{name}" if name else place)
