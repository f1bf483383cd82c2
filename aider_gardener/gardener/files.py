"""Files that upkeep writes for people: pages of sessions, their index, rules in a file of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aider_gardener.archive.sessions import said_in
from aider_gardener.archive.store.base import Store
from aider_gardener.archive.store.location import INDEX_NAME
from aider_gardener.archive.store.writing import read_bytes, write_if_unchanged, write_private
from aider_gardener.errors import StoreError, UsageError
from aider_gardener.gardener.learnt import with_rule
from aider_gardener.gardener.pages import is_ours, project_index
from aider_gardener.plan.said import counted


def write_page(path: Path, page: str) -> None:
    """Write a page of ours. Raises UsageError where something else is there, and StoreError."""
    if not is_ours(read_bytes(path)):
        raise UsageError(f"{path} is there already and no page of `gardener archive`; name another file")
    write_private(path, page)


def index_path(store: Store) -> Path:
    """Where the index of an archive's sessions belongs. Raises StoreError for an archive without a
    directory."""
    if store.directory is None:
        raise StoreError("the archive is in no directory; name a file for the index with --output")
    return store.directory / INDEX_NAME


def write_index(store: Store, project: str, output: Path | None = None) -> Path:
    """Write the index of a project's sessions where it belongs, or to a file; returns where."""
    path = output or index_path(store)
    write_page(path, project_index(store, project))
    return path


def renew_index(store: Store, project: str) -> None:
    """Write the index beside the archive anew if there is one, so that nothing forgotten stands in it."""
    if store.directory and index_path(store).exists():
        write_index(store, project)


def renew_now(store: Store, project: str, *, would: bool) -> str:
    """Write the index, or only say what `would` be written; what was done in one line."""
    count = counted(len(said_in(store, project)), "session")
    path = index_path(store) if would else write_index(store, project)
    return f"{count} {'would be ' if would else ''}listed in {path}"


def add_conventions(path: Path, rules: Sequence[str]) -> int:
    """Add to a conventions file what of some rules does not stand there yet; returns how many. Raises
    StoreError."""
    before = read_bytes(path)
    held, added = before or b"", 0
    for rule in rules:
        longer = with_rule(held, rule)
        added += longer != held
        held = longer
    if added:
        write_if_unchanged(path, before, held)
    return added
