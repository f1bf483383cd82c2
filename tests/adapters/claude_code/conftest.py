"""What the tests of the hooks share: an archive in memory, a project, and Claude Code in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aider_gardener.archive.store import Store, open_store
from bench.claude_transcript import Host


@pytest.fixture
def store() -> Iterator[Store]:
    store = open_store(None)
    yield store
    store.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def host(project: Path) -> Host:
    return Host(project / "transcript.jsonl")
