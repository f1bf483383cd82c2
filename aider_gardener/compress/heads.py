"""Rows that say nothing true without another: those of a table, of a file, of a hunk, of a commit.

What the law of truth knows of it, apart from what the engines know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

COMMIT = re.compile(r"commit [0-9a-f]{7,64}\b")
FIELD = re.compile(r"(?:Merge|Author|AuthorDate|Commit|CommitDate|Date): ")
HUNK = re.compile(r"@@+ -\d")
RULE = re.compile(r"(?=[\s|+:=│┼├┤─━═┌┬┐└┴┘╪╞╡┿-]+$).*[-=─━═]{3}")
STROKES = re.compile(r"[-=─━═]+")
CAPITALS = re.compile(r"[A-Z][A-Z0-9 %/()_#.-]*$")
TITLE = re.compile(r"\"?[^\W\d][\w .%()/#-]*\"?$")
PATH = re.compile(r"(?:[A-Za-z]:)?[\w@.~+-]*(?:[/\\][\w@.~+-]+)*\.\w{1,8}:?$")
RECORD = re.compile(r"\s+\d+:\d+\s")
PARTED = re.compile(r"\n(?:commit [0-9a-f]|@@|\s+\d+:\d+\s)")
"""Without such a line no line has a part for its head."""
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
BETWEEN_CELLS = re.compile(r"\s(?:(?<=\t)|\s+)")

Heads = Iterator[tuple[int, Sequence[int]]]


def heads_of(lines: Sequence[str], open_above: Sequence[bool]) -> dict[int, Sequence[int]]:
    """By row the rows of which one is shown where it is; `open_above`: a blank line stands above the row."""
    return dict([*_heads_of_parts(lines), *_heads_of_rows(lines, open_above)])


def cells(line: str) -> int:
    """How many cells a line has, if it is the row of a table."""
    bars = line.count("|") + line.count("│")
    if not bars and "  " not in line and "\t" not in line and line.isascii():
        return 1
    return bars + 1 if bars else len(BETWEEN_CELLS.split(line.strip()))


def _heads_of_parts(lines: Sequence[str]) -> Heads:
    """Fields under their commit, hunks under a line that names their file, lines under their hunk, records
    that begin with a line and a column under a path that stands alone."""
    if not PARTED.search("\n".join(["", *lines])):
        return
    files: list[int] = []
    commit = hunk = path = -1
    for row, line in enumerate(lines):
        commit = row if COMMIT.match(line) else commit if FIELD.match(line) else -1
        pair = line.startswith("--- ") and "".join(lines[row + 1 : row + 2]).startswith("+++ ")
        fresh = line.startswith(("diff -", "Index: "))
        if HUNK.match(line):
            hunk = row
            if files:
                yield row, files
        elif hunk >= 0 and line[0] in " +-\\" and not pair and line != "--":
            yield row, [hunk]
        elif fresh or pair or line.startswith("+++ "):
            files = [*(near for near in files if near > row - 8 and hunk < 0 and not fresh), row]
            hunk = -1
        elif 0 <= commit < row:
            yield row, [commit]
        elif not line[0].isspace():
            hunk, path = -1, row if PATH.match(line) else -1
        elif path >= 0 and RECORD.match(line):
            yield row, [path]


def _heads_of_rows(lines: Sequence[str], open_above: Sequence[bool]) -> Heads:
    """Rows under the titles of their columns: above a rule, in capitals, or in the first line of a CSV."""
    if _is_csv(lines[:50]):
        yield from ((row, [0]) for row in range(1, len(lines)))
        return
    head = width = -1
    for row, line in enumerate(lines):
        rule = bool(RULE.match(line))
        if head >= 0 and not open_above[row] and (rule or cells(line) == width):
            if not rule:
                yield row, [head]
            continue
        titles = row - 1 if rule and row and not open_above[row] else row
        head = -1
        if titles < row or ("A" <= line[0] <= "Z" and all(map(CAPITALS.match, BETWEEN_CELLS.split(line)))):
            width = cells(lines[titles])
            least = 2 if titles < row and len(STROKES.findall(line)) > 1 else 3
            head = titles if width >= least else -1


def _is_csv(lines: Sequence[str]) -> bool:
    """True for as many commas in each line, at least two, and titles in the first."""
    commas = {QUOTED.sub("", line).count(",") for line in lines}
    values = [cell for line in lines[1:] for cell in line.split(",")]
    titles = lines[0].split(",") if len(lines) > 3 and len(commas) == 1 else []
    return len(titles) > 2 and all(map(TITLE.match, titles)) and any(map(str.isdigit, values))
