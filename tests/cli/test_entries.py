"""`gardener pressure|restore|why|forget` over the archive that a real chat has left."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from adapters.aider.conftest import Driver, MakeDriver
from made_entries import entry
from made_lines import bytes_of

from aider_gardener import uninstall
from aider_gardener.archive.store import open_store
from bench.attacks.terminal import record_of

from .conftest import five_turns, gardener

MARKER = "quetzal-5521"


@pytest.fixture
def left(drive: MakeDriver, gardened: Any) -> tuple[Driver, str]:
    """A chat that was compacted and has ended, and the id of one of its entries."""
    gardened(history_tokens=600)
    driver = five_turns(drive(), f"The {MARKER} lives in the attic.")
    entries = driver.coder.gardener.state.chat.entries.values()
    return driver, str([entry.id for entry in entries if MARKER in entry.content][-1])


def test_pressure_knows_the_marks_of_a_chat_of_commands_alone(drive: MakeDriver, gardened: Any) -> None:
    gardened()
    driver = drive()
    driver.type("/run echo one")
    state = driver.coder.gardener.state
    uninstall()
    shown = json.loads(gardener("pressure", "--json").stdout)
    marks = (shown["used"] + shown["available"], shown["history_budget"], shown["model"])
    assert marks == (state.frame.window, state.budget, state.frame.model) and state.frame.window


def test_restore_prints_the_original_and_nothing_else(left: tuple[Driver, str]) -> None:
    driver, stored_id = left
    entries = driver.coder.gardener.state.chat.entries.values()
    text = next(entry.content for entry in entries if entry.id == stored_id)
    uninstall()
    assert gardener("restore", stored_id[:7]).stdout == text
    assert json.loads(gardener("restore", stored_id, "--json").stdout)["text"] == text


def test_restore_gives_a_pipe_every_byte_and_a_terminal_what_it_does_not_obey(tmp_path: Path) -> None:
    text = "a\x1b[2J\x9b\u202e\r\n\x1b[31mred\ud800"
    store = open_store(tmp_path)
    store.open_session("s", project=str(tmp_path), started_at=1.0)
    store.add(new := entry(0, "user", text), chunks=[])
    store.close()
    words = ["restore", new.id, "--store", str(tmp_path)]
    assert gardener(*words).stdout_bytes == text.encode("utf-8", "surrogatepass")
    assert record_of(words) == "a\\x1b[2J\\x9b\\u202e\nred\ufffd\ufffd\ufffd\n"


def test_why_tells_the_changes(left: tuple[Driver, str]) -> None:
    _, stored_id = left
    uninstall()
    value = json.loads(gardener("why", stored_id, "--json").stdout)
    assert value["class"] == "prose"
    assert value["changes"][0]["before"] == "full"
    assert re.match(r"history of [\d,]+ tokens above its mark of [\d,]+$", value["changes"][0]["cause"])
    assert value["standing"] == value["changes"][-1]["after"]
    text = " ".join(gardener("why", stored_id).stdout.split())
    assert "whole → " in text
    assert "above its mark of" in " ".join(text.split())


def test_forget_deletes_for_good_when_it_may(left: tuple[Driver, str], repository: Path) -> None:
    _, stored_id = left
    uninstall()
    refused = gardener("forget", stored_id)
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    assert MARKER.encode() in bytes_of(repository / ".aider.gardener")
    done = gardener("forget", stored_id, "--yes", "--json")
    assert json.loads(done.stdout) == {"forgotten": 1, "ids": [stored_id], "session": ""}
    assert MARKER.encode() not in bytes_of(repository / ".aider.gardener")
    assert gardener("restore", stored_id).exit_code == 2
    assert "`gardener import` would" in gardener("forget", "--session", "last", "--yes").stdout


def test_last_is_the_newest_message_of_the_last_chat(left: tuple[Driver, str]) -> None:
    driver, _stored_id = left
    newest = driver.coder.gardener.state.chat.all_entries()[-1].id
    uninstall()
    assert json.loads(gardener("why", "last", "--json").stdout)["entry_id"] == newest
    assert json.loads(gardener("restore", "last", "--json").stdout)["id"] == newest
    assert json.loads(gardener("forget", "last", "--yes", "--json").stdout)["ids"][0] == newest


@pytest.mark.parametrize("command", ["restore", "why", "forget"])
def test_an_id_that_is_no_utf8_is_none(archive: Path, command: str) -> None:
    done = gardener(command, "\udcff", "--store", str(archive))
    assert done.exit_code == 2 and "no entry has the id" in done.stderr


def test_an_original_is_restored_from_an_archive_that_cannot_be_written(
    left: tuple[Driver, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    uninstall()
    monkeypatch.setattr("aider_gardener.archive.store.open_store", lambda *_a, **_b: pytest.fail("written"))
    assert MARKER in gardener("restore", left[1]).stdout


def test_a_home_that_nobody_has_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIDER_GARDENER_STORE", "~nobody-here/archive")
    done = gardener("status")
    assert done.exit_code == 2 and "is in a home that is not known here" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["forget", "{}", "--yes"],
        ["restore", "{}"],
        ["forget", "--session", "{}", "--yes"],
        ["recall", "quokka", "--class", "{}"],
        ["sessions", "show", "{}"],
        ["{}"],
    ],
    ids=" ".join,
)
def test_a_long_wrong_word_is_refused_in_a_line_that_is_read(words: list[str], archive: Path) -> None:
    given = [word.format("quokka" * 9_000) for word in words]
    done = gardener(*given, *(["--store", str(archive)] if len(words) > 1 else []))
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and len(done.stderr) < 600
    of_system = gardener("recall", "quokka", "--store", "quokka" * 9_000).stderr
    assert of_system.startswith("gardener: /") and len(of_system) < 600
    short = gardener(*(word.format("zz") for word in words), "--store", str(archive)).stderr
    assert done.stderr.split()[-3:] == short.split()[-3:], "what to do is told"
