"""Files that upkeep writes for people: pages of sessions, their index, rules in a file of the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.archive.retention import keep_to_policy
from aider_gardener.archive.sessions import said_in
from aider_gardener.archive.store.base import Store
from aider_gardener.archive.store.location import INDEX_NAME
from aider_gardener.archive.store.writing import read_bytes, write_if_unchanged, write_private
from aider_gardener.errors import GardenerError, StoreError, UsageError
from aider_gardener.gardener.learnt import with_rule
from aider_gardener.gardener.pace import Pace
from aider_gardener.gardener.pages import is_as_made, is_ours, project_index
from aider_gardener.phrases import counted

if TYPE_CHECKING:
    from aider_gardener.settings import Settings

NOT_OURS = "{path} is there already and no page of `gardener archive`; name another file"
CHANGED = "{path} was changed by somebody and stays as it is; `gardener archive --all` writes it anew"
STILL_HELD = "the index of sessions still holds them: {error}"


def write_page(path: Path, page: str) -> None:
    """Write a page of ours. Raises UsageError where something else is there, and StoreError."""
    check_ours(path)
    write_private(path, page, lambda: check_ours(path))


def check_ours(path: Path) -> None:
    """Raise UsageError unless a page may be written there: one of ours is, or nothing."""
    if not is_ours(read_bytes(path)):
        raise UsageError(NOT_OURS.format(path=path))


def check_as_made(path: Path) -> None:
    """Raise UsageError unless the index may be written there unasked: it is as it was made, or nothing."""
    check_ours(path)
    if not is_as_made(read_bytes(path)):
        raise UsageError(CHANGED.format(path=path))


def index_path(store: Store) -> Path:
    """Where the index of an archive's sessions belongs. Raises StoreError for an archive without a
    directory."""
    if store.directory is None:
        raise StoreError("the archive is in no directory; name a file for the index with --output")
    return store.directory / INDEX_NAME


def is_kept(store: Store) -> bool:
    """Whether the archive has an index beside it: it is kept up to date, and never begun unasked."""
    return store.directory is not None and index_path(store).exists()


def write_index(store: Store, project: str, output: Path | None = None) -> Path:
    """Write the index of a project's sessions where it belongs, or to a file; returns where."""
    path = output or index_path(store)
    write_page(path, project_index(store, project))
    return path


def renew_unasked(store: Store, project: str, pace: Callable[[], None]) -> None:
    """Write the index beside the archive, unless somebody changed it. `pace` is called before each session
    is read. Raises UsageError and StoreError."""
    path = index_path(store)
    check_as_made(path)
    page = project_index(store, project, pace)
    write_private(path, page, lambda: check_as_made(path))


def keep_to_policy_and_renew(store: Store, project: str, settings: Settings) -> str:
    """What is done once a session between turns (`keep_to_policy`); an index beside the archive loses what
    was pruned. Returns the line for the user, or ""."""
    failed: list[str] = []

    def renew() -> None:
        try:
            if index_path(store).exists():
                renew_unasked(store, project, Pace(lambda: True))
        except GardenerError as error:
            failed.append(STILL_HELD.format(error=error))

    return "; ".join([keep_to_policy(store, settings, renew), *failed])


def renew_index(store: Store, project: str) -> None:
    """Write the index beside the archive anew if there is one, so that nothing forgotten stands in it."""
    if is_kept(store):
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
