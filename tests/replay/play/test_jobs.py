"""Each job has a process of its own: with another environment, killed when it is not wanted, missed when it dies."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing import forkserver
from pathlib import Path

import pytest
from made_replays import made_result, made_session

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play import jobs as running
from aider_gardener.replay.play.jobs import OnTurn, replay_all, replay_job
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.history import load_session

DATA = Path(__file__).resolve().parents[2] / "data" / "sessions"
MINI = load_session(DATA / "mini")


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


def test_where_none_can_be_forked_one_begins_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("AF_UNIX path too long")

    monkeypatch.setattr(forkserver, "connect_to_new_process", refuse)
    dying = module(tmp_path, monkeypatch, "import os\nprint('begun', flush=True)\nos._exit(9)\n")
    with pytest.raises(ReplayError, match=r"ended early \(begun\)"):
        replay_job(Job(MINI, "none", imports=dying))


def test_replays_are_forked_off_a_process_that_has_loaded_the_host_whatever_else_is_imported() -> None:
    """There is one such process for all that a program forks, and who names last what it holds decides."""
    importlib.import_module("bench.attacks.kills")
    importlib.import_module("upstream_tests")
    server = forkserver._forkserver  # type: ignore[attr-defined]  # reason: the library does not tell otherwise
    assert "aider_gardener.replay.play.loaded" in server._preload_modules


def test_no_key_no_setting_and_no_home_of_the_users_reach_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_secret")
    monkeypatch.setenv("AIDER_MODEL", "o3")
    before = dict(os.environ)
    told = tmp_path / "environ.txt"
    text = f"import os, pathlib, sys\npathlib.Path({str(told)!r}).write_text(repr(dict(os.environ)) + str(sys.flags.hash_randomization))\nos._exit(0)\n"
    server = forkserver.ForkServer()  # another test's has seeds of its own; nothing is loaded in this one
    monkeypatch.setattr(forkserver, "connect_to_new_process", server.connect_to_new_process)
    with pytest.raises(ReplayError, match="ended early"):
        replay_job(Job(MINI, "none", imports=module(tmp_path, monkeypatch, text)))
    server._stop()  # type: ignore[attr-defined]  # reason: the library ends it only with the process
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


def test_a_replay_is_ended_within_a_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    text = (
        "import aider_gardener.replay.play.runner as runner, time\n"
        "class Long(runner.Runner):\n"
        "    def run(self):\n"
        "        if self.job.variant == 'none':\n"
        "            raise runner.ReplayError('left its recording')\n"
        "        time.sleep(60)\n"
        "runner.Runner = Long\n"
    )
    began, imports = time.monotonic(), module(tmp_path, monkeypatch, text)
    with pytest.raises(ReplayError, match="left its recording"):
        replay_all([Job(MINI, name, imports=imports) for name in ("none", "stock")])
    assert time.monotonic() - began < 50


def played(job: Job, on_turn: OnTurn, *_ended: object) -> ReplayResult:
    """Stands in for the replay of one turn."""
    on_turn()
    return replace(made_result(session=job.session.name, variant=job.variant, turns=1))


@pytest.fixture
def two_chats(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Job]]:
    """Jobs of two chats of a turn, begun one after the other; `replayed` stands in for their replay."""
    monkeypatch.setattr("os.cpu_count", lambda: 1)

    def made(replayed: object) -> list[Job]:
        monkeypatch.setattr(running, "replay_job", replayed)
        chats = [made_session(("?", "x"), name=name) for name in ("shop", "bank")]
        return [Job(chat, variant) for chat in chats for variant in ("stock", "gardener")]

    return made


def test_results_come_in_the_order_asked_for_and_gardeners_are_begun_first(
    two_chats: Callable[..., list[Job]],
) -> None:
    turns: list[None] = []
    done: list[tuple[str, str]] = []
    report = replay_all(
        two_chats(played), lambda: turns.append(None), lambda one: done.append((one.session, one.variant))
    )
    order = [(name, variant) for name in ("shop", "bank") for variant in ("stock", "gardener")]
    assert [(one.session, one.variant) for one in report] == order
    assert sorted(done) == sorted(order) and len(turns) == 4
    assert done[0] == ("shop", "gardener")


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ReplayError("left its recording")])
def test_a_failure_and_ctrl_c_are_raised(
    two_chats: Callable[..., list[Job]], problem: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    begun: list[Job] = []

    def failing(job: Job, *_more: object) -> ReplayResult:
        begun.append(job)
        if job is not begun[0]:
            time.sleep(0.5)  # the others are at work when the first fails
        raise problem

    with pytest.raises((KeyboardInterrupt, ReplayError)):
        replay_all(two_chats(failing), lambda: None, lambda _result: None)
    assert len(begun) < 4, "those not begun are dropped"


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="a Windows console has no process groups")
def test_a_ctrl_c_while_the_host_is_loaded_ends_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "networkx.py").write_text("import time\nprint('loading', flush=True)\ntime.sleep(20)\n")
    (script := tmp_path / "replays.py").write_text(
        "import sys\nfrom aider_gardener.replay.play import jobs\n"
        "from aider_gardener.replay.session.history import load_session\n"
        "if __name__ == '__main__':\n"
        "    try:\n"
        f"        jobs.replay_job(jobs.Job(load_session({str(DATA / 'mini')!r}), 'none'))\n"
        "    except KeyboardInterrupt:\n"
        "        sys.exit('Aborted!')\n",
        encoding="utf-8",
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    begun = subprocess.Popen(
        [sys.executable, str(script)],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a terminal tells all processes of a group
    )
    try:
        assert begun.stdout is not None and begun.stdout.readline() == "loading\n"
        os.killpg(begun.pid, signal.SIGINT)
        assert begun.wait(15) == 1
    finally:
        os.killpg(begun.pid, signal.SIGKILL)
    assert begun.communicate()[1] == "Aborted!\n"
