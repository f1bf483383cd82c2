"""The life of a message: aider does with it what it does without the gardener."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from made_search import found

from aider_gardener.recall.recall import NOTE_HEAD

from .conftest import EDIT, Begin, Driver, MakeDriver, ScriptedModel

FACT = "The staging box is called kestrel-17 and its port is 48213."
GOODBYE = EDIT.format(path="app.py", old="    return 'hello'", new="    return 'goodbye'")
LONG = "\n".join(
    f"line {n}: the quick worker {n * 7} handled request {n * 13} in {n % 9} ms" for n in range(220)
)


def chatter(driver: Driver, turns: int) -> None:
    for number in range(turns):
        driver.ask(
            f"/ask question {number} about topic {number}",
            reply=f"Answer {number}. " + "words of prose. " * 60,
        )


def test_an_ask_only_session_is_trimmed_and_stock_is_not(begin: Begin) -> None:
    driver = begin(history_tokens=1_000)
    driver.ask(f"/ask {FACT} please remember")
    chatter(driver, 15)
    prompts = [len("".join(str(m["content"]) for m in request)) for request in driver.model.requests]
    assert max(prompts) - prompts[0] < 12_000
    assert driver.coder.gardener.state.plans
    assert not driver.model.summary_calls
    keys = {key for request in driver.model.requests for message in request for key in message}
    assert keys == {"role", "content"}, "no key of ours reaches litellm"
    stock = {"model", "stream", "temperature", "timeout", "messages"}
    assert {key for call in driver.model.calls for key in call} <= stock


def test_lists_rebound_by_the_browser_count_as_cleared(begin: Begin) -> None:
    driver = begin(history_tokens=1_000)
    driver.ask(f"/ask {FACT} please remember", "/ask more")
    driver.coder.done_messages = []
    driver.coder.cur_messages = []
    driver.ask("/ask which port did the staging box kestrel have?")
    assert "48213" not in driver.model.last_prompt()


def test_a_mode_switch_strips_edit_blocks_without_an_llm(driver: Driver) -> None:
    driver.ask("say goodbye instead", reply=GOODBYE)
    assert "goodbye" in Path("app.py").read_text(encoding="utf-8")
    driver.type("/chat-mode whole")
    assert driver.coder.edit_format == "whole"
    assert any("edit format changed: 1 message with edits now in short form" in line for line in driver.said)
    assert not driver.model.summary_calls
    assert not any("<<<<<<< SEARCH" in message["content"] for message in driver.history)
    driver.ask("what next?")
    assert all(
        "<<<<<<< SEARCH" not in str(m["content"])
        for m in driver.model.requests[-1]
        if m["role"] == "assistant"
    )


def test_what_is_recalled_stays_out_of_the_history_and_of_commit_messages(begin: Begin) -> None:
    driver = begin(history_tokens=1_000)
    driver.ask("/ask where do we stage?", reply=f"{LONG[:2_000]}\n\n{FACT}")
    chatter(driver, 15)
    assert not any(FACT in message["content"] for message in driver.history)
    driver.ask("which port did the staging box kestrel have? put its name into greet", reply=GOODBYE)
    commit = [
        call for call in driver.model.calls if "generates concise" in str(call["messages"][0]["content"])
    ][-1]
    assert NOTE_HEAD in driver.model.last_prompt()
    assert "48213" in driver.model.last_prompt()
    assert NOTE_HEAD not in "".join(str(message["content"]) for message in commit["messages"])
    assert not any(NOTE_HEAD in message["content"] for message in driver.history)


def test_architect_keeps_the_editor_out_of_the_chat(begin: Begin) -> None:
    driver = begin(edit_format="architect", auto_accept_architect=True)
    driver.model.replies += ["Change the greeting to goodbye.", GOODBYE]
    driver.type("say goodbye instead")
    assert "goodbye" in Path("app.py").read_text(encoding="utf-8")
    kept = [entry.content for entry in driver.coder.gardener.state.chat.entries.values()]
    assert any("Change the greeting" in text for text in kept)
    assert not driver.coder.gardener.state.chat.removed


def test_no_summary_is_paid_for_the_chat_of_a_helper_that_is_over(begin: Begin) -> None:
    driver = begin(edit_format="architect", auto_accept_architect=True)
    driver.model.replies += ["Change the greeting.", f"{GOODBYE}\n{'because of this ' * 9_000}"]
    driver.type("say goodbye instead")
    for thread in set(threading.enumerate()) - {threading.current_thread()}:
        thread.join(1)
    assert "goodbye" in Path("app.py").read_text(encoding="utf-8") and driver.model.summary_calls == 0


def test_the_prompt_is_archived_before_it_is_sent(driver: Driver) -> None:
    driver.model.replies.append(KeyboardInterrupt())
    driver.type("remember the number 77120431")
    store = driver.coder.gardener.state.archive.store
    assert found(store, "77120431")


@pytest.mark.parametrize("first", [False, True])
def test_a_message_whose_answer_was_broken_off_is_one_message(begin: Begin, first: bool) -> None:
    driver = begin()
    if not first:
        driver.ask("/ask hello")
    driver.model.replies.append(KeyboardInterrupt())
    driver.type("/ask remember the number 77120431")
    driver.ask("/ask and now?")
    state = driver.coder.gardener.state
    said = [entry.content for entry in state.archive.store.session_entries(state.archive.session)]
    assert [text for text in said if "77120431" in text] == ["remember the number 77120431"]
    assert (state.chat.removed, state.chat.floor, state.chat.turn) == (set(), 0, 2 if first else 3)
    sent = [message["content"] for message in driver.model.requests[-1]]
    assert "remember the number 77120431\n^C KeyboardInterrupt" in sent, "prompts are aider's"


def test_model_switch_takes_over_limits_and_counter(driver: Driver) -> None:
    driver.ask("/ask hello")
    assert driver.coder.gardener.state.frame.window == 128_000
    driver.type("/model gpt-4")
    driver.ask("/ask hello again")
    assert driver.coder.gardener.state.frame.model == "gpt-4"
    assert driver.coder.gardener.state.frame.window == 8_192


def test_clear_then_mode_switch_does_not_resurrect_the_restored_history(
    drive: MakeDriver, gardened: Any, model: ScriptedModel, repository: Path
) -> None:
    gardened()
    (repository / ".chat.md").write_text(f"\n#### {FACT}\n\nNoted.\n\n", encoding="utf-8")
    driver = drive(restore_chat_history=True)
    assert any("48213" in message["content"] for message in driver.history)
    driver.type("/clear")
    driver.type("/chat-mode ask")
    assert not driver.history
    driver.ask("which port?")
    assert "48213" not in model.last_prompt()


def test_observe_changes_no_prompt(begin: Begin, drive: MakeDriver, model: ScriptedModel) -> None:
    driver = drive()
    driver.ask(f"/ask {FACT} please remember")
    chatter(driver, 8)
    driver.ask("/ask which port?")
    stock = [list(request) for request in model.requests]
    model.requests.clear()
    driver = begin(mode="observe", history_tokens=500)
    driver.ask(f"/ask {FACT} please remember")
    chatter(driver, 8)
    driver.ask("/ask which port?")
    assert model.requests == stock
    assert len(driver.coder.gardener.state.chat.entries) >= 20


def test_switched_off_at_the_start_there_is_no_archive(begin: Begin, repository: Path) -> None:
    driver = begin(mode="off")
    driver.ask("/ask hello")
    assert driver.coder.gardener is None
    assert not (repository / ".aider.gardener").exists()


def test_the_browser_streams_through_the_same_path(begin: Begin) -> None:
    driver = begin(history_tokens=1_000, stream=True)
    for number in range(8):
        driver.model.replies.append(f"Answer {number}. " + "words of prose. " * 60)
        list(driver.coder.run_stream(f"question {number} about topic {number}"))
    gardener = driver.coder.gardener
    assert gardener.state.chat.turn == 8
    assert gardener.state.plans
