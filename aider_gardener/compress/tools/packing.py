"""Many short items on few lines, and of many lines the ones at both ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

WIDTH = 380
"""Below the width at which a line of a reading is shortened."""


def packed(items: Iterable[str], *, lead: str = "  ", between: str = " ") -> list[str]:
    """The items one after the other, in lines of up to WIDTH characters that begin with `lead`."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(between) + len(item) <= WIDTH:
            lines[-1] += between + item
        else:
            lines.append(lead + item)
    return lines


def both_ends(rows: Sequence[int], first: int, last: int) -> list[int]:
    """Of the rows the `first` and the `last`, all where they are no more."""
    return list(rows) if len(rows) <= first + last else [*rows[:first], *rows[len(rows) - last :]]
