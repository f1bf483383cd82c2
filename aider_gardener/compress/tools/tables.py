"""Tables wherever they stand in an output: drawn with bars, ruled below the head, aligned, or cut by tabs.

Of each stay the head, the first and the last rows, the rows that stand out, what is written below it, and the
counts of columns with few different values. Lines between the tables stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import plural, touches
from aider_gardener.compress.pieces import MUST, Reading, TextPiece
from aider_gardener.compress.tools.standing import judge
from aider_gardener.messages import Focus
from aider_gardener.reading.detectors import GAP, is_rule

DRAWN = frozenset("+|┌│├└╭╰┏┃┡┗╇┠═╞╘╔║╠╚")
BARS = re.compile(r"\s*[|│┃║]\s*")
DRAWN_RULE = re.compile(r"^[\s+|:=\-─━═┄┌┬┐├┼┤└┴┘╭╮╰╯┏┳┓┡╇┩┗┻┛┠┨╞╪╡╘╧╛╔╦╗╠╬╣╚╩╝]+$")
RECORD = re.compile(r"^(?:-\[ RECORD \d+ \][-+]*|\*{5,} \d+\. row \*{5,})$")
CAPITALS = re.compile(r"^ *[A-Z%#Σ][A-Z0-9%#()./:_+-]*(?: +[A-Z0-9%#()./:_+*-]+)*$")
HEAD_WORD = re.compile(r"[A-Za-z%#(]")
NUMERIC = re.compile(r"^[-+]?[\d.,]+%?$")
TOTAL = re.compile(
    r"^\W*(?:total|sum|all|overall|average|mean|\d+ (?:rows?|orders?|items?|records?))\b|\brows?\)$",
    re.IGNORECASE,
)
MARKED = re.compile(
    r"(?:^|\s)(?:\*+|!+|<-+|FAIL\w*|ERROR|LOST|MISS\w*|WARN\w*|NO|✗|✘|❌)\s*$|\b(?:FAIL(?:ED)?|ERROR|LOST)\b"
)
BLANKS = re.compile(r"[ \u00a0]{2,}")
COUNTED = re.compile(r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d|^\s*-?\d[\d.,]*[KMGTkBi%]{0,3}\s+\S")
TOTAL_NUMBER = re.compile(r"^\s*[\d.,]+[KMGT]?\s+(?:total|\.|insgesamt)$", re.IGNORECASE)
LEAST_ALIGNED = 4
FEW_LINES = 24
"""An output of no more lines keeps a larger share."""

MOST_TEXT = 60
"""Lines outside of tables must stay while there are no more of them."""

MOST_ALIKE = 20
"""Of a long table no more than so many first rows are shown for nothing but being first."""

TROUBLE = re.compile(
    r"(?i)\b(?:error|fail(?:ed|ure)?|fatal|denied|refused|invalid|conflict|warning|not found|cannot|unable|"
    r"aborted|timed out|timeout|missing|killed|rollback|unhealthy)\b"
)


@dataclass
class Table:
    """Rows of one table: the lines they were read from, their cells, and what stands around them."""

    head: list[tuple[int, str]]
    names: list[str]
    lines: list[str]
    at: list[int]
    cells: list[list[str]]
    tail: list[tuple[int, str]] = field(default_factory=list)
    sure: bool = True
    """False where it is not certain which cell stands in which column."""


class TableRows(list[str]):
    """The lines of an output with sums over them: so a table is looked for at each of them in little time."""

    @cached_property
    def block_ends(self) -> list[int]:
        """For each line the next blank one."""
        return self._ends(lambda line: bool(line.strip()))

    @cached_property
    def drawn_ends(self) -> list[int]:
        """For each line the next that begins with no drawing character."""
        return self._ends(lambda line: line.lstrip()[:1] in DRAWN)

    @cached_property
    def gapped(self) -> list[int]:
        """How many lines before each have columns that stand apart."""
        return self._sums(lambda line: len(GAP.findall(line[:2_000])) >= 2)

    @cached_property
    def counted(self) -> list[int]:
        """How many lines before each begin with a number."""
        return self._sums(lambda line: COUNTED.match(line[:200]) is not None)

    @cached_property
    def drawn(self) -> list[int]:
        """How many lines before each are no drawn rule."""
        return self._sums(lambda line: not DRAWN_RULE.match(line))

    @cached_property
    def closed(self) -> list[int]:
        """How many lines before each are no drawn rule and end with a drawing character."""
        return self._sums(lambda line: not DRAWN_RULE.match(line) and line.rstrip()[-1:] in DRAWN)

    def _ends(self, goes_on: Callable[[str], bool]) -> list[int]:
        ends = [len(self)] * (len(self) + 1)
        for at in range(len(self) - 1, -1, -1):
            ends[at] = ends[at + 1] if goes_on(self[at]) else at
        return ends

    def _sums(self, counts: Callable[[str], bool]) -> list[int]:
        return [0, *accumulate(int(counts(line)) for line in self)]


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Every table of an output and the lines between; an output without any by its lines."""
    lines = TableRows(lines)
    reading = Reading(gaps=True, room=0.9)
    rows = tables = 0
    between: list[int] = []
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        found = table_at(lines, at)
        if found is None:
            between += [] if is_rule(lines[at]) else [at]
            at += 1
            continue
        table, at = found
        tables += 1
        rows += len(table.lines)
        tell(table, reading, ctx.focus)
    if not tables and not between:
        return None
    if not tables:
        tell(
            Table([], [], [lines[row] for row in between], between, [[lines[row]] for row in between]),
            reading,
        )
        rows = len(between)
    else:
        tell_text(lines, between, reading)
    if rows + len(between) <= FEW_LINES:
        reading.room = 1.5
    close_up(reading, lines)
    of = f" in {tables} tables" if tables > 1 else ""
    reading.summary, reading.kept = plural(rows, "row") + of, {"rows": rows}
    return reading


def close_up(reading: Reading, lines: Sequence[str]) -> None:
    """Take blank lines and rules out of the numbering, so that they are no gaps."""
    before: list[int] = []
    dropped = 0
    for line in lines:
        before.append(dropped)
        dropped += not line.strip() or is_rule(line) or bool(DRAWN_RULE.match(line[:400]))
    reading.pieces = [
        TextPiece(piece.at - before[min(int(piece.at), len(before) - 1)], piece.lines, piece.weight)
        for piece in reading.pieces
    ]


def tell_text(lines: Sequence[str], between: Sequence[int], reading: Reading) -> None:
    """The lines between tables: all where they are few, else those at both ends and of trouble first."""
    for number, at in enumerate(between):
        near = (
            number < MOST_TEXT // 4 or number >= len(between) - 5 or bool(TROUBLE.search(lines[at], 0, 400))
        )
        reading.add(at, lines[at].strip() if len(between) > MOST_TEXT else lines[at], MUST if (
            len(between) <= MOST_TEXT or (near and number < 4 * MOST_TEXT) or number >= len(between) - 5
        ) else 3.0)  # fmt: skip


def tell(table: Table, reading: Reading, focus: Focus = Focus(), *, edge: int = 2) -> None:  # noqa: B008 - frozen
    """A table's head, edges and what stands out, as pieces."""
    judged = judge(table.names, table.cells)
    last = len(table.lines) - 1
    for row in (*range(min(edge, last + 1)), last):
        if row >= 0:
            judged.put(row, MUST)
    marked = [row for row, line in enumerate(table.lines) if MARKED.search(line, 0, 400)]
    if len(marked) <= max(6, len(table.lines) // 3):
        must = max(4, min(12, len(table.lines) // 10))
        for number, row in enumerate(marked):
            judged.put(row, MUST if number < must else 8.0)
    for at, line in table.head:
        reading.add(at, line)
    for row, line in enumerate(table.lines):
        weight = judged.weights.get(row, 0.0)
        if touches(line, focus):
            weight = max(weight, 6.0)
        if not weight and row >= MOST_ALIKE and len(table.lines) > 8 * MOST_ALIKE:
            continue
        weight = weight or 2.0 - row / len(table.lines)
        reading.add(table.at[row], _squeezed(line, table.cells[row]), weight)
    if table.sure and len(table.lines) >= 8:
        for number, told in enumerate(judged.told[:12]):
            reading.add(table.at[-1] + 0.1 + number / 100, told)
    for at, line in table.tail:
        reading.add(at, line)


def _squeezed(line: str, cells: Sequence[str]) -> str:
    """The row with fewer blanks; as it stands where a cell is empty, so that columns stay told apart."""
    if any(bar in line for bar in "|│┃║"):
        return " ".join(line.split())
    return line if "" in cells else BLANKS.sub("  ", line.strip())


def table_at(lines: TableRows, at: int) -> tuple[Table, int] | None:
    """The table that begins at a line and the line behind it; None where none begins."""
    line = lines[at]
    bare = line.lstrip()
    if RECORD.match(line):
        return _records(lines, at)
    if bare[:1] in DRAWN and (DRAWN_RULE.match(line) or BARS.match(bare)):
        return _drawn(lines, at)
    following = lines[at + 1] if at + 1 < len(lines) else ""
    if is_rule(following) and not is_rule(line) and at + 2 < len(lines):
        return _ruled(lines, at)
    if "\t" in line and "\t" in following:
        found = _cut(lines, at, "\t")
        if found:
            return found
    if "|" in line and "|" in following:
        found = _cut(lines, at, "|")
        if found:
            return found
    return _aligned(lines, at)


def _drawn(lines: TableRows, at: int) -> tuple[Table, int] | None:
    end = lines.drawn_ends[at]
    within, closed = lines.drawn[end] - lines.drawn[at], lines.closed[end] - lines.closed[at]
    if not within or end - at < 3 or closed < 0.5 * within:
        return None
    region = [(number, line) for number, line in enumerate(lines[at:end], at) if not DRAWN_RULE.match(line)]
    ruled = any(DRAWN_RULE.match(line) for line in lines[at + 1 : at + 4])
    head = region[:1] if ruled else []
    body = region[1:] if ruled else region
    cells = [_barred(line) for _, line in body]
    names = _barred(head[0][1]) if head else []
    tail = _below(lines, end)
    shown = [(number, " ".join(line.split())) for number, line in head]
    table = Table(shown, names, [line for _, line in body], [number for number, _ in body], cells, tail)
    return table, end + len(tail)


def _barred(line: str) -> list[str]:
    """The cells of a row between bars; of a row without an outer bar the first begins the line."""
    parts = BARS.split(line.strip())
    outer = BARS.match(line.lstrip()) is not None
    return parts[1 if outer else 0 : -1 if outer and not parts[-1] else None]


def _below(lines: Sequence[str], end: int) -> list[tuple[int, str]]:
    """The line under a table that counts its rows."""
    if end < len(lines) and lines[end].strip() and TOTAL.search(lines[end]):
        return [(end, lines[end])]
    return []


def _ruled(lines: Sequence[str], at: int) -> tuple[Table, int]:
    rule = lines[at + 1]
    barred = "|" in lines[at] or "+" in rule
    end = at + 2
    while (
        end < len(lines)
        and lines[end].strip()
        and not TOTAL.search(lines[end])
        and not RECORD.match(lines[end])
    ):
        if barred and "|" not in lines[end] and lines[at].count("|"):
            break
        end += 1
    body = list(range(at + 2, end))
    closing = [number for number in body[-1:] if is_rule(lines[number])]
    body = [number for number in body if not is_rule(lines[number])]
    tail = _below(lines, end)
    if closing and not tail and end < len(lines):
        tail = [(end, lines[end])] if lines[end].strip() else []
    rows = [lines[number] for number in body]
    sure = True
    if barred and "|" in lines[at]:
        names = [cell.strip() for cell in lines[at].split("|")]
        cells = [[cell.strip() for cell in row.split("|")] for row in rows]
        head = [(at, " ".join(lines[at].split()))]
    else:
        starts = [found.start() for found in re.finditer(r"(?:(?<=[\s+])|^)[-=─━]+", rule)]
        if len(starts) > 1:
            names, cells = _placed(lines[at], starts), [_placed(row, starts) for row in rows]
        else:
            names, cells, sure = _split(lines[at], rows)
        head = [(at, lines[at])]
    return Table(head, names, rows, body, cells, tail, sure), end + len(tail)


def _placed(line: str, starts: Sequence[int]) -> list[str]:
    ends = [*starts[1:], None]
    return [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]


def _cut(lines: Sequence[str], at: int, mark: str) -> tuple[Table, int] | None:
    """Lines with equally many marks. The first is the head if it holds no number where others do."""
    if mark == "\t" and lines[at].startswith("\t"):
        return None
    width = lines[at].count(mark)
    end = at
    while end < len(lines) and lines[end].count(mark) == width:
        end += 1
    if end - at < 3:
        return None
    rows = [[cell.strip() for cell in line.split(mark)] for line in lines[at:end]]
    headed = not any(NUMERIC.match(cell) for cell in rows[0]) and any(
        NUMERIC.match(cell) for row in rows[1:4] for cell in row
    )
    start = at + headed
    head = [(at, lines[at])] if headed else []
    names = rows[0] if headed else []
    return Table(head, names, list(lines[start:end]), list(range(start, end)), rows[headed:]), end


def _aligned(lines: TableRows, at: int) -> tuple[Table, int] | None:
    """A head in capitals with rows below it, or at least four lines whose columns stand apart by gaps."""
    line = lines[at]
    capitals = bool(CAPITALS.match(line)) and len(line.split()) >= 2 and len(line) < 1_000
    end = at + 1 if capitals else max(at + 1, lines.block_ends[at])
    while capitals and end < len(lines) and lines[end].strip() and not _heads(lines, end):
        end += 1
    if capitals and end - at >= 2:
        names, cells, sure = _split(line, lines[at + 1 : end])
        body = list(range(at + 1, end))
        return Table([(at, line.strip())], names, list(lines[at + 1 : end]), body, cells, [], sure), end
    if end - at <= LEAST_ALIGNED:
        return None
    found = _counted(lines, at, end)
    if found:
        return found
    gaps = lines.gapped[end] - lines.gapped[at]
    if gaps < 0.75 * (end - at) or len(GAP.findall(line[:2_000])) < 2:
        return None
    words = line.split()
    headed = not any(NUMERIC.match(word) for word in words) and any(
        NUMERIC.match(word) for row in lines[at + 1 : at + 4] for word in row.split()
    )
    body = list(range(at + headed, end))
    while len(body) > 1 and (TOTAL.search(lines[body[-1]]) or is_rule(lines[body[-1]])):
        body.pop()
    tail = [(number, lines[number]) for number in range(body[-1] + 1, end)]
    names, cells, sure = _split(line if headed else "", [lines[number] for number in body])
    head = [(at, line)] if headed else []
    return Table(head, names, [lines[number] for number in body], body, cells, tail, sure), end


def _counted(lines: TableRows, at: int, end: int) -> tuple[Table, int] | None:
    """Lines that begin with a number, as sizes, counts of `uniq -c` and of `wc` do."""
    if lines.counted[end] - lines.counted[at] < 0.9 * (end - at):
        return None
    body = list(range(at, end))
    tail: list[tuple[int, str]] = []
    while len(body) > 2 and TOTAL_NUMBER.match(lines[body[-1]]):
        tail.insert(0, (body[-1], lines[body.pop()]))
    words = Counter(len(lines[row].split()) for row in body)
    width, times = words.most_common(1)[0]
    width = width if times >= 0.9 * len(body) and width <= 8 else 2
    cells = [lines[row].split(None, width - 1) for row in body]
    return Table([], [], [lines[row] for row in body], body, cells, tail, True), end


def _heads(lines: Sequence[str], at: int) -> bool:
    """True where a second table begins in the same block."""
    line = lines[at]
    return len(line) < 1_000 and bool(CAPITALS.match(line)) and len(BLANKS.findall(line.strip())) >= 2


def _split(head: str, rows: Sequence[str]) -> tuple[list[str], list[list[str]], bool]:
    """Names and cells, and whether they are sure: by where the head's words begin where all rows leave a gap
    there, else by words."""
    starts = [found.start() for found in re.finditer(r"(?:(?<=\s\s)|^)\S", head)] if head.strip() else []
    if len(starts) >= 2 and _fit(starts, rows):
        return _placed(head, starts), [_placed(row, starts) for row in rows], True
    names = [name.strip() for name in BLANKS.split(head.strip())] if head.strip() else []
    wide = [[cell for cell in re.split(r" {2,}|\t", row.strip()) if cell] for row in rows]
    if names and sum(1 for row in wide if len(row) == len(names)) >= 0.8 * len(rows):
        return names, wide, all(len(row) == len(names) for row in wide)
    words = head.split()
    if not words:
        usual = Counter(len(row) for row in wide).most_common(1)
        if usual and usual[0][1] >= 0.7 * len(wide):
            return [], wide, usual[0][1] >= 0.95 * len(wide)
        width = Counter(len(row.split()) for row in rows).most_common(1)[0][0] if rows else 1
    else:
        width = len(words)
    cells = [row.split(None, width - 1) for row in rows]
    return words, cells, sum(1 for row in cells if len(row) == width) >= 0.98 * len(rows)


def _fit(starts: Sequence[int], rows: Sequence[str]) -> bool:
    """True where at every start nearly all rows have a blank before it."""
    for start in starts[1:]:
        crossed = sum(1 for row in rows if len(row) >= start and row[start - 1] != " ")
        begun = sum(1 for row in rows if len(row) > start and row[start] != " ")
        if crossed > 0.02 * len(rows) or begun < 0.3 * sum(1 for row in rows if len(row) > start):
            return False
    return True


def _records(lines: Sequence[str], at: int) -> tuple[Table, int]:
    """Records that are written a field a line, as rows."""
    rows: list[dict[str, str]] = []
    end = at
    mark = "|" if lines[at].startswith("-[") else ":"
    while end < len(lines) and (
        RECORD.match(lines[end]) or (rows and mark in lines[end] and lines[end].strip())
    ):
        if RECORD.match(lines[end]):
            rows.append({})
        else:
            name, _, value = lines[end].partition(mark)
            rows[-1][name.strip()] = value.strip()
        end += 1
    names = list(rows[0])
    cells = [[row.get(name, "") for name in names] for row in rows]
    shown = ["; ".join(f"{name}: {value}" for name, value in row.items()) for row in rows]
    tail = [(at + len(rows), line) for _, line in _below(lines, end)]
    return Table([], names, shown, [at + row for row in range(len(rows))], cells, tail), end + len(tail)


def tables_in(lines: Sequence[str]) -> Iterator[Table]:
    """The tables of an output, in order."""
    lines = TableRows(lines)
    at = 0
    while at < len(lines):
        found = table_at(lines, at) if lines[at].strip() else None
        if found:
            yield found[0]
        at = found[1] if found else at + 1
