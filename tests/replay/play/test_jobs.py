"""Each job has a process of its own: with another environment, killed when it is not wanted, missed when it dies."""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing import forkserver
from pathlib import Path

import pytest

from aider_gardener.errors import ReplayError
from aider_gardener.replay.play.jobs import replay_all, replay_job
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.history import load_session

MINI = load_session(Path(__file__).resolve().parents[2] / "data" / "sessions" / "mini")


def module(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> tuple[str, ...]:
    """A module that a job imports in its process."""
    (folder / "in_the_process.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    return ("in_the_process",)


def test_a_process_that_dies_is_one_line_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = module(tmp_path, monkeypatch, "import os\nprint('out of memory', flush=True)\nos._exit(9)\n")
    with pytest.raises(ReplayError, match=r"mini: the replay's process ended early \(out of memory\)"):
        replay_job(Job(MINI, "none", imports=dying))


def test_no_key_no_setting_and_no_home_of_the_users_reach_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_secret")
    monkeypatch.setenv("AIDER_MODEL", "o3")
    before = dict(os.environ)
    told = tmp_path / "environ.txt"
    text = f"import os, pathlib, sys\npathlib.Path({str(told)!r}).write_text(repr(dict(os.environ)) + str(sys.flags.hash_randomization))\n"
    forkserver._forkserver._stop()  # type: ignore[attr-defined]  # reason: another test's has seeds of its own
    replay_job(Job(MINI, "none", imports=module(tmp_path, monkeypatch, text)))
    seen = told.read_text("utf-8")
    assert "ghp_secret" not in seen and "AIDER_MODEL" not in seen and repr(os.environ["HOME"]) not in seen
    assert seen.endswith("0"), "sets have the same order in every run"
    assert dict(os.environ) == before


def test_what_reaches_out_of_the_machine_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "import aider_gardener.replay.play.runner as runner, socket\n"
        "class Reaching(runner.Runner):\n"
        "    def run(self):\n"
        "        socket.create_connection(('192.0.2.1', 80), 1)\n"
        "runner.Runner = Reaching\n"
    )
    with pytest.raises(ReplayError, match="a replay uses no network"):
        replay_job(Job(MINI, "none", imports=module(tmp_path, monkeypatch, text)))


def test_closing_the_replays_ends_their_processes() -> None:
    class Enough(Exception):
        pass

    def enough() -> None:
        raise Enough

    with pytest.raises(Enough):
        replay_all([Job(MINI, "none"), Job(MINI, "stock")], enough)
    assert multiprocessing.active_children() == []
