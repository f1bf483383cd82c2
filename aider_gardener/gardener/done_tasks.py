"""Tasks that are done, from the lists of a repository and of its chats, on their way to TASK_ARCHIVE.md.

Reading makes a plan, a value that can be shown; applying it writes the archive first and each list only if it
still is what was read, and takes the archive back where one is not, so that no task is lost or doubled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from aider_gardener.archive.sessions import said_in
from aider_gardener.archive.store.base import SessionInfo, Store
from aider_gardener.archive.store.writing import read_bytes, remove_if_unchanged, write_if_unchanged
from aider_gardener.errors import StoreError, UsageError
from aider_gardener.gardener.learnt import PROJECT, is_of
from aider_gardener.messages import Entry
from aider_gardener.notes.markdown import flat
from aider_gardener.notes.tasks import Done, Task, archived, as_task, boxes_in, checked_off, done_in

ARCHIVE_NAME = "TASK_ARCHIVE.md"
LIST_NAMES = frozenset({"tasks.md", "todo.md"})
"""Files in the root of a repository that are lists of tasks, however they are written."""
CHAT = "the chat"
EVENT = "task"
SESSIONS_READ = 200


@dataclass(frozen=True)
class Change:
    """A list as it was read and as it is to be."""

    path: Path
    before: bytes
    after: bytes


@dataclass(frozen=True)
class Moves:
    """What is to move: the done tasks in order, each list that loses some, and the archive as it was and is
    to be (`before` None: there is none). `entry_ids` are by task those of a chat that checked it off."""

    done: tuple[Done, ...]
    lists: tuple[Change, ...]
    archive: Path
    before: bytes | None
    after: bytes
    entry_ids: tuple[str, ...]


def moves(
    store: Store, project: str, *, listed: Path | None = None, clock: Callable[[], float] = time.time
) -> Moves:
    """What is done in the lists of a project, or in the one that is named, and in its chats.

    Raises UsageError for a list that is not there, StoreError for one that cannot be read.
    """
    root, infos = Path(project), said_in(store, project)[:SESSIONS_READ]
    sessions = [(info, store.session_entries(info.id)) for info in reversed(infos)]
    done: list[Done] = []
    changes: list[Change] = []
    day = time.strftime("%Y-%m-%d", time.localtime(clock()))
    for path in [listed] if listed else lists_in(root):
        before = read_bytes(path)
        if before is None:
            raise UsageError(f"there is no {path}; name a list of tasks with --tasks-file")
        left, tasks = done_in(as_text(path, before))
        if tasks:
            changes.append(Change(path, before, left.encode("utf-8")))
            done += [Done(task, path.name, session_of(task, sessions), day) for task in tasks]
    ids = [""] * len(done)
    known = {task.task.key for task in done} | {key for key, _at in noted(store, project)}
    for told, entry_id in of_chats(sessions):
        if told.task.key not in known:
            done.append(told)
            ids.append(entry_id)
    archive = root / ARCHIVE_NAME
    before = read_bytes(archive)
    after = archived(as_text(archive, before or b""), done).encode("utf-8") if done else before or b""
    return Moves(tuple(done), tuple(changes), archive, before, after, tuple(ids))


def lists_in(root: Path) -> list[Path]:
    """The lists of tasks in the root of a repository."""
    found = (path for path in root.iterdir() if path.name.lower() in LIST_NAMES and path.is_file())
    return sorted(found, key=lambda path: path.name)


def as_text(path: Path, held: bytes) -> str:
    """The text of a file. Raises StoreError for one that is not UTF-8: it would not come back."""
    try:
        return held.decode("utf-8")
    except UnicodeDecodeError:
        raise StoreError(f"{path} is not UTF-8 text; it was left as it is") from None


def session_of(task: Task, sessions: Sequence[tuple[SessionInfo, Sequence[Entry]]]) -> str:
    """The session whose messages name a task that is checked, the last one of them; else the last session; ""
    where there was none."""
    for info, entries in reversed(sessions):
        if task.text and any(f"[x] {task.text}" in entry.content for entry in entries):
            return info.id
    return sessions[-1][0].id if sessions else ""


def of_chats(sessions: Sequence[tuple[SessionInfo, Sequence[Entry]]]) -> Iterator[tuple[Done, str]]:
    """The tasks that chats checked off, each with the entry that did."""
    boxes = [box for info, entries in sessions for entry in entries for box in boxes_in(entry, info.id)]
    for box in checked_off(boxes):
        day = time.strftime("%Y-%m-%d", time.localtime(box.at))
        yield Done(as_task(box), CHAT, box.session, day), box.entry_id


def apply(store: Store, project: str, found: Moves, *, clock: Callable[[], float] = time.time) -> None:
    """Write the archive, then each list. Raises StoreError where one was changed meanwhile: all of them stay
    as they are then."""
    if not found.done:
        return
    write_if_unchanged(found.archive, found.before, found.after)
    written: list[Change] = []
    try:
        for change in found.lists:
            write_if_unchanged(change.path, change.before, change.after)
            written.append(change)
    except StoreError:
        with suppress(StoreError):
            for change in written:
                write_if_unchanged(change.path, change.after, change.before)
            take_back(found)
        raise
    for told, entry_id in zip(found.done, found.entry_ids, strict=True):
        data = {"project": project, "key": told.task.key, "text": told.task.text, "of_session": told.session}
        store.record_event(PROJECT, 0, EVENT, {**data, "entry_id": entry_id} if entry_id else data, clock())


def take_back(found: Moves) -> None:
    """Make the archive what it was. Raises StoreError where somebody changed it since."""
    if found.before is None:
        remove_if_unchanged(found.archive, found.after)
    else:
        write_if_unchanged(found.archive, found.after, found.before)


def noted(store: Store, project: str) -> list[tuple[str, float]]:
    """The keys of the tasks of a project that were archived, each with when, oldest first."""
    return [
        (str(event.data.get("key")), event.at)
        for event in store.events(PROJECT, EVENT)
        if is_of(store, project, str(event.data.get("project")))
    ]


def told(found: Moves, would: bool) -> Iterator[str]:
    """What moves, or `would`, a line each."""
    if not found.done:
        yield "Nothing is checked off."
        return
    verb = "would move" if would else "moved"
    for each in found.done:
        yield f"{each.origin}: {flat(each.task.text)}"
    count = f"{len(found.done)} task{'' if len(found.done) == 1 else 's'}"
    yield f"{count} {verb} to {found.archive}"
