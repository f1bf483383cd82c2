"""`gardener import`: what it says of what it took in, and of what it did not."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner

from aider_gardener.archive.store import Store, database
from aider_gardener.cli.pipe import progress_bar
from aider_gardener.cli.root import main
from aider_gardener.replay.imports import HISTORY
from aider_gardener.terminal import guard
from bench.attacks.terminal import terminal

ANOTHER = "\n# aider chat started at 2026-01-03 10:00:00\n\n#### how?\n\nThus.\n"
CHATS = Path(__file__).resolve().parents[1] / "data" / "chats"


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")


def run(*args: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, ["import", *args])
    assert done.exit_code == code, done.output
    return done.output


def test_what_was_taken_in_and_what_was_not_is_told(tmp_path: Path) -> None:
    shutil.copytree(CHATS, tmp_path / "chats")
    (tmp_path / "chats" / "rows.jsonl").write_text("{}\n", encoding="utf-8")
    said = run(str(tmp_path / "chats"))
    assert "3 chats read (Claude Code 2, Codex 1): 50 new messages" in said
    assert "Held in another folder: 3 of these" in said
    assert "Not kept: thinking 9\n" in said and "passed over: event_msg item_completed 22" in said
    assert "rows.jsonl (no transcript of Claude Code or Codex and no history of aider)" in said
    assert "0 new messages; of 3 chats nothing was new\n" in run(str(tmp_path / "chats"))
    found = CliRunner().invoke(main, ["recall", "which port", "never", "8080", "--json"])
    assert any("Never use port 8080." in row["text"] for row in json.loads(found.output))


def test_what_another_host_wrote_itself_has_its_name() -> None:
    run(str(next(CHATS.glob("rollout-*.jsonl"))))
    largest = CliRunner().invoke(main, ["pressure"]).output
    assert "Codex, prose" in largest and "aider" not in largest
    assert "OK. Codex makes room itself.\nNothing to do." in largest and "room is made above" not in largest
    stored = next(line.split()[4] for line in largest.splitlines() if "Codex, prose" in line)
    why = json.loads(CliRunner().invoke(main, ["why", stored, "--json"]).output)
    assert why["source"] == "Codex"


def test_a_part_of_a_session_and_an_unfinished_line_are_told(tmp_path: Path) -> None:
    (place := tmp_path / "chats").mkdir()
    rows = [{"type": "user", "sessionId": "s", "message": {"content": f"fact {n}"}} for n in range(4)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    call = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "make"}}
    lines += json.dumps({"type": "assistant", "sessionId": "s", "message": {"content": [call]}}) + "\n"
    (place / "whole.jsonl").write_text("\ufeff" + lines + '{"type": "user", "mess', encoding="utf-8")
    (place / "part.jsonl").write_text(lines[:100] + "\n", encoding="utf-8")
    (place / "wide.jsonl").write_text(lines, encoding="utf-16")
    said = run(str(place))
    assert "1 chat read (Claude Code 1): 4 new messages" in said
    assert "Not kept: result that the transcript does not hold 1, unfinished line 1\n" in said
    assert "fact 0" in CliRunner().invoke(main, ["sessions"]).output, (
        "a mark at the file's beginning is no text"
    )
    assert f"{place / 'part.jsonl'} ({place / 'whole.jsonl'} has more of the same session)" in said
    assert f"{place / 'wide.jsonl'} (UTF-16, or no text; bring it to UTF-8 first" in said


def test_what_stands_in_a_history_before_a_first_prompt_is_counted(tmp_path: Path) -> None:
    head = "# aider chat started at 2026-01-01 10:00:00\n\n"
    history = tmp_path / ".aider.chat.history.md"
    history.write_text(f"a note\n\n{head}> Aider v0.86.2\n{head}#### hi\n\nhello\n", encoding="utf-8")
    said = run(str(history))
    assert "2 new messages\n" in said and "Not kept: chat without a prompt 1\n" in said
    row = {"type": "user", "sessionId": "s", "message": {"content": "fact"}}
    (tmp_path / "one.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert "1 chat read (Claude Code 1): 1 new message\n" in run(str(tmp_path / "one.jsonl"))


def test_a_terminal_shows_how_far_it_is() -> None:
    with terminal() as screen:
        guard()
        with progress_bar(2, "Importing") as bar:
            bar.update(1)
    assert "Importing" in screen.said() and "\\x1b" not in screen.said(), "its codes are obeyed, not shown"


def test_what_could_not_be_kept_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "persistent", False)
    assert "gardener: nothing was imported" in run(str(CHATS), code=1)


def test_a_history_named_from_its_own_folder_is_of_this_project(tmp_path: Path) -> None:
    history = "# aider chat started at 2026-11-20 10:00:00\n\n#### what is up\n\nNothing.\n"
    (tmp_path / "project" / ".aider.chat.history.md").write_text(history, encoding="utf-8")
    assert "another folder" not in run(".aider.chat.history.md")


def test_a_history_may_have_any_name() -> None:
    Path("chat.log").write_text(ANOTHER, encoding="utf-8")
    assert "1 chat read (aider 1): 2 new messages" in run("chat.log")


def test_a_chat_of_another_folder_counts_once_however_many_files_have_of_it(tmp_path: Path) -> None:
    row = {"type": "user", "sessionId": "s", "cwd": "/srv/other", "message": {"content": "fact"}}
    for number in range(3):
        (tmp_path / f"{number}.jsonl").write_text(f"{json.dumps(row)}\n" * (number + 1), encoding="utf-8")
    said = run(str(tmp_path))
    assert "1 chat read" in said and "Held in another folder: 1 of these" in said


def test_without_a_path_and_without_chats_it_says_what_to_name() -> None:
    assert "No chat of this project was found; name a file or a folder" in run()
    assert not Path(".aider.gardener").exists()


def test_a_path_that_holds_no_chats_is_an_error_and_no_archive_is_made(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n", encoding="utf-8")
    assert "notes.md: no prompt was typed in it" in run(str(tmp_path / "notes.md"), code=2)
    (tmp_path / "folder").mkdir()
    assert "holds no chats; name a .jsonl" in run(str(tmp_path / "folder"), code=2)
    assert not (tmp_path / "project" / ".aider.gardener").exists()


def test_a_file_of_the_project_that_cannot_be_read_is_named_where_it_is_the_only_one() -> None:
    Path(HISTORY).write_bytes(b"SQLite format 3\0")
    told = run()
    assert told.startswith("No chat of this project was found") and f"{HISTORY} (holds binary data" in told


def test_two_imports_at_once_wait_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = tmp_path / ".aider.chat.history.md"
    history.write_text("# aider chat started at 2026-01-02 10:00:00\n\n#### why?\n\nSo.\n", encoding="utf-8")
    words = ["import", str(history), "--store", str(tmp_path / "store")]
    assert CliRunner().invoke(main, words).exit_code == 0
    history.write_text(history.read_text(encoding="utf-8") + ANOTHER, encoding="utf-8")
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 100)
    monkeypatch.setattr(database, "NETWORK_BUSY_MILLISECONDS", 100)
    other = apsw.Connection(str(tmp_path / "store" / "gardener.db"))
    other.execute("BEGIN IMMEDIATE")
    ends = threading.Timer(0.5, lambda: other.execute("ROLLBACK"))
    ends.start()
    done = CliRunner().invoke(main, words)
    ends.join()
    other.close()
    assert done.exit_code == 0 and "2 new messages" in done.stdout
