"""/forget, /pin, /unpin, /restore and /why in a real aider, and what /clear says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from made_lines import bytes_of

from aider_gardener.adapters.aider.commands import picked
from aider_gardener.errors import UsageError
from aider_gardener.messages import Message
from aider_gardener.plan.view import is_legal

from .conftest import Begin, Driver, MakeDriver, ScriptedModel
from .test_wrappers import FACT, chatter

MARKER = "quetzal-5521"
SECRET_WORDS = f"The {MARKER} lives in the attic of the observatory."


def id_of(driver: Driver, text: str) -> str:
    """The id of the newest entry that holds the text."""
    found = [entry.id for entry in driver.coder.gardener.state.chat.entries.values() if text in entry.content]
    return str(found[-1])


def texts(driver: Driver) -> str:
    return "\n".join(str(message["content"]) for message in driver.history)


def holds_legal_lists(driver: Driver) -> bool:
    lists = (driver.coder.done_messages, driver.coder.cur_messages)
    return all(is_legal([Message(m["role"], m["content"]) for m in part]) for part in lists)


def say(driver: Driver, line: str) -> str:
    """Type a line; what aider says to it."""
    del driver.said[:]
    driver.type(line)
    return driver.last_said


def test_forget_deletes_for_good(driver: Driver, repository: Path) -> None:
    driver.ask(f"/ask {SECRET_WORDS}", reply="Understood, in the attic.")
    driver.ask("/ask and the other thing?", reply="Nothing else.")
    store = repository / ".aider.gardener"
    assert MARKER.encode() in bytes_of(store)
    said = say(driver, f"/forget {id_of(driver, MARKER)}")
    assert ".aider.chat.history.md" in said
    assert MARKER.encode() not in bytes_of(store)
    assert MARKER not in texts(driver)
    assert holds_legal_lists(driver)
    driver.ask(f"/ask where is {MARKER}?")
    assert SECRET_WORDS not in driver.model.last_prompt()
    assert "attic" in driver.model.last_prompt()  # the reply stands, in a note
    assert SECRET_WORDS not in say(driver, "/recall attic observatory lives")


def test_forget_asks_before_it_deletes(
    driver: Driver, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.ask(f"/ask {SECRET_WORDS}")
    asked: list[str] = []
    monkeypatch.setattr(driver.coder.io, "confirm_ask", lambda question, **_: asked.append(question))
    say(driver, f"/forget {id_of(driver, MARKER)}")
    say(driver, "/forget session")
    assert MARKER in texts(driver)
    assert [MARKER in question or "all of this chat" in question for question in asked] == [True, True]
    driver.type(f"/forget {id_of(driver, MARKER)} --yes")
    assert len(asked) == 2
    assert MARKER.encode() not in bytes_of(repository / ".aider.gardener")


def test_forget_session_empties_chat_and_archive(begin: Begin, drive: MakeDriver, repository: Path) -> None:
    older = begin(history_tokens=1_000)
    older.ask("/ask what an older chat said about zeppelins stays")
    driver = drive()
    driver.ask(f"/ask {SECRET_WORDS}")
    chatter(driver, 6)
    said = say(driver, "/forget session --yes")
    assert "`gardener import` would" in said
    assert "The chat is empty" in said
    assert driver.history == []
    assert MARKER.encode() not in bytes_of(repository / ".aider.gardener")
    assert "turns, 0 messages; room was made" in say(driver, "/gardener")
    assert "zeppelins" in say(driver, "/recall older chat zeppelins")
    driver.ask("/ask are you still there?", reply="Yes, here.")
    assert "still there" in say(driver, "/recall still there")


def test_where_the_gardener_does_not_act_a_pin_holds_nothing_and_says_so(begin: Begin) -> None:
    driver = begin()
    driver.ask(f"/ask {SECRET_WORDS}")
    assert "aider summarises it" not in say(driver, "/pin last")
    driver.type("/gardener off")
    assert "aider summarises it" in say(driver, "/pin last")


def test_the_last_to_restore_is_none_that_was_forgotten(begin: Begin) -> None:
    driver = begin()
    driver.ask(f"/ask {SECRET_WORDS}", "/ask what else?", reply="Yes")
    driver.type(f"/forget {id_of(driver, MARKER)} --yes")
    assert "stands whole in the chat already" in say(driver, "/restore last")
    assert "(1 token) stays whole" in say(driver, "/pin last")


def test_restore_adds_what_is_no_longer_in_the_chat(
    begin: Begin, drive: MakeDriver, model: ScriptedModel
) -> None:
    first = begin()
    first.ask(f"/ask {SECRET_WORDS}")
    stored_id = id_of(first, MARKER)
    second = drive()
    second.ask("/ask hello")
    assert "to the end of the chat" in say(second, f"/restore {stored_id}")
    assert f"> {SECRET_WORDS}" in second.history[-2]["content"]
    assert holds_legal_lists(second)
    second.ask("/ask now?")
    assert SECRET_WORDS in model.last_prompt()
    assert "already" in say(second, f"/restore {stored_id}")


def test_why_tells_when_and_why(begin: Begin) -> None:
    driver = begin(history_tokens=1_000)
    driver.ask("/ask tell me", reply=SECRET_WORDS + " More words follow it here." * 30)
    stored_id = id_of(driver, MARKER)
    assert "Nothing was ever done to it" in say(driver, f"/why {stored_id}")
    chatter(driver, 7)
    said = say(driver, f"/why {stored_id}")
    swapped = driver.coder.gardener.state.plans[-1].turn
    for words in ("prose", "of 100 now (class +40", "whole → ", "plan: history of ", " tokens above its mark of 1,000", "turns ago",
                  f"/restore {stored_id}", f"gardener restore {stored_id}"):  # fmt: skip
        assert words in " ".join(said.split()), words
    turns = [int(n) for n in re.findall(r"^ *(\d+) +. +[\w ]+ →", said, re.M)]
    assert turns
    assert set(turns) <= set(range(swapped + 1))
    driver.type("/clear")
    assert "dropped from the chat" in " ".join(say(driver, f"/why {stored_id}").split())


def test_what_is_not_pinned_cannot_be_let_go(driver: Driver) -> None:
    driver.ask(f"/ask {FACT}")
    stored_id = id_of(driver, "48213")
    driver.type(f"/pin {stored_id}")
    driver.type(f"/unpin {stored_id}")
    assert f"{stored_id} is not pinned; /pin lists what is" in say(driver, f"/unpin {stored_id}")


def test_messages_are_named_by_last_and_by_their_number_in_the_last_list(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = begin(history_tokens=1_500)
    assert "no list was shown yet" in say(driver, "/why 1")
    driver.ask(f"/ask {FACT} please remember", reply="The staging box has port 48213, noted.")
    assert "from" in say(driver, "/why last") and id_of(driver, "noted") in driver.last_said
    chatter(driver, 8)
    monkeypatch.setattr(driver.coder.io, "prompt_ask", lambda *_args, **_options: "")
    found = say(driver, "/recall staging box port")
    first = re.findall(r"g[0-9a-f]{9}", found)[0]
    assert "Nothing was added." in found
    assert first in say(driver, "/why 1")
    assert "there is no message 9: the last list had" in say(driver, "/pin 9")
    assert first in say(driver, "/restore 1")
    say(driver, "/context-pressure")
    listed = driver.coder.gardener.state.listed
    assert len(listed) > 1 and any(listed)
    at = next(number for number, stored_id in enumerate(listed, 1) if stored_id)
    assert listed[at - 1] in say(driver, f"/pin {at}")
    assert listed[at - 1] in say(driver, "/unpin last")
    assert "Nothing is pinned in this chat" in say(driver, "/unpin last")


@pytest.mark.parametrize("answer", ["0", "4", "one", "99999999999999999999", "1 x", "²"])
def test_an_answer_that_names_no_hit_is_refused(answer: str) -> None:
    with pytest.raises(UsageError, match="no number from 1 to 3; nothing was added"):
        picked(answer, 3)


def test_recall_adds_the_hits_that_are_picked(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    driver.ask(f"/ask {FACT} please remember", reply="The lamp of the staging box is green.")
    driver.type("/clear")
    monkeypatch.setattr(driver.coder.io, "prompt_ask", lambda *_args, **_options: "2")
    said = say(driver, "/recall staging box")
    shown = texts(driver)
    assert ("48213" in shown) != ("lamp" in shown)
    tokens = int(re.findall(r"Added ([\d,]+) tokens", said)[0].replace(",", ""))
    assert tokens == driver.coder.gardener.state.count(driver.history[-2]["content"])
    monkeypatch.setattr(driver.coder.io, "prompt_ask", lambda *_args, **_options: "7")
    before = texts(driver)
    assert "7 is no number" in say(driver, "/recall staging box") and texts(driver) == before
    monkeypatch.setattr(driver.coder.io, "prompt_ask", lambda *_args, **_options: "2")
    said = say(driver, "/recall staging box")
    assert said.count("stands in the chat already") == 2  # beside the hit, and in the place of adding it
    assert texts(driver) == before
    monkeypatch.setattr(driver.coder.io, "prompt_ask", lambda *_args, **_options: "all")
    say(driver, "/recall staging box")
    assert (texts(driver).count("48213"), texts(driver).count("lamp")) == (1, 1)
    assert "All of it stands in the chat already" in say(driver, "/recall staging box")
