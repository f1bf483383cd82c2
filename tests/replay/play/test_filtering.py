"""A program of one's own before the messages: asked once for the same past, ended, its faults in one line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from aider_gardener.errors import ReplayError, UsageError
from aider_gardener.replay.play.filtering import COMMAND_VARIABLE, PromptFilter
from aider_gardener.replay.play.jobs import Job, replay_job

MINI = Path(__file__).resolve().parents[2] / "data" / "sessions" / "mini"
PROGRAM = """
import json, sys
for line in sys.stdin:
    past = json.loads(line)["past"]
    print(json.dumps({"past": [None if "greeting" in m["content"] else dict(m, content="SHORT") for m in past]}), flush=True)
"""
PAST = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "the greeting"}]


def program(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "program.py"
    path.write_text(text, "utf-8")
    return [sys.executable, str(path)]


def test_the_program_says_what_is_sent(tmp_path: Path) -> None:
    made = PromptFilter(program(tmp_path, PROGRAM))
    assert made.rewrite(PAST, []) == [{"role": "user", "content": "SHORT"}, None]
    process = made._process
    assert made.rewrite(PAST, []) == [{"role": "user", "content": "SHORT"}, None]
    made.stop()
    assert process is not None and process.returncode == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise SystemExit(3)", "gave no answer that can be read"),
        ("print('hello', flush=True); input()", "gave no answer that can be read"),
        ("print('{\"past\": []}', flush=True); input()", "another number of messages than 2"),
    ],
)
def test_a_program_that_does_otherwise_is_named(tmp_path: Path, text: str, said: str) -> None:
    made = PromptFilter(program(tmp_path, text))
    with pytest.raises(ReplayError, match=said):
        made.rewrite(PAST, [])
    made.stop()


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(ReplayError, match="no-such-program cannot be started"):
        PromptFilter(["no-such-program"]).rewrite(PAST, [])


def test_a_replay_through_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=f"set {COMMAND_VARIABLE} to its command line"):
        replay_job(Job(MINI, "filter"))
    command = program(tmp_path, PROGRAM)
    monkeypatch.setenv(COMMAND_VARIABLE, " ".join(f'"{part}"' for part in command))
    result = replay_job(Job(MINI, "filter"))
    past = [result.texts[sha] for sha, _tokens, part in result.main_calls()[-1].prompt if part == "done"]
    assert past and set(past) == {"SHORT"}
