"""Recording: a real aider, run by `gardener record` against a scripted server, and replayed afterwards."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play.jobs import replay_job
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.record import Recorder, SessionFolder
from aider_gardener.replay.session.session import load_folder
from bench.model_server import ModelServer, Script

TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA2cD4"
ROOT = Path(__file__).resolve().parents[3]
EDIT = (
    "calc.py\n```python\n<<<<<<< SEARCH\n    return a - b\n=======\n    return a + b\n>>>>>>> REPLACE\n```\n"
)


def git(repo: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=repo, check=True, capture_output=True)


def run(repo: Path, folder: Path, url: str, *arguments: str, typed: str) -> subprocess.CompletedProcess[str]:
    recorder = ["-m", "aider_gardener.cli", "record", "--yes", "--to", str(folder), "--", "aider"]
    options = "--model gpt-4o --no-pretty --no-fancy-input --yes-always --no-gitignore".split()
    options += "--no-show-release-notes --map-tokens 1024".split()
    return subprocess.run(
        [sys.executable, *recorder, *options, *arguments],
        cwd=repo,
        env={**os.environ, "OPENAI_API_BASE": url, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        input=typed,
    )


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A recording of an edit and, after somebody else changed a file, of a question."""
    place = tmp_path_factory.mktemp("record")
    repo, folder = place / "shop", place / "out" / "calc"
    repo.mkdir()
    (repo / "calc.py").write_text("def add(a, b):\n    return a - b\n", encoding="utf-8")
    (repo / "notes.txt").write_text("old\n", encoding="utf-8")
    (repo / "logo.bin").write_bytes(b"\0\1\2")
    git(repo, "init", "-q")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "start")
    typed = [f"mend add, the token is {TOKEN}", "/run echo new > notes.txt", "/ask what is in the notes?"]
    script = Script([f"Adds now.\n\n{EDIT}", "It holds two lines."], commits=["fix: add adds"])
    with ModelServer(script) as server:
        done = run(repo, folder, server.url, "calc.py", "notes.txt", typed="\n".join(typed))
    return folder, done


def events(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "session.jsonl").read_text("utf-8").splitlines()]


def test_what_happens_is_recorded_in_order(recorded: Any) -> None:
    folder, done = recorded
    assert done.returncode == 0, done.stderr
    rows = events(folder)
    told = ("meta", "user", "reply", "commit", "command", "file")
    kinds = [row["kind"] for row in rows if row["kind"] in told]
    assert kinds == ["meta", "user", "reply", "commit", "user", "command", "file", "user", "reply"]
    assert rows[0]["files"] == ["calc.py", "notes.txt"] and rows[0]["recorded_with"] == "aider-chat 0.86.2"
    changed = next(row for row in rows if row["kind"] == "file")
    assert (changed["turn"], changed["path"], changed["text"]) == (3, "notes.txt", "new\n")


def test_the_tree_at_the_start_is_stored_without_what_is_no_text(recorded: Any) -> None:
    folder, _ = recorded
    stored = {
        path.relative_to(folder / "repo0").as_posix()
        for path in (folder / "repo0").rglob("*")
        if path.is_file()
    }
    assert stored == {"calc.py", "notes.txt"}
    assert "a - b" in (folder / "repo0" / "calc.py").read_text("utf-8")


def test_secrets_are_taken_out_and_counted(recorded: Any) -> None:
    folder, done = recorded
    assert TOKEN not in (folder / "session.jsonl").read_text("utf-8")
    assert "[redacted:" in events(folder)[1]["text"]
    assert re.search(r"gardener: [\d,]+ turns? in .*; 1 secret taken out\.", done.stderr)


def test_only_the_owner_can_read_it(recorded: Any) -> None:
    folder, _ = recorded
    if sys.platform != "win32":
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        assert {stat.S_IMODE(os.stat(p).st_mode) for p in folder.rglob("*") if p.is_file()} == {0o600}


def test_the_recording_is_sound_and_its_replay_sends_the_recorded_prompts(recorded: Any) -> None:
    folder, _ = recorded
    session = load_folder(folder)
    result: ReplayResult = replay_job(Job(session, "stock", texts=True))
    recorded_messages = [event.prompt_messages for event in session.events if event.prompt_messages]
    assert [len(call.prompt) for call in result.calls] == recorded_messages
    assert [call.kind for call in result.calls] == ["main", "weak-commit", "main"]
    assert result.notices == ()
    texts = "\n".join(result.texts.values())
    assert "return a + b" in texts and "new\n" in texts


@pytest.mark.parametrize(("keep_files", "stored"), [(True, ["notes.txt"]), (False, [])])
def test_files_of_the_repository_are_stored_only_with_leave(
    tmp_path: Path, keep_files: bool, stored: list[str]
) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "notes.txt").write_text("mine", encoding="utf-8")
    git(tmp_path / "shop", "init", "-q")
    model = SimpleNamespace(name="gpt-4o")
    coder = SimpleNamespace(
        root=str(tmp_path / "shop"), get_inchat_relative_files=list, abs_read_only_fnames=[], edit_format="diff",
        test_cmd=None, auto_lint=False, main_model=model,
    )  # fmt: skip
    session = SessionFolder(tmp_path / "s", keep_files)
    Recorder(session).begin_turn(coder, "hello")
    assert [path.name for path in (tmp_path / "s").rglob("*") if path.name != "session.jsonl"] == [
        *(["repo0"] if stored else []), *stored
    ]  # fmt: skip


def test_a_fault_of_the_recorder_ends_the_recording_only(tmp_path: Path) -> None:
    session = SessionFolder(tmp_path / "s", keep_files=False)
    session.is_open = True  # begun, but its folder is gone
    recorder = Recorder(session)
    module = SimpleNamespace(run_cmd=lambda command: (0, "out"))
    recorder.after(module, "run_cmd", recorder.ran)
    assert module.run_cmd("ls") == (0, "out") and "FileNotFoundError" in recorder.problem


def test_hooks_are_taken_out_again(tmp_path: Path) -> None:
    from aider import commands
    from aider.coders.base_coder import Coder

    before = (Coder.__dict__["run_one"], commands.run_cmd)
    recorder = Recorder(SessionFolder(tmp_path / "s", keep_files=False))
    recorder.install()
    assert Coder.__dict__["run_one"] is not before[0]
    recorder.uninstall()
    assert (Coder.__dict__["run_one"], commands.run_cmd) == before


def test_a_streamed_reply_is_noted_also_when_it_is_broken_off(tmp_path: Path) -> None:
    session = SessionFolder(tmp_path / "s", keep_files=False)
    session.begin({"files": []}, {})
    recorder = Recorder(session)
    chunks = (
        SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(content=text))]) for text in "abc"
    )
    stream = recorder.listening(chunks, "reply", 4)
    assert [next(stream).choices[0].delta.content, next(stream).choices[0].delta.content] == ["a", "b"]
    stream.close()
    assert load_folder(tmp_path / "s").events[0].text == "ab"


def test_a_result_names_the_model_it_began_with_and_a_restart_goes_back_to_it(tmp_path: Path) -> None:
    rows = [
        {"kind": "meta", "format": 1, "files": []},
        {"kind": "user", "turn": 1, "text": "/model gpt-4.1"},
        {"kind": "user", "turn": 2, "text": "/ask hello?"},
        {"kind": "reply", "turn": 2, "text": "hi"},
        {"kind": "restart", "turn": 2, "files": []},
        {"kind": "user", "turn": 3, "text": "/ask again?"},
        {"kind": "reply", "turn": 3, "text": "yes"},
    ]
    (tmp_path / "repo0").mkdir()
    (tmp_path / "session.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    result = replay_job(Job(load_folder(tmp_path), "none"))
    assert [call.model for call in result.calls] == ["gpt-4.1", "gpt-4o"]
    assert result.provenance.model == "gpt-4o"
