"""What is kept of chats that have ended, for a list and to be read."""

from __future__ import annotations

from made_entries import make_gardener, message, talk

from aider_gardener.archive.sessions import session_named
from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener.past_chats import PastMessage, past_chats, transcript
from aider_gardener.plan.goals import Frame


def read(store: Store) -> dict[int, list[PastMessage]]:
    return transcript(store, "p", session_named(store, "p", "last"))[1]


def all_said(store: Store) -> list[PastMessage]:
    return [said for rows in read(store).values() for said in rows]


def test_the_files_of_a_chat_are_also_those_that_were_only_to_be_read() -> None:
    store = open_store(None)
    gardener = make_gardener(store)
    gardener.state.frame = Frame(9_000, {"files": 3}, {"app.py": 3}, "gpt-x", read_only=("docs/a.md",))
    gardener.enter_turn()
    gardener.sync(talk(("Mend the pool", "It is mended.")), [])
    gardener.leave_turn()
    assert [chat.in_chat for chat in past_chats(store, "p")] == [("app.py", "docs/a.md")]


def test_a_history_that_comes_at_once_has_each_question_in_the_turn_of_its_answer() -> None:
    store = open_store(None)
    make_gardener(store).sync(talk(*((f"question {n}", f"answer {n}") for n in range(3))), [])
    turns = [(number, *(said.text for said in rows)) for number, rows in read(store).items()]
    assert turns == [(n + 1, f"question {n}", f"answer {n}") for n in range(3)]


def test_an_acknowledgement_is_no_first_prompt() -> None:
    store = open_store(None)
    make_gardener(store).sync(
        talk(("I ran this command:\n\nls\n\nAnd got this output:\n\napp.py", "Ok.")), []
    )
    assert [chat.first_prompt for chat in past_chats(store, "p")] == [""]


def test_what_was_cleared_is_told_and_what_says_nothing_is_left_out() -> None:
    store = open_store(None)
    gardener = make_gardener(store)
    gardener.sync(talk(("one", "Ok."), ("two", "Two it is.")), [])
    gardener.clear()
    gardener.sync([], [message("user", "three")])
    assert [(said.text, said.cleared) for said in all_said(store)] == [
        ("one", True), ("two", True), ("Two it is.", True), ("three", False),
    ]  # fmt: skip
