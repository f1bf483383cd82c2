"""What happens to a chat: it is handed on, cleared, and begins anew; helpers stay out of it."""

from __future__ import annotations

from typing import Any

from aider_gardener.adapters.aider import chat, link

from .conftest import MakeDriver


def test_clearing_tells_how_to_reach_what_was_said_where_there_is_something(
    drive: MakeDriver, gardened: Any
) -> None:
    gardened()
    driver = drive()
    chat.cleared(driver.coder)
    assert "/recall" not in driver.last_said  # nothing was said
    driver.ask("/ask what is kestrel-17?")
    gardener, floor = driver.coder.gardener, driver.coder.gardener.state.chat.floor
    chat.cleared(driver.coder)
    assert chat.CLEARED.format(command="clear") in driver.said
    assert gardener.state.chat.floor > floor


def test_a_coder_that_is_made_from_another_gets_its_gardener(drive: MakeDriver, gardened: Any) -> None:
    gardened()
    driver = drive()
    gardener = driver.coder.gardener
    handed = chat.hand_on(driver.coder, None, None, summarise=False, options={})
    assert handed == chat.Handed(gardener, is_ready=True)
    assert chat.hand_on(driver.coder, None, None, summarise=False, options={"cur_messages": []}).is_sub
    assert chat.hand_on(None, None, None, summarise=False, options={}) == chat.Handed()

    other = drive().coder
    chat.take_over(other, driver.coder, handed)
    assert other.gardener is gardener and link.coder_of(gardener) is other
    chat.take_over(other, driver.coder, chat.Handed(gardener, is_sub=True))
    assert link.is_sub(other) and other.gardener is None


def test_a_turn_within_a_turn_is_one(drive: MakeDriver, gardened: Any) -> None:
    gardened()
    coder = drive().coder
    chat.begin_turn(coder, "/ask why?")
    chat.begin_turn(coder, "why?")
    assert coder.gardener.state.busy
    chat.end_turn(coder)
    assert coder.gardener.state.busy
    chat.end_turn(coder)
    assert not coder.gardener.state.busy
