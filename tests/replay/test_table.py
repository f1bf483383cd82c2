"""The table shows every figure whole at any usual width."""

from __future__ import annotations

import re
from typing import Any

import pytest

from aider_gardener.replay.measure.result import Compaction, Measured
from aider_gardener.replay.measure.summary import Report, make_report, summarize
from aider_gardener.replay.show.table import figures, rendered

from .made import made_call, made_probe, made_result, made_session

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
def report() -> Report:
    variants = ["none", "no-history", "stock-fixed", "gardener"]
    return make_report(
        [pair(variant, session) for session in ("shop", "queue") for variant in variants], ["a note"]
    )


@pytest.mark.parametrize("width", [80, 100, 160, 250])
def test_nothing_is_wider_than_the_terminal_and_no_figure_is_lost(report: Report, width: int) -> None:
    text = rendered(report, width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert "…" not in text and "\x1b" not in text
    for summary in report.summaries:
        for column in figures():
            assert column.cell(summary) in text


def test_wide_terminals_need_fewer_tables(report: Report) -> None:
    counts = [rendered(report, width).count("\nvariant ") for width in (80, 100, 160, 250)]
    assert counts == sorted(counts, reverse=True) and counts[0] > counts[-1]


def test_the_floor_stands_apart_at_the_end(report: Report) -> None:
    text = rendered(report, 160)
    assert "no-history (floor)" in text
    rows = re.findall(r"^(none|no-history|stock-fixed|gardener)\b", text, re.MULTILINE)
    assert rows[:4] == ["none", "stock-fixed", "gardener", "no-history"]


def test_rate_budget_and_notes_are_stated(report: Report) -> None:
    text = " ".join(rendered(report, 160).split())
    for said in ("modelled: 0.5 s a call", "history budget 8,000 tokens", "window 128,000", "a note"):
        assert said in text


def test_several_sessions_get_a_sum(report: Report) -> None:
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
