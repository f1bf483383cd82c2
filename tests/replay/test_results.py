"""Summaries, their sums, their JSON, and the refusal to compare what is unlike."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import Compaction, Measured
from aider_gardener.replay.measure.summary import (
    Recall,
    fell_back,
    make_report,
    percentile,
    read_results,
    report_json,
    summarize,
    write_report,
)

from .made import made_call, made_probe, made_result, made_session

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
    (result,) = read_results(tmp_path / "new" / "r.json")
    assert result == replace(report.results[0], texts={})
    again = make_report([pair(measured=Measured(replay_seconds=2.0, overhead_seconds={1: 0.004}))])
    values = [report_json(one) for one in (report, again)]
    for value in values:
        for row in [*value["summaries"], *value["results"]]:
            del row["measured"]
    assert json.dumps(values[0]) == json.dumps(values[1])
    assert report_json(report)["summaries"][0]["measured"]["overhead_ms_p50"] == 2.0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "replay", "format": 99}'])
def test_a_foreign_file_is_no_result(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReplayError):
        read_results(path)


def test_a_folder_in_the_way_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="cannot be written"):
        write_report(make_report([pair()]), tmp_path)
