"""What of a list fits in the room that it has: how every note of ours is filled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Row = TypeVar("Row")


def fitting(
    rows: Iterable[Row], room: int, cost: Callable[[Row], int], *, gaps: bool = True, least: int = 0
) -> Iterator[Row]:
    """Those of the rows, the worthiest first, that fit in `room` tokens together, as they are chosen.

    One that is too long is passed over, or without `gaps` is the end; so is a rest of `least` tokens.
    """
    for row in rows:
        if room <= least:
            return
        needed = cost(row)
        if needed <= room:
            room -= needed
            yield row
        elif not gaps:
            return
