"""Means over sessions: each session counts the same, whatever its length."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from aider_gardener.replay.measure.cost import Bill
from aider_gardener.replay.measure.summary import Recall, Report, Summary, make_report, summarize
from aider_gardener.replay.show.table import by_variant, mean_columns, rendered

from .made import made_call, made_probe, made_result, made_session


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
    assert list(by_variant([a, b, replace(a, variant="bag")])) == ["tail"]
    assert by_variant([a]) == {}


def test_the_table_ends_with_the_means() -> None:
    calls = [made_call(1, [("cur", "c")], tokens=1_000)]
    found = []
    for session, supported in (("a", True), ("b", False)):
        result = made_result(calls, session=session, probes=[made_probe(1, 1, 3, supported=supported)])
        found.append((result, summarize(result, made_session(("a", "b"), name=session))))
    text = rendered(make_report(found), 120)
    assert "mean of 2 sessions" in text and "50.0 %" in text.partition("mean of 2 sessions")[2]
    assert "mean of" not in rendered(Report(make_report(found[:1]).results, (found[0][1],)), 120)
    assert Recall(1, 1, 1) == found[0][1].recall
