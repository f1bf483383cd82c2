"""Which sessions live: those that a running process holds open, told apart from a reused number."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import apsw
import psutil
import pytest

from aider_gardener.archive.retention import DAY
from aider_gardener.archive.store import open_store, schema, sessions

OLD = time.time() - 60 * DAY


def held(directory: Path) -> None:
    """An archive with an old session that no process holds."""
    store = open_store(directory)
    store.open_session("old", project="p", started_at=OLD)
    store.close()


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    held(tmp_path)
    code = (
        "import os, sys, pathlib\n"
        "from aider_gardener.archive.store import open_store\n"
        "store = open_store(pathlib.Path(sys.argv[1]))\n"
        "store.open_session('old', project='p', started_at=1.0)\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
        "os._exit(9)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None and child.stdout.readline() == b"held\n"
    store = open_store(tmp_path)
    assert "old" in store.live_sessions() and store.open_elsewhere() == {"old"}
    store.open_session("own", project="p", started_at=1.0)
    assert store.open_elsewhere() == {"old"}
    store.forget_session("old")
    assert "old" in {info.id for info in store.sessions("p")}, "what it adds from now on is of its project"
    child.communicate()
    assert store.open_elsewhere() == frozenset()
    assert "old" not in store.live_sessions()


def test_another_machines_process_and_a_reused_number(tmp_path: Path) -> None:
    held(tmp_path)
    db = schema.opened(tmp_path / "gardener.db", apsw.SQLITE_OPEN_READWRITE, "")
    db.execute("INSERT INTO holders VALUES ('old', 'elsewhere', 1, '', ?)", (time.time() - 2 * DAY,))
    store = open_store(tmp_path)
    assert "old" in store.live_sessions()
    db.execute("UPDATE holders SET at = ?", (time.time() - 40 * DAY,))
    assert "old" not in store.live_sessions()
    started = sessions.start_of(os.getpid())
    assert sessions.is_running(os.getpid(), started) and not sessions.is_running(-1, "")
    assert not sessions.is_running(os.getpid(), str(float(started) - 2 * sessions.CLOCK_SECONDS))
    assert sessions.is_running(os.getpid(), "")


@pytest.mark.skipif(sys.platform == "win32", reason="no process stays there when it is killed")
def test_a_process_that_was_killed_runs_no_more_before_its_parent_asks_after_it() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = sessions.start_of(child.pid)
    assert sessions.is_running(child.pid, started)
    child.kill()
    until = time.monotonic() + 30
    while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE and time.monotonic() < until:
        time.sleep(0.01)
    assert psutil.pid_exists(child.pid), "its number stays taken"
    assert not sessions.is_running(child.pid, started)
    child.communicate()
