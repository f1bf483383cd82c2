"""A table of values in short: header, first and last rows, and what each column holds."""

from __future__ import annotations

import csv
import io
from collections import Counter

from aider_gardener.compress.frame import clip
from aider_gardener.compress.structured.shape import SAMPLE_ITEMS, outliers

HEAD_ROWS, TAIL_ROWS = 3, 1
COLUMN_LIMIT = 40
ROW_CHARS = 600
PARSE_LIMIT_CHARS = 4_000_000
"""Columns are described from so much of the text."""


def abridge_table(text: str, mark: str) -> str:
    """Header and first rows as they stand, the number of rows left out, the last row, the columns."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) <= HEAD_ROWS + TAIL_ROWS + 2:
        return text
    rows = _rows(lines, mark)
    header, body = (rows[0], rows[1:]) if rows else ([], [])
    edges = {*range(HEAD_ROWS + 1), *range(len(lines) - TAIL_ROWS, len(lines))}
    chosen = sorted(edges | set(_odd(header, body, len(lines))))
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


def _odd(header: list[str], body: list[list[str]], lines: int) -> list[int]:
    """The lines of rows that differ: a rare word, a number far from the others."""
    if len(body) != min(lines - 1, len(body)) or any(len(row) != len(header) for row in body[:SAMPLE_ITEMS]):
        return []
    records = [dict(enumerate(map(_number, row))) for row in body[:SAMPLE_ITEMS]]
    return [at + 1 for at in outliers(records)]


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


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
        rest = f", {len(counts) - 5} more" if len(counts) > 5 else ""
        return ", ".join(f"{value[:30]} × {number}" for value, number in counts.most_common(5)) + rest
    return f"{len(counts)} distinct"
