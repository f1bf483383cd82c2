"""The verdict in one sentence: singular and plural, better and worse, and what stands beside the gardener."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from made_replays import made_report

from aider_gardener.replay.measure.cost import Bill
from aider_gardener.replay.measure.summary import CarryOver, Recall, Summary
from aider_gardener.replay.show.verdict import (
    best_stock,
    gardened_in,
    verdict,
    verdict_on,
)

BASE = made_report().summaries[0]


def row(
    variant: str,
    usd: float = 0.0,
    asked: tuple[int, int] = (0, 0),
    facts: tuple[int, int] = (0, 0),
    lines: tuple[int, int] = (0, 0),
    tokens: int = 0,
) -> Summary:
    """A summary with its price; `asked`, `facts` and `lines` are (known or present, all of them)."""
    return replace(
        BASE,
        variant=variant,
        costs=(replace(BASE.costs[0], cached=Bill(usd)),),
        recall=Recall(asked[1], asked[0], asked[0]),
        carry_over=CarryOver(facts[1], facts[0], lines[1], lines[0]),
        tokens_billed=tokens,
    )


def rows(*found: Summary) -> Mapping[str, Summary]:
    return {one.variant: one for one in found}


def test_it_says_what_was_saved_and_what_was_lost() -> None:
    assert verdict_on(
        rows(
            row("stock", 17.6, (25, 26), (0, 0), (1_100, 1_211)),
            row("gardener", 8.29, (23, 26), (0, 0), (8, 1_211)),
        )
    ) == (
        "With the gardener this chat would have cost $8.29 instead of $17.60 (gpt-4o prices); 23 of 26 things "
        "asked later were still known (25 without it); 8 of 1,211 reused lines stood in the prompt "
        "(1,100 without it)."
    )


def test_what_was_not_lost_is_told_once() -> None:
    said = verdict_on(
        rows(
            row("stock", 2, (3, 3), (4, 5), (1, 2)),
            row("gardener", 1, (3, 3), (4, 5), (1, 2)),
        )
    )
    assert "without it" not in said
    assert said.endswith(
        "3 of 3 things asked later were still known; "
        "4 of 5 reused facts and 1 of 2 reused lines stood in the prompt."
    )


@pytest.mark.parametrize(
    ("known", "asked", "expected"),
    [
        (1, 1, "1 of 1 thing asked later was still known"),
        (0, 1, "0 of 1 thing asked later was still known"),
        (1, 2, "1 of 2 things asked later was still known"),
        (0, 2, "0 of 2 things asked later were still known"),
    ],
)
def test_one_thing_is_no_plural(known: int, asked: int, expected: str) -> None:
    said = verdict_on(
        rows(
            row("stock", 2, (known, asked), (1, 1), (1, 1)),
            row("gardener", 1, (known, asked), (1, 1), (0, 1)),
        )
    )
    assert (
        f"; {expected}; 1 of 1 reused fact and 0 of 1 reused line stood in the prompt (1 and 1 with" in said
    )


def test_without_questions_and_reuse_it_says_so() -> None:
    said = verdict_on(rows(row("stock", 2), row("gardener", 1)))
    assert said == (
        "With the gardener this chat would have cost $1.00 instead of $2.00 (gpt-4o prices); "
        "no reply used anything old again."
    )


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (3.5, "would have cost $3.50, more than the $2.00 without it (gpt-4o prices);"),
        (2.0, "would have cost $2.00, as much as without it (gpt-4o prices);"),
        (2.001, "would have cost $2.00, as much as without it (gpt-4o prices);"),
    ],
)
def test_a_gardener_that_saves_nothing_is_not_flattered(own: float, expected: str) -> None:
    assert expected in verdict_on(rows(row("stock", 2), row("gardener", own)))


def test_without_prices_it_counts_tokens() -> None:
    less = verdict_on(rows(row("stock", tokens=2_000), row("gardener", tokens=1_000)))
    assert "would have taken 1,000 instead of 2,000 (tokens);" in less
    more = verdict_on(rows(row("stock", tokens=1), row("gardener", tokens=2_000)))
    assert "would have taken 2,000, more than the 1 without it (tokens);" in more
    bare = [replace(one, costs=()) for one in (row("stock", tokens=9), row("gardener", tokens=9))]
    assert "would have taken 9, as much as without it (tokens);" in verdict_on(rows(*bare))


def test_it_takes_the_gardener_and_aider_as_it_is() -> None:
    for found in ((), (row("stock", 1),), (row("gardener", 1),), (row("none", 1), row("gardener", 1))):
        assert verdict_on(rows(*found)) == ""


def test_the_stock_variant_that_knew_most_is_the_one_to_beat() -> None:
    forgetful = row("stock-fixed", 1, (2, 9))
    found = rows(row("stock", 3, (9, 9)), forgetful, row("gardener", 2, (8, 9)))
    assert best_stock(found) == "stock"
    assert verdict_on(found).endswith("; stock-fixed would have cost $1.00, with 2 known.")
    assert best_stock(rows(row("stock", 3), row("stock-fixed", 1))) == "stock-fixed"
    assert (
        best_stock(rows(row("stock", 3, lines=(1, 2)), row("stock-fixed", 1, facts=(2, 2)))) == "stock-fixed"
    )
    assert best_stock(rows(row("none", 1))) == ""


def test_another_variant_than_stock_is_named() -> None:
    said = verdict_on(rows(row("stock-fixed", 3, (9, 9)), row("gardener", 2, (8, 9))))
    assert "$2.00 instead of $3.00 with stock-fixed (gpt-4o prices)" in said
    assert "still known (9 with stock-fixed)" in said


def test_the_gardener_with_its_defaults_goes_before_others() -> None:
    other = "gardener+recall_tokens=0"
    assert gardened_in(["stock", other, "gardener"]) == "gardener"
    assert gardened_in(["stock", other]) == other
    assert gardened_in(["stock", "none"]) == ""
    assert verdict_on(rows(row("stock", 2), row(other, 1))).startswith(f"With {other} this chat")


def test_several_chats_are_judged_by_their_sums() -> None:
    report = made_report(names=("shop", "bank"))
    assert verdict(report).startswith("With the gardener these 2 chats would have cost ")
    assert verdict(replace(report, totals=())) == ""
    one = made_report()
    assert verdict(one).startswith("With the gardener this chat would have cost ")
    assert "1 of 2 things asked later was still known (2 without it)" in verdict(one)
