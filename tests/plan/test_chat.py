"""The chat's picture of the host's lists."""

from __future__ import annotations

from dataclasses import replace

from made_entries import admit, chat_of, message, talk

from aider_gardener.messages import Entry, Fidelity
from aider_gardener.plan.view import NOTE_HEAD


def text_of(entry: Entry, level: Fidelity) -> str:
    return entry.content if level is Fidelity.FULL else f"{level.value} of {entry.id}"


def swap(chat, levels):  # type: ignore[no-untyped-def]
    chat.apply(levels, *chat.rendered(levels, text_of))
    return [piece.message for piece in chat.done], [piece.message for piece in chat.cur]


def test_new_messages_become_entries_in_order() -> None:
    chat = chat_of(talk(("a", "b"), ("c", "d")))
    assert [e.content for e in chat.entries.values()] == ["a", "b", "c", "d"]
    assert [e.seq for e in chat.entries.values()] == [0, 1, 2, 3]


def test_nothing_new_admits_nothing() -> None:
    messages = talk(("a", "b"))
    chat = chat_of(messages)
    assert chat.sync(messages, [], admit) == []


def test_messages_that_move_from_cur_to_done_stay_the_same_entries() -> None:
    chat = chat_of([], talk(("a", "b")))
    added = chat.sync([*talk(("a", "b")), message("user", "committed")], [], admit)
    assert [e.content for e in added] == ["committed"]
    assert len(chat.entries) == 3


def test_the_same_text_twice_is_two_entries() -> None:
    chat = chat_of(talk(("go", "Ok."), ("go", "Ok.")))
    assert len(chat.entries) == 4


def test_each_typed_message_counts_a_turn_without_a_host_that_counts() -> None:
    chat = chat_of(talk(("a", "b"), ("c", "d")))
    assert [e.turn for e in chat.entries.values()] == [1, 1, 2, 2]


def test_swapped_messages_are_known_again() -> None:
    chat = chat_of(talk(("a", "b"), ("c", "d"), ("e", "f")))
    done, cur = swap(chat, {0: Fidelity.LINE, 1: Fidelity.HIDDEN})
    assert done[0].content.startswith(NOTE_HEAD)
    assert chat.sync(done, cur, admit) == []
    assert chat.fidelity == {0: Fidelity.LINE, 1: Fidelity.HIDDEN}
    assert not chat.gone


def test_an_older_list_that_the_host_restores_is_full_again_and_nothing_is_admitted_twice() -> None:
    messages = talk(("a", "b"), ("c", "d"), ("e", "f"))
    chat = chat_of(messages)
    swap(chat, {0: Fidelity.LINE, 1: Fidelity.HIDDEN, 2: Fidelity.HIDDEN, 3: Fidelity.HIDDEN})
    assert chat.sync(messages, [], admit) == []
    assert chat.fidelity == {}
    assert chat.floor == 0
    assert [piece.message for piece in chat.done] == messages


def test_what_the_host_takes_out_is_gone() -> None:
    messages = talk(("a", "b"), ("c", "d"))
    chat = chat_of(messages)
    chat.sync(messages[:2], [], admit)
    assert chat.gone == {2, 3}
    assert chat.floor == 0


def test_words_that_were_hidden_are_new_when_they_are_said_again() -> None:
    messages = talk(("go", "Ok."), ("c", "d"))
    chat = chat_of(messages)
    done, _cur = swap(chat, {0: Fidelity.HIDDEN, 1: Fidelity.HIDDEN})
    added = chat.sync([*done, *talk(("go", "Ok."))], [], admit)
    assert [e.seq for e in added] == [4, 5]
    assert chat.fidelity == {0: Fidelity.HIDDEN, 1: Fidelity.HIDDEN}


def test_an_older_note_that_the_host_puts_back_shows_what_it_showed() -> None:
    chat = chat_of(talk(("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")))
    older, _cur = swap(chat, {0: Fidelity.COMPRESSED, 1: Fidelity.LINE})
    swap(chat, dict.fromkeys(range(4), Fidelity.HIDDEN))
    assert chat.sync(older, [], admit) == []
    assert chat.fidelity == {0: Fidelity.COMPRESSED, 1: Fidelity.LINE}
    assert not chat.gone


def test_a_question_that_was_tried_and_taken_back_leaves_the_floor_alone() -> None:
    messages = talk(("a", "b"))
    chat = chat_of(messages)
    chat.sync(messages, [message("user", "probe?")], admit)
    chat.sync(messages, [], admit)
    assert chat.floor == 0
    assert chat.gone == {2}


def test_when_nothing_known_is_left_the_chat_was_cleared() -> None:
    chat = chat_of(talk(("a", "b"), ("c", "d")))
    chat.sync([], [message("user", "new")], admit)
    assert chat.floor == 4
    assert chat.gone == {0, 1, 2, 3}


def test_emptied_lists_are_a_clear_too() -> None:
    chat = chat_of(talk(("a", "b")))
    chat.sync([], [], admit)
    assert chat.floor == 2


def test_after_a_clear_the_same_words_are_a_new_entry() -> None:
    chat = chat_of(talk(("a", "b")))
    chat.clear()
    chat.sync([], talk(("a", "b")), admit)
    assert len(chat.entries) == 4
    assert chat.floor == 2


def test_hidden_entries_keep_their_place_and_come_back_there() -> None:
    messages = talk(("a", "b"), ("c", "d"), ("e", "f"))
    chat = chat_of(messages)
    swap(chat, {2: Fidelity.HIDDEN, 3: Fidelity.HIDDEN})
    assert [e.seq for e in chat.all_entries()] == [0, 1, 2, 3, 4, 5]
    done, _cur = swap(chat, {})
    assert done == messages


def test_hidden_entries_follow_their_list_when_it_moves() -> None:
    chat = chat_of([], talk(("a", "b"), ("c", "d")))
    _done, cur = swap(chat, {0: Fidelity.HIDDEN, 1: Fidelity.HIDDEN})
    chat.sync(cur, [message("user", "next")], admit)
    done, cur = swap(chat, {})
    assert done == talk(("a", "b"), ("c", "d"))
    assert cur == [message("user", "next")]


def test_a_note_that_showed_what_was_forgotten_is_known_no_more() -> None:
    chat = chat_of(talk(("a", "b"), ("c", "d")))
    (first, *_rest), _cur = swap(chat, {0: Fidelity.LINE, 1: Fidelity.LINE})
    assert first in chat.notes
    assert chat.forget([chat.entries[0].id], text_of) == 1
    assert first not in chat.notes
    assert "line of" in chat.done[0].content, "what else it showed stands in another"


def test_a_pinned_entry_stands_in_full_whatever_is_asked_for() -> None:
    chat = chat_of(talk(("a", "b")))
    chat.replace(replace(chat.entries[0], pinned=True))
    assert chat.levels({0: Fidelity.LINE, 1: Fidelity.LINE}) == {1: Fidelity.LINE}


def test_what_was_cleared_is_no_original_that_may_stand_again() -> None:
    chat = chat_of(talk(("a", "b")))
    assert chat.spare_originals([], {message("user", "a")})
    chat.clear()
    assert chat.spare_originals([], {message("user", "a")}) == {}


def test_a_turn_that_is_due_counts_once_something_enters() -> None:
    chat = chat_of(talk(("a", "b")))
    chat.turn_due = True
    chat.sync(talk(("a", "b")), [], admit)
    assert (chat.turn, chat.turn_due) == (1, True)
    (entry,) = chat.sync(talk(("a", "b")), [message("assistant", "c")], admit)
    assert (chat.turn, chat.turn_due, entry.turn) == (2, False, 2)
