"""A chat put together again from the archive stands as it was left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from made_chats import long_talk, shown, with_outputs
from made_entries import make_gardener, message, words

from aider_gardener.archive.sessions import session_named
from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener.compactions import compact_to, goal_of
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.gardener.report import pressure_report
from aider_gardener.gardener.state import ChatState, Prefix
from aider_gardener.gardener.stored_chat import last_frame, save_growth, stored_chat, sums_of
from aider_gardener.gardener.throttle import throttle_outputs
from aider_gardener.plan.goals import Frame, Goal
from aider_gardener.plan.usage import Call, Prices
from aider_gardener.recall.recall import EDIT_UNDONE
from aider_gardener.settings import Settings

TIGHT = Goal(high=1_400, low=1_100)


def talked(gardener: Gardener, turns: int) -> None:
    """So many turns, counted as a host counts them."""
    messages, done = with_outputs(turns - 1), list[dict[str, Any]]()
    for turn in range(turns):
        gardener.enter_turn()
        done += messages[2 * turn : 2 * turn + 2]
        gardener.sync(done, [])
        gardener.leave_turn()


def again(store: Store, settings: Settings | None = None) -> ChatState:
    return stored_chat(store, session_named(store, "p", "last"), settings or Settings(), words)


def texts(state: ChatState) -> list[dict[str, Any]]:
    return list(state.chat.pieces)


def test_what_was_cleared_or_taken_out_stands_no_more() -> None:
    store = open_store(None)
    gardener = make_gardener(store)
    messages = long_talk(4)
    gardener.sync(messages, [])
    gardener.sync(messages[:6], [])
    assert texts(again(store)) == messages[:6]
    gardener.clear()
    gardener.sync([], [message("user", "a new beginning")])
    found = again(store)
    assert texts(found) == [message("user", "a new beginning")]
    assert (found.chat.floor, found.chat.next_seq) == (
        gardener.state.chat.floor,
        gardener.state.chat.next_seq,
    )


@pytest.mark.parametrize("step", ["nothing", "undo", "restore", "throttle"])
@pytest.mark.parametrize("window", [9_000, 200_000])
def test_every_report_names_the_same_mark(step: str, window: int) -> None:
    store = open_store(None)
    gardener = make_gardener(store)
    frame = Frame(window, {"system": 100, "files": 3_000})
    gardener.state.frame = frame
    gardener.state.host_limit, gardener.state.prefix = 2_000, Prefix("k", prompts=7, unchanged=3)
    talked(gardener, 8)
    gardener.state.usage.add(Call(1_000, 1), Prices(input=1e-5, cache_read=1e-7))
    if step == "throttle":
        gardener.state.settings = replace(gardener.state.settings, throttle_tokens=60)
        assert throttle_outputs(gardener.state, gardener.state.chat.all_entries())
    else:
        assert compact_to(gardener.state, TIGHT) is not None
    if step == "undo":
        gardener.undo()
    elif step == "restore":
        gardener.restore(gardener.state.chat.entries[1].id)
    gardener.enter_turn()
    gardener.leave_turn()
    mark = goal_of(gardener.state).high
    again_state = again(store)
    assert gardener.pressure().history_budget == gardener.status()["history_mark"] == mark
    assert pressure_report(again_state).history_budget == mark
    assert goal_of(again_state) == goal_of(gardener.state)
    assert texts(again_state) == shown(gardener)


@pytest.mark.parametrize(
    "text", ["{", "[]", "3", '{"window": "wide"}', '{"parts": {"system": null}}', '{"parts": 7}']
)
def test_a_frame_that_cannot_be_read_is_empty(text: str) -> None:
    store = open_store(None)
    make_gardener(store).sync(long_talk(1), [])
    store.set_state("s", "frame", text)
    assert last_frame(store, "s") == Frame()


def test_a_session_is_gone_on_with_as_it_stood() -> None:
    store = open_store(None)
    first = make_gardener(store)
    talked(first, 8)
    first.add_rule("Be brief")
    first.state.chat = replace(first.state.chat, undone={3: "undone or not made"})
    first.state.event(EDIT_UNDONE, entry_id=first.state.chat.entries[3].id)
    assert compact_to(first.state, TIGHT) is not None
    save_growth(first.state)
    again = make_gardener(store, at=2_000.0)
    again.go_on(session_named(store, "p", "last"))
    state = again.state
    assert shown(again) == shown(first) and state.chat.levels == first.state.chat.levels
    assert (state.chat.turn, state.chat.next_seq, state.chat.undone) == (8, 16, {3: "undone or not made"})
    assert [rule.text for rule in again.constraints()] == ["Be brief"]
    assert sums_of(state).compactions == 1 and sums_of(state).turns == 8
    messages = list(state.chat.pieces)
    again.enter_turn()
    assert again.sync(messages, [message("user", "one thing more")])[0].seq == 16
    again.leave_turn()
    again.undo()
    assert again.state.chat.levels == {}, "a compaction of the other process is taken back"
    assert state.chat.turn == 9 and [info.turns for info in store.sessions("p")] == [9]
