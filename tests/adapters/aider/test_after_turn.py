"""The upkeep of a chat in aider: begun with it, ended with it, asking a model only if told to."""

from __future__ import annotations

from typing import Any

from aider_gardener import uninstall
from aider_gardener.adapters.aider import link

from .conftest import MakeDriver, ScriptedModel

LONG = " ".join(f"The part {n} of the answer explains a detail of the topic {n * 3}." for n in range(80))


def test_the_loop_begins_with_the_chat_and_ends_with_the_gardener(drive: MakeDriver, gardened: Any) -> None:
    gardened()
    driver = drive()
    driver.ask("/ask hello")
    (upkeep,) = link.state.upkeeps
    thread = upkeep._thread
    assert thread is not None
    assert thread.is_alive()
    assert upkeep.round().scored == 2
    uninstall()
    assert not thread.is_alive()
    assert link.state.upkeeps == []


def test_with_default_settings_no_round_calls_a_model(
    drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened()
    driver = drive()
    driver.ask("/ask hello", reply=LONG)
    calls = len(model.calls)
    link.state.upkeeps[0].round()
    assert len(model.calls) == calls


def test_if_told_to_the_weak_model_is_asked_once(
    drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened(refine=True)
    driver = drive()
    driver.ask("/ask hello", reply=LONG)
    upkeep = link.state.upkeeps[0]
    entry = driver.coder.gardener.chat.entries[1]
    model.replies.append("Too short to be true.")
    assert upkeep.round().refined == ""
    assert upkeep.round().refined == ""
    asked = [call for call in model.calls if "Make it shorter still" in str(call["messages"])]
    assert len(asked) == 1
    assert asked[0]["model"] == driver.coder.main_model.weak_model.name
    assert entry.id in asked[0]["messages"][0]["content"]


def test_another_model_can_be_named(drive: MakeDriver, gardened: Any, model: ScriptedModel) -> None:
    gardened(refine=True, refine_model="gpt-4")
    driver = drive()
    driver.ask("/ask hello", reply=LONG)
    link.state.upkeeps[0].round()
    assert model.calls[-1]["model"] == "gpt-4"
