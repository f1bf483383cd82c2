"""Tables: lines that consist of cells, whether bars, commas, tabs or blanks stand between these.

What counts is what is unlike the rest: a value that few rows have, an empty cell, the largest number of a
column; then the first rows, since many tables are ranked, and the last row. A row needs the header of its
table above it, the header its caption.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from aider_gardener.compress.outline import CONTEXT, DETAIL, NOISE, Note, rare
from aider_gardener.compress.quoting import RULE
from aider_gardener.reading.alarms import alarm
from aider_gardener.reading.late import late

CROSSED = late(r"[+|┼╪╋┬┴├┡]")
BARS = "|│┃║"
BAR = late(rf"[{BARS}]")
NUMBER = late(
    r"([-+]?[$€£]?[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?) ?(?:([kKMGTP])i?[Bb]?|B|(%|ms|s|us|µs|ns|m|x))?"
)
SIZES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
TIMES = {"m": 60.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
TITLE = late(r":(?: +\([^()]*\))?\s*$")
WORD = late(r"[^\W\d_]{2}")
DIGITS = late(r"0x[0-9a-f]+|[0-9a-f]{7,}|\d+")

LEAST, BARE = 3, 6
"""A table has so many rows, and so many without header, bars and separators."""

FITTING, NUMERIC = 0.9, 0.8
"""Such a part of the lines of a table has the same cells; of the cells of a column of numbers are numbers."""

WIDE, SAMPLED = 300, 300
"""Columns of blanks are looked for in so many characters of so many lines."""

FAR, TOP = 4, 5
"""Of a column the largest number is told, and of the next ones those so many times as large as the middle."""

ALARM = {"error": 4.0, "warning": 2.0}
"""A row that tells of one is worth so much more, while most rows don't."""

PLAIN = 2.0
"""What a row is worth that is like the others."""

SHORT = 10
"""Of a table of so many rows or fewer none repeats another."""

_Cells = Sequence[Sequence[str]]


class _Table(NamedTuple):
    """The rows of the lines with their cells; `head` is the row of the header, -1 for none."""

    head: int
    rows: list[int]
    cells: list[list[str]]
    rules: list[int]


def read(lines: Sequence[str]) -> dict[int, Note]:
    """The tables of a text: their headers and rows. Of a table that is told again and again, as monitors do,
    counts what is unlike the rest of all its rows."""
    runs_by_head = defaultdict[Hashable, list[range]](list)
    for run in _runs(lines):
        runs_by_head[lines[run.start] if WORD.search(lines[run.start], 0, WIDE) else run.start].append(run)
    notes: dict[int, Note] = {}
    captions: dict[int, int] = {}
    for runs in runs_by_head.values():
        for some, rows, table in _tables(lines, runs):
            first = rows[table.head if table.head >= 0 else table.rows[0]]
            starts = [first, *(run.start for run in some[1:])]
            for start in starts:
                captions[start] = _caption(lines, start, captions, again=len(some) > 1)
            notes.update(_judged(table, rows, {start: captions[start] for start in starts}))
    return notes


def _tables(
    lines: Sequence[str], runs: Sequence[range]
) -> Iterator[tuple[Sequence[range], list[int], _Table]]:
    """The table that runs with the same first line are together, or those that they are one by one, each with
    its rows in the text."""
    rows = [*runs[0], *(row for run in runs[1:] for row in run[1:])]
    run = [lines[row] for row in rows]
    spread = [line.expandtabs() for line in run]
    table = _barred(spread) or _delimited(run) or _aligned(spread)
    if table and (len(runs) == 1 or len(set(map(tuple, table.cells))) >= LEAST):
        yield runs, rows, table
    elif len(runs) > 1:
        for one in runs:
            yield from _tables(lines, [one])


def _caption(lines: Sequence[str], start: int, captions: Mapping[int, int], *, again: bool) -> int:
    """The row of what stands over the table that begins at `start`, -1 for nothing. Over one that is told
    again it is the paragraph above, or what stands over that where it is such a table itself."""
    titles = [row for row in range(max(0, start - 2), start) if lines[row].rstrip().endswith(":")]
    if titles or not again:
        return titles[-1] if titles else -1
    row = start - 1
    while row >= 0 and not lines[row].strip():
        row -= 1
    while row > 0 and lines[row - 1].strip():
        row -= 1
    return captions.get(row, row)


def _runs(lines: Sequence[str]) -> Iterator[range]:
    """From where to where lines stand in which a table may be: between blank ones, or beneath a title."""
    first, least = 0, -1
    depths = [len(line) - len(line.lstrip()) if line.strip() else -1 for line in lines] + [-1]
    for row, depth in enumerate(depths):
        titles = 0 <= depth < depths[row + 1] and bool(TITLE.search(lines[row], 0, WIDE))
        if depth <= least or titles:
            if row - first > 1:
                yield range(first, row)
            first, least = (row + 1, depth) if titles or depth < 0 else (row, -1)


def _barred(run: Sequence[str]) -> _Table | None:
    """A table with bars between the cells."""
    if not any(map(BAR.search, run)):
        return None
    rules = [row for row, line in enumerate(run) if RULE.match(line)]
    others = sorted(set(range(len(run))) - set(rules))
    bars = {row: len(BAR.findall(run[row])) for row in others if BAR.search(run[row])}
    usual = Counter(bars.values()).most_common(1)[0][0] if bars else 0
    rows = [row for row, found in bars.items() if found == usual]
    crossed = any(CROSSED.search(run[row]) for row in rules)
    if len(rows) < LEAST or len(rows) < FITTING * len(bars) or (usual < 2 and not crossed):
        return None
    cells = [[cell.strip() for cell in BAR.split(run[row])] for row in rows]
    if usual < 2 and not any(row[0] for row in cells):
        return None  # what is drawn behind a bar: an exception group, a quotation
    return _headed(run, rows, cells, rules)


def _delimited(run: Sequence[str]) -> _Table | None:
    """A table with a character between the cells that each line has as often."""
    for delimiter, least in (("\t", 1), (",", 2), (";", 2), (":", 1)):
        found = [line.count(delimiter) for line in run]
        usual = Counter(found).most_common(1)[0][0]
        if usual < least or found.count(usual) < FITTING * len(run):
            continue
        rows = [row for row, times in enumerate(found) if times == usual]
        if sum(f"{delimiter} " in line for line in run) < 0.1 * len(run):
            cells = [[cell.strip() for cell in run[row].split(delimiter)] for row in rows]
            if delimiter != ":" or (usual == 1 and _numbers(cells, -1)):
                return _headed(run, rows, cells, [])
    return None


def _aligned(run: Sequence[str]) -> _Table | None:
    """A table whose cells stand beneath each other."""
    rules = [row for row, line in enumerate(run) if RULE.match(line)]
    lines = sorted(set(range(len(run))) - set(rules))
    if 2 * sum("|" in run[row] or "│" in run[row] for row in lines) > len(lines):
        return None
    gaps = _gaps([run[row] for row in lines[:: max(1, len(lines) // SAMPLED)]])
    if not gaps:
        return None
    rows: list[int] = []
    cells: list[list[str]] = []
    for row in lines:
        parts = _parts(run[row], gaps)
        if 2 * sum(map(bool, parts)) > len(parts):
            rows.append(row)
            cells.append(parts)
    if len(rows) < LEAST or len(rows) < 0.7 * len(lines):
        return None
    table = _headed(run, rows, cells, rules)
    numbers = [at for at in range(len(table.cells[0])) if _numbers(table.cells, at)]
    is_bare = len(table.cells) >= BARE and (len(numbers) > 1 or numbers == [0])
    return table if table.head >= 0 or is_bare else None


def _parts(line: str, gaps: Sequence[int]) -> list[str]:
    """The cells of a line: what stands between the gaps."""
    return [line[start:end].strip() for start, end in pairwise([0, *gaps, len(line)])]


def _gaps(lines: Sequence[str]) -> list[int]:
    """The last blank of each column of blanks that goes through nearly all lines."""
    lengths = sorted(map(len, lines))
    if len(lines) < LEAST:
        return []
    width = min(lengths[len(lengths) // 2], WIDE)
    columns = zip(*(line[:width].ljust(width) for line in lines), strict=True)
    filled = [len(lines) - column.count(" ") for column in columns] + [0]
    most = max(0.05 * len(lines), len(lines) >= 8)
    start = next((at for at in range(width) if filled[at] > most), width)
    return [at for at in range(start, width - 1) if filled[at] <= most < filled[at + 1]]


def _numbers(cells: _Cells, column: int) -> bool:
    """True for a column of numbers."""
    found = [row[column] for row in cells if row[column]]
    return bool(found) and sum(map(bool, map(NUMBER.fullmatch, found))) >= NUMERIC * len(found)


def _headed(run: Sequence[str], rows: list[int], cells: list[list[str]], rules: list[int]) -> _Table:
    """The table, its header set apart where it has one."""
    for at in range(min(4, len(rows) - LEAST + 1)):
        rest = cells[at + 1 :]
        named = [cell for cell in cells[at] if WORD.search(cell)]
        titled = len(named) >= 2 and sum(map(str.isupper, named)) >= 0.7 * len(named)
        above_rule = rows[at] + 1 in rules and rows[at] + 2 < len(run)
        if titled or above_rule or _names_columns(cells[at], rest):
            return _Table(rows[at], rows[at + 1 :], rest, rules)
    return _Table(-1, rows, cells, rules)


def _names_columns(titles: Sequence[str], rest: _Cells) -> bool:
    """True where no title of a column of numbers has a digit."""
    numbers = [column for column in range(len(titles)) if _numbers(rest, column)]
    return bool(numbers) and not any(DIGITS.search(titles[column] or "0") for column in numbers)


def _judged(table: _Table, rows: Sequence[int], captions: Mapping[int, int]) -> dict[int, Note]:
    """A note for each line of a table that stands in these rows; by the rows where it begins what stands over
    it there."""
    first, heads = rows[0], sorted(captions)
    notes = {rows[rule]: Note(NOISE) for rule in table.rules}
    if table.head >= 0:
        notes.update((head, Note(DETAIL, captions[head], ("header", first))) for head in heads)
    unlike = _unlike(table.cells)
    for at, row in enumerate(table.rows):
        worth = PLAIN + max(0.0, 1 - 0.5 * at)
        form: Hashable = ("row", first, at if len(table.rows) <= SHORT else "")
        extra, why = unlike.get(at, (0.0, None))
        if at == len(table.rows) - 1 and extra < CONTEXT:
            extra, why = CONTEXT, "last"
        if extra:
            worth, form = worth + extra, ("row", first, why)
        head = heads[bisect(heads, rows[row]) - 1]
        notes[rows[row]] = Note(worth, head if table.head >= 0 else captions[head], form)
    return notes


def _unlike(cells: _Cells) -> dict[int, tuple[float, Hashable]]:
    """By row how unlike the rest it is, and in which column by what."""
    marks: list[tuple[int, float, Hashable]] = []
    for column in range(len(cells[0])):
        values = [row[column] if column < len(row) else "" for row in cells]
        marks += [(row, worth, (column, kind)) for row, worth, kind in rare(_kinds(values))]
        marks += [(row, worth, (column, row)) for row, worth in _extremes(values)]
    found: dict[int, tuple[float, Hashable]] = {}
    for row, worth, why in marks:
        had, reason = found.get(row, (0.0, None))
        found[row] = (max(had, worth) + 0.25 * min(had, worth), why if worth > had else reason)
    for row in sorted(found) if len(cells) > SHORT else ():  # neighbours are unlike the rest for one reason
        found[row] = (found[row][0], found.get(row - 1, found[row])[1])
    levels = [alarm(" ".join(row)) for row in cells]
    often = Counter(levels)
    for row, level in enumerate(levels):
        if level and 2 * often[level] <= len(levels):
            had, why = found.get(row, (0.0, level))
            found[row] = (had + ALARM[level], why)
    return found


def _kinds(values: Sequence[str]) -> list[str]:
    """What each value of a column is, so that most rows share theirs: its words, or whether it is empty."""
    kinds = [" ".join(DIGITS.sub("0", value).split()) for value in values]
    few = len(set(kinds)) <= 3 + 0.2 * len(kinds)
    return kinds if few else [value and "*" for value in values]


def _extremes(values: Sequence[str]) -> Iterator[tuple[int, float]]:
    """The rows with the largest numbers of a column, and with one below zero that is the smallest."""
    found = [(_value(number), row) for row, cell in enumerate(values) if (number := NUMBER.fullmatch(cell))]
    if len(found) < max(LEAST, NUMERIC * sum(map(bool, values))):
        return
    ranked = sorted(found, key=lambda pair: pair[0])
    middle = abs(ranked[len(ranked) // 2][0])
    for place, ((value, row), (below, _)) in enumerate(pairwise(ranked[: -2 - TOP : -1])):
        if value > below and (not place or value > FAR * middle):
            yield row, 3.0 - 0.3 * place


def _value(number: re.Match[str]) -> float:
    digits, size, unit = number.groups()
    return float(re.sub(r"[$€£,]", "", digits)) * SIZES.get(size or "", 1.0) * TIMES.get(unit or "", 1.0)
