"""Sessions as a Markdown file for people: an index of all, beside the archive.

The same archive gives the same bytes on every machine: times are in UTC. Whatever was said stands on a line
of its own that is indented, as Markdown has what is shown as it is: nothing of it can be a part of the page.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.archive.retention import MEGABYTE, prune
from aider_gardener.archive.sessions import project_sessions, short_ids
from aider_gardener.archive.store.base import SessionInfo
from aider_gardener.errors import GardenerError, StoreError, UsageError
from aider_gardener.files import read_bytes, write_private
from aider_gardener.gardener.past_chats import commits_in
from aider_gardener.messages import SourceKind
from aider_gardener.notes.last_chat import edited_files, open_errors
from aider_gardener.notes.rules import decided
from aider_gardener.phrases import counted
from aider_gardener.reading.output import flat
from aider_gardener.recall.backlog import Backlog
from aider_gardener.recall.embed import loading as loading  # what a benchmark puts its own in place of
from aider_gardener.recall.embed import not_offered
from aider_gardener.recall.recall import EDIT_UNDONE

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store
    from aider_gardener.settings import Settings

INDEX_NAME = "CONTEXT_ARCHIVE.md"
"""The index of an archive's sessions, beside it."""
OURS = "<!-- made by gardener "
"""How every page begins, by which it is known as ours."""
HEAD_LINE = f"{OURS}upkeep, which writes it anew: what is changed here is lost -->"
INDEX_SESSIONS = 60
"""So many sessions stand in the index, the newest, each in at most ten lines."""
LINE_CHARS, FILES_SHOWN, SHOWN = 160, 6, 3
"""Of what is told of a session the characters of a text, the files, the decisions and errors."""
ABOUT = (
    "the newest first; times are UTC. `gardener sessions show ID` prints one, `gardener restore ID` a message"
    " whole."
)
PRUNED = "{count} archived messages that the retention policy lets go were deleted ({size:.1f} MB left)"
NOT_OURS = "{path} is there already and no page of `gardener upkeep`; name another file"


def _span(info: SessionInfo) -> str:
    """From when to when a session was held."""
    began, ended = (
        time.strftime("%Y-%m-%d %H:%M", time.gmtime(at)) for at in (info.started_at, info.last_at)
    )
    return f"{began} to {ended[11:] if began[:10] == ended[:10] else ended} UTC"


def project_index(store: Store, project: str) -> str:
    """The index of a project's sessions, the newest first. Raises StoreError."""
    infos = project_sessions(store, project)
    short = short_ids([info.id for info in infos])
    lines = [HEAD_LINE, "", "# Context archive", "", f"{counted(len(infos), 'session')}, {ABOUT}"]
    for info in infos[:INDEX_SESSIONS]:
        lines += ["", f"## {short[info.id]}, {_span(info)}, {counted(info.turns, 'turn')}", ""]
        lines += [f"    {line}" for line in _summary_lines(store, info)]
    if (more := len(infos) - INDEX_SESSIONS) > 0:
        lines += ["", f"{counted(more, 'older session')}: `gardener sessions --limit {len(infos)}`"]
    return "\n".join(lines) + "\n"


def _summary_lines(store: Store, info: SessionInfo) -> Iterator[str]:
    """What came of a session, line by line. An edit that was undone is none."""
    entries = store.session_entries(info.id)
    events = store.events(info.id, EDIT_UNDONE)
    undone = {event.data.get("entry_id") for event in events if not event.data.get("made")}
    asked = [each.content for each in entries if each.source.kind is SourceKind.TYPED and each.content]
    commits, decisions = commits_in(entries), decided(entries)
    files = edited_files([entry for entry in entries if entry.id not in undone])
    if asked:
        yield f"Asked first: {flat(asked[0], LINE_CHARS)}"
    if commits or files:
        shown = ", ".join(flat(path, LINE_CHARS) for path in files[:FILES_SHOWN])
        more = f" and {len(files) - FILES_SHOWN} more" if len(files) > FILES_SHOWN else ""
        yield f"Done: {counted(len(commits), 'commit')}{f'; edited {shown}{more}' if files else ''}"
    if commits:
        yield f"Last commit: {flat(commits[-1], LINE_CHARS)}"
    for one in ([one for one in decisions if one.is_users] or decisions)[-SHOWN:]:
        yield f"Decided: {flat(one.text, LINE_CHARS)} ({one.entry_id})"
    for entry in reversed([*islice(open_errors(entries), SHOWN)]):
        ran = flat(entry.source.detail or entry.content, LINE_CHARS)
        yield f"Failed when it ran last: {ran} ({entry.id})"
    if len(asked) > 1:
        yield f"Asked last: {flat(asked[-1], LINE_CHARS)}"


def write_page(path: Path, page: str) -> None:
    """Write a page of ours. Raises UsageError where something else is there, and StoreError."""

    def check() -> None:
        data = read_bytes(path)
        if data and not data.startswith(OURS.encode()):
            raise UsageError(NOT_OURS.format(path=path))

    write_private(path, page, check)


def index_path(store: Store) -> Path:
    """Where the index of an archive's sessions belongs. Raises StoreError for an archive without a
    directory."""
    if store.directory is None:
        raise StoreError("the archive is in no directory; name a file for the index with --output")
    return store.directory / INDEX_NAME


def write_index(store: Store, project: str, output: Path | None = None, *, dry_run: bool = False) -> str:
    """Write the index of a project's sessions where it belongs, or to a file; what was done in a line.

    Raises UsageError and StoreError."""
    path = output or index_path(store)
    if not dry_run:
        write_page(path, project_index(store, project))
    count = counted(len(project_sessions(store, project)), "session")
    return f"{count} {'would be ' if dry_run else ''}listed in {path}"


def renew_index(store: Store, project: str) -> None:
    """Write the index beside the archive anew if there is one, so that nothing forgotten stands in it. It is
    never begun unasked."""
    if store.directory is not None and index_path(store).exists():
        write_index(store, project)


def apply_retention(store: Store, project: str, settings: Settings) -> str:
    """What is done once a session, between turns: prune where the user asked for that, and take what went out
    of an index beside the archive. Returns the line for the user, or ""."""
    if not (store.persistent and settings.prunes):
        return ""
    line = ""
    try:
        if count := prune(store, settings.store_limit * MEGABYTE):
            line = PRUNED.format(count=count, size=store.size_bytes() / MEGABYTE)
            renew_index(store, project)
    except GardenerError as error:
        problem = (
            f"{line}; the index of sessions still holds them" if line else "the archive could not be pruned"
        )
        return f"{problem}: {error}"
    return line


def backlog_of(store: Store, project: str, settings: Settings, *, background: bool = True) -> Backlog:
    """What embeds an archive's passages between the turns of a chat, at work, with the upkeep above; see
    `Backlog` for `background`."""
    upkeep = partial(apply_retention, store, project, settings)
    backlog = Backlog(store, load=loading(settings.embedder), background=background, upkeep=upkeep)
    if reason := not_offered(settings.embedder):  # said at once: few chats get as far as the loading
        backlog.give_up(reason)
    backlog.resume()
    return backlog
