"""A table in Markdown that reads as one in its source too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Markdown, the first column to the left, the others to the right, padded to read as a table too."""
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    for row in [head, rule, *rows]:
        cells = [row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]
        yield "| " + " | ".join(cells) + " |"
