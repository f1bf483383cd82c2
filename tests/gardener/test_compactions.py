"""Compactions: when one is due, how far it goes, and how it is taken back."""

from __future__ import annotations

from typing import Any

import pytest
from made_chats import long_talk, shown
from made_entries import make_gardener, message, talk

from aider_gardener.errors import UsageError
from aider_gardener.gardener.compactions import GROWTH_TURNS, goal_of, growth_of, hide_finished, market, show
from aider_gardener.gardener.state import Prefix
from aider_gardener.messages import Level
from aider_gardener.plan.goals import HOSTS, OURS, PUT_BACK, YOURS, Frame
from aider_gardener.plan.usage import CACHE_SECONDS, Call, Market, Prices, Usage
from aider_gardener.reading.source import RUN_HEAD, RUN_MIDDLE
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS


def test_prompts_outlast_everything_else() -> None:
    gardener = make_gardener(history_tokens=3_000)
    gardener.sync(long_talk(12), [])
    assert gardener.compact_if_due()
    text = "\n".join(message.content for message in shown(gardener))
    assert all(f"question {n} about subject {n}" in text for n in range(12))


def test_a_smaller_limit_makes_a_plan_due_without_new_content() -> None:
    gardener = make_gardener()
    gardener.state.frame = Frame(100_000, {"system": 100})
    gardener.state.host_limit, gardener.state.host_limit_given = 3_000, True
    gardener.sync(long_talk(12), [])
    assert gardener.compact_if_due()
    assert gardener.compact_if_due() is None
    gardener.state.host_limit = 800
    assert gardener.compact_if_due()
    assert gardener.compact_if_due() is None
    gardener.state.frame = Frame(1_300, {"system": 700})
    assert gardener.compact_if_due(), "the window leaves less"


def test_what_was_taken_back_stands_until_the_history_has_grown_by_as_much() -> None:
    gardener = make_gardener(history_tokens=1_500)
    messages = long_talk(6)
    gardener.sync(messages, [])
    assert gardener.compact_if_due()
    gardener.undo()
    assert goal_of(gardener.state).high == gardener.state.history_used + 1_500 - 600
    assert goal_of(gardener.state).set_by == PUT_BACK, "no longer the limit that the user gave"
    messages += talk(("a short one", "Yes."))
    gardener.sync(messages, [])
    assert gardener.compact_if_due() is None
    gardener.sync([*messages, *long_talk(6)], [])
    assert gardener.compact_if_due()
    assert (goal_of(gardener.state).high, goal_of(gardener.state).set_by) == (1_500, YOURS)


def test_the_limit_of_a_model_whose_tokens_cost_nothing_is_not_called_the_hosts() -> None:
    state = make_gardener(history_tokens=0).state
    state.host_limit, state.frame = 1_024, Frame(16_384)
    assert (goal_of(state).high, goal_of(state).set_by) == (4_096, OURS)
    state.usage.prices = Prices(1e-6, cache_read=1e-6)
    assert (goal_of(state).high, goal_of(state).set_by) == (1_024, HOSTS)


def test_what_waits_for_an_answer_is_not_hidden_with_what_is_finished() -> None:
    gardener = make_gardener()
    gardener.sync(long_talk(2), [message("user", "and now?")])
    assert hide_finished(gardener.state) == 4
    assert shown(gardener) == [message("user", "and now?")]


def test_how_fast_a_chat_grows_is_measured_on_what_was_said_lately() -> None:
    gardener = make_gardener()
    messages: list[dict[str, Any]] = []
    for turn in range(GROWTH_TURNS + 10):
        gardener.enter_turn()
        long = "old " * 500 if turn < 10 else "new"
        ran = RUN_HEAD + "make" + RUN_MIDDLE + "line of output\n" * 50
        messages += talk((f"say {turn}", long.strip()), (ran, "Ok."))
        gardener.sync(messages, [])
        gardener.leave_turn()
    output = gardener.state.count(ran)
    per_turn = 2 + 1 + output + 1 + 4 * MESSAGE_OVERHEAD_TOKENS  # prompt, answer, output, the host's "Ok."
    assert growth_of(gardener.state) == per_turn


def test_the_cache_is_as_warm_as_what_stands_before_the_history_rests_and_cold_after_a_while() -> None:
    now, state = [1_000.0], make_gardener().state
    state.usage = usage = Usage(lambda: now[0])
    state.prefix, prices = Prefix("k", prompts=4, unchanged=3), Prices(input=1e-6, cache_read=1e-7)
    usage.add(Call(1_000, 1), prices)
    assert market(state, cold=False) == (pytest.approx(0.1), 0.75)
    usage.add(Call(1_000, 1, cached_tokens=1_000), prices)
    assert market(state, cold=False).warm == 0.75, "files behind the history are no reason"
    for _ in range(10):
        usage.add(Call(1_000, 1), prices)
    assert market(state, cold=False).warm == 0.0, "a provider that reads nothing any more"
    usage.add(Call(1_000, 1, cached_tokens=1_000), prices)
    assert market(state, cold=True).warm == 0.0
    now[0] += CACHE_SECONDS
    assert market(state, cold=False).warm == 0.0
    usage.prices = Prices()
    assert market(state, cold=False) == Market(warm=0.0)


def test_every_compaction_can_be_undone_the_last_first_and_only_while_it_stands() -> None:
    gardener = make_gardener(history_tokens=100_000)
    gardener.sync(long_talk(12), [])
    steps = range(20)
    for step in steps:
        show(gardener.state, dict.fromkeys(range(step + 1), Level.HIDDEN), "a test")
    for step in reversed(steps):
        assert set(gardener.state.chat.levels) == set(range(step + 1))
        gardener.undo()
    assert shown(gardener) == long_talk(12)
    with pytest.raises(UsageError, match="no compaction to undo"):
        gardener.undo()
    show(gardener.state, {0: Level.HIDDEN, 1: Level.HIDDEN}, "a test")
    gardener.clear()
    with pytest.raises(UsageError, match="no compaction to undo"):
        gardener.undo(every=True)


def test_a_cache_that_most_prompts_come_too_late_for_is_priced_as_none() -> None:
    now, state = [1_000.0], make_gardener().state
    state.usage = usage = Usage(lambda: now[0])
    prices = Prices(input=1e-6, cache_read=1e-7)
    for pause in (10.0, CACHE_SECONDS, 10.0, CACHE_SECONDS):
        usage.add(Call(1_000, 1, reported=False), prices)
        now[0] += pause
    usage.add(Call(1_000, 1, reported=False), prices)
    assert market(state, cold=False).cached == pytest.approx(0.1), "half of them"
    now[0] += CACHE_SECONDS
    usage.add(Call(1_000, 1, reported=False), prices)
    now[0] += CACHE_SECONDS
    usage.add(Call(1_000, 1, reported=False), prices)
    assert market(state, cold=False).cached == 1.0
