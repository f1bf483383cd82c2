"""An archive that another process holds locked, or whose disk is full: for all tests of what waits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from aider_gardener.archive.store import entries, open_store, schema
from aider_gardener.archive.store.lines import FileLines


@pytest.fixture
def locker(tmp_path: Path) -> Iterator[apsw.Connection]:
    """Another process that holds the lock of the archive in the test's directory."""
    open_store(tmp_path).close()
    other = schema.opened(tmp_path / "gardener.db", apsw.SQLITE_OPEN_READWRITE, "")
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()


def fill_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the disk full when the next message is to be written, and no room for lines beside the archive."""
    add, is_full = entries.add, iter([True])

    def full(*given: Any, **more: Any) -> Any:
        if next(is_full, False):
            raise apsw.FullError("the disk is full")
        return add(*given, **more)

    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(entries, "add", full)
    monkeypatch.setattr(FileLines, "begin", no_room)
