"""Faults of the archive in the middle of a chat: the chat goes on, and what was stored stays.

`GARDENER_TEST_LOCK_SECONDS` sets how long a lock is held.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.recall.backlog import Backlog
from aider_gardener.settings import Settings

LOCK_SECONDS = float(os.environ.get("GARDENER_TEST_LOCK_SECONDS", "0.4"))


def words(text: str) -> int:
    return len(text.split())


class Session:
    """A chat over an archive on disk, driven turn by turn as an adapter drives it."""

    def __init__(self, directory: Path, *, clock: Callable[[], float] = time.time, name: str = "s") -> None:
        store = open_store(directory)
        self.store = store
        backlog = Backlog(store, load=None, background=False)
        archive = Archive(store, session=name, project="p", count=words, clock=clock, backlog=backlog)
        self.gardener = Gardener(Settings(history_tokens=600), archive)
        self.done: list[dict[str, Any]] = []
        self.notices: list[str] = []
        self.turns = 0

    def turn(self) -> None:
        """One exchange: archive it, compact if due, recall for the question, look after the rest."""
        number, gardener = self.turns, self.gardener
        self.turns += 1
        gardener.enter_turn()
        question = f"what about the widget {number} and setting{number - 3 if number > 3 else 0}?"
        cur = [{"role": "user", "content": question}]
        gardener.sync(self.done, cur)
        gardener.recall_note(question, "")
        if gardener.compact_if_due() is not None:
            self.done, cur = list(gardener.state.chat.done), list(gardener.state.chat.cur)
        reason = f"Because of reason {number} it is so. " * 25
        reply = f"The widget {number} needs setting{number} = {number * 7}. {reason}"
        self.done = [*self.done, *cur, {"role": "assistant", "content": reply}]
        gardener.sync(self.done, [])
        gardener.recall(f"widget {number}")
        gardener.leave_turn()
        notice = gardener.take_notice()
        assert "\n" not in notice
        self.notices += [notice] if notice else []

    def play(self, turns: int) -> None:
        for _ in range(turns):
            self.turn()

    def said(self) -> list[str]:
        return [entry.content for entry in self.gardener.state.chat.entries.values()]

    def close(self) -> None:
        self.store.close()


def stored(directory: Path, name: str = "s") -> list[str]:
    """What the archive holds of a session, after a check that it is sound."""
    store = open_store(directory)
    assert store.persistent and store.verify() == []
    found = [entry.content for entry in store.session_entries(name)]
    store.close()
    return found


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Session]:
    found = Session(tmp_path)
    found.play(6)
    yield found
    found.close()


def test_a_healthy_chat_compacts_recalls_and_says_nothing(chat: Session, tmp_path: Path) -> None:
    chat.play(6)
    assert chat.gardener.state.plans and chat.notices == [] and chat.gardener.recall("setting2 reason 2")
    chat.close()
    assert stored(tmp_path) == chat.said() and len(chat.said()) == 24


def test_a_full_disk(chat: Session, tmp_path: Path) -> None:
    before = len(chat.said())
    file = chat.store.database.live
    file.pragma("max_page_count", file.pragma("page_count"))
    chat.play(6)
    assert len(chat.notices) == 1 and "disk is full" in chat.notices[0]
    assert len(chat.said()) == 24 and chat.gardener.state.plans
    assert len(chat.store.session_entries("s")) == 24, "what waits is known"
    file.pragma("max_page_count", 1_000_000)
    chat.play(2)
    assert "stored what waited" in chat.notices[-1] and len(chat.notices) == 2 and before < 24
    chat.close()
    assert stored(tmp_path) == chat.said() and len(chat.said()) == 28


@pytest.mark.skipif(sys.platform == "win32", reason="a limit on the size of files is POSIX's")
def test_a_limit_that_the_system_itself_sets(tmp_path: Path) -> None:
    """Writes that the operating system refuses, in a process of its own."""
    code = (
        "import pathlib, resource, signal, sys\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from test_chat_faults import Session\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "chat = Session(pathlib.Path(sys.argv[1]))\n"
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
    command = [sys.executable, "-c", code, str(tmp_path), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert len(stored(tmp_path)) == 22


def test_a_file_system_that_turns_read_only(chat: Session, tmp_path: Path) -> None:
    file = chat.store.database.live
    file.pragma("query_only", True)
    chat.play(5)
    assert len(chat.notices) == 1 and "cannot be written" in chat.notices[0] and len(chat.said()) == 22
    assert chat.gardener.recall("setting2 reason 2"), "what was stored before can be read"
    file.pragma("query_only", False)
    chat.play(1)
    chat.close()
    assert stored(tmp_path) == chat.said()


@pytest.mark.parametrize("kind", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_lock_of_another_process(
    chat: Session, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if LOCK_SECONDS < 10:
        monkeypatch.setattr("aider_gardener.archive.store.database.BUSY_MILLISECONDS", 30)
        monkeypatch.setattr("aider_gardener.archive.store.sqlite.PATIENCE_MILLISECONDS", 10)
        chat.store.database.set_patience()
    other = apsw.Connection(str(tmp_path / "gardener.db"))
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
def test_a_page_that_is_overwritten_in_mid_chat(chat: Session, tmp_path: Path, table: str) -> None:
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
