"""Cells of the grid put together: a variant at a budget over all sessions, as shares, sums and intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.grid.asked import MARKS
from bench.grid.cells import CHAINED, MODEL
from bench.intervals import Interval, Met, difference, share

Row = Mapping[str, Any]
Rows = Sequence[Row]
Key = tuple[str, int | None]
"""Variant and budget."""

PRESENT, SUPPORTED = 1, 2
"""The places of the present and the supported ones in [asked, present, supported]."""


def rows_of(value: Mapping[str, Any]) -> list[Row]:
    """The rows of the results file: of sessions, chained ones and such with other models."""
    return [cell["row"] for cell in value["cells"]]


def ordinary(rows: Iterable[Row]) -> list[Row]:
    """The rows of single sessions with the usual model."""
    return [row for row in rows if row["session"] != CHAINED and row["model"] == MODEL]


def by_key(rows: Iterable[Row]) -> dict[Key, list[Row]]:
    """The rows of each variant and budget, in the order in which they come."""
    found: dict[Key, list[Row]] = {}
    for row in rows:
        found.setdefault((row["variant"], row["budget"]), []).append(row)
    return found


def complete(rows: Rows) -> dict[Key, list[Row]]:
    """Only what has a row for every session there is: sums over other sessions do not compare."""
    sessions = {row["session"] for row in rows}
    return {
        key: sorted(own, key=lambda row: str(row["session"]))
        for key, own in by_key(rows).items()
        if {row["session"] for row in own} == sessions
    }


@dataclass(frozen=True)
class Measure:
    """Something that prompts hold or not: where its marks stand in a row, and from which on it is met."""

    group: str
    name: str
    least: str

    def met(self, rows: Rows) -> Met:
        """For each session whether each item was met."""
        return [[mark >= self.least for mark in row[self.group][self.name]] for row in rows]

    def count(self, rows: Rows) -> tuple[int, int]:
        """How many were met, and of how many."""
        met = self.met(rows)
        return sum(map(sum, met)), sum(map(len, met))

    def share(self, rows: Rows) -> Interval:
        return share(self.met(rows))

    def above(self, first: Rows, second: Rows) -> Interval:
        """By how many points the first's share is above the second's, over the same sessions."""
        return difference(self.met(first), self.met(second))


FACTS = Measure("carried", "facts", "1")
LINES = Measure("carried", "lines", "1")
PROBES = Measure("marks", "own", MARKS[SUPPORTED])
PARAPHRASED = Measure("marks", "paraphrased", MARKS[SUPPORTED])
LATE = Measure("marks", "late", MARKS[SUPPORTED])


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def total(rows: Rows, name: str) -> float:
    return float(sum(row[name] for row in rows))


def dollars(rows: Rows, provider: str, *, cached: bool = True) -> float:
    """With the provider's cache kept, or without."""
    return float(sum(row["usd"][provider][not cached] for row in rows))


def past_tokens(rows: Rows, floor: Rows) -> float:
    """The mean of tokens that a prompt of the main model has more than it has with no history at all."""
    calls, tokens = (sum(row["main"][at] for row in rows) for at in (0, 1))
    least_calls, least = (sum(row["main"][at] for row in floor) for at in (0, 1))
    return tokens / calls - least / least_calls if calls and least_calls else 0.0
