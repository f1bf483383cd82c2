"""A row a figure, a column a variant: it fits any terminal, says nothing of what is not there, and ends in the
verdict."""

from __future__ import annotations

from typing import Any

import pytest
from made_replays import made_call, made_probe, made_report, made_result

from aider_gardener.replay.measure.result import Compaction, ReplayResult
from aider_gardener.replay.measure.summary import ReplayReport, make_report
from aider_gardener.replay.show.table import brief, further, print_report, providers
from aider_gardener.replay.show.verdict import verdict
from aider_gardener.tables import plain


def rendered(report: ReplayReport, width: int, *, full: bool = False) -> str:
    """The report as plain text at a width."""
    console = plain(width)
    with console.capture() as drawn:
        print_report(report, console, full=full)
    return drawn.get()


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
    variants = ["none", "stock", "stock-fixed", "gardener"]
    return make_report(
        [made(variant, session) for session in ("shop", "queue") for variant in variants], ["a note"]
    )


@pytest.mark.parametrize("width", [80, 100, 160])
def test_nothing_is_wider_than_the_terminal_and_no_figure_is_lost(report: ReplayReport, width: int) -> None:
    text = rendered(report, width, full=True)
    assert max(len(line) for line in text.splitlines()) <= width
    assert "…" not in text and "\x1b" not in text
    for summary in report.summaries:
        for figure in brief(report.summaries) + further(report.summaries) + providers(report.summaries):
            assert figure.cell(summary) in text
            assert not figure.about or " ".join(figure.about.split()) in " ".join(text.split())


def test_in_brief_it_is_what_a_user_decides_by_of_all_chats_together(report: ReplayReport) -> None:
    text = rendered(report, 80)
    assert "all 2 sessions: 120 turns, 36 questions" in text and "queue:" not in text
    assert "$ at gpt-4o" in text and "questions supported" in text and "a note" in text
    assert "overhead" not in text and "DeepSeek" not in text.split("gardener")[0] and "modelled" not in text


def test_of_what_is_not_there_nothing_is_said() -> None:
    text = rendered(make_report([made_result([made_call(1, [("cur", "a")])], turns=1)]), 100, full=True)
    for word in ("questions", "supported", "usable", "used again", "Summaries"):
        assert word not in text
    assert "tokens billed" in text and "window 128,000" in text


def test_the_verdict_ends_it_where_both_were_run() -> None:
    lines = rendered(made_report(), 200).strip().splitlines()
    assert tuple(line.strip() for line in lines[-2:]) == verdict(made_report())
    assert "orth it" not in rendered(make_report([made("stock"), made("none")]), 200)
