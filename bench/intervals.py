"""Intervals of what replays measured: the bootstrap by session, then by what was asked in it.

Sessions differ more than the probes of one do, so both are drawn with replacement: first as many sessions as
there are, then in each as many of its probes, facts or lines (the two-stage bootstrap of Davison and Hinkley,
Bootstrap Methods and their Application, 1997, section 3.8). Two variants are compared on the same draws. With
ten sessions an interval is wide, and that is what it is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

DRAWS, SEED = 10_000, 1
LOW, HIGH = 2.5, 97.5
"""Percentiles that bound 95 % of the draws."""

Met = Sequence[Sequence[bool]]
"""For each session whether each of its items was met."""


@dataclass(frozen=True)
class Interval:
    """A figure, and the bounds of the middle 95 % of its draws."""

    value: float
    low: float
    high: float

    @property
    def tells(self) -> bool:
        """Whether the draws agree on the sign of a difference."""
        return self.low > 0 or self.high < 0


def share(met: Met) -> Interval:
    """The percent of all items that were met, 0 where there are none."""
    return difference(met, [[False] * len(own) for own in met])


def difference(first: Met, second: Met) -> Interval:
    """By how many points the first's percent of met items is above the second's.

    Where a session has as many items for both they are the same ones, and drawn in pairs; where it has not,
    since what a prompt brings along anyway is no item, each is drawn by itself. Raises ValueError where
    sessions differ.
    """
    if len(first) != len(second):
        raise ValueError("both need the same sessions")
    rng = np.random.default_rng(SEED)
    drawn = times_drawn(rng, len(first))
    met, asked = np.zeros((2, DRAWS)), np.zeros((2, DRAWS))
    for at, both in enumerate(zip(first, second, strict=True)):
        counts = drawn[:, [at]] * [len(own) for own in both]
        asked += counts.T
        if len(both[0]) == len(both[1]):
            met += drawn_of(rng, counts[:, 0], [*zip(*both, strict=True)]).T
        else:
            met += [drawn_of(rng, counts[:, side], [(mark,) for mark in both[side]])[:, 0] for side in (0, 1)]
    shares = [percent(sum(map(sum, own)), sum(map(len, own))) for own in (first, second)]
    return between(float(shares[0] - shares[1]), np.subtract(*percent(met, asked)))


def drawn_of(rng: np.random.Generator, counts: Any, items: Sequence[tuple[bool, ...]]) -> Any:
    """How many marks of each column are set in draws of so many items: an array of (DRAWS, columns)."""
    kinds = sorted(set(items))
    found = rng.multinomial(counts, [items.count(kind) / len(items) for kind in kinds] or [1.0])
    return found @ np.array(kinds or [(False, False)], dtype=int)


def ratio(first: Sequence[float], second: Sequence[float]) -> Interval:
    """The first's sum over the second's, such as of dollars, one figure for each session."""
    drawn = times_drawn(np.random.default_rng(SEED), len(first))
    return between(sum(first) / sum(second), (drawn @ np.array(first)) / (drawn @ np.array(second)))


def times_drawn(rng: np.random.Generator, sessions: int) -> Any:
    """How often each session comes in each draw: an array of (DRAWS, sessions)."""
    return rng.multinomial(sessions, [1 / sessions] * sessions, size=DRAWS)


def percent(met: Any, asked: Any) -> Any:
    return 100 * met / np.maximum(asked, 1)


def between(value: float, draws: Any) -> Interval:
    low, high = np.percentile(draws, (LOW, HIGH))
    return Interval(value, float(low), float(high))
