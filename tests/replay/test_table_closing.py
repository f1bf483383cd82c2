"""The closing words say what was lost as plainly as what was saved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aider_gardener.replay.measure.carryover import CarryOver
from aider_gardener.replay.measure.cost import Bill, Cost
from aider_gardener.replay.measure.summary import Recall, Report, Summary, summarize
from aider_gardener.replay.show.table import closing, closing_of, short

from .made import made_result, made_session


def row(
    variant: str, tokens: int, usd: float, held: tuple[int, int], supported: int = 0, asked: int = 0
) -> Summary:
    empty = summarize(made_result(variant=variant), made_session(("a", "b")))
    return replace(
        empty,
        tokens_billed=tokens,
        costs=(Cost("OpenAI", "gpt-4o", Bill(usd), Bill(usd)),),
        carry_over=CarryOver(123, held[0], 268, held[1]),
        recall=Recall(asked, supported, supported),
    )


ROWS = (
    row("stock", 3_100_000, 9.8, (119, 260), 280, 281),
    row("stock-fixed", 2_000_000, 6.0, (70, 60), 107, 281),
    row("gardener", 1_900_000, 5.7, (65, 51), 271, 281),
)


def of(*rows: Summary) -> str:
    return " ".join(closing_of({row.variant: row for row in rows}))


def test_savings_and_losses_stand_beside_those_of_the_host() -> None:
    assert of(*ROWS) == (
        "The gardener saved 1.2M of 3.1M tokens ($4.10 of $9.80; gpt-4o, cache kept). Of what later replies used again, "
        "its prompts held 65 of 123 facts and 51 of 268 lines (stock-fixed 70 and 60, stock 119 and 260); "
        "10 of 281 probes were not supported (stock-fixed 174, stock 1)."
    )


def test_a_chat_without_probes_says_what_it_lost_all_the_same() -> None:
    text = of(row("stock", 900, 0.9, (9, 9)), row("gardener", 400, 0.4, (3, 1)))
    assert text.endswith("held 3 of 123 facts and 1 of 268 lines (stock 9 and 9).")
    assert "400 of 900" not in text and "saved 500 of 900 tokens ($0.500 of $0.900" in text


def test_where_no_reply_used_anything_old_it_is_said() -> None:
    nothing = [replace(one, carry_over=CarryOver()) for one in (ROWS[0], ROWS[2])]
    assert "No later reply used anything old again; 10 of 281 probes" in of(*nothing)


@pytest.mark.parametrize(
    ("tokens", "usd", "said"),
    [
        (4_100_000, 10.8, "The gardener added 1.0M to 3.1M tokens ($1.00 to $9.80;"),
        (4_100_000, 8.8, "The gardener added 1.0M to 3.1M tokens but saved $1.00 of $9.80 ("),
        (2_100_000, 10.8, "The gardener saved 1.0M of 3.1M tokens but added $1.00 to $9.80 ("),
    ],
)
def test_what_costs_more_is_said_to(tokens: int, usd: float, said: str) -> None:
    assert of(ROWS[0], row("gardener", tokens, usd, (1, 1))).startswith(said)


def test_nothing_is_said_without_both_or_without_sums() -> None:
    assert closing_of({"gardener": ROWS[2], "stock-fixed": ROWS[1]}) == []
    other = replace(ROWS[0], session="bank")
    assert closing(Report((), (*ROWS, other))) == []
    assert closing(Report((), ROWS)) == closing(Report((), (*ROWS, other), ROWS))


def test_counts_are_short() -> None:
    assert [short(n) for n in (999, 12_345, 9_504_201)] == ["999", "12.3k", "9.5M"]
