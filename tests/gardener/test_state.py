"""What one chat is: its budgets, its focus, the time it takes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from made_entries import make_gardener, talk

from aider_gardener.gardener.state import Prefix
from aider_gardener.plan.goals import Frame
from aider_gardener.plan.usage import Prices


def test_where_tokens_cost_nothing_the_history_may_have_a_quarter_of_the_window() -> None:
    gardener = make_gardener()
    assert gardener.state.budget == gardener.state.host_limit == 1_024
    for window, tokens in ((2_048, 1_024), (16_384, 4_096), (128_000, 8_192)):
        gardener.state.frame = Frame(window)
        assert gardener.state.budget == tokens
    gardener.state.usage.prices = Prices(input=1e-6)
    assert gardener.state.budget == 1_024


def test_recall_has_a_sixteenth_of_the_window_at_most() -> None:
    gardener = make_gardener(recall_tokens=3_000)
    assert gardener.state.recall_budget == 1_024
    gardener.state.frame = Frame(16_000)
    assert gardener.state.recall_budget == 1_000
    gardener.state.frame = Frame(128_000)
    assert gardener.state.recall_budget == 3_000


def test_room_and_hard_are_measured_at_95_percent_of_the_window() -> None:
    state = make_gardener().state
    assert state.room > 10**9
    assert not state.is_hard
    state.frame = Frame(1_000, {"system": 400})
    assert state.room == 550
    state.frame = Frame(1_000, {"system": 949})
    assert (state.room, state.is_hard) == (1, False)
    state.frame = Frame(1_000, {"system": 950})
    assert (state.room, state.is_hard) == (0, True)


def test_the_focus_is_of_the_last_five_prompts_and_the_files() -> None:
    gardener = make_gardener()
    gardener.sync(talk(*((f"topic_{n}", f"reply_{n}") for n in range(7))), [])
    gardener.state.frame = Frame(files={"app.py": 9})
    focus = gardener.state.focus()
    assert focus.words == {f"topic_{n}" for n in range(2, 7)}
    assert focus.paths == {"app.py"}


def test_the_time_of_our_work_adds_up_and_embedding_waits_meanwhile() -> None:
    told: list[str] = []
    state = make_gardener().state
    state.archive.backlog = SimpleNamespace(  # type: ignore[assignment]  # reason: only these are called
        pause=lambda: told.append("pause"), resume=lambda: told.append("resume")
    )
    with pytest.raises(KeyError), state.timed():
        told.append("work")
        raise KeyError
    assert told == ["pause", "work", "resume"]
    first = state.seconds
    with state.timed():
        pass
    assert state.seconds > first > 0


def test_how_often_the_prefix_was_the_same() -> None:
    prefix, changed = Prefix(), []
    assert prefix.unchanged_share == 0.0
    for key in ("a", "a", "b", "b"):
        prefix = prefix.with_prompt(key)
        changed.append(prefix.changed)
    assert changed == [False, False, True, False]
    assert prefix.unchanged_share == 0.75
