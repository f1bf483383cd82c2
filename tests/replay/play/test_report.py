"""A long chat history is recalled by words alone; the first failure ends all; what was stopped says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from made_replays import made_result, made_session

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play import jobs as running
from aider_gardener.replay.play import report as reporting
from aider_gardener.replay.play.jobs import Job, OnTurn
from aider_gardener.replay.play.report import jobs_for, notes, read_sessions, run_jobs

HISTORY = Path(__file__).resolve().parents[2] / "data" / "histories" / "current.md"
VARIANTS = ("none", "gardener", "gardener+keep_turns=3", "gardener+embedder=use")


def test_a_long_history_goes_without_an_embedder_unless_one_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sessions = read_sessions([HISTORY, HISTORY])
    assert sessions[1].name == f"{sessions[0].name} (2)"
    jobs = jobs_for(sessions[0], VARIANTS)
    assert [job.settings for job in jobs] == [{}] * 4
    assert not [line for line in notes(jobs, []) if "by words" in line]
    monkeypatch.setattr(reporting, "LONG_CHARS", 100)
    jobs = jobs_for(sessions[0], VARIANTS)
    assert [job.settings for job in jobs] == [{}, {"embedder": "none"}, {"embedder": "none"}, {}]
    assert [line for line in notes(jobs, []) if "by words alone" in line]
    (recorded,) = jobs_for(made_session(("a" * 99, "b" * 99)), ("gardener",))
    assert recorded.settings == {}


class Watching:
    """What a report is told of how far it is."""

    def __init__(self) -> None:
        self.total = self.turns = 0
        self.done: list[tuple[str, str]] = []

    def begin(self, turns: int) -> None:
        self.total = turns

    def turn(self) -> None:
        self.turns += 1

    def finished(self, name: str, variant: str) -> None:
        self.done.append((name, variant))


def played(job: Job, on_turn: OnTurn) -> ReplayResult:
    """Stands in for the replay of one turn."""
    on_turn()
    return replace(made_result(session=job.session.name, variant=job.variant, turns=1))


@pytest.fixture
def two_chats(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Job]]:
    """Jobs of two chats of a turn, begun one after the other; `replayed` stands in for their replay."""
    monkeypatch.setattr("os.cpu_count", lambda: 1)

    def made(replayed: object) -> list[Job]:
        monkeypatch.setattr(running, "replay_job", replayed)
        chats = [made_session(("?", "x"), name=name) for name in ("shop", "bank")]
        return [job for chat in chats for job in jobs_for(chat, ("stock", "gardener"))]

    return made


def test_results_come_in_the_order_asked_for_and_gardeners_are_begun_first(
    two_chats: Callable[..., list[Job]],
) -> None:
    watching = Watching()
    report = run_jobs(two_chats(played), watching)
    order = [(name, variant) for name in ("shop", "bank") for variant in ("stock", "gardener")]
    assert [(row.session, row.variant) for row in report.summaries] == order and report.stopped == ""
    assert sorted(watching.done) == sorted(order) and (watching.total, watching.turns) == (4, 4)
    assert watching.done[0] == ("shop", "gardener")


def test_after_ctrl_c_the_report_has_the_chats_that_every_variant_has_done(
    two_chats: Callable[..., list[Job]],
) -> None:
    begun: list[str] = []

    def until_the_fourth(job: Job, on_turn: OnTurn) -> ReplayResult:
        begun.append(job.variant)
        if len(begun) == 4:
            raise KeyboardInterrupt
        return played(job, on_turn)

    report = run_jobs(two_chats(until_the_fourth), Watching())
    assert report.stopped == "stopped after 1 of 2 chats"
    assert [(row.session, row.variant) for row in report.summaries] == [
        ("shop", "stock"),
        ("shop", "gardener"),
    ]


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ReplayError("left its recording")])
def test_a_failure_and_ctrl_c_before_anything_is_done_are_raised(
    two_chats: Callable[..., list[Job]], problem: BaseException
) -> None:
    begun: list[Job] = []

    def failing(job: Job, _on_turn: OnTurn) -> ReplayResult:
        begun.append(job)
        raise problem

    with pytest.raises((KeyboardInterrupt, ReplayError)):
        run_jobs(two_chats(failing), Watching())
    assert len(begun) < 4, "those not begun are dropped"
