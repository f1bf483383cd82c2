"""Summaries, their sums, their JSON, and usable length, the refusal to compare what is unlike."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_replays import made_call, made_probe, made_result, made_session, results_in

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import Compaction, Measured
from aider_gardener.replay.measure.summary import (
    Recall,
    UsableLength,
    fell_back,
    make_report,
    percentile,
    recall_by_turn,
    report_json,
    summarize,
    usable_length,
    write_report,
)

SESSION = made_session(("a", "b"), ("c", "d"))


def pair(**options: Any) -> tuple[Any, Any]:
    result = made_result(
        [made_call(1, [("cur", "a")], out=2), made_call(2, [("cur", "bcd")], out=3)], **options
    )
    return result, summarize(result, SESSION)


def test_a_summary_counts_compactions_by_who_made_them() -> None:
    made = [
        Compaction(1, "llm", True, 9, 5, calls=2, prompt_tokens=10_000, completion_tokens=600),
        Compaction(2, "llm", False, 9, 9, calls=1, prompt_tokens=5_000, completion_tokens=60),
        Compaction(2, "plan", True, 9, 3),
    ]
    _, summary = pair(compactions=made, measured=Measured(plan_seconds=(0.5, 0.25)))
    assert (summary.llm_compactions, summary.llm_discarded, summary.plan_compactions) == (1, 1, 1)
    # 3 calls at half a second, 15,000 tokens at 5,000 a second, 660 tokens at 60 a second.
    assert summary.llm_seconds == pytest.approx(1.5 + 3 + 11)
    assert summary.plan_seconds == 0.75


def test_a_summary_has_recall_by_distance_and_kind() -> None:
    probes = [
        made_probe(1, 1, 11, kind="number"),
        made_probe(2, 1, 12, kind="number", supported=False),
        made_probe(3, 1, 27, kind="path", present=False, supported=False),
    ]
    _, summary = pair(probes=probes)
    assert summary.recall == Recall(3, 2, 1)
    assert summary.recall_by_distance == {
        "≤ 10": Recall(1, 1, 1),
        "11–25": Recall(1, 1, 0),
        "> 25": Recall(1, 0, 0),
    }
    assert summary.recall_by_kind == {"number": Recall(2, 2, 1), "path": Recall(1, 0, 0)}


def test_a_gardener_that_took_no_part_is_noticed() -> None:
    plan = [Compaction(2, "plan", True, 9, 3)]
    timed = Measured(overhead_seconds={1: 0.001})
    assert fell_back(pair(variant="gardener")[0])
    assert not fell_back(pair(variant="gardener", compactions=plan)[0])
    assert not fell_back(pair(variant="gardener", measured=timed)[0])
    assert not fell_back(pair(variant="stock")[0])


def test_a_summary_bills_every_call() -> None:
    _, summary = pair()
    assert (summary.prompt_tokens, summary.completion_tokens, summary.tokens_billed) == (4, 5, 9)
    assert summary.largest_prompt == 3


def test_several_sessions_are_summed_by_variant() -> None:
    probe = [made_probe(1, 1, 2)]
    found = [
        pair(session="one", probes=probe, measured=Measured(overhead_seconds={1: 0.001})),
        pair(session="two", probes=probe, measured=Measured(overhead_seconds={1: 0.003})),
        pair(session="one", variant="gardener", probes=probe),
    ]
    (both,) = make_report(found).totals
    assert (both.session, both.variant, both.turns) == ("all 2 sessions", "stock", 20)
    assert both.recall == Recall(2, 2, 2) and both.tokens_billed == 18 and both.usable is None
    assert both.costs[0].cached.usd == pytest.approx(2 * found[0][1].costs[0].cached.usd)
    assert percentile(both.overhead_ms, 0.95) == 3.0
    assert make_report(found[:1]).totals == ()


def limited(*variants: str, session: str = "shop") -> list[tuple[Any, Any]]:
    """A result a variant, each of two prompts alike, longer from variant to variant."""
    found = []
    for size, variant in enumerate(variants, 1):
        prompt = [("system", "s" * 1500 * size)]
        result = made_result(
            [made_call(turn, prompt, out=0) for turn in (1, 2)], variant=variant, session=session
        )
        found.append((result, summarize(result, SESSION)))
    return found


def test_the_limit_of_a_session_is_that_of_the_gardeners_prompts() -> None:
    report = make_report(limited("stock", "gardener"))
    stock, gardener = report.summaries
    assert stock.limit_of == gardener.limit_of == "gardener"
    assert stock.costs[0].limit == gardener.costs[0].limit
    assert 1 < gardener.costs[0].over_limit < 1.01 and stock.costs[0].over_limit < 1
    assert stock.limit_net_tokens == gardener.limit_net_tokens == gardener.net_tokens == 3300
    row = report_json(report)["summaries"][0]
    assert row["costs"][0]["over_limit"] == round(stock.costs[0].over_limit, 3)
    assert (row["net_tokens"], row["limit_of"]) == (1650, "gardener")


def test_without_the_gardener_each_variant_has_its_own_limit() -> None:
    report = make_report([*limited("none", "stock"), *limited("none", "gardener", session="queue")])
    assert [row.limit_of for row in report.summaries] == ["none", "stock", "gardener", "gardener"]
    assert [row.limit_of for row in report.totals] == [""], "none ran on both, under two limits"
    none = [row for row in report.summaries if row.variant == "none"]
    assert report.totals[0].costs[0].limit.usd == pytest.approx(sum(row.costs[0].limit.usd for row in none))


@pytest.mark.parametrize(("field", "value"), [("map_tokens", 0), ("cache_prompts", True)])
def test_runs_under_other_options_of_the_host_are_not_compared(field: str, value: Any) -> None:
    with pytest.raises(ReplayError, match=field):
        make_report([pair(), pair(variant="none", **{field: value})])


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([], 0.5, 0.0), ([7], 0.95, 7), ([3, 1, 2], 0.5, 2), (list(range(1, 101)), 0.95, 95)],
)
def test_percentiles_are_of_the_nearest_rank(values: list[float], share: float, expected: float) -> None:
    assert percentile(values, share) == expected


@pytest.mark.parametrize("field", ["aider", "model", "tokenizer", "commit", "window_tokens", "probes_sha256"])
def test_unlike_runs_refuse_to_be_compared(field: str) -> None:
    found = [pair(), pair(variant="gardener", **{field: "other" if field != "window_tokens" else 1})]
    with pytest.raises(ReplayError, match=f"can't be compared: {field}"):
        make_report(found)


def test_settings_budget_and_session_may_differ() -> None:
    make_report(
        [
            pair(),
            pair(variant="gardener", settings={"recall": False}, history_tokens=1000),
            pair(session="other", session_sha256="t", probes_sha256="q"),
        ]
    )


def test_the_json_is_read_back_and_is_the_same_for_the_same_replay(tmp_path: Path) -> None:
    report = make_report([pair(measured=Measured(replay_seconds=1.0, overhead_seconds={1: 0.002}))])
    write_report(report, tmp_path / "new" / "r.json")
    assert results_in(tmp_path / "new" / "r.json") == [replace(report.results[0], texts={})]
    again = make_report([pair(measured=Measured(replay_seconds=2.0, overhead_seconds={1: 0.004}))])
    values = [report_json(one) for one in (report, again)]
    for value in values:
        for row in [*value["summaries"], *value["results"]]:
            del row["measured"]
    assert json.dumps(values[0]) == json.dumps(values[1])
    assert report_json(report)["summaries"][0]["measured"]["overhead_ms_p50"] == 2.0


def test_a_folder_in_the_way_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="cannot be written"):
        write_report(make_report([pair()]), tmp_path)


def probes(*met: tuple[int, bool]) -> list:
    return [made_probe(n, 1, ask, supported=ok) for n, (ask, ok) in enumerate(met, 1)]


def test_a_session_that_ends_first_gives_a_lower_bound() -> None:
    found = usable_length(made_result([made_call(10, tokens=500)]))
    assert found == UsableLength(10, "") and str(found) == "≥ 10"


def test_the_window_ends_it_before_the_turn_that_does_not_fit() -> None:
    calls = [made_call(turn, tokens=turn * 100) for turn in range(1, 11)]
    assert usable_length(made_result(calls, window_tokens=700)) == UsableLength(7, "window")
    assert usable_length(made_result(calls), window_tokens=0).turns == 10


def test_recall_ends_it_where_it_falls_for_good() -> None:
    asked = probes((1, True), (2, True), (3, True), (4, True), (5, True), (6, False), (7, False), (8, False))
    # 5/5, 5/6 = 83 %, then 5/7 and 5/8.
    assert usable_length(made_result(probes=asked)) == UsableLength(6, "recall")


def test_recall_that_recovers_does_not_end_it() -> None:
    good = [(turn, True) for turn in range(6, 10)]
    asked = probes((1, True), (2, True), (3, True), (4, False), (5, False), *good, (10, True))
    assert usable_length(made_result(probes=asked)) == UsableLength(10, "")


def test_recall_too_low_from_the_first_gives_an_upper_bound() -> None:
    found = usable_length(made_result(probes=probes(*((turn, False) for turn in range(4, 10)))))
    assert found == UsableLength(7, "recall", at_most=True) and str(found) == "≤ 7"


def test_a_few_probes_say_nothing() -> None:
    assert recall_by_turn(probes((1, False), (2, False), (3, True), (4, True))) == {}


def test_present_may_stand_in_for_supported() -> None:
    asked = [made_probe(n, 1, n, supported=False) for n in range(1, 7)]
    assert usable_length(made_result(probes=asked), supported=False).ended_by == ""
    assert usable_length(made_result(probes=asked)).ended_by == "recall"
