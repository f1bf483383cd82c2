"""Faults of the archive in the middle of a chat: the chat goes on, and what was stored stays.

`GARDENER_TEST_LOCK_SECONDS` sets how long a lock is held.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from aider_gardener.archive.store import schema
from bench.attacks.chat import Played, stored

LOCK_SECONDS = float(os.environ.get("GARDENER_TEST_LOCK_SECONDS", "0.4"))


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Played]:
    found = Played(tmp_path)
    found.play(6)
    yield found
    found.close()


def test_a_healthy_chat_compacts_recalls_and_says_nothing(chat: Played, tmp_path: Path) -> None:
    chat.play(6)
    assert chat.gardener.state.plans and chat.notices == [] and chat.gardener.recall("setting_2 reason 2")
    chat.close()
    assert stored(tmp_path) == chat.said() and len(chat.said()) == 24


@pytest.mark.parametrize("fault", ["disk is full", "cannot be written"])
def test_a_full_disk_and_a_file_system_that_turns_read_only(chat: Played, tmp_path: Path, fault: str) -> None:
    file = chat.store.database.live
    if fault == "disk is full":
        file.pragma("max_page_count", file.pragma("page_count"))
    else:
        file.pragma("query_only", True)
    chat.play(6)
    assert len(chat.notices) == 1 and fault in chat.notices[0]
    assert len(chat.said()) == 24 and chat.gardener.state.plans
    assert len(chat.store.session_entries("s")) == 24, "what waits is known"
    assert chat.gardener.recall("setting_2 reason 2"), "what was stored before can be read"
    file.pragma("max_page_count", 1_000_000)
    file.pragma("query_only", False)
    chat.play(2)
    assert "stored what waited" in chat.notices[-1] and len(chat.notices) == 2
    chat.close()
    assert stored(tmp_path) == chat.said() and len(chat.said()) == 28


@pytest.mark.skipif(sys.platform == "win32", reason="a limit on the size of files is POSIX's")
def test_a_limit_that_the_system_itself_sets(tmp_path: Path) -> None:
    """Writes that the operating system refuses, in a process of its own."""
    code = (
        "import pathlib, resource, signal, sys\n"
        "from bench.attacks.chat import Played\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "chat = Played(pathlib.Path(sys.argv[1]))\n"
        "chat.play(5)\n"
        "size = max(p.stat().st_size for p in pathlib.Path(sys.argv[1]).iterdir())\n"
        "hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))\n"
        "chat.play(5)\n"
        "assert len(chat.notices) >= 1 and 'messages wait in lines' in chat.notices[0], chat.notices\n"
        "assert len(chat.said()) == 20\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))\n"
        "chat.play(1)\n"
        "chat.close()\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert len(stored(tmp_path)) == 22


@pytest.mark.parametrize("kind", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_lock_of_another_process(
    chat: Played, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if LOCK_SECONDS < 10:
        monkeypatch.setattr("aider_gardener.archive.store.database.BUSY_MILLISECONDS", 30)
        monkeypatch.setattr("aider_gardener.archive.store.sqlite.PATIENCE_MILLISECONDS", 10)
        chat.store.database.set_patience()
    other = schema.opened(tmp_path / "gardener.db", apsw.SQLITE_OPEN_READWRITE, "")
    other.execute(f"BEGIN {kind}")
    other.execute("DELETE FROM tombstones")
    began = time.monotonic()
    while time.monotonic() - began < LOCK_SECONDS:
        chat.turn()
        time.sleep(0.05)
    other.execute("COMMIT")
    other.close()
    chat.play(1)
    assert "locked by another process" in chat.notices[0] and "stored what waited" in chat.notices[-1]
    assert len(chat.notices) == 2
    chat.close()
    assert stored(tmp_path) == chat.said()


@pytest.mark.parametrize(
    "table", ["originals", "bodies", "occurrences", "events", "renditions", "word_index_data"]
)
def test_a_page_that_is_overwritten_in_mid_chat(chat: Played, tmp_path: Path, table: str) -> None:
    chat.store.database.live.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    pages = [
        row[0]
        for row in chat.store.database.live.execute("SELECT pageno FROM dbstat WHERE name = ?", (table,))
    ]
    before = chat.said()
    with open(tmp_path / "gardener.db", "r+b") as handle:
        handle.seek((pages[-1] - 1) * 4_096)
        handle.write(b"\xa5" * 4_096)
    chat.store.database.live.release_memory()
    chat.play(6)
    chat.store.verify()
    chat.play(1)
    assert "damaged" in chat.notices[0], "the damage was met"
    assert len(chat.said()) == len(before) + 14 and chat.gardener.state.plans
    chat.close()
    assert stored(tmp_path) == chat.said(), "what the damaged page held is known to the chat and stored again"
