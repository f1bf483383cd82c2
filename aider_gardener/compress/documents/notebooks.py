"""Jupyter notebooks: the beginning of each cell, and what it printed or raised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aider_gardener.compress.documents import Document, Lines, items, limited, mapping, word

SOURCE_LINES = (6, 3, 2, 1)
WIDTHS = (120, 100, 80, 60)


def notebook(value: Any) -> Document | None:
    """A notebook in format 4."""
    cells = items(value, "cells")
    if not cells or not all(isinstance(cell, dict) and "cell_type" in cell for cell in cells):
        return None
    return Document(f"notebook of {len(cells)} cells", lambda detail: limited(list(_cells(cells, detail))))


def _cells(cells: list[Any], detail: int) -> Iterator[str]:
    for at, cell in enumerate(cells):
        lines = [line for line in _text(cell.get("source")) if line.strip()]
        most = SOURCE_LINES[detail]
        yield f"[{at}] {word(cell['cell_type'])}: {word(lines[0], WIDTHS[detail]) if lines else ''}"
        yield from (f"  {word(line, WIDTHS[detail])}" for line in lines[1:most])
        if len(lines) > most:
            yield f"  … {len(lines) - most} more lines"
        for output in items(cell, "outputs")[:3]:
            told = _output(mapping(output), WIDTHS[detail])
            if told and (detail < 3 or told.startswith("raised")):
                yield f"  → {told}"


def _output(output: dict[str, Any], width: int) -> str:
    if "ename" in output:
        return f"raised {word(output['ename'])}: {word(output.get('evalue', ''), 200)}"
    data = mapping(output, "data")
    lines = [line for line in _text(output.get("text") or data.get("text/plain")) if line.strip()]
    if lines:
        more = f" … {len(lines) - 1} more lines" if len(lines) > 1 else ""
        return word(lines[0], width) + more
    return ", ".join(data)[:80]


def _text(source: Any) -> Lines:
    """The lines of a text that is one string or a list of lines."""
    whole = "".join(map(str, source)) if isinstance(source, list) else str(source or "")
    return whole[:100_000].splitlines()
