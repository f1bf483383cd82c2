"""The table of marks and budgets beside the default's: a row for each variant and half of the sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dominance_table import dollars, head
from pages import table

from bench.goals import CHOSEN_ON, COUNTS, HELD_OUT

Value = Mapping[str, Any]


def family(value: Value) -> Iterator[str]:
    """The half that constants were chosen on first, then the other."""
    rows = [
        [half, row["variant"], *counts(row[half]), *dollars(row[half], set())]
        for half in (CHOSEN_ON, HELD_OUT)
        for row in value["rows"]
    ]
    yield from table(["half", *head()[1:]], rows)
    yield ""


def counts(figures: Value) -> list[str]:
    found = [f"{met} of {total}" for met, total in (figures[name] for name in COUNTS)]
    return [*found, f"{figures['tokens_billed']:,}"]
