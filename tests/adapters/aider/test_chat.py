"""What happens to a chat: it is handed on, cleared, and begins anew; helpers stay out of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aider_gardener.adapters.aider import chat, link

from .conftest import EDIT, MakeDriver, ScriptedModel


def test_clearing_tells_how_to_reach_what_was_said_where_there_is_something(
    drive: MakeDriver, gardened: Any
) -> None:
    gardened()
    driver = drive()
    chat.clear(driver.coder, driver.coder.gardener)
    assert "/recall" not in driver.last_said  # nothing was said
    driver.ask("/ask what is kestrel-17?")
    gardener, floor = driver.coder.gardener, driver.coder.gardener.state.chat.floor
    chat.clear(driver.coder, gardener)
    assert chat.CLEARED.format(command="clear") in driver.said
    assert gardener.state.chat.floor > floor


def test_a_coder_that_is_made_from_another_gets_its_gardener(drive: MakeDriver, gardened: Any) -> None:
    gardened()
    driver = drive()
    gardener = driver.coder.gardener
    same = {"main_model": None, "edit_format": None}
    assert chat.hand_on(driver.coder, same, summarise=True) is gardener
    assert chat.hand_on(driver.coder, {**same, "cur_messages": []}, summarise=True) is None

    other = drive().coder
    chat.take_over(other, driver.coder, gardener)
    assert other.gardener is gardener and link.coder_of(gardener) is other
    chat.take_over(other, driver.coder, None)
    assert other.gardener is None, "a helper has a chat of its own"


@pytest.mark.parametrize(
    ("edit_format", "options", "is_helper"),
    [
        ("diff", {}, False),
        ("diff", {"cur_messages": []}, True),
        ("diff", {"done_messages": []}, True),
        ("architect", {"map_tokens": 0, "cache_prompts": False}, True),
        ("architect", {"map_tokens": 0, "cache_prompts": True}, False),
        ("architect", {"map_tokens": 1_024, "cache_prompts": False}, False),
        ("diff", {"map_tokens": 0, "cache_prompts": False}, False),
    ],
)
def test_only_a_coder_with_a_chat_of_its_own_is_a_helper(
    edit_format: str, options: dict[str, Any], is_helper: bool
) -> None:
    coder: Any = SimpleNamespace(edit_format=edit_format)
    assert chat.makes_helper(coder, options) is is_helper


def test_another_edit_format_shows_no_whole_edit_of_the_old_one(
    drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened()
    driver = drive()
    model.replies.append(EDIT.format(path="app.py", old="    return 'hello'", new="    return 'goodbye'"))
    driver.type("say goodbye instead")
    coder = driver.coder

    def is_whole(main_model: Any, edit_format: str | None) -> bool:
        chat.hand_on(coder, {"main_model": main_model, "edit_format": edit_format}, summarise=True)
        return any("<<<<<<< SEARCH" in str(message["content"]) for message in driver.history)

    for same in (None, "code", coder.edit_format):
        assert is_whole(None, same), same
    assert is_whole(SimpleNamespace(edit_format=coder.edit_format), None)
    assert not is_whole(None, "whole")


def test_a_turn_within_a_turn_is_one(drive: MakeDriver, gardened: Any) -> None:
    gardened()
    coder = drive().coder
    gardener = coder.gardener
    with chat.turn(coder, gardener, "/ask why?"):
        with chat.turn(coder, gardener, "why?"):
            assert gardener.state.busy
        assert gardener.state.busy
    assert not gardener.state.busy
