"""A long chat history is recalled by words alone and replayed in parts; what was stopped says how far it came."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from made_replays import made_result, made_session

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play import parts as cutting
from aider_gardener.replay.play import report as reporting
from aider_gardener.replay.play.jobs import Job, OnTurn
from aider_gardener.replay.play.report import (
    Task,
    Watcher,
    in_turn,
    notes,
    read_sessions,
    run_tasks,
    tasks_for,
)
from aider_gardener.replay.session.session import Session, SessionEvent

HISTORY = Path(__file__).resolve().parents[2] / "data" / "histories" / "current.md"
VARIANTS = ("none", "gardener", "gardener+keep_turns=3", "gardener+embedder=use")


class Silent(Watcher):
    """Told how far it is, and says nothing."""


def settings(tasks: list[Task]) -> list[object]:
    return [dict(task.job.settings) for task in tasks]


def test_a_long_history_goes_without_an_embedder_unless_one_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sessions = read_sessions([HISTORY, HISTORY], Silent())
    assert sessions[1].name == f"{sessions[0].name} (2)"
    tasks = tasks_for(sessions[:1], VARIANTS)
    assert settings(tasks) == [{}] * 4
    assert not [line for line in notes([task.job for task in tasks], []) if "by words" in line]
    monkeypatch.setattr(reporting, "LONG_CHARS", 100)
    tasks = tasks_for(sessions[:1], VARIANTS)
    assert settings(tasks) == [{}, {"embedder": "none"}, {"embedder": "none"}, {}]
    assert [line for line in notes([task.job for task in tasks], []) if "by words alone" in line]
    assert settings(tasks_for([made_session(("a" * 99, "b" * 99))], ("gardener",))) == [{}], "recorded"


def four_chats() -> Session:
    """A history of four chats, a turn each, which is cut into four parts."""
    events: list[SessionEvent] = []
    for turn in range(1, 5):
        events += [SessionEvent("user", turn, text="?"), SessionEvent("reply", turn, text="x" * 999)]
        events += [SessionEvent("restart", turn)] if turn < 4 else []
    return Session(name="shop", events=tuple(events), sha256="s", recorded=False)


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PART_CHARS", 1_100)
    monkeypatch.setattr("os.cpu_count", lambda: 1)


def turns(task: Task) -> tuple[int, int]:
    return task.job.session.first_turn, task.job.session.turn_count


def played(job: Job, on_turn: OnTurn) -> ReplayResult:
    """Stands in for the replay of one turn."""
    on_turn()
    return replace(made_result(variant=job.variant, turns=1), notices=(f"turn {job.session.first_turn}",))


@pytest.mark.usefixtures("in_parts")
def test_a_long_history_has_a_task_for_each_part_unless_chats_may_look_back() -> None:
    tasks = tasks_for([four_chats()], ("stock", "gardener+recall_sessions=true"))
    assert [(task.job.variant, turns(task)) for task in tasks] == [
        *(("stock", (turn, turn)) for turn in range(1, 5)),
        ("gardener+recall_sessions=true", (1, 4)),
    ]
    assert [turns(task) for task in tasks_for([replace(four_chats(), summaries=("a",))], ("stock",))] == [
        (1, 4)
    ]


@pytest.mark.usefixtures("in_parts")
def test_parts_are_begun_one_after_the_other_and_of_each_the_gardener_first() -> None:
    tasks = tasks_for([four_chats(), replace(four_chats(), name="bank")], ("stock", "gardener"))
    begun = [(*tasks[number].replay, turns(tasks[number])[0]) for number in in_turn(tasks)]
    assert begun == [
        (name, variant, turn)
        for name in ("shop", "bank")
        for turn in range(1, 5)
        for variant in ("gardener", "stock")
    ]


class Counting(Silent):
    """Ctrl-C is pressed once so many turns are done."""

    def __init__(self, stop_at: int = 99) -> None:
        self.stop_at, self.total, self.done = stop_at, 0, list[tuple[str, str]]()

    def begin(self, turns: int) -> None:
        self.total = turns

    def finished(self, name: str, variant: str) -> None:
        self.done.append((name, variant))


@pytest.mark.usefixtures("in_parts")
def test_parts_are_joined_and_told_of_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "replay_job", played)
    watcher = Counting()
    report = run_tasks(tasks_for([four_chats()], ("stock", "gardener")), watcher)
    assert [(row.variant, row.turns) for row in report.summaries] == [("stock", 4), ("gardener", 4)]
    assert report.results[0].notices == tuple(f"turn {turn}" for turn in range(1, 5)) and report.stopped == ""
    assert sorted(watcher.done) == [("shop", "gardener"), ("shop", "stock")] and watcher.total == 8


@pytest.mark.usefixtures("in_parts")
def test_after_ctrl_c_the_report_has_what_every_variant_has_done(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def until_the_sixth(job: Job, on_turn: OnTurn) -> ReplayResult:
        done.append(job.variant)
        if len(done) == 6:
            raise KeyboardInterrupt
        return played(job, on_turn)

    monkeypatch.setattr(reporting, "replay_job", until_the_sixth)
    report = run_tasks(tasks_for([four_chats()], ("stock", "gardener")), Silent())
    assert report.stopped == "stopped after 2 of 4 turns"
    assert [(row.variant, row.turns) for row in report.summaries] == [("stock", 2), ("gardener", 2)]


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ReplayError("left its recording")])
def test_a_failure_and_ctrl_c_before_anything_is_done_are_raised(
    monkeypatch: pytest.MonkeyPatch, problem: BaseException
) -> None:
    def failing(*_given: object) -> ReplayResult:
        raise problem

    monkeypatch.setattr(reporting, "replay_job", failing)
    with pytest.raises((KeyboardInterrupt, ReplayError)):
        run_tasks(tasks_for([four_chats()], ("stock",)), Silent())
