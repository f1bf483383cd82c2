"""Trees drawn with branches: files, dependencies, processes, plans. A line stands below the one whose name
begins further left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.keys import CHANGED, SUMS_UP
from aider_gardener.compress.outline import CONTEXT, FAILURE, OUTCOME, WARNING, Note
from aider_gardener.reading.alarms import alarm

LINE_CHARS = 400
FEWEST_LINES, FEWEST_SHARE = 4, 10
"""A text has at least so many drawn lines, and of so many lines one."""

SHALLOW, CHANGE, LOSS = 5.0, 3.0, 2.0

DRAWN = re.compile(
    r"(?:\[INFO\] )?[│┃|! \xa0+~-]{0,400}(?:[├└╰┣┗][─━┬╴-]*|[|+`\\]-{1,4}) ?(?=[^\s|+=─┼┴┬┐┘┤╮╯-])"
)
BESIDE = re.compile(r"(?:\[INFO\] )?[│┃| \xa0]+(?=[^\s│┃|])")
LAST = re.compile(r"[└╰┗]|[`\\]-")
LOST = re.compile(r" *(?:-|\+/?-)[/+]* ")
AGAIN = ("(*)", "deduped")
"""Stands behind what is drawn elsewhere."""


def read(lines: Sequence[str]) -> dict[int, Note]:
    """The lines of drawn trees in a text, with the line at the root of each."""
    short = [line[:LINE_CHARS].rstrip() for line in lines]
    leads = [DRAWN.match(line) for line in short]
    drawn = sum(map(bool, leads))
    if drawn < max(FEWEST_LINES, len(lines) // FEWEST_SHARE):
        return {}
    if not any(lead and LAST.search(lead.group()) for lead in leads):
        return {}
    notes = {row: Note(OUTCOME) for row, line in enumerate(short) if SUMS_UP.match(line.lstrip())}
    above, columns = _placed(short, [lead.end() if lead else 0 for lead in leads])
    parents = set(above.values())
    levels = {-1: -1}
    for row, top in above.items():
        levels[row] = levels[top] + 1
        notes[row] = _note(short[row], columns[row], top, levels[row], row in parents)
    return notes


def _placed(lines: Sequence[str], columns: list[int]) -> tuple[dict[int, int], list[int]]:
    """For each row of a tree the row above it, and where each name begins, 0 for a line of no tree."""
    above: dict[int, int] = {}
    stack: list[int] = []
    for row, line in enumerate(lines):
        if not columns[row] and len(stack) > 1 and (beside := BESIDE.match(line)):
            columns[row] = beside.end()
        if not columns[row]:
            stack = [row] if line.strip() else []
            continue
        while stack and columns[stack[-1]] >= columns[row]:
            stack.pop()
        if len(stack) == 1:
            above.setdefault(stack[0], -1)
        above[row] = stack[-1] if stack else -1
        stack.append(row)
    return dict(sorted(above.items())), columns


def _note(line: str, column: int, top: int, level: int, parent: bool) -> Note:
    name = line[column:]
    trouble = alarm(name)
    worth = {"error": FAILURE, "warning": WARNING}.get(trouble, max(CONTEXT, SHALLOW - level))
    worth += (
        CHANGE * bool(CHANGED.match(line.lstrip()))
        + LOSS * bool(LOST.match(line))
        - CONTEXT * name.endswith(AGAIN)
    )
    first, _, more = name.partition(" ")
    kind = first if more and not more.startswith(" ") else name.rpartition(".")[2] if "." in name[1:] else ""
    return Note(worth, top, ("drawn", level, parent, kind[:20], trouble))
