"""Whether a project is shared is known without the server, and only of an archive that is a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from aider_gardener.archive.postgres import local
from aider_gardener.archive.store import open_store, shares
from aider_gardener.archive.store.location import prepare_directory
from aider_gardener.archive.store.opening import open_lines
from aider_gardener.archive.postgres.local import Share
from aider_gardener.archive.store.sqlite import SqliteStore


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    found = open_store(tmp_path)
    assert isinstance(found, SqliteStore)
    return found


def test_a_shared_project_is_known_by_its_path(store: SqliteStore) -> None:
    kept = Share("/p", "ana/p", 1, "s", "ana", True, "m")
    store.database.write(lambda db: local.keep(db, kept))
    assert share_in(store, "/p") == kept and share_in(store, "/q") is None
    store.close()


def test_an_archive_that_is_no_file_shares_nothing(tmp_path: Path) -> None:
    lines = open_lines(prepare_directory(tmp_path / "lines"), clock=lambda: 1.0)
    assert share_in(open_store(None), "/p") is None and share_in(lines, "/p") is None
    lines.close()


def test_asking_loads_no_library_of_the_servers() -> None:
    code = "import sys, aider_gardener.archive.postgres; sys.exit('psycopg' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
