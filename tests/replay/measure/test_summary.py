"""Summaries, their sums, their JSON, and usable length."""

from __future__ import annotations

import json
from typing import Any

import pytest
from made_replays import made_call, made_probe, made_result

from aider_gardener.replay.measure.result import Compaction, ReplayResult
from aider_gardener.replay.measure.summary import (
    Recall,
    UsableLength,
    make_report,
    percentile,
    report_json,
    summarize,
    usable_length,
)


def made(**options: Any) -> ReplayResult:
    return made_result(
        [made_call(1, [("cur", "a")], out=2), made_call(2, [("cur", "bcd")], out=3)], **options
    )


def test_a_summary_counts_compactions_by_who_made_them() -> None:
    events = [
        Compaction(1, "llm", True, 9, 5, calls=2, prompt_tokens=10_000, completion_tokens=600),
        Compaction(2, "llm", False, 9, 9, calls=1, prompt_tokens=5_000, completion_tokens=60),
        Compaction(2, "plan", True, 9, 3, seconds=0.5),
        Compaction(2, "plan", False, 9, 3, seconds=0.25),
    ]
    summary = summarize(made(compactions=events))
    assert (summary.llm_compactions, summary.llm_discarded, summary.plan_compactions) == (1, 1, 1)
    # 3 calls at half a second, 15,000 tokens at 5,000 a second, 660 tokens at 60 a second.
    assert summary.llm_seconds == pytest.approx(1.5 + 3 + 11)
    assert summary.plan_seconds == 0.75


def test_a_summary_has_recall_by_distance() -> None:
    probes = [
        made_probe(1, 1, 11, kind="number"),
        made_probe(2, 1, 12, kind="number", supported=False),
        made_probe(3, 1, 27, kind="path", present=False, supported=False),
    ]
    summary = summarize(made(probes=probes))
    assert summary.recall == Recall(3, 2, 1)
    assert summary.recall_by_distance == {
        "≤ 10": Recall(1, 1, 1),
        "11–25": Recall(1, 1, 0),
        "> 25": Recall(1, 0, 0),
    }


def test_several_sessions_are_summed_by_variant() -> None:
    probe = [made_probe(1, 1, 2)]
    found = [
        made(session="one", probes=probe, overhead={1: 0.001}),
        made_result([made_call(1, tokens=9_000)], session="two", probes=probe, overhead={1: 0.003}),
        made(session="one", variant="gardener", probes=probe),
    ]
    (both,) = make_report(found).totals
    assert (both.session, both.variant, both.turns) == ("all 2 sessions", "stock", 20)
    assert both.recall == Recall(2, 2, 2) and both.usable is None
    assert (both.tokens_billed, both.largest_prompt) == (9 + 9_010, 9_000)
    usd = [summarize(result).costs[0].cached.usd for result in found[:2]]
    assert both.costs[0].cached.usd == both.usd == pytest.approx(sum(usd))
    assert percentile(both.overhead_ms, 0.95) == 3.0
    assert make_report(found[:1]).totals == ()


@pytest.mark.parametrize(
    ("model", "named"), [("gpt-4o", "gpt-4o"), ("o3", "each chat's model"), ("zork", "")]
)
def test_chats_of_several_models_have_a_sum_if_all_have_a_price(model: str, named: str) -> None:
    (both,) = make_report([made(session="one"), made(session="two", model=model)]).totals
    assert (both.own.model if both.own else "") == named


def test_the_json_is_the_same_for_the_same_replay() -> None:
    report = make_report([made(overhead={1: 0.002})])
    again = make_report([made(overhead={1: 0.004})])
    values = [report_json(one) for one in (report, again)]
    for value in values:
        for row in [*value["summaries"], *value["results"]]:
            del row["measured"]
    assert json.dumps(values[0]) == json.dumps(values[1])
    assert report_json(report)["summaries"][0]["measured"]["overhead_ms_p50"] == 2.0


def probes(*met: tuple[int, bool]) -> list:
    return [made_probe(n, 1, ask, supported=ok) for n, (ask, ok) in enumerate(met, 1)]


@pytest.mark.parametrize(
    ("calls", "window", "met", "found", "shown"),
    [
        # the session ends first
        ([made_call(10, tokens=500)], 128_000, [], UsableLength(10, ""), "≥ 10"),
        # the window ends it before the turn that does not fit; an unknown one never does
        ([made_call(n, tokens=n * 100) for n in range(1, 11)], 700, [], UsableLength(7, "window"), "7"),
        ([made_call(n, tokens=n * 100) for n in range(1, 11)], 0, [], UsableLength(10, ""), "≥ 10"),
        # recall falls for good: 5/5, 5/6 = 83 %, then 5/7 and 5/8
        ([], 128_000, [(n, n < 6) for n in range(1, 9)], UsableLength(6, "recall"), "6"),
        # recall is too low from the first
        ([], 128_000, [(n, False) for n in range(4, 10)], UsableLength(7, "recall", at_most=True), "≤ 7"),
    ],
)
def test_a_session_is_usable_while_prompts_fit_and_enough_is_known(
    calls: list, window: int, met: list, found: UsableLength, shown: str
) -> None:
    usable = usable_length(made_result(calls, window_tokens=window, probes=probes(*met)))
    assert (usable, str(usable)) == (found, shown)
