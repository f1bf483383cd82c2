"""Tasks that are checked off, on their way from the lists of a repository to TASK_ARCHIVE.md.

Reading makes a plan, a value that can be shown; applying it writes the archive first and each list only if it
still is what was read, and takes the archive back where one is not, so that no task is lost or doubled. A
task goes with all that stands below it, once nothing of that is open; every byte else of a list stays.
"""

from __future__ import annotations

import hashlib
import io
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from aider_gardener.archive.sessions import project_sessions
from aider_gardener.archive.store.base import Store
from aider_gardener.errors import StoreError, UsageError
from aider_gardener.files import read_bytes, remove_if_unchanged, write_if_unchanged
from aider_gardener.gardener.learnt import PROJECT
from aider_gardener.notes.markdown import flat, quoted
from aider_gardener.phrases import counted

ARCHIVE_NAME = "TASK_ARCHIVE.md"
LIST_NAMES = frozenset({"tasks.md", "todo.md"})
"""Files in the root of a repository that are lists of tasks, however they are written."""
EVENT = "task"
DETAILED = 10
"""So many done tasks stand in the archive in detail, the newest; of older ones a line."""
TITLE_CHARS = 120
HEAD = (
    "# Done tasks\n\nMade by `gardener compress-context --tasks`: the last ten with all that stood below"
    " them, of older ones a line."
)
OLDER = "## Older"
ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\](?:[ \t]+(.*))?$")
ENTRY = re.compile(
    r"## (\d{4}-\d\d-\d\d, (?:session \w+|no session): .*)( <!-- done ([0-9a-f]{8}) -->)$", re.M
)


@dataclass(frozen=True)
class Task:
    """A task that was checked off: its words, its lines as they stood, without their common indent, and the
    heading that it stood under ("" for none)."""

    text: str
    lines: tuple[str, ...]
    heading: str = ""


@dataclass(frozen=True)
class Change:
    """A file as it was read (`before` None: there is none) and as it is to be, without the tasks that are
    done, in order."""

    path: Path
    before: bytes | None
    after: bytes
    done: tuple[Task, ...] = ()


@dataclass(frozen=True)
class Moves:
    """What is to move: each list that loses some tasks, and the archive. `session` is the last one, "" where
    there was none."""

    lists: tuple[Change, ...]
    archive: Change
    session: str

    @property
    def done(self) -> tuple[Task, ...]:
        return tuple(task for change in self.lists for task in change.done)


def moves(
    store: Store, project: str, *, listed: Path | None = None, clock: Callable[[], float] = time.time
) -> Moves:
    """What is done in the lists of a project, or in the one that is named.

    Raises UsageError for a list that is not there, StoreError for one that cannot be read.
    """
    root, changes = Path(project), []
    for path in [listed] if listed else lists_in(root):
        before = read_bytes(path)
        if before is None:
            raise UsageError(f"there is no {path}; name a list of tasks with --tasks-file")
        left, done = done_in(_as_text(path, before))
        if done:
            changes.append(Change(path, before, left.encode("utf-8"), done))
    session = next((info.id for info in project_sessions(store, project)), "")
    day = time.strftime("%Y-%m-%d", time.localtime(clock()))
    archive = root / ARCHIVE_NAME
    before = read_bytes(archive)
    made = [section_of(task, change.path.name, session, day) for change in changes for task in change.done]
    after = archived(_as_text(archive, before or b""), made).encode("utf-8") if made else before or b""
    return Moves(tuple(changes), Change(archive, before, after), session)


def lists_in(root: Path) -> list[Path]:
    """The lists of tasks in the root of a repository."""
    found = (path for path in root.iterdir() if path.name.lower() in LIST_NAMES and path.is_file())
    return sorted(found, key=lambda path: path.name)


def _as_text(path: Path, held: bytes) -> str:
    try:
        return held.decode("utf-8")
    except UnicodeDecodeError:
        raise StoreError(f"{path} is not UTF-8 text; it was left as it is") from None


def done_in(text: str) -> tuple[str, tuple[Task, ...]]:
    """A list without its tasks that are done, and these, in order. Every byte else stays."""
    from markdown_it import MarkdownIt

    lines = io.StringIO(text, newline="").readlines()
    tokens = MarkdownIt("commonmark").disable("inline").parse(text)  # brackets take it quadratic time
    spans = [token.map for token in tokens if token.type == "list_item_open" and token.map]
    boxes = {begin: item for begin, _end in spans if (item := ITEM.match(lines[begin].rstrip("\r\n")))}
    heads = {
        token.map[0]: tokens[at + 1].content
        for at, token in enumerate(tokens)
        if token.type == "heading_open" and token.map
    }
    left: list[str] = []
    found: list[Task] = []
    at = 0
    for begin, end in spans:
        item = boxes.get(begin)
        if begin < at or not item:
            continue
        while end > begin + 1 and not lines[end - 1].strip():
            end -= 1
        left += lines[at:begin]
        at = end
        if any(boxes[number][2] == " " for number in range(begin, end) if number in boxes):
            left += lines[begin:end]
            continue
        above = [number for number in heads if number < begin]
        block = (line.rstrip("\r\n").removeprefix(item[1]).rstrip() for line in lines[begin:end])
        found.append(Task(item[3] or "", tuple(block), heads[max(above)] if above else ""))
    return "".join([*left, *lines[at:]]), tuple(found)


def section_of(task: Task, origin: str, session: str, day: str) -> str:
    """A done task in detail, as a section of the archive; a mark in its heading says whether somebody changed
    it since."""
    where = f"session {session[:8]}" if session else "no session"
    under = f", {quoted(task.heading, TITLE_CHARS)}" if task.heading else ""
    head = f"## {day}, {where}: {quoted(task.text, TITLE_CHARS)}"
    body = "\n".join(["", "", f"From {origin}{under}.", "", *task.lines])
    return f"{head} <!-- done {_mark(head + body)} -->{body}"


def _mark(section: str) -> str:
    return hashlib.sha256(section.rstrip().encode("utf-8", "replace")).hexdigest()[:8]


def archived(held: str, made: Sequence[str]) -> str:
    """The text of the archive with more sections, the newest first: in order, the last is put at the top.

    What stands there stays, but for sections of ours beyond the tenth that nobody changed, of which a line is
    left.
    """
    text = held.replace("\r\n", "\n")
    head, *others = re.split(r"^(?=## )", text if text.strip() else HEAD, flags=re.M)
    older = next((each for each in others if each.startswith(OLDER)), f"{OLDER}\n\n")
    kept, lines, seen = [head], [], 0
    for section in [*reversed(made), *(each for each in others if each != older)]:
        entry = ENTRY.match(section)
        seen += entry is not None
        if entry and seen > DETAILED and _mark(section.replace(entry[2], "", 1)) == entry[3]:
            lines.append(f"- {entry[1]}")
        else:
            kept.append(section)
    if lines or older in others:
        title, _, rest = older.partition("\n\n")
        kept.append("\n".join([title, "", *lines, rest]))
    whole = "\n\n".join(section.rstrip() for section in kept if section.strip()) + "\n"
    return whole.replace("\n", "\r\n") if "\r\n" in held else whole


def apply(store: Store, project: str, found: Moves, *, clock: Callable[[], float] = time.time) -> None:
    """Write the archive, then each list. Raises StoreError where one was changed meanwhile: all of them stay
    as they are then."""
    if not found.lists:
        return
    written: list[Change] = []
    try:
        for change in (found.archive, *found.lists):
            write_if_unchanged(change.path, change.before, change.after)
            written.append(change)
    except StoreError:
        with suppress(StoreError):
            for change in reversed(written):
                if change.before is None:
                    remove_if_unchanged(change.path, change.after)
                else:
                    write_if_unchanged(change.path, change.after, change.before)
        raise
    for task in found.done:
        data = {"project": project, "text": task.text, "of_session": found.session}
        store.record_event(PROJECT, 0, EVENT, data, clock())


def render(found: Moves, would: bool) -> Iterator[str]:
    """What moves, or `would`, a line each."""
    if not found.lists:
        yield "Nothing is checked off."
        return
    for change in found.lists:
        for task in change.done:
            yield f"{change.path.name}: {flat(task.text)}"
    verb = "would move" if would else "moved"
    yield f"{counted(len(found.done), 'task')} {verb} to {found.archive.path}"
