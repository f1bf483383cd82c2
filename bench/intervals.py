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
    """By how many points the first's percent of met items is above the second's, of the same items.

    Raises ValueError where sessions or items differ.
    """
    if [len(own) for own in first] != [len(own) for own in second]:
        raise ValueError("both need the same sessions and items")
    rng = np.random.default_rng(SEED)
    above = [
        [int(a) - int(b) for a, b in zip(*pair, strict=True)] for pair in zip(first, second, strict=True)
    ]
    drawn = times_drawn(rng, len(above))
    gained, asked = np.zeros(DRAWS), np.zeros(DRAWS)
    for at, own in enumerate(above):
        if not own:
            continue
        items = drawn[:, at] * len(own)
        shares = [own.count(sign) / len(own) for sign in (1, -1, 0)]
        found = rng.multinomial(items, shares)
        gained += found[:, 0] - found[:, 1]
        asked += items
    value = percent(sum(map(sum, above)), sum(map(len, above)))
    return between(float(value), percent(gained, asked))


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
