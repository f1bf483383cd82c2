"""Results come in the order asked for; the first failure ends all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from made_replays import made_result, made_session

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play import jobs as running
from aider_gardener.replay.play.jobs import OnTurn
from aider_gardener.replay.play.variants import Job


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
        return [Job(chat, variant) for chat in chats for variant in ("stock", "gardener")]

    return made


def test_results_come_in_the_order_asked_for_and_gardeners_are_begun_first(
    two_chats: Callable[..., list[Job]],
) -> None:
    turns: list[None] = []
    done: list[tuple[str, str]] = []
    report = running.replay_all(
        two_chats(played), lambda: turns.append(None), lambda one: done.append((one.session, one.variant))
    )
    order = [(name, variant) for name in ("shop", "bank") for variant in ("stock", "gardener")]
    assert [(one.session, one.variant) for one in report] == order
    assert sorted(done) == sorted(order) and len(turns) == 4
    assert done[0] == ("shop", "gardener")


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ReplayError("left its recording")])
def test_a_failure_and_ctrl_c_are_raised(two_chats: Callable[..., list[Job]], problem: BaseException) -> None:
    begun: list[Job] = []

    def failing(job: Job, _on_turn: OnTurn) -> ReplayResult:
        begun.append(job)
        raise problem

    with pytest.raises((KeyboardInterrupt, ReplayError)):
        running.replay_all(two_chats(failing), lambda: None, lambda _result: None)
    assert len(begun) < 4, "those not begun are dropped"
