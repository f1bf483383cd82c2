"""A table of values in short: header, first and last rows, and what each column holds."""

from __future__ import annotations

import csv
import io
from collections import Counter

HEAD_ROWS, TAIL_ROWS = 3, 1
COLUMN_LIMIT = 40
PARSE_LIMIT_CHARS = 4_000_000
"""Columns are described from so much of the text."""


def abridge_table(text: str, mark: str) -> str:
    """Header and first rows as they stand, the number of rows left out, the last row, the columns."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) <= HEAD_ROWS + TAIL_ROWS + 2:
        return text
    left_out = len(lines) - 1 - HEAD_ROWS - TAIL_ROWS
    shown = [line[:600] for line in lines[: 1 + HEAD_ROWS]]
    shown.append(f"… {left_out} more rows")
    shown.extend(line[:600] for line in lines[-TAIL_ROWS:])
    return "\n".join([*shown, *_columns(lines, mark)])


def _columns(lines: list[str], mark: str) -> list[str]:
    budget = PARSE_LIMIT_CHARS // max(1, len(lines[0]))
    try:
        rows = list(csv.reader(io.StringIO("\n".join(lines[:budget])), delimiter=mark))
    except csv.Error:
        return []
    header, body = rows[0], rows[1:]
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
