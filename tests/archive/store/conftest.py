"""Where SQLite opens nothing or is locked, and other processes beside this one, for the tests of this room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest
from locked_archives import locker
from made_lines import NoSqlite

from aider_gardener.archive.store import Store, database, open_store, repair, sessions

__all__ = ["locker"]


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here no other process is making the file that looks damaged, and no file system comes back by itself:
    0.15 s are long enough to be sure. No hole of an archive has more than a few hundred rows."""
    monkeypatch.setattr(repair, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(repair, "MOST_FAILURES", repair.ROWS_TRIED_ONE_BY_ONE + 100)
    monkeypatch.setattr(database, "FALTERING_SECONDS", 0.1)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An archive in the folder of the test."""
    return open_store(tmp_path)


@pytest.fixture
def no_sqlite(monkeypatch: pytest.MonkeyPatch) -> Iterator[NoSqlite]:
    """SQLite opens no file, from the start; called with False it does again."""
    opened, failing = database._open, [True]

    def attempt(path: Path | None, key: str = "") -> apsw.Connection:
        if path is not None and failing[0]:
            raise apsw.CantOpenError("unable to open database file")
        return opened(path, key)

    monkeypatch.setattr(database, "_open", attempt)
    monkeypatch.setattr(database, "_open_to_read", attempt)
    yield lambda fails: failing.__setitem__(0, fails)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes this process another one, which runs until it is another again; 0 is the first."""
    own = sessions.this_process()
    running = {own.pid}

    def become(number: int) -> None:
        owner = sessions.Owner(own.host, own.pid + 100_000_000 * number, "")
        running.add(owner.pid)
        monkeypatch.setattr(sessions, "this_process", lambda: owner)

    monkeypatch.setattr(sessions, "is_running", lambda pid, started: pid in running)
    return become
