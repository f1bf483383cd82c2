"""YAML, TOML and whatever does not parse, in short: by lines, their indentation and their sections.

A table of values keeps its header, first and last rows, and what each column holds.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from aider_gardener.compress.structured.shape import SAMPLE_ITEMS
from aider_gardener.compress.tools.standing import is_bad, judge
from aider_gardener.messages import Focus
from aider_gardener.reading.output import clip

HEAD_ROWS, TAIL_ROWS = 3, 1
LEAST_ODD, MOST_ODD, ODD_SHARE = 4, 40, 12
"""Of the rows that stand out so many are shown: a row for each ODD_SHARE lines, within bounds."""

HEAVY = 5.0
COLUMN_LIMIT = 40
ROW_CHARS = 600
PARSE_LIMIT_CHARS = 4_000_000
"""Columns are described from so much of the text."""

LINE_CHARS = 240
TABLE = re.compile(r"\s*\[\[([^\]]+)\]\]")
SECTION = re.compile(r"\s*\[\[?[^\]=]+\]\]?\s*(?:#.*)?$")
LOCK_NAME, LOCK_VERSION = re.compile(r"name = \"([^\"]+)\""), re.compile(r"version = \"([^\"]+)\"")
ROW_LIMIT = 50_000
"""Lines behind so many are counted, not looked at."""

TABLES_CHARS = 4_000
"""The names of repeated tables are listed in so many characters."""


def abridge_table(text: str, mark: str) -> str:
    """Header and first rows as they stand, the number of rows left out, the last row, the columns."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) <= HEAD_ROWS + TAIL_ROWS + 2:
        return text
    rows = _rows(lines, mark)
    header, body = (rows[0], rows[1:]) if rows else ([], [])
    edges = {*range(HEAD_ROWS + 1), *range(len(lines) - TAIL_ROWS, len(lines))}
    chosen = sorted(edges | set(_odd(header, body, lines)))
    shown, last = [], -1
    for at in chosen:
        if at > last + 1:
            shown.append(f"… {at - last - 1} more rows")
        shown.append(clip(lines[at], ROW_CHARS))
        last = at
    return "\n".join([*shown, *_columns(header, body)])


def _rows(lines: list[str], mark: str) -> list[list[str]]:
    """The cells of the rows, of as many as are looked at; none where they can't be told."""
    budget = PARSE_LIMIT_CHARS // max(1, len(lines[0]))
    try:
        return list(csv.reader(io.StringIO("\n".join(lines[:budget])), delimiter=mark))
    except csv.Error:
        return []


def _odd(header: list[str], body: list[list[str]], lines: Sequence[str]) -> list[int]:
    """The lines of rows that stand out; none where rows and lines do not match."""
    if len(body) > len(lines) - 1 or any(len(row) != len(header) for row in body[:SAMPLE_ITEMS]):
        return []
    weights = judge(header, body[:SAMPLE_ITEMS]).weights
    most = max(LEAST_ODD, min(MOST_ODD, len(lines) // ODD_SHARE))
    heavy = [at for at, weight in weights.items() if weight >= HEAVY]
    return [at + 1 for at in sorted(heavy, key=lambda at: (-weights[at], at))[:most]]


def _columns(header: list[str], body: list[list[str]]) -> list[str]:
    described = []
    for index, name in enumerate(header[:COLUMN_LIMIT]):
        values = [row[index] for row in body if index < len(row)]
        described.append(f"{name[:40]}: {_column(values)}")
    return described


def _column(values: list[str]) -> str:
    numbers = []
    for value in values:
        try:
            numbers.append(float(value))
        except ValueError:
            break
    if values and len(numbers) == len(values):
        return f"{min(numbers):g} … {max(numbers):g}"
    counts = Counter(values)
    if len(counts) <= max(3, len(values) // 20):
        ranked = counts.most_common()
        shown = [*ranked[:5], *[pair for pair in ranked[5:] if pair[1] <= 2 or is_bad(pair[0])][:8]]
        rest = f", {len(ranked) - len(shown)} more" if len(ranked) > len(shown) else ""
        return ", ".join(f"{value[:30] or '(empty)'} × {number}" for value, number in shown) + rest
    return f"{len(counts)} distinct"


@dataclass(frozen=True)
class Limits:
    """How much of a document to show: the first `items` of a list, `depth` levels, `chars` of a line,
    `keys` of a group below the first level."""

    items: int
    depth: int
    chars: int
    keys: int


LEVELS = (
    Limits(3, 5, 200, 40),
    Limits(2, 4, 120, 24),
    Limits(2, 3, 80, 14),
    Limits(1, 3, 60, 10),
    Limits(1, 2, 48, 8),
    Limits(1, 2, 40, 4),
    Limits(1, 1, 40, 3),
)
"""How much to show, tried in order until the result is short enough."""


@dataclass(frozen=True)
class RecordRow:
    """A line with its depth: the number of less indented lines it stands under."""

    text: str
    depth: int
    item: bool


def read_rows(text: str, kind: str) -> list[RecordRow]:
    """The lines that are not blank with their depth; repeated TOML tables become one counting line."""
    lines = text.splitlines()
    if kind == "toml":
        lines = _toml(lines)
    rows: list[RecordRow] = []
    stack: list[int] = []
    rest = len(lines) - ROW_LIMIT
    for line in lines[:ROW_LIMIT]:
        bare = line.strip()
        if not bare:
            continue
        indent = len(line) - len(line.lstrip())
        item = bare[:2] == "- "
        place = indent * 2 + item + (1 if kind == "toml" and not SECTION.match(line) else 0)
        while stack and stack[-1] >= place:
            stack.pop()
        rows.append(RecordRow(line.rstrip(), len(stack), item))
        stack.append(place)
    if rest > 0:
        rows.append(RecordRow(f"# … {rest} more lines", 0, False))
    return rows


def abridge_rows(rows: Sequence[RecordRow], limits: Limits, focus: Focus) -> str:
    """The rows with what is deep or repeated counted instead. Linear in their number."""
    wanted = (*(word for word in focus.words if len(word) > 3), *(path.lower() for path in focus.paths))
    if len(rows) <= 1 or max(len(row.text) for row in rows) * 2 > sum(len(row.text) for row in rows):
        return "\n".join(_cut(row.text, 4 * limits.chars) for row in rows)
    return "\n".join(_fold(rows, limits, wanted))


def _cut(line: str, size: int) -> str:
    if len(line) <= size:
        return line
    return f"{line[: size * 2 // 3]} … {len(line) - size} characters … {line[-size // 3 :]}"


def _fold(rows: Sequence[RecordRow], limits: Limits, wanted: tuple[str, ...]) -> list[str]:
    """Below the depth limit nothing, of items and of keys in a group the first ones."""
    shown: list[str] = []
    seen: dict[int, int] = {}
    hidden, hidden_depth, hidden_indent, items = 0, -1, "", 0

    def flush() -> None:
        nonlocal hidden, items
        if hidden:
            what = f"{items} more items" if items > 1 else f"{hidden} more lines"
            shown.append(f"{hidden_indent}# … {what} …")
        hidden = items = 0

    for row in rows:
        for deeper in [depth for depth in seen if depth > row.depth]:
            del seen[deeper]
        if hidden and hidden_depth >= 0 and row.depth < hidden_depth:
            flush()
            hidden_depth = -1
        seen[row.depth] = seen.get(row.depth, 0) + 1
        allowed = limits.items if row.item else limits.keys * (3 if row.depth == 0 else 1)
        inside = hidden_depth >= 0 and row.depth > hidden_depth
        over = row.depth >= limits.depth or seen[row.depth] > allowed
        if (inside or over) and not (
            wanted and any(word in row.text[:LINE_CHARS].lower() for word in wanted)
        ):
            if not hidden:
                hidden_depth, hidden_indent = row.depth, row.text[: len(row.text) - len(row.text.lstrip())]
            hidden += 1
            items += row.item and row.depth == hidden_depth
            continue
        flush()
        if not inside:
            hidden_depth = -1
        shown.append(row.text if row.text.startswith("# … ") else _cut(row.text, limits.chars + 40))
    flush()
    return shown


def _toml(lines: list[str]) -> list[str]:
    """Of repeated tables the first whole, of the others name and version or the count."""
    shown: list[str] = []
    seen: dict[str, list[str]] = {}
    name = ""
    block: list[str] = []
    for line in [*lines, "[end]"]:
        if not SECTION.match(line):
            block.append(line)
            continue
        if name and name in seen:
            seen[name].append(_brief("\n".join(block)))
        else:
            shown.extend(block)
            if name:
                seen[name] = []
        match = TABLE.match(line)
        name, block = (match[1].strip(), [line]) if match else ("", [line])
    for table, others in seen.items():
        if others:
            listed = ", ".join(dict.fromkeys(other for other in others if other))
            shown.append(
                f"# … {len(others)} more [[{table}]]{': ' + listed if listed else ''}"[:TABLES_CHARS]
            )
    return shown


def _brief(block: str) -> str:
    name, version = LOCK_NAME.search(block), LOCK_VERSION.search(block)
    return f"{name[1]}{' ' + version[1] if version else ''}" if name else ""
