"""What breaks an archive from outside: the chat must go on, and nothing stored before may be lost."""

from __future__ import annotations

import os
import time
from pathlib import Path

import apsw
import pytest
from locked_archives import locker
from made_lines import put
from made_writers import WRITER, check, started

from aider_gardener.archive.store import open_store

__all__ = ["locker"]

WRITERS = int(os.environ.get("GARDENER_TEST_WRITERS", "4"))
PER_WRITER = 40


@pytest.mark.parametrize(("how", "count"), [([], PER_WRITER), (["on a network"], 12)], ids=["", "network"])
def test_several_processes_write_at_once(tmp_path: Path, how: list[str], count: int) -> None:
    names = [f"w{n}" for n in range(WRITERS)]
    children = [started(WRITER, tmp_path, name, count, *how) for name in names]
    outputs = [child.communicate(timeout=120) for child in children]
    assert [child.returncode for child in children] == [0] * WRITERS, outputs
    store = open_store(tmp_path)
    for name, (printed, _) in zip(names, outputs, strict=True):
        check(store, name, [line.split() for line in printed.splitlines()])
        assert len(store.session_entries(name)) == count
    assert store.verify() == []
    store.close()


@pytest.mark.parametrize("blocked", ["directory", "parent", "database"])
def test_places_that_cannot_be_written(tmp_path: Path, blocked: str) -> None:
    """A file where a directory belongs (and the other way round) stops root too, unlike modes."""
    directory = tmp_path / "a" / "b"
    if blocked == "parent":
        (tmp_path / "a").write_text("a file")
    elif blocked == "directory":
        (tmp_path / "a").mkdir()
        directory.write_text("a file")
    else:
        (directory / "gardener.db").mkdir(parents=True)
    store = open_store(directory)
    stored = put(store, "the chat goes on")
    assert not store.persistent and store.original(stored.id) == "the chat goes on"
    assert "in memory" in store.notice and "\n" not in store.notice
    store.close()


def test_a_lock_of_another_process_is_waited_for(tmp_path: Path, locker: apsw.Connection) -> None:
    child = started(WRITER, tmp_path, "w", 2)
    time.sleep(1.0)
    assert child.poll() is None
    locker.execute("COMMIT")
    out, error = child.communicate(timeout=120)
    assert child.returncode == 0 and len(out.splitlines()) == 2, error
