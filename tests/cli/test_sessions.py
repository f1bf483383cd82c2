"""`gardener sessions` lists a project's chats, prints one and forgets one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from adapters.aider.conftest import EDIT, Driver, MakeDriver
from click.testing import CliRunner, Result

from aider_gardener import uninstall
from aider_gardener.cli.root import main

MARKER = "quetzal-5521"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


@pytest.fixture
def chats(drive: MakeDriver, gardened: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """A chat with an edit and one that was compacted, both ended; their ids, the older first."""
    monkeypatch.setenv("COLUMNS", "80")
    gardened(history_tokens=600)
    first = drive()
    first.model.replies.append(EDIT.format(path="app.py", old="    return 'hello'", new="    return 'bye'"))
    first.type("say bye instead, and mind that greet() is called from three other places in the tree")
    first.type("/run echo one; echo two")
    second = drive()
    second.ask("/ask tell me", reply=f"The {MARKER} lives in the attic. " + "More words follow it. " * 30)
    for number in range(4):
        second.ask(f"/ask question {number}", reply=f"Answer {number}. " + "words of prose. " * 60)
    assert second.coder.gardener.state.plans
    ids = (session_of(first), session_of(second))
    uninstall()
    return ids


def session_of(driver: Driver) -> str:
    return str(driver.coder.gardener.state.archive.session)


def test_the_chats_are_listed_newest_first_within_eighty_columns(chats: tuple[str, str]) -> None:
    lines = run("sessions").stdout.splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["when", "turns", "sent", "cost", "files", "id", "first", "prompt"]
    assert chats[1][:4] in lines[1] and lines[1].endswith("tell me")
    assert chats[0][:4] in lines[2] and "say bye instead, and" in lines[2] and lines[2].endswith("…")
    assert run("sessions", "--limit", "1").stdout.splitlines()[2:] == ["1 older: --limit 2"]


def test_the_list_as_json_holds_everything(chats: tuple[str, str]) -> None:
    rows = json.loads(run("sessions", "--json").stdout)
    assert [(row["id"], row["number"]) for row in rows] == [(chats[1], 1), (chats[0], 2)]
    assert rows[1]["edited"] == rows[1]["in_chat"] == ["app.py"] and rows[1]["turns"] == 2
    assert rows[1]["first_prompt"].endswith("places in the tree") and rows[1]["model"] == "gpt-4o"
    assert rows[0]["sums"]["calls"] == 5 and rows[0]["sums"]["cost"] > 0


def test_one_chat_is_named_by_a_beginning_a_number_or_last(chats: tuple[str, str]) -> None:
    for given in (chats[0], chats[0][:6], "2"):
        assert "say bye instead" in run("sessions", "show", given).stdout
    assert MARKER in run("sessions", "show", "last").stdout
    wrong = run("sessions", "show", "zzzz")
    assert (
        wrong.exit_code == 2 and wrong.stderr.count("\n") == 1 and "`gardener sessions` lists" in wrong.stderr
    )


def test_a_chat_is_printed_turn_by_turn_with_what_the_model_saw_less_of(chats: tuple[str, str]) -> None:
    text = run("sessions", "show", chats[1]).stdout
    assert text.splitlines()[0].startswith(f"Session {chats[1][:4]}, ")
    assert "── turn 5 ·" in text and "[you]\n/ask" not in text and "[you]\nquestion 3" in text
    assert "(In prompts: " in text and " tokens)" in text
    assert "[output: echo one; echo two]" in run("sessions", "show", "2").stdout
    whole = json.loads(run("sessions", "show", chats[1], "--json").stdout)
    assert whole["chat"]["id"] == chats[1] and len(whole["turns"]) == 5


def test_a_chat_is_forgotten_once_the_user_agreed(chats: tuple[str, str], repository: Path) -> None:
    refused = run("forget", "--session", "last")
    assert refused.exit_code == 2 and "--yes" in refused.stderr
    assert json.loads(run("forget", "--session", "1", "--yes", "--json").stdout)["session"] == chats[1]
    files = (repository / ".aider.gardener").iterdir()
    assert not any(MARKER.encode() in file.read_bytes() for file in files)
    assert [row["id"] for row in json.loads(run("sessions", "--json").stdout)] == [chats[0]]
    run("forget", "--session", "last", "--yes")
    assert "holds no chat of" in run("sessions").stdout and json.loads(run("sessions", "--json").stdout) == []
