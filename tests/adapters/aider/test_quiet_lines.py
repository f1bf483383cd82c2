"""The dim lines that tell what was done to a prompt: recall, files as changes, room; and what /run will bring."""

from __future__ import annotations

import io
from typing import Any

import pytest
from aider.io import InputOutput
from rich.console import Console

from aider_gardener.adapters.aider.coder import Terminal
from aider_gardener.plan.usage import Usage

from .conftest import EDIT, Begin

LONG = " ".join(f"Detail {n} of the worker is not worth a word." for n in range(60))
WORDS = ("recalled ", "made room")


def told(said: list[str]) -> list[str]:
    return [line for line in said if any(word in line for word in WORDS)]


@pytest.mark.parametrize("status_line", ["notes", ""])
def test_a_line_for_what_was_recalled_and_for_room(begin: Begin, status_line: str) -> None:
    driver = begin(history_tokens=1_000, status_line=status_line, files="aider")
    driver.ask("/ask begin", reply=f"{LONG} The kestrel pool has 17 connections. {LONG}")
    driver.ask(*(f"/ask step {n}" for n in range(6)), reply=LONG)
    before = told(driver.said)
    driver.type("/context-pressure")
    assert told(driver.said) == before  # looked at, not sent
    asked = {"role": "user", "content": "has the kestrel pool connections?"}
    driver.coder.cur_messages = [*driver.coder.cur_messages, asked]
    driver.coder.show_exhausted_error()
    driver.coder.cur_messages = driver.coder.cur_messages[:-1]
    assert not any("recalled" in line for line in driver.said[-9:])  # counted, not sent
    before, sent = told(driver.said), list[list[str]]()
    driver.model.prompt_tokens = lambda _messages: sent.append(told(driver.said)) or 10
    driver.ask("/ask how many connections did you say the kestrel pool has?")
    new = told(driver.said)[len(before) :]
    assert bool(before) == bool(new) == bool(status_line)
    assert sent[-1][len(before) :] == new, "told as it is sent, not behind the reply"
    if status_line:
        assert "made room above your limit of 1,000 tokens: " in before[0]
        assert [line for line in new if "recalled" in line] == ["aider-gardener: recalled 1 passage: turn 1"]


def test_what_was_recalled_is_told_once_a_question_however_often_aider_asks_it(begin: Begin) -> None:
    driver = begin(history_tokens=1_000, files="aider")
    driver.ask("/ask begin", reply=f"{LONG} The kestrel pool has 17 connections. {LONG}")
    driver.ask(*(f"/ask step {n}" for n in range(6)), reply=LONG)
    failing = EDIT.format(path="app.py", old="no such line", new="x = 1")
    driver.model.replies += [failing, failing, "Fine."]
    driver.said.clear()
    driver.type("write down how many connections you said the kestrel pool has")
    assert len(driver.model.requests) == 10, "asked three times"
    lines = [line for line in driver.said if "recalled" in line]
    assert 0 < len({*lines}) == len(lines)
    notes = [str(m["content"]) for sent in driver.model.requests[-2:] for m in sent if "Quoted" in str(m)]
    assert all("17 connections" in note for note in notes) and len(notes) == 2, "for the order, not the error"


@pytest.mark.parametrize(
    ("model_name", "is_quick", "says"),
    [("claude-sonnet-4-5", True, True), ("claude-sonnet-4-5", False, False), ("gpt-4", True, False)],
)
def test_where_a_provider_caches_only_what_it_is_asked_to_the_line_says_how(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, model_name: str, is_quick: bool, says: bool
) -> None:
    """Not where the cache would mostly be cold: writing it costs more than a prompt without."""
    driver = begin(model_name=model_name)
    monkeypatch.setattr(Usage, "idle_seconds", 1.0 if is_quick else 400.0)
    model, summarizer = driver.coder.main_model, driver.coder.summarizer
    model.max_chat_history_tokens = summarizer.max_tokens = 1_000
    driver.ask(*(f"/ask step {n}" for n in range(6)), reply=LONG)
    line = told(driver.said)[0]
    assert "made room above aider's limit of 1,000 tokens (" in line and ("--cache-prompts" in line) == says


def test_the_line_of_a_prompt_that_was_only_made_is_not_told_of_a_later_one(begin: Begin) -> None:
    driver = begin(history_tokens=1_000, files="aider")
    driver.ask("/ask begin", reply=f"{LONG} The kestrel pool has 17 connections. {LONG}")
    driver.ask(*(f"/ask step {n}" for n in range(6)), reply=LONG)
    asked = {"role": "user", "content": "how many connections did you say the kestrel pool has?"}
    driver.coder.cur_messages = [*driver.coder.cur_messages, asked]
    driver.coder.show_exhausted_error()
    driver.coder.cur_messages = driver.coder.cur_messages[:-1]
    driver.type("/gardener off")
    before = told(driver.said)
    driver.ask("and now?", reply="Nothing.")
    assert told(driver.said) == before


def test_on_a_colour_terminal_the_line_is_dim_and_kept_in_aiders_file() -> None:
    class Host:
        pretty = True

        def __init__(self) -> None:
            self.console, self.kept, self.printed = self, list[Any](), list[Any]()

        def tool_output(self, line: str, log_only: bool) -> None:
            self.kept.append((line, log_only))

        def print(self, text: Any) -> None:
            self.printed.append(text)

    host: Any = Host()
    Terminal(host).dim("one \x1b[2J line")
    assert host.kept == [("one \\x1b[2J line", True)]
    assert (host.printed[0].plain, host.printed[0].style) == ("one \\x1b[2J line", "dim")


def test_what_a_terminals_encoding_does_not_have_is_a_question_mark() -> None:
    host, shown = InputOutput(pretty=False, yes=True), io.TextIOWrapper(io.BytesIO(), "cp1252")
    host.console = Console(file=shown)
    for line in ("2% █░ of 8 → 4", "the next one"):
        Terminal(host).tool_output(line)
    shown.seek(0)
    assert shown.read().splitlines() == ["2% ?? of 8 ? 4", "the next one"]
