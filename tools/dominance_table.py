"""The table that says whether the default does harm: the gardener beside the host, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pages import table

from bench.goals import (
    CHAIN,
    COUNTS,
    GARDENER,
    GOALS,
    PLAIN,
    PRICES,
    SESSION,
    VARIANTS,
    Figures,
    misses,
    with_sums,
)

MISS = "✗"
TITLES = {
    SESSION: "Sessions as recorded",
    CHAIN: "All sessions in one chat",
    PLAIN: "Sessions as plain chats, without files",
}

Value = Mapping[str, Any]


def dominance(value: Value) -> Iterator[str]:
    """A block of three rows for each session, and a sum for each half; the last line counts the misses.

    Of plain chats the sums alone are shown, and all are counted.
    """
    missed = cells = 0
    for kind, title in TITLES.items():
        own = [row for row in value["rows"] if row["kind"] == kind]
        rows = with_sums(own)
        if not rows:
            continue
        yield from [f"### {title}", ""]
        shown = rows[len(own) :] if kind == PLAIN else rows
        yield from table(head(), [line for name, variants in shown for line in block(name, variants)])
        yield ""
        missed += sum(len(misses(variants)) for _, variants in rows)
        cells += GOALS * len(rows)
    notes = [note for row in value["rows"] for note in row["notes"]]
    for note in notes:
        yield f"- {note}"
    if value["missing"]:
        yield f"- Not measured: {', '.join(value['missing'])}."
    if notes or value["missing"]:
        yield ""
    yield f"{MISS} marks a cell that misses its goal: {missed} of {cells} do."
    yield ""


def head() -> list[str]:
    prices = [column for name in PRICES.values() for column in (f"$ {name}", "no cache")]
    return ["", "variant", *COUNTS, "tokens billed", *prices]


def block(name: str, variants: Mapping[str, Figures]) -> Iterator[list[str]]:
    """The three rows of a session; misses are marked in the gardener's."""
    missed = misses(variants)
    for variant in VARIANTS:
        own = variants[variant]
        marked = missed if variant == GARDENER else set()
        counts = [with_mark(f"{own[count][0]} of {own[count][1]}", count in marked) for count in COUNTS]
        shown = name if variant == GARDENER else ""
        yield [shown, variant, *counts, f"{own['tokens_billed']:,}", *dollars(own, marked)]


def dollars(own: Figures, marked: set[str]) -> Sequence[str]:
    return [
        with_mark(f"{own['usd'][provider][place]:.3f}", f"{provider} {kept}" in marked)
        for provider in PRICES
        for place, kept in enumerate(("cached", "uncached"))
    ]


def with_mark(text: str, missed: bool) -> str:
    return f"{text} {MISS}" if missed else text
