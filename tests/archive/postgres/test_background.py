"""A chat syncs in a process of its own: now and then, never twice at a time, with the user's environment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from aider_gardener.archive import postgres
from aider_gardener.archive.postgres import BackgroundSync, local
from aider_gardener.archive.postgres.local import Share
from aider_gardener.archive.postgres.server import VARIABLE
from aider_gardener.archive.store import open_store

PROJECT = "/projects/pump"
NAMED = {VARIABLE: "postgresql://ana@db.example/d", "PATH": "/bin"}


class Process:
    """A process that runs until it is told to end."""

    ended = False

    def poll(self) -> int | None:
        return 0 if self.ended else None


class Stage:
    """A background with a clock and processes of the test's."""

    def __init__(self, folder: Path) -> None:
        self.now = 100.0
        self.begun: list[tuple[Sequence[str], Mapping[str, str]]] = []
        self.process = Process()
        store = open_store(folder / "archive")
        self.store = store
        self.share()
        self.background = self.another()

    def share(self) -> None:
        share = Share(PROJECT, "ana/pump", 1, "server", "ana", True, "machine")
        self.store.database.write(lambda db: local.keep(db, share))

    def another(self, environ: Mapping[str, str] = NAMED) -> BackgroundSync:
        return BackgroundSync(self.store, PROJECT, environ, clock=lambda: self.now, start=self.start)

    def start(self, given: Sequence[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
        self.begun.append((given, environ))
        return self.process  # type: ignore[return-value]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    found = Stage(tmp_path)
    yield found
    found.store.close()


def test_after_a_turn_a_sync_begins_at_most_once_a_minute_by_all_processes(stage: Stage) -> None:
    stage.process.ended = True
    other = stage.another()
    assert stage.background.turn_over() and not other.turn_over()
    stage.now += 59
    assert not stage.background.turn_over()
    stage.now += 1
    assert other.turn_over() and not stage.background.turn_over()
    stage.now -= 50
    assert stage.background.turn_over(), "a clock that was put back holds nothing up"


def test_a_sync_that_goes_on_is_not_begun_again(stage: Stage) -> None:
    assert stage.background.turn_over()
    stage.now += 600
    assert not stage.background.turn_over(), "its process runs"
    stage.process.ended = True
    assert stage.background.turn_over()


def test_without_a_server_a_share_or_a_file_nothing_begins(stage: Stage) -> None:
    assert not stage.another({}).turn_over()
    assert not BackgroundSync(open_store(None), PROJECT, NAMED).turn_over()
    stage.store.database.write(lambda db: local.drop(db, PROJECT))
    assert not stage.background.turn_over() and not stage.begun


def test_it_gets_the_environment_it_was_given_and_nothing_of_the_processs(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "postgresql://thief.example/d")
    stage.background.turn_over()
    given, environ = stage.begun[0]
    assert environ == NAMED
    assert given[:5] == [sys.executable, "-m", "aider_gardener.cli", "store", "sync"]
    assert given[given.index("--project") + 1] == PROJECT and "--unasked" in given


def test_a_process_that_cannot_begin_or_an_archive_that_cannot_be_read_costs_nothing(stage: Stage) -> None:
    def fails(*_: object) -> subprocess.Popen[bytes]:
        raise OSError("no more processes")

    stage.background._start = fails
    assert not stage.background.turn_over()
    stage.store.close()
    stage.now += 600
    assert not stage.another().turn_over() and not stage.begun


def test_nothing_of_the_working_directory_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "planted.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    process = postgres.begin([sys.executable, "-m", "planted"], {"PATH": "/bin"})
    assert process.wait(timeout=120) == 1
