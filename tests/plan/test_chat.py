"""A chat as a value: what enters, what a mark tells, what stays where it stood."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from typing import Any

import pytest
from made_entries import admit, chat_of, message, talk

from aider_gardener.messages import Entry, Level
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.view import NOTE_HEAD, Piece

HIDDEN, LINE = Level.HIDDEN, Level.LINE


def text_of(entry: Entry, level: Level) -> str:
    return entry.content if level is Level.FULL else f"{level.value} of {entry.content}"


def synced(
    chat: Chat, done: list[dict[str, Any]], cur: list[dict[str, Any]] | None = None
) -> tuple[Chat, list[str]]:
    """The chat after the host's lists are these, and the texts that were new."""
    chat, added = chat.sync((done, cur if cur is not None else []), admit)
    return chat, [entry.content for entry in added]


def contents(chat: Chat) -> list[str]:
    return [piece.content for piece in chat.pieces]


def test_a_list_that_was_marked_brings_nothing_new_wherever_its_messages_are_moved() -> None:
    done, cur = [], talk(("a", "b"))
    chat = chat_of(done, cur)
    assert synced(chat, done, cur) == (chat, [])
    chat, added = synced(chat, [*cur, message("user", "committed")])
    assert (added, chat.border) == (["committed"], 3)
    assert contents(chat) == ["a", "b", "committed"]


def test_what_was_finished_stays_so_though_hidden_and_the_last_of_the_list() -> None:
    done, cur = talk(("a", "b"), ("c", "d"), ("e", "f")), talk(("g", "h"))
    chat = chat_of(done, cur).shown_at({0: LINE, **dict.fromkeys(range(1, 6), HIDDEN)}, text_of)
    again, added = synced(chat, list(chat.done), [*chat.cur, message("user", "i")])
    assert (added, again.border, again.shown_at(again.levels, text_of).done) == (["i"], 6, chat.done)


def through_json(piece: Piece) -> Any:
    return json.loads(json.dumps(piece))


def through_pickle(piece: Piece) -> Any:
    return pickle.loads(pickle.dumps(piece))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, dict, through_json, through_pickle])
def test_a_copy_of_a_message_is_a_plain_dict_and_a_new_message(copied: Any) -> None:
    done = talk(("a", "b"))
    chat = chat_of(done)
    copies = [copied(piece) for piece in done]
    assert [type(each) for each in copies] == [dict, dict] and copies == done
    chat, added = synced(chat, copies)
    assert added == ["a", "b"] and chat.removed == {0, 1}
    assert chat.entries[0].id == chat.entries[2].id, "of the one original that there is"


def test_a_message_that_the_host_has_written_into_is_a_new_one() -> None:
    cur = talk(("a", "b"), ("c", "d"))[:3]
    chat = chat_of([], cur)
    cur[-1]["content"] += "\nand more"
    chat, added = synced(chat, [], [*cur, message("assistant", "I see.")])
    assert added == ["c\nand more", "I see."]
    assert chat.removed == {2} and chat.order == (0, 1, 3, 4)


def test_a_message_whose_answer_was_interrupted_stays_what_it_is_and_says_so_in_the_list() -> None:
    cur = talk(("a", "b"), ("c", "d"))[:3]
    chat = chat_of([], cur)
    cur[-1]["content"] += "\n^C KeyboardInterrupt"
    chat, added = synced(chat, [], [*cur, message("assistant", "I see.")])
    assert added == ["I see."] and chat.removed == set() and chat.order == (0, 1, 2, 3)
    chat = chat.shown_at({0: LINE}, text_of)
    assert chat.cur[-2]["content"] == "c\n^C KeyboardInterrupt"


def test_a_message_of_another_chat_is_new_in_this_one() -> None:
    done = talk(("a", "b"))
    chat_of(done)
    assert synced(Chat(), done)[1] == ["a", "b"]


def test_where_the_archive_refuses_a_message_none_is_marked() -> None:
    def refuse(chat: Chat, new: Any) -> Entry:
        if new.content == "b":
            raise OSError("full")
        return admit(chat, new)

    done = talk(("a", "b"))
    with pytest.raises(OSError, match="full"):
        Chat().sync((done, []), refuse)
    assert [type(each) for each in done] == [dict, dict]


def test_an_older_list_that_the_host_restores_shows_what_it_showed() -> None:
    whole = talk(("a", "b"), ("c", "d"), ("e", "f"), ("g", "h"))
    chat = chat_of(whole)
    chat = chat.shown_at({0: Level.COMPRESSED, 1: LINE}, text_of)
    older = list(chat.done)
    assert older[0].content.startswith(NOTE_HEAD)
    chat = chat.shown_at(dict.fromkeys(range(4), HIDDEN), text_of)
    back, added = synced(chat, older)
    assert (added, back.levels, back.removed) == ([], {0: Level.COMPRESSED, 1: LINE}, set())
    back, added = synced(chat, list(whole))
    assert (added, back.levels, back.floor) == ([], {}, 0)
    assert contents(back) == ["a", "b", "c", "d", "e", "f", "g", "h"]


def test_what_the_host_takes_out_is_gone_and_the_floor_stays() -> None:
    done = talk(("a", "b"), ("c", "d"))
    chat, _added = synced(chat_of(done), done[:2])
    assert (chat.removed, chat.floor) == ({2, 3}, 0)
    chat, _added = synced(chat, done[:2], [message("user", "tried and taken back")])
    chat, _added = synced(chat, done[:2])
    assert (chat.removed, chat.floor) == ({2, 3, 4}, 0)


@pytest.mark.parametrize("left", [[], [message("user", "new")]])
def test_when_nothing_known_is_left_the_chat_was_cleared(left: list[dict[str, Any]]) -> None:
    chat, _added = synced(chat_of(talk(("a", "b"), ("c", "d"))), [], list(left))
    assert (chat.floor, chat.removed) == (4, {0, 1, 2, 3})
    chat, added = synced(chat, [], [*chat.cur, *talk(("a", "b"))])
    assert (added, chat.floor) == (["a", "b"], 4)


def test_hidden_entries_keep_their_place_and_move_with_their_list() -> None:
    chat = chat_of(talk(("a", "b"), ("c", "d"), ("e", "f"))).shown_at({2: HIDDEN, 3: HIDDEN}, text_of)
    assert contents(chat) == ["a", "b", "e", "f"]
    assert [e.seq for e in chat.all_entries()] == [0, 1, 2, 3, 4, 5]
    assert contents(chat.shown_at({}, text_of)) == ["a", "b", "c", "d", "e", "f"]

    chat = chat_of([], talk(("a", "b"), ("c", "d"))).shown_at({0: HIDDEN, 1: HIDDEN}, text_of)
    chat, _added = synced(chat, list(chat.cur), [message("user", "next")])
    chat = chat.shown_at({}, text_of)
    assert [piece.content for piece in chat.done] == ["a", "b", "c", "d"]
    assert [piece.content for piece in chat.cur] == ["next"]


def test_what_stands_as_it_did_is_the_same_object() -> None:
    chat = chat_of(talk(("a", "b"), ("c", "d"), ("e", "f")))
    after = chat.shown_at({0: LINE, 1: LINE}, text_of)
    assert after.done[-1] is chat.done[-1]
    again = after.shown_at({0: LINE, 1: LINE, 4: LINE, 5: LINE}, text_of)
    assert isinstance(again.done[0], Piece) and again.done[0] is after.done[0]


def test_what_was_forgotten_stands_in_no_note() -> None:
    chat = chat_of(talk(("a", "b"), ("c", "d"))).shown_at({0: LINE, 1: LINE}, text_of)
    after = chat.forgetting([chat.entries[0].id], text_of)
    assert "line of a" in chat.done[0].content, "who holds the old chat has it as it was"
    assert "line of a" not in after.done[0].content and "line of b" in after.done[0].content
    assert after.entries[0].content == "" and contents(after)[-2:] == ["c", "d"]


def test_a_pinned_entry_stands_in_full_whatever_is_asked_for() -> None:
    chat = chat_of(talk(("a", "b")))
    chat = chat.with_entry(replace(chat.entries[0], pinned=True))
    assert chat.shown_at({0: LINE, 1: LINE}, text_of).levels == {1: LINE}
