"""Kills, a full disk and several processes at once, where SQLite cannot write: nothing acknowledged is lost
and nothing doubled."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from made_search import rows_in
from made_writers import NO_SQLITE, WRITER, acknowledged_in, check, started

from aider_gardener.archive.store import lines, open_store

KILLS = int(os.environ.get("GARDENER_TEST_KILLS", "5"))
PER_WRITER = 40
posix = pytest.mark.skipif(os.name != "posix", reason="limits and modes are POSIX's")

TAKER = (
    NO_SQLITE
    + """
print("begins", flush=True)
store = open_store(Path(sys.argv[1]))
store.close()
"""
)
FULL_DISK = (
    NO_SQLITE
    + """
import resource
database._open = refused
store = open_store(Path(sys.argv[1]))
store.open_session("s", project="p", started_at=1.0)
def put(seq):
    text = f"message {seq} " + "x" * 3_000
    new = Entry(id=entry_id("user", text), session="s", turn=1, seq=seq, role="user", content=text,
                source=Source(), cls=ContentClass.LOG, segments=(), tokens=1)
    assert store.original(store.add(new, chunks=[(0, len(text))]).id) == text
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
for seq in range(6):
    put(seq)
assert "kept in memory only" in store.notice, store.notice
def size():
    return sum(path.stat().st_size for path in Path(sys.argv[1]).glob("*.jsonl"))
assert size() <= 10_000, size()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
put(6)
assert size() > 20_000
store.close()
"""
)


def test_every_message_survives_kill_9_of_the_writer_and_of_who_takes_it_in(tmp_path: Path) -> None:
    chaos = random.Random(int(os.environ.get("GARDENER_TEST_SEED", "20")))
    archive, runs = tmp_path / "archive", {}
    for run in range(KILLS):
        name, printed = f"run{run}", tmp_path / f"run{run}.txt"
        child = started(WRITER, archive, name, 10_000, "in lines", out=printed)
        stop_after = chaos.randrange(1, 60)
        while len(acknowledged_in(printed)) < stop_after and child.poll() is None:
            time.sleep(0.002)
        time.sleep(chaos.random() * 0.01)
        child.kill()
        _, error = child.communicate(timeout=120)
        runs[name] = acknowledged_in(printed)
        assert runs[name], error
        taker = started(TAKER, archive)
        assert taker.stdout is not None and taker.stdout.readline()
        time.sleep(chaos.random() * 0.15)
        taker.kill()
        taker.communicate(timeout=120)
    store = open_store(archive)
    for name, acknowledged in runs.items():
        check(store, name, acknowledged)
    assert rows_in(store, "sessions") == KILLS
    assert store.verify() == [] and lines.names(archive) == []
    store.close()


def test_several_processes_write_lines_at_once_while_others_take_them_in(tmp_path: Path) -> None:
    writers = {f"w{n}": started(WRITER, tmp_path, f"w{n}", PER_WRITER, "in lines") for n in range(2)}
    takers = [started(TAKER, tmp_path) for _ in range(2)]
    outputs = {name: child.communicate(timeout=120) for name, child in writers.items()}
    assert [child.returncode for child in writers.values()] == [0, 0], outputs
    errors = [taker.communicate(timeout=120)[1] for taker in takers]
    assert [taker.returncode for taker in takers] == [0, 0], errors
    store = open_store(tmp_path)
    for name, (printed, _) in outputs.items():
        check(store, name, [line.split() for line in printed.splitlines()])
    assert store.verify() == [] and lines.names(tmp_path) == []
    store.close()


@posix
def test_a_full_disk_loses_nothing_as_long_as_the_process_goes_on(tmp_path: Path) -> None:
    child = started(FULL_DISK, tmp_path)
    _, error = child.communicate(timeout=120)
    assert child.returncode == 0, error
    store = open_store(tmp_path)
    assert [entry.seq for entry in store.session_entries("s")] == list(range(7))
    assert all(len(entry.content) > 3_000 for entry in store.session_entries("s"))
    store.close()


@posix
def test_a_directory_that_cannot_be_written_is_memory_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read-only mount refuses root too; here it is played by the call that opens a file to write."""
    opened = os.open

    def read_only(path: object, flags: int, *rest: int, **more: int) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR) and str(path).startswith(str(tmp_path)):
            raise OSError(30, "Read-only file system", path)
        return opened(path, flags, *rest, **more)  # type: ignore[arg-type]  # reason: handed on as it came

    (tmp_path / ".gitignore").write_text("*\n")
    monkeypatch.setattr(os, "open", read_only)
    store = open_store(tmp_path)
    assert not store.persistent and "in memory only" in store.notice and "Read-only" in store.notice
    store.close()
    assert sorted(os.listdir(tmp_path)) == [".gitignore"]
