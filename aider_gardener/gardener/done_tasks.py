"""Tasks that are checked off in a list of a repository, moved to TASK_ARCHIVE.md beside it.

A task goes with all that is indented below it, once nothing of that is open; every byte else of the list
stays. The archive is written first: where the list was changed meanwhile a task stands in both, and never in
neither.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

from aider_gardener.errors import StoreError, UsageError
from aider_gardener.files import read_bytes, write_if_unchanged
from aider_gardener.phrases import counted
from aider_gardener.reading.output import flat

ARCHIVE_NAME = "TASK_ARCHIVE.md"
LIST_NAMES = ("TASKS.md", "TODO.md")
"""The lists of tasks in the root of a repository."""
DETAILED = 10
"""So many done tasks stand in the archive in detail, the newest; of older ones a line."""
TITLE_CHARS = 120
HEAD = "# Done tasks, moved here by gardener upkeep: the last ten whole, of older ones a line\n"
OLDER = "## Older\n"
ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\](?:[ \t]+(.*))?$")
FENCE = re.compile(r"[ \t]*(?:```|~~~)")


def moved(root: Path, listed: Path | None = None, *, dry_run: bool = False) -> Iterator[str]:
    """Move what is checked off in the lists of a repository, or in the one named, and tell of it in lines.

    Raises UsageError for a list that is not there or an archive that is none of ours, StoreError where a
    file cannot be read or was changed meanwhile: it is as it was then.
    """
    lists = [listed] if listed else [root / name for name in LIST_NAMES if (root / name).is_file()]
    archive, count = root / ARCHIVE_NAME, 0
    for path in lists:
        before = read_bytes(path)
        if before is None:
            raise UsageError(f"there is no {path}; name a list of tasks")
        open_text, done = done_in(_as_text(path, before))
        if done and not dry_run:
            _move(archive, done, path, before, open_text.encode("utf-8"))
        count += len(done)
        yield from (f"{path.name}: {flat(title)}" for title, _lines in done)
    verb = "would move" if dry_run else "moved"
    yield f"{counted(count, 'task')} {verb} to {archive}" if count else "Nothing is checked off."


def _move(archive: Path, done: list[tuple[str, list[str]]], path: Path, before: bytes, rest: bytes) -> None:
    archived_data = read_bytes(archive)
    text = _as_text(archive, archived_data or b"")
    if archived_data and not text.startswith(HEAD):
        raise UsageError(f"{archive} is there already and none of `gardener upkeep`: move it away first")
    after = archived(text or HEAD, done, time.strftime("%Y-%m-%d")).encode("utf-8")
    write_if_unchanged(archive, archived_data, after)
    write_if_unchanged(path, before, rest)


def _as_text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise StoreError(f"{path} is not UTF-8 text; it was left as it is") from None


def done_in(text: str) -> tuple[str, list[tuple[str, list[str]]]]:
    """A list without its tasks that are done, and of these, in order, the words and all their lines."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    open_lines: list[str] = []
    found: list[tuple[str, list[str]]] = []
    at, in_code = 0, False
    while at < len(lines):
        in_code ^= bool(FENCE.match(lines[at]))
        item = None if in_code else ITEM.match(lines[at].rstrip("\r\n"))
        end = at + 1
        if item:
            behind = range(end, len(lines))
            ends = (n for n in behind if lines[n].strip() and _indent(lines[n]) <= _indent(lines[at]))
            end = next(ends, len(lines))
        while end > at + 1 and not lines[end - 1].strip():
            end -= 1
        block = [line.rstrip("\r\n") for line in lines[at:end]]
        if item and not any(inner[2] == " " for inner in map(ITEM.match, block) if inner):
            found.append((item[3] or "", [line.removeprefix(item[1]) for line in block]))
        else:
            open_lines += lines[at:end]
        at = end
    return "".join(open_lines), found


def _indent(line: str) -> int:
    line = line.rstrip("\r\n").expandtabs(4)
    return len(line) - len(line.lstrip())


def archived(text: str, done: list[tuple[str, list[str]]], day: str) -> str:
    """The text of the archive with more tasks, the newest first; of those beyond the tenth a line is left."""
    recent, _, older = text.removeprefix(HEAD).partition(OLDER)
    newest = ["\n".join([f"## {day}: {flat(title, TITLE_CHARS)}", "", *lines]) for title, lines in done]
    sections = [*reversed(newest), *filter(None, map(str.strip, re.split(r"^(?=## )", recent, flags=re.M)))]
    rest = ["- " + section.partition("\n")[0].removeprefix("## ") for section in sections[DETAILED:]]
    rest += filter(None, older.splitlines())
    parts = [HEAD.strip(), *sections[:DETAILED], *([OLDER.strip(), "\n".join(rest)] if rest else [])]
    return "\n\n".join(parts) + "\n"
