"""The throttle: how much of an oversized message may stand, and what is cut of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_entries import entry, make_gardener, message, talk, words

from aider_gardener.errors import UsageError
from aider_gardener.gardener.care import forget
from aider_gardener.gardener.compactions import growth_of, show
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.gardener.throttle import (
    LEAST_ROOM_TOKENS,
    bounded,
    short_form,
    throttle_open,
    throttle_outputs,
)
from aider_gardener.messages import Level
from aider_gardener.plan.goals import Frame
from aider_gardener.reading.source import RUN_HEAD, RUN_MIDDLE

NOISE = "\n".join(f"10:00:{n % 60:02} INFO request {n} took {n * 3} ms" for n in range(400))


def output(text: str = NOISE) -> dict[str, Any]:
    return message("user", f"{RUN_HEAD}make all{RUN_MIDDLE}{text}")


def entered(gardener: Gardener, *messages: dict[str, Any]) -> list[str]:
    """What is cut of messages that enter now: their ids."""
    done: list[dict[str, Any]] = list(gardener.state.chat.done)
    return [one.entry.id for one in throttle_outputs(gardener.state, gardener.sync(done, list(messages)))]


@pytest.mark.parametrize(
    ("setting", "window", "stays"),
    [(0, 100_000, True), (0, 2_000, False), (0, 0, True), (700, 100_000, False)],
)
def test_the_limit_is_the_setting_or_what_the_window_has_room_for(
    setting: int, window: int, stays: bool
) -> None:
    gardener = make_gardener(throttle_tokens=setting)
    gardener.state.frame = Frame(window, {"system": 100})
    assert entered(gardener, output()) == ([] if stays else [gardener.state.chat.entries[0].id])


def test_what_just_entered_is_not_counted_against_its_own_room_and_never_gets_next_to_nothing() -> None:
    gardener = make_gardener()
    long = output("word " * 1_500)
    for window, system, stays in ((2_500, 100, True), (2_500, 300, False)):
        gardener.state.frame = Frame(window, {"system": system})
        assert (entered(gardener, long) == []) is stays
    gardener.state.frame = Frame(10, {"system": 100})
    assert entered(gardener, output("word " * 1_000)) == []


def test_what_enters_shortened_lets_the_chat_grow_by_what_stands_of_it() -> None:
    gardener = make_gardener(throttle_tokens=700)
    entered(gardener, output(NOISE * 9))
    stands = gardener.state.open_used
    assert stands < growth_of(gardener.state) < 1.2 * stands + 20 < gardener.state.chat.entries[0].tokens / 9
    forget(gardener.state, gardener.state.chat.entries[0].id)
    assert growth_of(gardener.state) < 20


@given(st.text("ab \n", max_size=400), st.integers(1, 60))
def test_whatever_the_text_it_is_within_its_limit_and_whole_where_it_fits(text: str, limit: int) -> None:
    made = bounded(text, limit, count=words, entry_id="g1")
    assert made == text if words(text) <= limit else words(made) <= max(limit, 12) and "g1" in made


def test_a_form_that_is_hardly_shorter_is_not_worth_the_cut() -> None:
    whole = entry(0, "user", "\n".join(f"line {n}" for n in range(100)))
    assert short_form(whole, None, 190, count=words) is None
    made = short_form(whole, None, 100, count=words)
    assert made.level is Level.COMPRESSED
    assert whole.id in made.text
    assert words(made.text) <= 100


def test_outputs_are_cut_in_their_own_place_and_typed_words_are_not() -> None:
    gardener = make_gardener(throttle_tokens=300)
    pasted = message("user", "look at this: " + NOISE)
    cut = entered(gardener, output(), message("assistant", "Ok."), pasted)
    entries = gardener.state.chat.entries
    assert cut == [entries[0].id]
    first, _ok, last = gardener.state.chat.cur
    assert first.members == (0,)
    assert words(first.content) <= 300
    assert entries[0].id in first.content
    assert last == pasted
    assert gardener.state.archive.store.original(entries[0].id) == output()["content"]


def test_nothing_is_cut_while_off_and_what_fits_stays_whole() -> None:
    gardener = make_gardener(throttle_tokens=300)
    gardener.state.on = False
    assert entered(gardener, output()) == []
    assert entered(make_gardener(throttle_tokens=300), output("fine")) == []


def test_to_be_sent_at_all_the_largest_open_message_is_cut_first() -> None:
    gardener = make_gardener()
    small = message("user", "what of this? " + "word " * 250)
    gardener.sync(talk(("a question", "an answer")), [output(), message("assistant", "Ok."), small])
    before = gardener.state.open_used
    cut = throttle_open(gardener.state, before - 500)
    assert [one.entry.seq for one in cut] == [2]
    assert gardener.state.open_used <= before - 500
    assert gardener.state.chat.cur[-1] == small
    throttle_open(gardener.state, 1)
    assert all(words(piece.content) <= LEAST_ROOM_TOKENS for piece in gardener.state.chat.cur)
    assert words(gardener.state.chat.cur[-1].content) > LEAST_ROOM_TOKENS // 2


def test_of_many_open_messages_each_of_which_nearly_fits_some_are_cut_by_a_fifth() -> None:
    gardener = make_gardener()
    texts = [" ".join(f"w{number}x{at}" for at in range(140)) for number in range(20)]
    gardener.sync([], [message("user", text) for text in texts])
    before = gardener.state.open_used
    assert 0 < len(throttle_open(gardener.state, before - 200)) <= 8
    assert gardener.state.open_used <= before - 200


def test_what_was_cut_as_it_entered_is_no_compaction_and_stays_cut() -> None:
    gardener = make_gardener(throttle_tokens=300, history_tokens=100_000)
    entered(gardener, output())
    with pytest.raises(UsageError, match="no compaction to undo"):
        gardener.undo()
    short = gardener.state.chat.pieces
    for every in (False, True):
        show(gardener.state, {0: Level.HIDDEN}, "a test")
        gardener.undo(every=every)
        assert gardener.state.chat.pieces == short
    gardener.restore(gardener.state.chat.entries[0].id)
    whole = gardener.state.chat.pieces
    show(gardener.state, {0: Level.HIDDEN}, "a test")
    gardener.undo()
    assert gardener.state.chat.pieces == whole != short
