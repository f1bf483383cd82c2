"""The table shows every figure whole at any usual width, means too, and its last words say what was lost."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from made_replays import made_call, made_probe, made_result, made_session

from aider_gardener.replay.measure.carryover import CarryOver
from aider_gardener.replay.measure.cost import Bill, Cost
from aider_gardener.replay.measure.result import Compaction, Measured
from aider_gardener.replay.measure.summary import Recall, ReplayReport, Summary, make_report, summarize
from aider_gardener.replay.show.table import (
    by_variant,
    closing,
    closing_of,
    figures,
    host_options,
    limit_columns,
    limit_title,
    mean_columns,
    rendered,
    short,
)

KINDS = ["cause", "constraint", "decision", "error", "number", "output", "path", "symbol", "test"]


def pair(variant: str, session: str = "shop") -> tuple[Any, Any]:
    probes = [made_probe(n, 1, 2 + 3 * n, kind=KINDS[n % 9], supported=n % 3 > 0) for n in range(1, 19)]
    calls = [
        made_call(turn, [("system", "s" * 1500), ("cur", "c" * turn)], tokens=turn * 12_345)
        for turn in range(1, 11)
    ]
    result = made_result(
        calls,
        variant=variant,
        session=session,
        probes=probes,
        turns=60,
        compactions=[Compaction(1, "llm", n > 3, 9, 5, 1, 90_000, 500) for n in range(20)],
        measured=Measured(plan_seconds=(0.01,), overhead_seconds={1: 0.0123, 2: 0.0456}),
    )
    return result, summarize(result, made_session(("a", "b"), name=session))


@pytest.fixture(scope="module")
def report() -> ReplayReport:
    variants = ["none", "no-history", "stock-fixed", "gardener"]
    return make_report(
        [pair(variant, session) for session in ("shop", "queue") for variant in variants], ["a note"]
    )


@pytest.mark.parametrize("width", [80, 100, 160, 250])
def test_nothing_is_wider_than_the_terminal_and_no_figure_is_lost(report: ReplayReport, width: int) -> None:
    text = rendered(report, width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert "…" not in text and "\x1b" not in text
    for summary in report.summaries:
        for column in figures():
            assert column.cell(summary) in text


def test_wide_terminals_need_fewer_tables(report: ReplayReport) -> None:
    counts = [rendered(report, width).count("\nvariant ") for width in (80, 100, 160, 250)]
    assert counts == sorted(counts, reverse=True) and counts[0] > counts[-1]


def test_the_floor_stands_apart_at_the_end(report: ReplayReport) -> None:
    text = rendered(report, 160)
    assert "no-history (floor)" in text
    rows = re.findall(r"^(none|no-history|stock-fixed|gardener)\b", text, re.MULTILINE)
    assert rows[:4] == ["none", "stock-fixed", "gardener", "no-history"]


def test_rate_budget_and_notes_are_stated(report: ReplayReport) -> None:
    text = " ".join(rendered(report, 160).split())
    for said in ("modelled: 0.5 s a call", "history budget 8,000 tokens", "window 128,000", "a note"):
        assert said in text


def test_several_sessions_get_a_sum(report: ReplayReport) -> None:
    assert "all 2 sessions: 120 turns, 36 probes" in rendered(report, 100)


def test_columns_that_say_nothing_are_left_out() -> None:
    result = made_result([made_call(1, [("cur", "a")])], turns=1)
    text = rendered(make_report([(result, summarize(result, made_session(("a", "b"))))]), 100)
    assert "present " not in text.split("gpt-4o")[0] and "usable" not in text.split("gpt-4o")[0]


def test_what_is_saved_is_said_where_both_were_run() -> None:
    def shown(variants: dict[str, int], sessions: tuple[str, ...] = ("shop",)) -> str:
        found = []
        for session in sessions:
            for variant, tokens in variants.items():
                result = made_result(
                    [made_call(1, [("cur", "a")], tokens=tokens)], variant=variant, session=session, turns=1
                )
                found.append((result, summarize(result, made_session(("a", "b"), name=session))))
        return " ".join(rendered(make_report(found), 200).split())

    assert "The gardener saved 750.0k of 1.0M tokens ($1.88 of $2.50" in shown(
        {"stock": 1_000_000, "gardener": 250_000}
    )
    assert "The gardener added 400.0k to 800.0k tokens" in shown(
        {"stock": 400_000, "gardener": 600_000}, ("shop", "queue")
    )
    assert "The gardener" not in shown({"stock-fixed": 400_000, "gardener": 600_000})


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
    assert closing(ReplayReport((), (*ROWS, other))) == []
    assert closing(ReplayReport((), ROWS)) == closing(ReplayReport((), (*ROWS, other), ROWS))


def test_counts_are_short() -> None:
    assert [short(n) for n in (999, 12_345, 9_504_201)] == ["999", "12.3k", "9.5M"]


def summary(session: str, supported: int, asked: int, **changed: Any) -> Summary:
    calls = [made_call(1, [("cur", "c")], tokens=1_000)]
    probes = [made_probe(n, 1, 3 + n, supported=n < supported) for n in range(asked)]
    result = made_result(calls, session=session, variant="tail", probes=probes)
    return replace(summarize(result, made_session(("a", "b"), name=session)), **changed)


def cells(rows: list[Summary]) -> dict[str, str]:
    return {heading.replace("\n", " "): cell(rows) for heading, cell in mean_columns()}


def test_a_short_session_weighs_as_much_as_a_long_one() -> None:
    found = cells([summary("a", 1, 2), summary("b", 40, 40, tokens_billed=3_010)])
    assert found["supported"] == "75.0 %"
    assert found["tokens billed"] == "2,010"
    assert found["supported > 25 turns"] == "100.0 %", "only the session that asked any"


def test_what_was_never_measured_is_no_nought() -> None:
    found = cells([summary("a", 0, 0)])
    assert (found["supported"], found["overhead p95 ms"], found["plan time measured"]) == ("–", "–", "–")


def test_the_share_from_cache_is_of_all_input() -> None:
    one = summary("a", 1, 1)
    bill = Bill(usd=1.0, input_tokens=250, cache_read_tokens=750)
    costs = (replace(one.costs[0], cached=bill), *one.costs[1:])
    assert cells([replace(one, costs=costs)])["OpenAI from cache"] == "75 %"


def test_only_variants_that_ran_everywhere_have_a_mean() -> None:
    a, b = summary("a", 1, 2), summary("b", 1, 2)
    assert list(by_variant([a, b, replace(a, variant="mask10")])) == ["tail"]
    assert by_variant([a]) == {}


def test_the_table_ends_with_the_means() -> None:
    calls = [made_call(1, [("cur", "c")], tokens=1_000)]
    found = []
    for session, supported in (("a", True), ("b", False)):
        result = made_result(calls, session=session, probes=[made_probe(1, 1, 3, supported=supported)])
        found.append((result, summarize(result, made_session(("a", "b"), name=session))))
    text = rendered(make_report(found), 120)
    assert "mean of 2 sessions" in text and "50.0 %" in text.partition("mean of 2 sessions")[2]
    assert "mean of" not in rendered(ReplayReport(make_report(found[:1]).results, (found[0][1],)), 120)
    assert Recall(1, 1, 1) == found[0][1].recall


def test_the_cost_over_the_limit_is_a_table_of_its_own(report: ReplayReport) -> None:
    text = rendered(report, 160)
    assert text.count("as a multiple of the limit of gardener's prompts") == 3, "two sessions and their sum"
    assert "net tokens: those of the prompts" in text
    row = report.summaries[0]
    shown = {column.heading: column.cell(row) for column in limit_columns()}
    assert shown["OpenAI\n/ limit"] == f"{row.costs[0].over_limit:.2f}"
    assert [heading.split("\n")[0] for heading in shown][:6] == [
        "OpenAI", "DeepSeek", "Anthropic", "Anthropic", "Google", "Moonshot",
    ]  # fmt: skip
    assert limit_title([row, replace(row, limit_of="none")]).endswith("the limit of its own prompts")


def test_the_options_of_the_host_are_stated() -> None:
    made_by = pair("none")[0].provenance
    assert host_options(made_by) == ""
    assert host_options(replace(made_by, map_tokens=1024, cache_prompts=True)) == (
        "map budget 1,024 tokens, --cache-prompts, "
    )
