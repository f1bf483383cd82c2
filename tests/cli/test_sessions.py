"""`gardener sessions` lists a project's chats, prints one and forgets one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from adapters.aider.conftest import EDIT, Driver, MakeDriver
from rich.cells import cell_len

from aider_gardener import uninstall
from aider_gardener.cli.sessions import chats_table, transcript_lines
from aider_gardener.gardener.past_chats import PastChat, PastMessage
from aider_gardener.gardener.state import ChatSums
from aider_gardener.tables import as_text

from .conftest import five_turns, gardener

MARKER = "quetzal-5521"


@pytest.fixture
def chats(drive: MakeDriver, gardened: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """A chat with an edit and one that was compacted, both ended; their ids, the older first."""
    monkeypatch.setenv("COLUMNS", "80")
    gardened(history_tokens=600)
    first = drive()
    first.model.replies.append(EDIT.format(path="app.py", old="    return 'hello'", new="    return 'bye'"))
    first.type("say bye instead, and mind that greet() is called from three other places in the tree")
    first.type("/run echo one; echo two")
    second = five_turns(drive(), f"The {MARKER} lives in the attic.")
    ids = (session_of(first), session_of(second))
    uninstall()
    return ids


def session_of(driver: Driver) -> str:
    return str(driver.coder.gardener.state.archive.session)


def test_the_chats_are_listed_newest_first_within_eighty_columns(chats: tuple[str, str]) -> None:
    lines = gardener("sessions").stdout.splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["when", "turns", "sent", "cost", "files", "id", "first", "prompt"]
    assert chats[1][:4] in lines[1] and lines[1].endswith("tell me the port")
    assert chats[0][:4] in lines[2] and "say bye instead, and" in lines[2] and lines[2].endswith("…")
    assert gardener("sessions", "--limit", "1").stdout.splitlines()[2:] == ["1 older: --limit 2"]


def test_the_list_as_json_holds_everything(chats: tuple[str, str]) -> None:
    rows = json.loads(gardener("sessions", "--json").stdout)
    assert [(row["id"], row["number"]) for row in rows] == [(chats[1], 1), (chats[0], 2)]
    assert rows[1]["edited"] == rows[1]["in_chat"] == ["app.py"] and rows[1]["turns"] == 2
    assert rows[1]["first_prompt"].endswith("places in the tree") and rows[1]["model"] == "gpt-4o"
    assert rows[0]["sums"]["calls"] == 5 and rows[0]["sums"]["cost"] > 0


def test_one_chat_is_named_by_a_beginning_a_number_or_last(chats: tuple[str, str]) -> None:
    for given in (chats[0], chats[0][:6], "2"):
        assert "say bye instead" in gardener("sessions", "show", given).stdout
    assert MARKER in gardener("sessions", "show", "last").stdout
    wrong = gardener("sessions", "show", "zzzz")
    assert (
        wrong.exit_code == 2 and wrong.stderr.count("\n") == 1 and "`gardener sessions` lists" in wrong.stderr
    )


def test_a_chat_is_printed_turn_by_turn(chats: tuple[str, str]) -> None:
    text = gardener("sessions", "show", chats[1]).stdout
    assert text.splitlines()[0].startswith(f"Session {chats[1][:4]}, ")
    assert "── turn 5 ·" in text and "[user]\n/ask" not in text and "[user]\nquestion 3" in text
    assert "[shell: echo one; echo two]" in gardener("sessions", "show", "2").stdout
    whole = json.loads(gardener("sessions", "show", chats[1], "--json").stdout)
    assert whole["chat"]["id"] == chats[1] and len(whole["turns"]) == 5


# How they look

NOW = 1_780_000_000.0
SUMS = ChatSums(prompt_tokens=86_700, cost=1.234)


def chat(prompt: str, **changes: object) -> PastChat:
    known = {
        "number": 1, "id": "3fa29c0d", "short": "3fa2", "started_at": NOW - 900, "last_at": NOW, "turns": 12,
        "first_prompt": prompt, "model": "gpt-4o", "sums": SUMS, "in_chat": ("a.py",), "edited": ("a.py", "b.py"),
    }  # fmt: skip
    return PastChat(**{**known, **changes})  # type: ignore[arg-type]


def said(text: str, speaker: str = "shell", **changes: object) -> PastMessage:
    known = {"id": "g1", "speaker": speaker, "detail": "", "text": text, "tokens": 9, "at": NOW}
    known |= {"pinned": False, "cleared": False}
    return PastMessage(**{**known, **changes})  # type: ignore[arg-type]


def lines_of(*rows: PastMessage, full: bool = False) -> list[str]:
    return list(transcript_lines(chat("x"), {1: rows}, full=full))


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize(
    "prompt", ["a short one", "many words of a prompt " * 20, "修复连接池" * 40, "two\nlines"]
)
def test_a_list_keeps_to_the_width(prompt: str, columns: int) -> None:
    head, line = as_text(chats_table([chat(prompt)]), width=columns).splitlines()
    assert cell_len(head) <= columns and cell_len(line) <= columns
    assert "12" in line and "86.7k" in line and "$1.23" in line and "3fa2" in line and "\n" not in line
    assert line.split()[6] == "2"
    assert ("…" in line) == (cell_len(prompt) > 100 or cell_len(prompt) > columns)


def test_of_long_outputs_both_ends_are_shown_unless_all_is_asked_for() -> None:
    long = "\n".join(f"line {n}" for n in range(100))
    short = lines_of(said(long))
    assert "… 60 lines more: --full, or gardener restore g1" in short
    assert "line 19" in short and "line 20" not in short and "line 99" in short
    assert "line 50" in lines_of(said(long), full=True) and "line 50" in lines_of(said(long, "user"))


def test_what_was_cleared_is_told_in_a_line() -> None:
    one = said("words", cleared=True)
    two = said("more")
    found = list(transcript_lines(chat("x"), {1: [one], 2: [two]}, full=False))
    assert sum("What stands above was cleared" in line for line in found) == 1
    assert found[1:4] == [
        "12 turns, 86.7k tokens sent, $1.23",
        "In the chat at its end: a.py",
        "Edited: a.py, b.py",
    ]


def test_chats_without_git_are_one_project_wherever_their_files_are(
    drive: MakeDriver, gardened: Any, repository: Path
) -> None:
    (repository / "src").mkdir()
    (repository / "src" / "job.py").write_text("pass\n", encoding="utf-8")
    for name in ("src/job.py", "app.py"):
        gardened()
        drive([name], use_git=False).ask(f"/ask what is in {name}?")
        uninstall()
    rows = json.loads(gardener("sessions", "--json").stdout)
    assert [row["first_prompt"] for row in rows] == ["what is in app.py?", "what is in src/job.py?"]
