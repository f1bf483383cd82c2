"""What breaks an archive from outside: the chat must go on, and nothing stored before may be lost."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import apsw
import pytest
from locked_archives import locker
from made_lines import put

from aider_gardener.archive.store import open_store

__all__ = ["locker"]

WRITERS = int(os.environ.get("GARDENER_TEST_WRITERS", "4"))
PER_WRITER = 40

WRITER = """
import sys
from pathlib import Path
from aider_gardener.messages import ContentClass, Entry, Source, entry_id
from aider_gardener.archive.store import open_store

directory, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = open_store(directory)
assert store.persistent, store.notice
store.open_session(name, project="p", started_at=1.0)
for seq in range(count):
    text = f"{name} message {seq} " + f"payload {seq} é\\n" * (seq % 40)
    new = Entry(id=entry_id("user", text), session=name, turn=seq, seq=seq, role="user", content=text,
                source=Source(), cls=ContentClass.LOG, segments=(), tokens=1)
    stored = store.add(new, chunks=[(0, len(text))])
    store.set_state(name, "last", str(seq))
    print(seq, stored.id, flush=True)
"""


def writer(directory: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(directory), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def message(name: str, seq: int) -> str:
    return f"{name} message {seq} " + f"payload {seq} é\n" * (seq % 40)


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    children = [writer(tmp_path, f"w{n}", PER_WRITER) for n in range(WRITERS)]
    outputs = [child.communicate(timeout=120) for child in children]
    assert [child.returncode for child in children] == [0] * WRITERS, outputs
    store = open_store(tmp_path)
    for n in range(WRITERS):
        contents = [e.content for e in store.session_entries(f"w{n}")]
        assert contents == [message(f"w{n}", seq) for seq in range(PER_WRITER)]
    assert store.verify() == []
    store.close()


def test_one_session_written_by_two_processes_loses_nothing(tmp_path: Path) -> None:
    one, two = open_store(tmp_path), open_store(tmp_path)
    for n in range(20):
        put(one, f"from one {n}", seq=n)
        put(two, f"from two {n}", seq=n)
    assert len(one.session_entries("s1")) == 40
    assert len({e.seq for e in two.session_entries("s1")}) == 40
    one.close()
    two.close()


def test_a_file_that_is_no_database_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "gardener.db").write_text("my notes " * 1_000)
    store = open_store(tmp_path, clock=lambda: 0.0)
    assert store.persistent and "gardener.db.damaged-19700101-000000" in store.notice
    assert (tmp_path / "gardener.db.damaged-19700101-000000").read_text() == "my notes " * 1_000
    store.close()


def test_somebody_elses_database_is_left_alone(tmp_path: Path) -> None:
    db = apsw.Connection(str(tmp_path / "gardener.db"))
    db.execute("CREATE TABLE theirs (a)")
    db.close()
    before = (tmp_path / "gardener.db").read_bytes()
    store = open_store(tmp_path)
    assert not store.persistent and "left alone" in store.notice
    store.close()
    assert (tmp_path / "gardener.db").read_bytes() == before


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
    child = writer(tmp_path, "w", 2)
    time.sleep(1.0)
    assert child.poll() is None
    locker.execute("COMMIT")
    out, error = child.communicate(timeout=120)
    assert child.returncode == 0 and len(out.splitlines()) == 2, error
