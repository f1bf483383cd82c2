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


@dataclass(frozen=True)
class ChartFrame:
    """The room of a chart, in user units of its SVG; left, right, top and bottom are the space around the
    plot. At most `mark_rows` rows of marks stand above it, those behind the first at negative heights."""

    name: str
    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    turn_labels: int
    mark_rows: int


WIDE = ChartFrame("wide", 960, 300, left=52, right=10, top=30, bottom=36, turn_labels=12, mark_rows=4)
NARROW = ChartFrame("narrow", 360, 270, left=46, right=8, top=30, bottom=36, turn_labels=6, mark_rows=6)
"""For a screen and for a telephone: one that is scaled down to the other's size cannot be read."""

COLUMNS = 240
"""At most so many columns; with more requests each stands for the largest of several."""

MARK_SPACE = 24
"""Marks nearer than this to the last one are put on the next row, and rows are as far apart: what a mouse
can hit of a mark is a circle of this diameter."""

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
    """A compaction on a chart: `number` counts from 1, (x, y) is its middle."""

    number: int
    x: float
    y: int
    by: str
    applied: bool
    turn: int
    saved: int


@dataclass(frozen=True)
class Chart:
    """One variant's chart in a frame. `layers` are (name, SVG path) from the bottom up, empty ones left
    out; `labels` (name, y) for those high enough at the right end to be named there; `ticks` (tokens, y) and
    `turns` (turn, x) name the axes; `ceiling` is where it begins, below 0 with several rows of marks."""

    frame: ChartFrame
    layers: tuple[tuple[str, str], ...]
    labels: tuple[tuple[str, float], ...]
    marks: tuple[Mark, ...]
    ticks: tuple[tuple[int, float], ...]
    turns: tuple[tuple[int, float], ...]

    @property
    def ceiling(self) -> int:
        return min((mark.y - MARK_SPACE // 2 for mark in self.marks), default=0)


def columns_of(details: Sequence[ReplayDetail]) -> Columns:
    """The columns for all requests that any variant made."""
    keys = sorted({(request.turn, request.call) for detail in details for request in detail.requests})
    size = max(1, math.ceil(len(keys) / COLUMNS))
    return Columns(tuple(tuple(keys[at : at + size]) for at in range(0, len(keys), size)))


def chart_of(detail: ReplayDetail, columns: Columns, top_tokens: int, frame: ChartFrame) -> Chart:
    """A variant's chart; `top_tokens` stands at the upper end of the axis."""
    shown = shown_of(detail, columns)
    return Chart(
        frame,
        stacked(shown, top_tokens, frame),
        labels_of(shown, top_tokens, frame),
        marks_of(detail, columns, frame),
        ticks(top_tokens, frame),
        turn_ticks(columns, frame),
    )


def shown_of(detail: ReplayDetail, columns: Columns) -> tuple[LayeredRequest | None, ...]:
    """The request that each column shows, None where the variant made none."""
    by_key = {(request.turn, request.call): request for request in detail.requests}
    return tuple(
        max((by_key[key] for key in keys if key in by_key), key=lambda one: one.tokens, default=None)
        for keys in columns.keys
    )


def x_of(column: float, count: int, frame: ChartFrame) -> float:
    """The left edge of a column."""
    return round(frame.left + (frame.width - frame.left - frame.right) * column / max(1, count), 1)


def y_of(tokens: float, top_tokens: int, frame: ChartFrame) -> float:
    height = frame.height - frame.top - frame.bottom
    return round(frame.height - frame.bottom - height * tokens / max(1, top_tokens), 1)


def stacked(
    shown: Sequence[LayeredRequest | None], top_tokens: int, frame: ChartFrame
) -> tuple[tuple[str, str], ...]:
    """The layers as closed step paths."""
    floor = [0] * len(shown)
    layers = []
    for name, _ in LAYERS:
        height = [request.layers.get(name, 0) if request else 0 for request in shown]
        if any(height):
            roof = [low + high for low, high in zip(floor, height, strict=True)]
            layers.append((name, step_path(floor, roof, top_tokens, frame)))
            floor = roof
    return tuple(layers)


def step_path(floor: Sequence[int], roof: Sequence[int], top_tokens: int, frame: ChartFrame) -> str:
    """There along the roof and back along the floor, one step a column; columns of no height are left out."""
    count, pieces = len(floor), []

    def step(tokens: int, column: int) -> str:
        return f"V{y_of(tokens, top_tokens, frame):g}H{x_of(column, count, frame):g}"

    for start, end in filled(floor, roof):
        there = [step(roof[at], at + 1) for at in range(start, end)]
        back = [step(floor[at], at) for at in range(end - 1, start - 1, -1)]
        begin = f"M{x_of(start, count, frame):g} {y_of(floor[start], top_tokens, frame):g}"
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


def labels_of(
    shown: Sequence[LayeredRequest | None], top_tokens: int, frame: ChartFrame
) -> tuple[tuple[str, float], ...]:
    """(layer, y) for each layer that is high enough at the right end to be named there."""
    last = next((request for request in reversed(shown) if request), None)
    found, floor = [], 0
    for name, _ in LAYERS:
        tokens = last.layers.get(name, 0) if last else 0
        low, high = y_of(floor, top_tokens, frame), y_of(floor + tokens, top_tokens, frame)
        if low - high >= 14:
            found.append((name, round((low + high) / 2 + 4, 1)))
        floor += tokens
    return tuple(found)


def marks_of(detail: ReplayDetail, columns: Columns, frame: ChartFrame) -> tuple[Mark, ...]:
    """A mark for each compaction, in the order of their turns."""
    count, marks, last_x = len(columns.keys), [], [-1e9] * frame.mark_rows
    ordered = sorted(detail.compactions, key=lambda event: event.turn)
    for number, event in enumerate(ordered, 1):
        x = x_of(columns.first_of_turn(event.turn), count, frame)
        free = [row for row in range(frame.mark_rows) if x - last_x[row] >= MARK_SPACE]
        row = free[0] if free else min(range(frame.mark_rows), key=last_x.__getitem__)
        last_x[row] = x
        saved = event.tokens_before - event.tokens_after
        y = frame.top // 2 - MARK_SPACE * row
        marks.append(Mark(number, x, y, event.by, event.applied, event.turn, saved))
    return tuple(marks)


def top_of(tokens: int) -> int:
    """A round number at or a little above `tokens` for the end of an axis."""
    if tokens <= 0:
        return 1_000
    size = 10 ** math.floor(math.log10(tokens))
    steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    return next(int(size * step) for step in steps if size * step >= tokens)


def ticks(top_tokens: int, frame: ChartFrame) -> tuple[tuple[int, float], ...]:
    """Five (tokens, y) from 0 to the top."""
    at_quarter = (top_tokens * at / 4 for at in range(5))
    return tuple((round(tokens), y_of(tokens, top_tokens, frame)) for tokens in at_quarter)


def turn_ticks(columns: Columns, frame: ChartFrame) -> tuple[tuple[int, float], ...]:
    """As many (turn, x) as the frame has room for: the middle of the first column of a turn."""
    count = len(columns.keys)
    every = max(1, math.ceil(count / frame.turn_labels))
    return tuple((columns.keys[at][0][0], x_of(at + 0.5, count, frame)) for at in range(0, count, every))
