"""What older chats of a project bring into a new one: by recall if switched on, by a note at its start."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from aider_gardener.adapters.claude_code.hooks import Hooks
from aider_gardener.messages import SourceKind
from aider_gardener.settings import Settings
from bench.claude_transcript import Host

from .conftest import Begin, Driver, MakeDriver, ScriptedModel
from .test_entry_commands import say
from .test_wrappers import FACT, GOODBYE

QUESTION = "/ask which port did the staging box kestrel have?"
LOCAL = "ollama/llama3"

EARLIER = r", in an earlier chat of \d{{4}}-\d\d-\d\d, in {}\]\n> "


def told(drive: MakeDriver, **options: Any) -> Driver:
    """A chat in which the fact was said."""
    driver = drive(**options)
    driver.ask(f"/ask {FACT} please remember")
    return driver


def test_recall_reaches_older_sessions_only_if_switched_on(
    drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened(history_tokens=1_000)
    told(drive)
    drive().ask(QUESTION)
    assert "48213" not in model.last_prompt()
    gardened(history_tokens=1_000, recall_sessions=True)
    drive().ask(QUESTION)
    assert "48213" in model.last_prompt()
    assert "in an earlier chat" in model.last_prompt()


def test_what_this_chat_cleared_does_not_come_back_through_an_older_one(
    drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened(recall_sessions=True)
    told(drive)
    second = told(drive)
    second.type("/clear")
    second.ask(QUESTION)
    assert "48213" not in model.last_prompt()


@pytest.mark.parametrize(
    ("first", "second", "reached"),
    [(LOCAL, "gpt-4o", False), (LOCAL, LOCAL, True), ("gpt-4o", "claude-3-5-sonnet-20241022", True)],
)
def test_a_local_chat_never_goes_to_a_remote_model_unasked(
    first: str, second: str, reached: bool, drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened(history_tokens=2_000, recall_sessions=True)
    told(drive, model_name=first)
    driver = drive(model_name=second)
    driver.ask(QUESTION)
    assert ("48213" in model.last_prompt()) is reached
    assert "48213" in say(driver, "/recall staging box port")


def test_what_listens_on_this_machine_may_be_a_proxy_and_gets_its_own_back_alone(
    drive: MakeDriver, gardened: Any, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    gardened(recall_sessions=True, resume=True)
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:8080/v1")
    told(drive)
    monkeypatch.delenv("OPENAI_API_BASE")
    drive().ask(QUESTION)
    assert "48213" not in model.last_prompt()
    monkeypatch.setenv("OPENAI_API_BASE", "http://localhost:8080/v1")
    drive().ask(QUESTION)
    assert "48213" in model.last_prompt()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:4000")
    proxied = drive(model_name="claude-3-5-sonnet-20241022")
    proxied.ask(QUESTION)
    assert "48213" not in model.last_prompt()
    assert [line for line in proxied.said if "withheld from this one" in line and "lm_studio/…" in line]


def test_resume_begins_with_the_last_chat(begin: Begin, drive: MakeDriver, model: ScriptedModel) -> None:
    first = begin(resume=True)
    first.ask(f"/ask {FACT} please remember", reply="Kestrel-17 is noted for later.")
    model.replies.append(GOODBYE)
    first.type("say goodbye instead")
    first.type("/run python3 -c 'import absent_module_x'")
    second = drive()
    line = [said for said in second.said if "Last time" in said]
    assert len(line) == 1
    assert "2 prompts, 1 open error" in line[0]
    note = second.coder.done_messages[0]["content"]
    for words in ("please remember", "→ Kestrel-17 is noted", "Files edited last:\n> app.py", "Still failing",
                  "absent_module_x"):  # fmt: skip
        assert words in note
    assert second.coder.gardener.state.count(note) <= 600
    second.ask("/ask hm")
    assert note in model.last_prompt()
    kinds = [entry.source.kind for entry in second.coder.gardener.state.chat.entries.values()]
    assert kinds[0] is SourceKind.STUB
    assert kinds[2] is SourceKind.TYPED


def test_what_was_settled_in_claude_code_meanwhile_comes_with_its_hosts_name(
    begin: Begin, tmp_path: Path
) -> None:
    driver = begin(recall_sessions=True)
    driver.ask("/ask the heron nests on pier 4, remember it")
    archive = driver.coder.gardener.state.archive
    host = Host(tmp_path / "transcript.jsonl")
    host.ask(f"{FACT} please remember")
    other = Hooks(archive.store, archive.project, settings=Settings(recall_sessions=True))
    other.ingest(host.payload("Stop"))
    driver.ask(QUESTION)
    assert re.search(EARLIER.format("Claude Code"), driver.model.last_prompt())
    assert "48213" in driver.model.last_prompt()
    assert "in Claude Code" in say(driver, "/recall staging box port")
    host.compact()
    prompt = host.payload("UserPromptSubmit", prompt="On which pier does the heron nest?")
    answer = other.answer("UserPromptSubmit", prompt)["hookSpecificOutput"]["additionalContext"]
    assert re.search(EARLIER.format("aider") + "the heron nests on pier 4, remember it", answer)


def test_a_chat_of_another_agent_is_not_gone_on_with_here(
    begin: Begin, model: ScriptedModel, tmp_path: Path, driver: Driver
) -> None:
    driver.ask("/ask the heron nests on pier 4, remember it")
    archive = driver.coder.gardener.state.archive
    host = Host(tmp_path / "transcript.jsonl", session="c1a0de", records=10_000)
    host.ask(FACT)
    Hooks(archive.store, archive.project, settings=Settings()).ingest(host.payload("Stop"))
    other = begin(resume="c1a0")
    other.ask(QUESTION)
    assert "48213" not in model.last_prompt()
    assert "session c1a0 was held in Claude Code, which goes on with it: /recall finds" in "".join(other.said)
