"""A chat syncs in a process of its own: now and then, never twice at a time, with the user's environment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from aider_gardener.archive.shared import background
from aider_gardener.archive.shared.background import BackgroundSync
from aider_gardener.archive.shared.server import VARIABLE
from aider_gardener.archive.store import open_store, shares
from aider_gardener.archive.store.shares import Share
from aider_gardener.archive.store.sqlite import SqliteStore

NAMED = {VARIABLE: "postgresql://ana@db.example/d", "PATH": "/bin"}


class Process:
    """A process that runs until it is told to end."""

    def __init__(self) -> None:
        self.ended = False

    def poll(self) -> int | None:
        return 0 if self.ended else None


class Stage:
    """A background with a clock and processes of the test's."""

    def __init__(self, folder: Path, environ: Mapping[str, str] = NAMED, *, shared: bool = True) -> None:
        self.now = 100.0
        self.begun: list[tuple[Sequence[str], Mapping[str, str]]] = []
        self.process = Process()
        store = open_store(folder / "archive", user=folder / "user")
        assert isinstance(store, SqliteStore)
        if shared:
            share = Share("/projects/pump", "ana/pump", 1, "server", "ana", True, "machine")
            store.database.write(lambda db: shares.keep(db, share))
        self.store = store
        self.background = BackgroundSync(
            store, "/projects/pump", environ, clock=lambda: self.now, start=self.start
        )  # fmt: skip

    def start(self, given: Sequence[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
        self.begun.append((given, environ))
        return self.process  # type: ignore[return-value]


def test_after_a_turn_a_sync_begins_at_most_once_a_minute(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.process.ended = True
    assert stage.background.turn_over()
    stage.now += 59
    assert not stage.background.turn_over()
    stage.now += 1
    assert stage.background.turn_over()
    stage.store.close()


def test_processes_of_one_archive_begin_one_a_minute_together(tmp_path: Path) -> None:
    first = Stage(tmp_path)
    second = BackgroundSync(
        first.store, "/projects/pump", NAMED, clock=lambda: first.now, start=first.start
    )  # fmt: skip
    assert first.background.turn_over() and not second.turn_over()
    first.now += 60
    assert second.turn_over()
    assert len(first.begun) == 2
    first.store.close()


def test_a_sync_that_goes_on_is_not_begun_again_by_others(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.now += 600
    stage.store.database.write(lambda db: shares.note_active(db, "/projects/pump", stage.now - 30))
    assert not stage.background.turn_over()
    stage.now += 60
    assert stage.background.turn_over()
    stage.store.close()


def test_a_clock_that_was_put_back_holds_nothing_up(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.process.ended = True
    assert stage.background.turn_over()
    stage.now -= 50
    assert stage.background.turn_over()
    stage.store.close()


def test_never_two_at_a_time(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.background.turn_over()
    stage.now += 600
    assert not stage.background.turn_over()
    stage.process.ended = True
    assert stage.background.turn_over()
    stage.store.close()


@pytest.mark.parametrize(("environ", "shared"), [({}, True), (NAMED, False)])
def test_without_a_server_or_a_share_nothing_begins(
    tmp_path: Path, environ: Mapping[str, str], shared: bool
) -> None:
    stage = Stage(tmp_path, environ, shared=shared)
    assert not stage.background.turn_over() and not stage.begun
    stage.store.close()


def test_it_gets_the_environment_it_was_given_and_nothing_of_the_processs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path)
    monkeypatch.setenv(VARIABLE, "postgresql://thief.example/d")
    stage.background.turn_over()
    given, environ = stage.begun[0]
    assert environ == NAMED
    assert given[:5] == [sys.executable, "-m", "aider_gardener.cli", "store", "sync"]
    assert given[given.index("--project") + 1] == "/projects/pump" and "--unasked" in given
    stage.store.close()


def test_a_process_that_cannot_begin_costs_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path)

    def fails(*_: object) -> subprocess.Popen[bytes]:
        raise OSError("no more processes")

    stage.background._start = fails
    assert not stage.background.turn_over()
    stage.store.close()


def test_an_archive_that_cannot_be_read_costs_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.store.close()
    assert not stage.background.turn_over()


def test_a_store_in_memory_is_never_shared() -> None:
    assert not BackgroundSync(open_store(None), "/projects/pump", NAMED).turn_over()


def test_nothing_of_the_working_directory_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "planted.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    process = background.begin([sys.executable, "-m", "planted"], {"PATH": "/bin"})
    assert process.wait(timeout=30) == 1
