"""Files that upkeep writes for people: pages of sessions, and the index of them beside the archive."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.archive.retention import keep_to_policy
from aider_gardener.archive.sessions import said_in, short_ids
from aider_gardener.archive.store.base import Store
from aider_gardener.archive.store.location import INDEX_NAME
from aider_gardener.archive.store.writing import read_bytes, write_private
from aider_gardener.errors import GardenerError, StoreError, UsageError
from aider_gardener.gardener.pages import (
    INDEX_SESSIONS,
    OLDER,
    index_heading,
    is_as_made,
    is_ours,
    project_index,
)
from aider_gardener.phrases import counted

if TYPE_CHECKING:
    from aider_gardener.settings import Settings

NOT_OURS = "{path} is there already and no page of `gardener archive`; name another file"
CHANGED = "{path} was changed by somebody and stays as it is; `gardener archive --all` writes it anew"
STILL_HELD = "the index of sessions still holds them: {error}"


def write_page(path: Path, page: str) -> None:
    """Write a page of ours. Raises UsageError where something else is there, and StoreError."""
    write_private(path, page, lambda: _check(path))


def _check(path: Path, *, unasked: bool = False) -> None:
    """Raise UsageError unless a page may be written there: one of ours is, or nothing; `unasked` only where
    nobody changed it."""
    held = read_bytes(path)
    if not is_ours(held):
        raise UsageError(NOT_OURS.format(path=path))
    if unasked and not is_as_made(held):
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


def write_index(
    store: Store,
    project: str,
    output: Path | None = None,
    *,
    unasked: bool = False,
    pace: Callable[[], None] = lambda: None,
) -> Path:
    """Write the index of a project's sessions where it belongs, or to a file; returns where. `unasked`: not
    if somebody changed it. `pace` is called before each session is read. Raises UsageError and StoreError."""
    path = output or index_path(store)
    _check(path, unasked=unasked)
    page = project_index(store, project, pace)
    write_private(path, page, lambda: _check(path, unasked=unasked))
    return path


def is_behind(store: Store, project: str, besides: str = "") -> bool:
    """Whether a session that ended does not stand in the index as it ended, of those that it has room for.
    `besides` is one that goes on; those that other processes hold open do too. Raises StoreError."""
    infos, going_on = said_in(store, project), {besides, *store.open_elsewhere()}
    short = short_ids([info.id for info in infos])
    held = (read_bytes(index_path(store)) or b"").decode("utf-8", "replace").split("\n")
    shown = len([line for line in held if line.startswith("## ") and line != OLDER])
    room = shown if OLDER in held else INDEX_SESSIONS
    return any(
        index_heading(info, short[info.id]) not in held for info in infos[:room] if info.id not in going_on
    )


def keep_to_policy_and_renew(store: Store, project: str, settings: Settings) -> str:
    """What is done once a session between turns (`keep_to_policy`); an index beside the archive loses what
    was pruned. Returns the line for the user, or ""."""
    failed: list[str] = []

    def renew() -> None:
        try:
            if is_kept(store):
                write_index(store, project, unasked=True)
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
