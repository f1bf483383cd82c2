"""What the tools share that put tables into pages: a table in Markdown, and the faults of a page told."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence


def told(faults: Iterable[str]) -> int:
    """Print each fault on standard error; returns the exit code, 1 if there was any."""
    found = list(faults)
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Markdown, the first column to the left, the others to the right, padded to read as a table too."""
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    for row in [head, rule, *rows]:
        cells = [row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]
        yield "| " + " | ".join(cells) + " |"
