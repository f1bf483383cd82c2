"""The engine of changes: unified and combined diffs, and the heads of the commits that they belong to.

A hunk's lines stand under its header, the header under the file, the file under its commit. Files come first,
then what defines or names something, then other changed lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log2

from aider_gardener.compress.outline import (
    CAUSE,
    CONTEXT,
    DETAIL,
    FAILURE,
    NOISE,
    REPEAT,
    WARNING,
    Note,
)
from aider_gardener.compress.quoting import form_of, indent_parents
from aider_gardener.reading.late import late

LOOKED_AT = 400
"""Patterns look at so many characters of a line."""

HUNK = late(r"@@+ (?:-\d+(?:,\d+)? )+\+\d+(?:,\d+)? @@|## -\d+(?:,\d+)? \+\d+(?:,\d+)? ##")
RANGE = late(r"[-+]\d+(?:,(\d+))?")
FILE = late(r"diff (?:--(?:git|cc|combined) |-[-\w]+ ).|Index: .*[./]|\* Unmerged path .|Only in .+: .")
OLD, NEW = re.compile(r"--- ."), re.compile(r"\+\+\+ .")
NAME = late(r"^(?:---|\+\+\+) (?:[ab]/)?|\t.*|\s+$")
BETWEEN = late(r"diff -|Index: |index |={60}|(?:new|deleted) file mode ")
TOLD = late(r"(?:deleted file|new file|new) mode |(?:rename|copy) to |Binary files |GIT binary patch")
META = late(r"index [0-9a-f]|(?:dis)?similarity |(?:rename|copy) from |old mode |={60}|literal ")
COMMIT = late(r"commit [0-9a-f]{7,64}(?: \(.+\))?\s*$|changeset: +\d+:[0-9a-f]+$|r\d+ \| .+ \| \d{4}-")
FIELD = late(r"(?:Merge|(?:Author|Commit)?(?:Date)?|user|date|parent|branch|tag|summary):\s")
STAT = late(r" \S.* \| +(?:\d+ [-+]+|Bin .*)$|(?P<sum> \d+ files? changed\b)")
CONFLICT = late(r"(?:<{7}|>{7}|\|{7})(?: |$)")
DEFINES = late(
    r"(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|pub(?:\(\w+\))?|override|"
    r"virtual|sealed|unsafe|extern|inline|constexpr|open|data)\s+)*(?:def|class|function|func|fn|struct|enum|"
    r"trait|interface|type|impl|module|namespace|record|object|macro_rules!|CREATE TABLE|ALTER TABLE)\s+\S"
)
NAMES = late(r"[\"']?[\w.$\[\]-]+[\"']?(?: *[:+*/|-]?= *| *: ).|(?:return|raise|throw|import)\b")
EMPTY = late(r"#(?:\s.*)?$|//|/?\*|[\W_]*$")


@dataclass
class _Open:
    """The rows of what is open at a line, -1 for none. Of the hunk: how many lines of each old text and of
    the new one are to come, how many that matter it took away and added. The commit is the `nth`, the first
    or the last for `ends`."""

    commits: int
    often: Counter[str]
    parents: Sequence[int]
    commit: int = -1
    subject: int = -1
    file: int = -1
    hunk: int = -1
    left: list[int] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)
    hunks: int = 0
    files: int = 0
    worth: float = 0
    conflict: bool = False
    sure: bool = False
    nth: int = 0
    ends: bool = False


def read(lines: Sequence[str]) -> dict[int, Note]:
    """The notes of the lines of diffs and of the commits above them."""
    commits = sum(1 for line in lines if COMMIT.match(line, 0, LOOKED_AT))
    often = Counter(form_of(line) for line in lines if commits > 1 and line.startswith("    "))
    at = _Open(commits, often, indent_parents(lines), sure=commits > 0)
    notes: dict[int, Note] = {}
    for row in range(len(lines)):
        if note := _inside(at, lines, row) or _header(at, lines, row) or _of_a_commit(at, lines, row):
            notes[row] = note
    return notes if at.sure else {}


def _inside(at: _Open, lines: Sequence[str], row: int) -> Note | None:
    """A line of the open hunk."""
    line, columns = lines[row], max(1, len(at.left) - 1)
    marks = line[:columns].ljust(columns)
    more = any(left > 0 for left in at.left) or (columns > 1 and "-" in marks) or marks[0] == "\\"
    if at.hunk < 0 or not more or (marks[0] not in " +-\\"):
        at.hunk = -1
        return None
    if marks[0] == "\\":
        return Note(NOISE, at.hunk)
    gone = "-" in marks
    for column, mark in enumerate(marks):
        at.left[column] -= mark == "-" or (mark == " " and not gone)
    at.left[-1] -= not gone
    return Note(_worth(at, marks, line[columns:].strip()), at.hunk)


def _worth(at: _Open, marks: str, line: str) -> float:
    """What a line of a hunk is worth."""
    if CONFLICT.match(line) or (at.conflict and line == "======="):
        at.conflict = line[0] != ">"
        return CAUSE
    if not marks.strip() or not line:
        return NOISE if EMPTY.match(line) else CONTEXT / 4
    if EMPTY.match(line, 0, LOOKED_AT):
        return CONTEXT / 2
    worth = WARNING if DEFINES.match(line, 0, LOOKED_AT) else DETAIL
    worth += 1.5 * bool(NAMES.match(line, 0, LOOKED_AT)) + WARNING * at.conflict
    side = "+" in marks
    at.changed[side] += 1
    return worth + 0.3 * side - 0.6 * log2(at.changed[side]) - 0.4 * log2(at.hunks)


def _header(at: _Open, lines: Sequence[str], row: int) -> Note | None:
    """The header of a file or of a hunk, or what is told of a file between the two."""
    line = lines[row]
    if found := HUNK.match(line, 0, LOOKED_AT):
        left = [int(many or 1) for many in RANGE.findall(found.group())]
        at.hunk, at.left, at.changed, at.hunks = row, left, [0, 0], at.hunks + 1
        at.sure, at.conflict = True, False
        return Note(DETAIL - 0.4 * log2(at.hunks), at.file)
    if FILE.match(line, 0, LOOKED_AT) or (_names_file(lines, row) and (at.file < 0 or at.hunks)):
        return _file(at, lines, row)
    if at.file < 0 or at.hunks:
        return None
    if row == at.file:
        same = len({NAME.sub("", name) for name in lines[row - 1 : row + 1]}) == 1 or OLD.match(line)
        return Note(at.worth, at.commit if same else row - 1, "file" if at.commits < 2 else line)
    told = TOLD.match(line) or line[4:] == "/dev/null"
    if told or META.match(line) or OLD.match(line) or NEW.match(line):
        return Note(WARNING, at.file) if told and row > at.file else Note(NOISE, at.commit)
    return None


def _file(at: _Open, lines: Sequence[str], row: int) -> Note:
    """The first line of a file's header: it names the file, unless a shorter one follows."""
    at.hunks, at.files = 0, at.files + 1
    at.sure = at.sure or lines[row].startswith("diff --")
    at.worth = FAILURE + REPEAT * log2(at.files) if at.commits < 2 else WARNING
    near = row
    while near < min(row + 6, len(lines)) and BETWEEN.match(lines[near]):
        near += 1
    gone = lines[near + 1 : near + 2] == ["+++ /dev/null"]
    at.file = near + (not gone) if _names_file(lines, near) else row
    return Note(at.worth if at.file == row else NOISE, at.commit, "file")


def _names_file(lines: Sequence[str], row: int) -> bool:
    """True when the row and the next one name the old and the new text of a file, before a hunk."""
    near = zip((OLD, NEW, HUNK), lines[row : row + 3], strict=False)
    return row + 2 < len(lines) and all(pattern.match(line) for pattern, line in near)


def _of_a_commit(at: _Open, lines: Sequence[str], row: int) -> Note | None:
    """A line of a commit's head or of its message."""
    line = lines[row]
    if COMMIT.match(line, 0, LOOKED_AT):
        at.commit, at.subject, at.file, at.hunks, at.nth = row, -1, -1, 0, at.nth + 1
        at.ends = at.nth in (1, at.commits)
        return Note(DETAIL + WARNING * ("(" in line) + WARNING * at.ends, -1, row if at.ends else None)
    if at.commits > 1 and (stat := STAT.match(line, 0, LOOKED_AT)):
        return Note(DETAIL if stat["sum"] else CONTEXT, at.commit, row if stat["sum"] else None)
    head = at.commit >= 0 > at.file
    if head and at.subject < 0 and FIELD.match(line, 0, LOOKED_AT):
        worth = DETAIL if at.ends or line[:5] in ("Autho", "Merge", "user:") else 0.0
        return Note(worth + FAILURE * line.startswith("summary:"), at.commit, row if at.ends else None)
    if not head or not line.startswith("    ") or not line.strip():
        return None
    rare = 1 if at.ends else 1 / (1 + log2(at.often[form_of(line)]))
    worth = CONTEXT + (FAILURE - DETAIL if at.subject < 0 else DETAIL) * rare
    at.subject = row if at.subject < 0 else at.subject
    above = at.parents[row] if at.parents[row] >= at.subject else at.commit
    return Note(worth, above, row if at.ends else None)
