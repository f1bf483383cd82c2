"""Geometry of the charts in an HTML report: stacked layers over requests as SVG paths, and the marks.

matplotlib's SVG does not serve here: of the same layers of a session with 42 requests it is 14 times as large
(173 kB, not 12), its colours and hatches are fixed in it, where the page's follow light, dark, contrast and
print, and its links know no role, label or state for the marks that open a compaction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from aider_gardener.replay.show.html_detail import LAYERS, LayeredRequest, ReplayDetail

WIDTH, HEIGHT = 960, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 8, 44, 34
"""Space around the plot, in user units of the SVG."""

COLUMNS = 240
"""At most so many columns; with more requests each stands for the largest of several."""

MARK_SPACE = 20
"""Marks nearer than this to the last one are put on the next of MARK_ROWS rows."""
MARK_ROWS = 2

Key = tuple[int, int]
"""Turn and number of the call within it."""


@dataclass(frozen=True)
class Columns:
    """What the x axis holds, the same for all variants of a session: the keys of each column's requests."""

    keys: tuple[tuple[Key, ...], ...]

    @property
    def per_column(self) -> int:
        return max((len(keys) for keys in self.keys), default=1)

    def first_of_turn(self, turn: int) -> int:
        """The first column with a request of this turn or a later one, else the last column."""
        found = (at for at, keys in enumerate(self.keys) if keys[-1][0] >= turn)
        return next(found, max(0, len(self.keys) - 1))


@dataclass(frozen=True)
class Mark:
    """A compaction on a chart: `number` counts from 1, `row` is how high it stands, from 0."""

    number: int
    x: float
    row: int
    by: str
    applied: bool
    turn: int
    saved: int


@dataclass(frozen=True)
class Chart:
    """One variant's chart. `layers` are (name, SVG path) from the bottom up, empty ones left out;
    `columns` the request that each column shows, None where the variant made none."""

    layers: tuple[tuple[str, str], ...]
    marks: tuple[Mark, ...]
    columns: tuple[LayeredRequest | None, ...]


def columns_of(details: Sequence[ReplayDetail]) -> Columns:
    """The columns for all requests that any variant made."""
    keys = sorted({(request.turn, request.call) for detail in details for request in detail.requests})
    size = max(1, math.ceil(len(keys) / COLUMNS))
    return Columns(tuple(tuple(keys[at : at + size]) for at in range(0, len(keys), size)))


def chart_of(detail: ReplayDetail, columns: Columns, top_tokens: int) -> Chart:
    """A variant's chart; `top_tokens` stands at the upper end of the axis."""
    by_key = {(request.turn, request.call): request for request in detail.requests}
    shown = tuple(
        max((by_key[key] for key in keys if key in by_key), key=lambda one: one.tokens, default=None)
        for keys in columns.keys
    )
    return Chart(stacked(shown, top_tokens), marks_of(detail, columns), shown)


def x_of(column: float, count: int) -> float:
    """The left edge of a column."""
    return round(LEFT + (WIDTH - LEFT - RIGHT) * column / max(1, count), 1)


def y_of(tokens: float, top_tokens: int) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * tokens / max(1, top_tokens), 1)


def stacked(shown: Sequence[LayeredRequest | None], top_tokens: int) -> tuple[tuple[str, str], ...]:
    """The layers as closed step paths."""
    floor = [0] * len(shown)
    layers = []
    for name, _ in LAYERS:
        height = [request.layers.get(name, 0) if request else 0 for request in shown]
        if any(height):
            roof = [low + high for low, high in zip(floor, height, strict=True)]
            layers.append((name, step_path(floor, roof, top_tokens)))
            floor = roof
    return tuple(layers)


def step_path(floor: Sequence[int], roof: Sequence[int], top_tokens: int) -> str:
    """There along the roof and back along the floor, one step a column; columns of no height are left out."""
    count, pieces = len(floor), []
    for start, end in filled(floor, roof):
        there = [f"V{y_of(roof[at], top_tokens):g}H{x_of(at + 1, count):g}" for at in range(start, end)]
        back = [
            f"V{y_of(floor[at], top_tokens):g}H{x_of(at, count):g}" for at in range(end - 1, start - 1, -1)
        ]
        begin = f"M{x_of(start, count):g} {y_of(floor[start], top_tokens):g}"
        pieces.append(begin + "".join(there) + "".join(back) + "Z")
    return "".join(pieces)


def filled(floor: Sequence[int], roof: Sequence[int]) -> list[tuple[int, int]]:
    """The runs of columns that have any height, as (first, behind the last)."""
    runs: list[tuple[int, int]] = []
    for at, (low, high) in enumerate(zip(floor, roof, strict=True)):
        if high <= low:
            continue
        if runs and runs[-1][1] == at:
            runs[-1] = (runs[-1][0], at + 1)
        else:
            runs.append((at, at + 1))
    return runs


def marks_of(detail: ReplayDetail, columns: Columns) -> tuple[Mark, ...]:
    """A mark for each compaction, in the order of their turns."""
    count, marks, last_x = len(columns.keys), [], [-1e9] * MARK_ROWS
    ordered = sorted(detail.compactions, key=lambda event: event.turn)
    for number, event in enumerate(ordered, 1):
        x = x_of(columns.first_of_turn(event.turn), count)
        free = [row for row in range(MARK_ROWS) if x - last_x[row] >= MARK_SPACE]
        row = free[0] if free else min(range(MARK_ROWS), key=last_x.__getitem__)
        last_x[row] = x
        saved = event.tokens_before - event.tokens_after
        marks.append(Mark(number, x, row, event.by, event.applied, event.turn, saved))
    return tuple(marks)


def top_of(tokens: int) -> int:
    """A round number at or a little above `tokens` for the end of an axis."""
    if tokens <= 0:
        return 1_000
    size = 10 ** math.floor(math.log10(tokens))
    steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    return next(int(size * step) for step in steps if size * step >= tokens)


def ticks(top_tokens: int) -> list[tuple[int, float]]:
    """Five (tokens, y) from 0 to the top."""
    return [(round(top_tokens * at / 4), y_of(top_tokens * at / 4, top_tokens)) for at in range(5)]


def turn_ticks(columns: Columns, wanted: int = 12) -> list[tuple[int, float]]:
    """About `wanted` (turn, x): the middle of the first column of a turn."""
    count = len(columns.keys)
    every = max(1, math.ceil(count / wanted))
    return [(columns.keys[at][0][0], x_of(at + 0.5, count)) for at in range(0, count, every)]
