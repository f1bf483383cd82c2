"""A chat syncs in a process of its own: now and then, never twice at a time, with the user's environment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest
from shared_archives import Machine

from aider_gardener.archive.postgres import local, sync
from aider_gardener.archive.postgres.local import Share
from aider_gardener.archive.postgres.server import VARIABLE
from aider_gardener.archive.postgres.sync import sync_if_due
from aider_gardener.archive.store import open_store

PROJECT = "/projects/pump"
NAMED = {VARIABLE: "postgresql://ana@db.example/d", "PATH": "/bin"}


class Stage:
    """A shared archive, a clock of the test's, and what was begun."""

    def __init__(self, folder: Path) -> None:
        self.now = 100.0
        self.begun: list[tuple[Sequence[str], Mapping[str, str]]] = []
        self.store = open_store(folder / "archive")
        share = Share(PROJECT, "ana/pump", 1, "server", "ana", True, "machine")
        self.store.database.write(lambda db: local.save_share(db, share))

    def turn_over(self, environ: Mapping[str, str] = NAMED) -> bool:
        return sync_if_due(self.store, PROJECT, environ, clock=lambda: self.now, start=self.start)

    def start(self, given: Sequence[str], environ: Mapping[str, str]) -> None:
        self.begun.append((given, environ))


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    found = Stage(tmp_path)
    with closing(found.store):
        yield found


def test_after_a_turn_a_sync_begins_at_most_once_a_minute_by_all_processes(stage: Stage) -> None:
    assert stage.turn_over() and not stage.turn_over()
    stage.now += 59
    assert not stage.turn_over()
    stage.now += 1
    assert stage.turn_over() and not stage.turn_over()
    stage.now -= 50
    assert stage.turn_over(), "a clock that was put back holds nothing up"


def test_a_sync_that_goes_on_is_not_begun_again(one: Machine) -> None:
    one.share()
    local.note(one.store, one.shared.project, active_at=1.0)
    one.say("one")
    assert one.sync().sent == 1
    assert one.shared.active_at > 1.0, "each batch says that it goes on, to whichever process"


def test_without_a_server_a_share_or_a_file_nothing_begins(stage: Stage) -> None:
    assert not stage.turn_over({})
    assert not sync_if_due(open_store(None), PROJECT, NAMED, start=stage.start)
    stage.store.database.write(lambda db: local.drop(db, PROJECT))
    assert not stage.turn_over() and not stage.begun


def test_it_gets_the_environment_it_was_given_and_nothing_of_the_processs(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "postgresql://thief.example/d")
    stage.turn_over()
    given, environ = stage.begun[0]
    assert environ == NAMED
    assert given[:5] == [sys.executable, "-m", "aider_gardener.cli", "store", "sync"]
    assert given[given.index("--project") + 1] == PROJECT and "--unasked" in given


def test_a_process_that_cannot_begin_or_an_archive_that_cannot_be_read_costs_nothing(stage: Stage) -> None:
    assert not sync_if_due(stage.store, PROJECT, NAMED, start=Mock(side_effect=OSError("no more processes")))
    stage.store.close()
    stage.now += 600
    assert not stage.turn_over() and not stage.begun


def test_nothing_of_the_working_directory_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "planted.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    process = sync.begin([sys.executable, "-m", "planted"], {"PATH": "/bin"})
    assert process.wait(timeout=120) == 1


def test_the_archive_works_without_it_and_it_without_a_library_until_it_is_used() -> None:
    code = (
        "import sys, aider_gardener.archive.store, aider_gardener.archive.archive;"
        " assert not [name for name in sys.modules if 'postgres' in name or name == 'psycopg'];"
        " import aider_gardener.archive.postgres.sync; sys.exit('psycopg' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
