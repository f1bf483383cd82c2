"""The table shows every figure whole at any usual width, and its last words are the verdict."""

from __future__ import annotations

import re
from typing import Any

import pytest
from made_replays import made_call, made_probe, made_report, made_result

from aider_gardener.replay.measure.result import Compaction, ReplayResult
from aider_gardener.replay.measure.summary import ReplayReport, make_report
from aider_gardener.replay.show.table import figures, rendered
from aider_gardener.replay.show.verdict import verdict

KINDS = ["cause", "constraint", "decision", "error", "number", "output", "path", "symbol", "test"]


def made(variant: str, session: str = "shop", **provenance: Any) -> ReplayResult:
    probes = [made_probe(n, 1, 2 + 3 * n, kind=KINDS[n % 9], supported=n % 3 > 0) for n in range(1, 19)]
    calls = [
        made_call(turn, [("system", "s" * 1500), ("cur", "c" * turn)], tokens=turn * 12_345)
        for turn in range(1, 11)
    ]
    return made_result(
        calls,
        variant=variant,
        session=session,
        probes=probes,
        turns=60,
        compactions=[Compaction(1, "llm", n > 3, 9, 5, 1, 90_000, 500) for n in range(20)],
        overhead={1: 0.0123, 2: 0.0456},
        **provenance,
    )


@pytest.fixture(scope="module")
def report() -> ReplayReport:
    variants = ["none", "no-history", "stock-fixed", "gardener"]
    return make_report(
        [made(variant, session) for session in ("shop", "queue") for variant in variants], ["a note"]
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
    text = rendered(make_report([result]), 100)
    assert "present " not in text.split("gpt-4o")[0] and "usable" not in text.split("gpt-4o")[0]


def test_the_verdict_ends_it_where_both_were_run() -> None:
    words = rendered(made_report(), 200).strip().splitlines()[-1]
    assert words == verdict(made_report()) != ""
    assert "would have cost" not in rendered(make_report([made("stock"), made("none")]), 200)


def test_the_options_of_the_host_are_stated() -> None:
    plain, other = made("none"), made("none", map_tokens=1_024, cache_prompts=True)
    assert "map budget 4,096 tokens, aider" in " ".join(rendered(make_report([plain]), 160).split())
    assert "map budget 1,024 tokens, --cache-prompts, aider" in " ".join(
        rendered(make_report([other]), 160).split()
    )
