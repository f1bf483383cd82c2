"""One chat has the same numbers wherever they are shown, in the chat and later in another process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from aider_gardener import uninstall
from aider_gardener.cli.root import main
from aider_gardener.plan.usage import Call

from .conftest import Begin, Driver

LONG = " ".join(f"Detail {n} of the worker is not worth a word." for n in range(60))
MARKS = (
    "history_budget", "budget_set_by", "history_used", "used", "entries_tracked", "plan_would_save", "level",
    "messages_count", "by_class", "total_original_tokens", "largest_messages",
)  # fmt: skip


def typed(driver: Driver, command: str) -> Any:
    driver.type(command)
    return json.loads(driver.said[-1])


def shell(*words: str) -> Any:
    return json.loads(CliRunner().invoke(main, [*words, "--json"], catch_exceptions=False).stdout)


def test_marks_counts_and_sums_agree(begin: Begin) -> None:
    driver = begin(history_tokens=1_500)
    driver.ask(*(f"change nothing, step {n}" for n in range(8)), reply=LONG)
    pressure, status = typed(driver, "/context-pressure --json"), driver.coder.gardener.status()
    assert (status["history_mark"], status["entries"]) == (1_500, pressure["entries_tracked"])
    uninstall()
    later, (chat,), everything = shell("pressure"), shell("sessions"), shell("status")
    assert {name: later[name] for name in MARKS} == {name: pressure[name] for name in MARKS}
    assert (later["model"], later["turns"]) == ("gpt-4o", 8)
    for name in ("turns", "compactions", "calls", "prompt_tokens", "saved_tokens"):
        assert status[name] == chat["sums"][name] == everything["all_chats"][name]
    assert everything["last_chat"]["tokens"] == later["used"]
    assert everything["entries"] == status["stored_entries"] == 8 + 1  # the reply is kept once


def test_the_mark_that_is_shown_is_that_of_the_next_prompt_where_the_cache_is_cold(
    begin: Begin, repository: Path
) -> None:
    driver = begin(files="aider", recall_tokens=0)
    driver.ask("step 0", reply=LONG)
    state = driver.coder.gardener.state
    for n in range(12):
        state.usage.add(Call(9_000, 1, cached_tokens=8_000), state.usage.prices)
        driver.ask(f"step {n}", reply=LONG)
    warm = typed(driver, "/context-pressure --json")
    (repository / "notes.md").write_text("Read this.\n", encoding="utf-8")
    driver.type("/read-only notes.md")  # what stands before the history changes: the cache is cold
    cold = typed(driver, "/context-pressure --json")
    assert cold["history_budget"] < cold["history_used"] < warm["history_budget"]
    advice = "the next prompt compacts it"
    assert advice in cold["recommendation"] and advice not in warm["recommendation"]
    driver.type("/gardener")
    assert f"when the history passes {cold['history_budget']:,} tokens" in driver.last_said
    driver.ask("one more")
    assert state.plans


def test_a_note_that_a_clear_took_out_is_not_counted(begin: Begin) -> None:
    driver = begin()
    driver.ask("hello", reply=LONG)
    driver.type("/gardener constraints add never touch vendor/")
    assert typed(driver, "/context-pressure --json")["parts"]["notes"] > 0
    driver.type("/clear")
    assert "notes" not in typed(driver, "/context-pressure --json")["parts"]


def test_a_chat_that_was_cleared_and_goes_on_says_so(driver: Driver, begin: Begin) -> None:
    driver.ask("/ask one", "/ask two")
    driver.type("/clear")
    driver.ask("/ask three")
    before = driver.coder.gardener.status()
    assert (before["entries"], before["cleared"]) == (6, 4)
    driver = begin(embedder="none", resume="last")
    assert any("(3 turns)" in line and "2 of 2 messages whole" in line for line in driver.said)
    driver.type("/gardener")
    assert "This chat: 3 turns, 6 messages, 4 of them before /clear; no room had to be made." in driver.said
    now = driver.coder.gardener.status()
    assert (now["entries"], now["cleared"], now["turns"]) == (6, 4, 3)


def test_a_chat_that_goes_on_counts_what_it_came_to_before(begin: Begin) -> None:
    driver = begin(history_tokens=1_500)
    driver.ask(*(f"change nothing, step {n}" for n in range(8)), reply=LONG)
    before = driver.coder.gardener.status()
    assert before["compactions"] and before["saved_tokens"] and before["calls"] == 8
    driver = begin(embedder="none", history_tokens=1_500, resume="last")
    now = driver.coder.gardener.status()
    for name in ("compactions", "calls", "prompt_tokens", "saved_tokens", "cost"):
        assert now[name] == before[name], name
    driver.ask("/ask one more")
    assert driver.coder.gardener.status()["calls"] == 9
