"""An archive that another process holds locked: the fixture of all tests of what waits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from aider_gardener.archive.store import open_store, schema


@pytest.fixture
def locker(tmp_path: Path) -> Iterator[apsw.Connection]:
    """Another process that holds the lock of the archive in the test's directory."""
    open_store(tmp_path).close()
    other = schema.opened(tmp_path / "gardener.db", apsw.SQLITE_OPEN_READWRITE, "")
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()
