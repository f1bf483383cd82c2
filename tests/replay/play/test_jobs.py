"""A long chat history is recalled by words alone and replayed in parts; what was stopped says how far it came."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from made_replays import made_result, made_session

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play import jobs as history_jobs
from aider_gardener.replay.play import parts as cutting
from aider_gardener.replay.play.advance import OnTurn, Watcher
from aider_gardener.replay.play.jobs import (
    FoundSession,
    Job,
    in_turn,
    jobs_for,
    lightened,
    long_notes,
    read_sources,
    run_jobs,
)
from aider_gardener.replay.play.parts import spread
from aider_gardener.replay.session.session import Session, SessionEvent

HISTORY = Path(__file__).resolve().parents[2] / "data" / "histories" / "current.md"
VARIANTS = ("none", "gardener", "gardener-no-recall", "gardener+embedder=use")


class Silent(Watcher):
    """Told how far it is, and says nothing."""


def settings(jobs: list[tuple[object, Job]]) -> dict[str, object]:
    return {job.variant: job.settings for _source, job in jobs}


def test_a_long_history_goes_without_an_embedder_unless_one_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(history_jobs, "LONG_BYTES", 1_000)
    sources = read_sources([HISTORY], Silent())
    jobs = lightened(jobs_for(sources, VARIANTS))
    words = {"embedder": "none"}
    assert settings(list(jobs)) == {
        "none": None, "gardener": words, "gardener-no-recall": words, "gardener+embedder=use": None,
    }  # fmt: skip
    (note,) = long_notes(jobs)
    assert sources[0].name in note and "by words alone" in note


def test_short_histories_and_recorded_sessions_keep_their_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = read_sources([HISTORY], Silent())
    jobs = lightened(jobs_for(sources, VARIANTS))
    assert set(settings(list(jobs)).values()) == {None} and long_notes(jobs) == []
    monkeypatch.setattr(history_jobs, "LONG_BYTES", 0)
    recorded = history_jobs.FoundSession(HISTORY, made_session(("a", "b")), "shop")
    assert made_session(("a", "b")).recorded
    assert not history_jobs.is_long(recorded)


def four_chats() -> FoundSession:
    """A history of four chats, a turn each, which is cut into four parts."""
    events: list[SessionEvent] = []
    for turn in range(1, 5):
        events += [SessionEvent("user", turn, text="?"), SessionEvent("reply", turn, text="x" * 999)]
        events += [SessionEvent("restart", turn)] if turn < 4 else []
    session = Session(name="shop", events=tuple(events), sha256="s", recorded=False)
    return FoundSession(HISTORY, session, "shop")


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PART_CHARS", 1_000)
    monkeypatch.setattr(cutting, "TASTE_CHARS", 300)


def played(job: Job, _on_turn: OnTurn | None = None, _session: Session | None = None) -> ReplayResult:
    """Stands in for the replay of one turn."""
    assert job.turns is not None
    return replace(made_result(variant=job.variant, turns=1), notices=(f"turn {job.turns[0]}",))


@pytest.mark.usefixtures("in_parts")
def test_a_long_history_has_a_job_for_each_part_unless_chats_may_look_back() -> None:
    jobs = list(jobs_for([four_chats()], ("stock", "gardener+recall_sessions=true")))
    assert [(job.variant, job.turns) for _, job in jobs] == [
        *(("stock", (turn, turn)) for turn in range(1, 5)),
        ("gardener+recall_sessions=true", None),
    ]
    assert [job.turns for _, job in jobs_for([four_chats()], ("stock",), summaries=("a",))] == [None]


@pytest.mark.usefixtures("in_parts")
def test_parts_far_apart_are_begun_first_and_of_each_a_gardener() -> None:
    variants = ("stock", "gardener", "gardener-no-recall")
    jobs = list(jobs_for([four_chats()], variants))
    begun = [(jobs[number][1].turns, jobs[number][1].variant) for number in in_turn(jobs)]
    assert [variant for _, variant in begun[:3]] == ["gardener", "stock", "gardener-no-recall"]
    assert [turns for turns, _ in begun[::3]] == [(number + 1, number + 1) for number in spread(4)]
    assert sorted(in_turn(jobs)) == list(range(12))


@pytest.mark.usefixtures("in_parts")
def test_parts_are_joined_and_looked_at_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_jobs, "replay_job", played)
    looked: list[tuple[str, int]] = []
    jobs = list(jobs_for([four_chats()], ("stock", "gardener")))
    report = run_jobs(
        jobs, Silent(), look=lambda source, result: looked.append((result.variant, result.turns))
    )
    assert [(row.variant, row.turns) for row in report.summaries] == [("stock", 4), ("gardener", 4)]
    assert report.results[0].notices == tuple(f"turn {turn}" for turn in range(1, 5))
    assert sorted(looked) == [("gardener", 4), ("stock", 4)] and report.stopped == ""


class StoppedAt(Watcher):
    """Ctrl-C is pressed when a variant is done."""

    def finished(self, name: str, variant: str, done: int, total: int) -> None:
        raise KeyboardInterrupt


@pytest.mark.usefixtures("in_parts")
def test_after_ctrl_c_the_report_has_what_every_variant_has_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_jobs, "replay_job", played)
    jobs = list(jobs_for([four_chats()], ("stock", "gardener")))
    report = run_jobs(jobs, StoppedAt(), parallel=1)
    assert report.stopped == "stopped after 3 of 4 turns"
    assert [(row.variant, row.turns) for row in report.summaries] == [("stock", 3), ("gardener", 3)]


def test_ctrl_c_before_anything_is_done_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_given: object) -> ReplayResult:
        raise KeyboardInterrupt

    monkeypatch.setattr(history_jobs, "replay_job", stopped)
    with pytest.raises(KeyboardInterrupt):
        run_jobs(list(jobs_for([four_chats()], ("stock",))), Silent(), parallel=1)


def test_the_first_failure_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_given: object) -> ReplayResult:
        raise ReplayError("left its recording")

    monkeypatch.setattr(history_jobs, "replay_job", failing)
    with pytest.raises(ReplayError, match="left its recording"):
        run_jobs(list(jobs_for([four_chats()], ("stock",))), Silent())
