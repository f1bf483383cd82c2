"""After a turn in aider: the upkeep of the chat, its status line and report, and what `gardener status` says then."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from aider_gardener import uninstall
from aider_gardener.adapters.aider import link
from aider_gardener.archive.store import open_store
from aider_gardener.gardener import upkeep
from aider_gardener.gardener.files import write_index
from aider_gardener.gardener.stored_chat import sums_of

from .conftest import Begin, MakeDriver

LONG = " ".join(f"The part {n} of the answer explains a detail of the topic {n * 3}." for n in range(80))


def loops() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "gardener-upkeep"]


def test_the_loop_begins_with_the_chat_if_it_may_and_ends_with_the_gardener(begin: Begin) -> None:
    begin().ask("/ask hello", reply=LONG)
    assert loops() == [], "by default no model is asked"
    begin(llm="refine").ask("/ask hello")
    assert len(loops()) == 1
    uninstall()
    assert loops() == [] and link.state.chats == []


def test_if_told_to_the_weak_model_is_asked(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    asks: list[upkeep.Ask] = []
    monkeypatch.setattr(upkeep, "begin", lambda _state, ask: asks.append(ask) or (lambda: None))
    driver = begin(llm="refine")
    driver.ask(f"/ask {LONG}")
    driver.model.replies.append("Too short to be true.")
    assert upkeep.refine(driver.coder.gardener.state, asks[0], set()) == ""
    entry = driver.coder.gardener.state.chat.entries[0]
    (asked,) = [call for call in driver.model.calls if "Make it shorter still" in str(call["messages"])]
    assert asked["model"] == driver.coder.main_model.weak_model.name
    assert entry.id in asked["messages"][0]["content"]


PROSE = "words of prose about the worker. " * 60


def test_the_status_line_follows_each_reply_and_no_command(begin: Begin) -> None:
    driver = begin(status_line="full")
    driver.ask("/ask hello", "/ask again")
    driver.type("/tokens")
    lines = [line for line in driver.said if "compactions" in line]
    assert len(lines) == 2
    assert "%" in lines[0]


def test_the_report_names_what_was_saved(begin: Begin) -> None:
    driver = begin(history_tokens=1_000, status_line="full")
    driver.ask(*(f"/ask question {n}" for n in range(12)), reply=PROSE)
    gardener = driver.coder.gardener
    assert gardener.state.plans
    sums = sums_of(gardener.state)
    assert sums.calls == 12
    assert sums.saved_tokens > 2_000
    link.state.end()
    assert driver.said[-1].startswith("aider-gardener: 12 turns; room was made ")
    assert re.search(r"Sent [\d.]+k? tokens in 12 calls for .*; saved .* tokens, \d+%\.", driver.said[-1])


def test_the_index_is_written_at_the_end_where_there_is_one(
    drive: MakeDriver, begin: Begin, repository: Path
) -> None:
    index = repository / ".aider.gardener" / "CONTEXT_ARCHIVE.md"
    begin().ask("/ask hello")
    link.state.end()
    assert not index.exists()
    store = open_store(repository / ".aider.gardener")
    write_index(store, str(repository))
    store.close()
    drive().ask("/ask where is the pool?")
    assert "where is the pool?" not in index.read_text("utf-8")
    link.state.end()
    assert "where is the pool?" in index.read_text("utf-8")
    driver = drive()
    driver.ask("/ask hello")
    index.write_bytes(b"mine")
    link.state.end()
    assert index.read_bytes() == b"mine" and "the index of sessions is left as it is: " in driver.said[-1]
