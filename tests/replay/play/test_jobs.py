"""A long chat history is recalled by words alone, and the report says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_replays import made_session

from aider_gardener.replay.play import jobs as history_jobs
from aider_gardener.replay.play.jobs import Job, Watcher, jobs_for, lightened, long_notes, read_sources

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
