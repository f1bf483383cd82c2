"""`gardener import`: chats that were held before. Argument parsing only; the work is in `replay.imports`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aider_gardener.cli.pipe import progress_bar
from aider_gardener.cli.root import archive_directory, archive_options, notify, put, working_project
from aider_gardener.errors import StoreError, UsageError
from aider_gardener.phrases import counted

if TYPE_CHECKING:
    from aider_gardener.replay.imports import Imported

NAMED = 5
"""So many files that were not taken in are named."""

PATIENCE_MILLISECONDS = 120_000
"""So long each write waits for another import, which holds the archive for seconds again and again."""


@click.command("import", short_help="Take in chats of Claude Code, Codex and aider that were held before.")
@click.argument("path", required=False, type=click.Path(exists=True, path_type=Path))
@archive_options
def import_chats(path: Path | None) -> None:
    """Take chats into the archive that were held before the gardener was there, or without it.

    PATH is a transcript of Claude Code (~/.claude/projects/**/*.jsonl), a rollout of Codex
    (~/.codex/sessions/**/rollout-*.jsonl), a history of aider's under any name, or a folder of any of these;
    all in it that have their usual names are taken in. Without PATH those that were held in this project are
    looked for where the hosts keep them.

    What was taken in before, also by hooks or by aider-gardener, is not taken in again; an import that was
    stopped goes on where it was. What is not kept is counted by kind.
    """
    from aider_gardener.archive.store import open_store
    from aider_gardener.replay.imports import HISTORY, Imported, files_named, find, ingest, own_files

    project = working_project()
    paths = files_named(path) if path else own_files(project, Path.home(), os.environ)
    found = Imported()
    chats = find(paths, str(project), only_own=path is None, found=found)
    if not chats and path is not None:
        why = next((f"{name}: {why}" for name, why in found.others.items()), f"{path}: holds no chats")
        raise UsageError(f"{why}; name a .jsonl of Claude Code or Codex, an {HISTORY} or a folder of them")
    if chats:
        directory, key_source = archive_directory(create=True)
        opened = open_store(
            directory, key_source=key_source, or_memory=False, patience_milliseconds=PATIENCE_MILLISECONDS
        )
        with closing(opened) as store:
            size = sum(chat.size for chat in chats)
            with progress_bar(size, "Importing") as bar:
                ingest(store, str(project), chats, found, bar.update)
            notice, is_persistent = store.notice, store.persistent
        if not is_persistent:
            raise StoreError(f"nothing was imported: {notice}")
        notify(notice)
    put(vars(found), lambda: report(found))


def report(found: Imported) -> Iterator[str]:
    """What came of it, a line each."""
    if found.chats:
        hosts = ", ".join(f"{host} {count:,}" for host, count in found.chats.most_common())
        unchanged = f"; of {counted(found.known, 'chat')} nothing was new" if found.known else ""
        new = counted(found.messages, "new message")
        yield f"{counted(found.chats.total(), 'chat')} read ({hosts}): {new}{unchanged}"
        if found.elsewhere:
            yield f"Held in another folder: {found.elsewhere:,} of these"
        yield f"Not kept: {by_kind(+found.lost) or 'nothing'}"
    else:
        yield "No chat of this project was found; name a file or a folder: gardener import PATH"
    if found.records:
        yield f"The hosts' own records, passed over: {by_kind(found.records)}"
    yield from (f"not taken in: {name} ({why})" for name, why in list(found.others.items())[:NAMED])
    if len(found.others) > NAMED:
        yield f"not taken in: {counted(len(found.others) - NAMED, 'file')} more"


def by_kind(counts: Counter[str]) -> str:
    return ", ".join(f"{kind} {count:,}" for kind, count in counts.most_common())
