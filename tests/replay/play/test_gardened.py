"""What a replay notes of the gardener, also of a chat that starts anew."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play.jobs import replay_job
from aider_gardener.replay.play.runner import Watched
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.history import load_history

START = "\n# aider chat started at 2025-03-0{day} 10:00:00\n\n> Aider v0.86.1  \n> Main model: gpt-4o with diff edit format  \n"
TURN = "\n#### why does rate_{n} fall, and what of limit_{n}?  \n\n{text}\n\n> Tokens: 1.1k sent, 40 received.  \n"


def chat(first: int, last: int) -> str:
    def reply(n: int) -> str:
        causes = ("the queue", "a slow disk", "the proxy", "a wrong default", "the nightly job", "clock skew")
        return "\n\n".join(
            f"Part {part}: rate_{n} falls because of {cause}, as worker {n * 7 + part} shows. We use limit_{n} "
            f"instead of a fixed {n * 100 + part} ms, and nothing else was changed in this place so far."
            for part, cause in enumerate(causes)
        )

    return "".join(TURN.format(n=n, text=reply(n)) for n in range(first, last))


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> ReplayResult:
    path = tmp_path_factory.mktemp("history") / ".aider.chat.history.md"
    path.write_text(START.format(day=1) + chat(1, 10) + START.format(day=2) + chat(10, 19), encoding="utf-8")
    return replay_job(Job(load_history(path), "gardener+embedder=none", history_tokens=2_000))


def test_plans_of_every_chat_are_noted_at_the_turn_of_the_session(result: ReplayResult) -> None:
    turns = [event.turn for event in result.compactions if event.by == "plan"]
    assert any(turn <= 9 for turn in turns), "the plans of the first chat are lost"
    assert any(turn > 12 for turn in turns), "turns are counted anew in the second chat"
    assert len(result.plan_seconds) == len(turns)
    assert set(result.overhead_seconds) == set(range(1, 19))


def test_every_plan_has_its_swaps(result: ReplayResult) -> None:
    plans = [event for event in result.compactions if event.by == "plan"]
    swaps = [swap for event in plans for swap in event.swaps]
    assert all(event.swaps for event in plans)
    for swap in swaps:
        assert swap.before != swap.after and swap.reason
    assert "rate_" not in json.dumps(result.to_json()), "no text of the chat"


def test_the_turn_in_which_a_gardener_stops_is_noted_once() -> None:
    class State:
        plans: Sequence[object] = ()
        seconds: float = 0.0

    class Gardener:
        state = State()

    class Coder:
        gardener: Gardener | None = None

    watched, coder = Watched(), Coder()
    coder.gardener = Gardener()
    watched.note_work(coder, 2)
    assert not watched.stopped
    coder.gardener = None
    watched.note_work(coder, 3)
    watched.note_work(coder, 4)
    assert watched.stopped == 3
