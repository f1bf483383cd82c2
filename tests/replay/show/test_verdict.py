"""The verdict: worth it or not and why, what was lost in words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_replays import made_report

from aider_gardener.replay.measure.cost import Bill, Cost
from aider_gardener.replay.measure.result import Carried, ReplayResult
from aider_gardener.replay.measure.summary import CarryOver, Recall, Summary, UsableLength
from aider_gardener.replay.show.verdict import best_stock, gardened_in, verdict_on

BASE = made_report().summaries[0]


def row(
    variant: str,
    usd: float = 0.0,
    asked: tuple[int, int] = (0, 0),
    facts: tuple[int, int] = (0, 0),
    lines: tuple[int, int] = (0, 0),
    *,
    tokens: int = 0,
) -> Summary:
    """A summary with its price; `asked`, `facts` and `lines` are (known or present, all of them)."""
    return replace(
        BASE,
        variant=variant,
        own=Cost("OpenAI", "gpt-4o", Bill(usd), Bill(usd)) if usd else None,
        recall=Recall(asked[1], asked[0], asked[0]),
        carry_over=CarryOver(facts[1], facts[0], lines[1], lines[0]),
        tokens_billed=tokens or int(1000 * usd),
        plan_compactions=1,
    )


def of(*found: Summary, results: tuple[ReplayResult, ...] = ()) -> tuple[str, ...]:
    return verdict_on({one.variant: one for one in found}, results)


@pytest.mark.parametrize(
    ("own", "other", "said"),
    [
        (row("gardener", 1.7, (67, 71)), row("stock", 3.5, (71, 71)),
         "Worth it for this chat: $1.70 instead of $3.50 without it at gpt-4o, 51 % less."),
        (row("gardener", 1.92), row("stock", 2.0),
         "Not worth it for this chat, because it saves less than 10%: "
         "$1.92 instead of $2.00 without it at gpt-4o, 4 % less."),
        (row("gardener", 0.61), row("stock", 0.677),
         "Worth it for this chat: $0.610 instead of $0.677 without it at gpt-4o, 10 % less."),
        (row("gardener", 3.5), row("stock", 2.0),
         "Not worth it for this chat, because it costs more: "
         "$3.50 instead of $2.00 without it at gpt-4o, 75 % more."),
        (row("gardener", 1.0, lines=(79, 100)), row("stock", 2.0, lines=(100, 100)),
         "Not worth it for this chat, because less than 80% of what is known without it still is: "
         "$1.00 instead of $2.00 without it at gpt-4o, 50 % less."),
        (row("gardener", 2.1, (9, 9)), row("stock-fixed", 2.0, (7, 9)),
         "Worth it for this chat: more was still known, for about as much: "
         "$2.10 instead of $2.00 with stock-fixed at gpt-4o, 5 % more."),
        (row("gardener", tokens=1_000), row("stock", tokens=4_000),
         "Worth it for this chat: 1,000 tokens instead of 4,000 without it, 75 % less."),
        (row("gardener", 2.0, tokens=3), row("stock", 2.001),
         "Not worth it for this chat, because it saves less than 10%: "
         "$2.00 instead of $2.00 without it at gpt-4o, about as much."),
        (row("gardener", 2.001, tokens=3), row("stock", 2.0),
         "Not worth it for this chat, because it saves less than 10%: "
         "$2.00 instead of $2.00 without it at gpt-4o, about as much."),
        (replace(row("gardener", 2.0), plan_compactions=0), row("stock", 2.0),
         "No difference for this chat: its history never passed aider's own limit, "
         "and until then prompts are aider's."),
        (row("gardener", 3.5), replace(row("stock", 2.0), usable=UsableLength(40, "window")),
         "Worth it for this chat: without it turn 41 no longer fits the window; "
         "$3.50 instead of $2.00 without it at gpt-4o, 75 % more."),
    ],
)  # fmt: skip
def test_it_answers_and_says_why(own: Summary, other: Summary, said: str) -> None:
    assert of(own, other)[0] == said


def carrying(variant: str, *present: bool, is_line: bool = True) -> ReplayResult:
    result = next(one for one in made_report(probes=False).results if one.variant == variant)
    carried = tuple(Carried(f"line {n}", is_line, 1, 9, there) for n, there in enumerate(present))
    return replace(result, carried=carried)


PAIR = (row("stock", 2), row("gardener", 1))
BEFORE = carrying("stock", True, True, False, True)


@pytest.mark.parametrize(
    ("without", "own", "said"),
    [
        (BEFORE, carrying("gardener", True, False, False, False),
         "Lost: 2 of 4 lines that a reply used again."),
        (BEFORE, carrying("gardener", True, True, True, True),
         "Lost: nothing that was asked or used again. "
         "Gained: 1 of 4 lines that a reply used again."),
        (carrying("stock", True, is_line=False), carrying("gardener", False, is_line=False),
         "Lost: 1 of 1 fact that a reply used again."),
        (*made_report().results, "Lost: the answers to 1 of 2 questions."),
    ],
)  # fmt: skip
def test_what_was_lost_is_told_in_words(without: ReplayResult, own: ReplayResult, said: str) -> None:
    assert of(*PAIR, results=(without, own))[1] == said


def test_it_takes_the_gardener_and_aider_as_it_is() -> None:
    for found in ((), (row("stock", 1),), (row("gardener", 1),), (row("none", 1), row("gardener", 1))):
        assert of(*found) == ()


def test_the_stock_variant_that_knew_most_is_the_one_to_beat() -> None:
    def best(*found: Summary) -> str:
        return best_stock({one.variant: one for one in found})

    assert best(row("stock", 3, (9, 9)), row("stock-fixed", 1, (2, 9)), row("gardener", 2)) == "stock"
    assert best(row("stock", 3), row("stock-fixed", 1)) == "stock-fixed"
    assert best(row("none", 1)) == ""


def test_the_gardener_with_its_defaults_goes_before_others() -> None:
    other = "gardener+recall_tokens=0"
    assert gardened_in(["stock", other, "gardener"]) == "gardener"
    assert gardened_in(["stock", other]) == other and gardened_in(["stock", "none"]) == ""
