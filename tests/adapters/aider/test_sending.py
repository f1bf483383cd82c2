"""The model asks for an original in its reply and gets it by a reflection, within limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aider_gardener.gardener.care import HEAD, HINT
from aider_gardener.gardener.compactions import show
from aider_gardener.messages import Level

from .conftest import Begin, Driver
from .test_entry_commands import MARKER, holds_legal_lists, say, texts
from .test_wrappers import GOODBYE, chatter

WHOLE = f"The {MARKER} lives in the attic. " + "Then we went on and spoke of other rooms. " * 20


def compacted(begin: Begin, **options: Any) -> tuple[Driver, str]:
    """A chat in which one reply stands in its short form; its id."""
    driver = begin(**{"history_tokens": 4_000, "ask_for_originals": True, "recall_tokens": 0, **options})
    driver.ask("/ask tell me", reply=WHOLE)
    chatter(driver, 2)
    state = driver.coder.gardener.state
    (reply,) = [entry for entry in state.chat.entries.values() if MARKER in entry.content]
    show(state, {reply.seq: Level.LINE}, "a test")
    driver.ask("/ask go on")
    assert WHOLE.strip() not in texts(driver)
    return driver, reply.id


def form(stored_id: str) -> str:
    return f'I need to see it.\n\n<recall id="{stored_id}"/>\n'


def test_a_reply_that_asks_is_answered_with_the_original(begin: Begin) -> None:
    driver, stored_id = compacted(begin)
    assert HINT in driver.model.last_prompt()
    assert stored_id in driver.model.last_prompt()
    sent = len(driver.model.requests)
    driver.model.replies += [form(stored_id), "In the attic."]
    said = say(driver, "/ask where does it live?")
    assert len(driver.model.requests) == sent + 2
    assert HEAD in driver.model.requests[-1][-1]["content"] or HEAD in driver.model.last_prompt()
    assert f"> {WHOLE.strip()}" in driver.model.last_prompt()
    assert f"the model asked for {stored_id}" in said
    assert holds_legal_lists(driver)


def test_an_edit_in_the_same_reply_is_applied(begin: Begin) -> None:
    driver, stored_id = compacted(begin)
    driver.model.replies += [GOODBYE + "\n" + form(stored_id), "Done."]
    driver.type("say goodbye, and where does it live?")
    assert "goodbye" in Path("app.py").read_text(encoding="utf-8")
    assert driver.model.commit_calls == 1
    assert f"> {WHOLE.strip()}" in driver.model.last_prompt()
    assert holds_legal_lists(driver)


def test_the_architect_gets_it_before_an_editor_is_sent_off(begin: Begin) -> None:
    driver, stored_id = compacted(begin, edit_format="architect", auto_accept_architect=True)
    sent = len(driver.model.requests)
    plan = "Return goodbye instead."
    driver.model.replies += [form(stored_id), plan, GOODBYE]
    driver.type("say goodbye")
    assert len(driver.model.requests) == sent + 3
    assert f"> {WHOLE.strip()}" in str(driver.model.requests[sent + 1])
    assert plan in str(driver.model.requests[sent + 2])
    assert "goodbye" in Path("app.py").read_text(encoding="utf-8")


def test_it_is_off_by_default(begin: Begin) -> None:
    driver, stored_id = compacted(begin, ask_for_originals=False)
    assert HINT not in driver.model.last_prompt()
    sent = len(driver.model.requests)
    driver.model.replies.append(form(stored_id))
    driver.type("/ask where does it live?")
    assert len(driver.model.requests) == sent + 1


def test_a_declined_prompt_answers_no_older_reply(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    driver, stored_id = compacted(begin)
    monkeypatch.setattr(driver.coder, "partial_response_content", form(stored_id))
    monkeypatch.setattr(driver.coder, "check_tokens", lambda _messages: False)
    sent = len(driver.model.requests)
    driver.type("where does it live?")
    assert len(driver.model.requests) == sent
    assert driver.coder.reflected_message is None
