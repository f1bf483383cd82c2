"""Lists of tasks in Markdown: what is checked off leaves the list for an archive, everything else stays.

A task goes with all that stands below it, once nothing of that is open. Of the archive the last ten stand in
detail and older ones on a line each; what somebody changed there by hand is never shortened.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from aider_gardener.messages import ContentClass, Entry, SourceKind
from aider_gardener.notes.markdown import flat, quoted
from aider_gardener.notes.rules import typed_words

DETAILED = 10
"""So many done tasks stand in the archive in detail, the newest."""
TITLE_CHARS = 120
HEAD = (
    "# Done tasks",
    "",
    "Made by `gardener compress-context --tasks`: the last ten with all that stood below them, of older ones"
    " a line.",
)
OLDER = "## Older"

ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\](?:[ \t]+(.*))?$")
HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$")
FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)$")
BREAKS = re.compile(r"\s*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|[#>|<]|-{3}|\*{3}|_{3}|={3}|`{3}|~{3}|\[.{1,80}\]:)")
"""How a line begins that does not go on with the paragraph above."""
ENTRY = re.compile(r"## (\d{4}-\d\d-\d\d), (session \w+|no session): (.*) <!-- done ([0-9a-f]{8}) -->$")


@dataclass(frozen=True)
class Task:
    """A task that was checked off: its words, its lines as they stood, without their common indent, and the
    heading that it stood under ("" for none)."""

    text: str
    lines: tuple[str, ...]
    heading: str = ""

    @property
    def key(self) -> str:
        """The same for the same words, whatever their spaces and case."""
        return hashlib.sha256(" ".join(self.text.casefold().split()).encode("utf-8", "replace")).hexdigest()[
            :16
        ]


@dataclass(frozen=True)
class Done:
    """A task in the archive: of which list, of which session ("" for none), on which day ("2026-11-23")."""

    task: Task
    origin: str
    session: str
    day: str


@dataclass(frozen=True)
class Box:
    """A task of a list in a chat: its words, whether it is checked, and where it stood so last."""

    text: str
    checked: bool
    session: str
    turn: int
    at: float
    entry_id: str


def done_in(text: str) -> tuple[str, tuple[Task, ...]]:
    """A list without its tasks that are done, and these, in order. Every byte else stays."""
    lines = text.splitlines(keepends=True)
    left: list[str] = []
    found: list[Task] = []
    heading, fence, at = "", "", 0
    while at < len(lines):
        line = lines[at].rstrip("\r\n")
        fence = fence_after(fence, line)
        item = None if fence else ITEM.match(line)
        if not fence and (head := HEADING.match(line)):
            heading = head[1]
        end, open_boxes = block_end(lines, at, item[1]) if item else (at + 1, 0)
        if item and item[2] != " " and not open_boxes:
            found.append(Task(item[3] or "", tuple(dedented(lines[at:end], item[1])), heading))
        else:
            left += lines[at:end]
        at = end
    return "".join(left), tuple(found)


def fence_after(fence: str, line: str) -> str:
    """The mark of the fence that is open behind a line, "" for none, given the one before it."""
    mark = FENCE.match(line)
    if not mark:
        return fence
    if fence:
        return "" if mark[1].startswith(fence) and not mark[2].strip() else fence
    return mark[1]


def block_end(lines: Sequence[str], at: int, indent: str) -> tuple[int, int]:
    """Behind which line the task ends that begins at one, and how many open boxes are in it; a fence that
    never closes counts as one."""
    width = columns(indent)
    fence, end, still_open, was_blank = "", at + 1, 0, False
    for number in range(at + 1, len(lines)):
        line = lines[number].rstrip("\r\n")
        if not fence and line.strip() and columns(line) <= width and (was_blank or BREAKS.match(line)):
            break
        was_blank = not line.strip()
        fence = fence_after(fence, line)
        item = ITEM.match(line)
        still_open += item is not None and item[2] == " "
        end = end if was_blank and not fence else number + 1
    return end, still_open + bool(fence)


def columns(line: str) -> int:
    """How far a line is indented, tabs to the next four."""
    width = 0
    for letter in line:
        if letter not in " \t":
            break
        width += 4 - width % 4 if letter == "\t" else 1
    return width


def dedented(lines: Sequence[str], indent: str) -> Iterator[str]:
    """Lines without their ends and without an indent that they share."""
    for line in lines:
        yield line.rstrip("\r\n").removeprefix(indent).rstrip()


def boxes_in(entry: Entry, session: str) -> Iterator[Box]:
    """The tasks of the lists in what somebody said, outside code and edits."""
    if entry.source.kind is SourceKind.TYPED:
        said = typed_words(entry)
    elif entry.source.kind is SourceKind.REPLY:
        spans = (part for part in entry.segments if part.cls is ContentClass.PROSE and part.kind != "wrapper")
        said = "\n".join(entry.content[part.start : part.end] for part in spans)
    else:
        return
    for line in said.splitlines():
        if (item := ITEM.match(line)) and (item[3] or "").strip():
            yield Box(item[3].strip(), item[2] != " ", session, entry.turn, entry.created_at, entry.id)


def checked_off(boxes: Iterable[Box]) -> list[Box]:
    """The tasks that stood open in a chat and were checked off later, by their words, where they first
    were."""
    is_open: set[str] = set()
    done: dict[str, Box] = {}
    for box in boxes:
        key = Task(box.text, ()).key
        if not box.checked:
            is_open.add(key)
            done.pop(key, None)
        elif key in is_open:
            done.setdefault(key, box)
    return list(done.values())


def archived(held: str, done: Sequence[Done]) -> str:
    """The text of the archive with more done tasks, the newest first: in order, the last is put at the top.

    What stands there stays, but for our own older sections, of which a line is left.
    """
    newline = "\r\n" if "\r\n" in held else "\n"
    sections: list[list[str]] = [[]]
    for line in re.split(r"\r?\n", held) if held.strip() else HEAD:
        if line.startswith("## "):
            sections.append([])
        sections[-1].append(line)
    before, *others = sections
    made = [section_of(each) for each in reversed(done)]
    kept, older = shortened([*made, *(each for each in others if each[0] != OLDER)])
    old = next((each for each in others if each[0] == OLDER), [OLDER, ""])
    tail = [[*old[:2], *older, *trimmed(old[2:])]] if older or len(old) > 2 else []
    parts = [trimmed(part) for part in [before, *kept, *tail]]
    return newline.join(line for part in parts if part for line in [*part, ""]).rstrip("\r\n") + newline


def trimmed(lines: Sequence[str]) -> list[str]:
    """Lines without blank ones at their end."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return list(lines[:end])


def section_of(done: Done) -> list[str]:
    """A done task in detail."""
    where = f"session {done.session[:8]}" if done.session else "no session"
    under = f", {quoted(done.task.heading, TITLE_CHARS)}" if done.task.heading else ""
    body = ["", f"From {done.origin}{under}.", "", *done.task.lines]
    head = f"## {done.day}, {where}: {quoted(done.task.text, TITLE_CHARS)}"
    return [f"{head} <!-- done {digest([head, *body])} -->", *body]


def digest(lines: Sequence[str]) -> str:
    """What says whether a section was changed by hand."""
    return hashlib.sha256("\n".join(trimmed(lines)).encode("utf-8", "replace")).hexdigest()[:8]


def shortened(sections: Sequence[list[str]]) -> tuple[list[list[str]], list[str]]:
    """Sections without those of ours beyond the tenth, and a line for each of these, as they came."""
    kept: list[list[str]] = []
    older: list[str] = []
    seen = 0
    for section in sections:
        entry = ENTRY.match(section[0])
        seen += entry is not None
        is_as_made = entry and digest([section[0][: entry.end(3)], *section[1:]]) == entry[4]
        if entry and seen > DETAILED and is_as_made:
            older.append(f"- {entry[1]}, {entry[2]}: {entry[3]}")
        else:
            kept.append(section)
    return kept, older


def as_task(box: Box) -> Task:
    """A task of a chat as it goes to the archive: its words alone, which may be anybody's."""
    return Task(flat(box.text), (f"- [x] {quoted(box.text)}",))
