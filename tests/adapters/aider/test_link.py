"""Bad surroundings: one clear line, and aider still starts and answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.options import Origins
from aider_gardener.archive.postgres import sync
from aider_gardener.archive.postgres.server import VARIABLE

from .conftest import Begin


def test_without_git_the_archive_is_at_user_level(begin: Begin, repository: Path) -> None:
    subprocess.run(["git", "worktree", "prune"], cwd=repository, check=True)
    driver = begin(use_git=False)
    driver.ask("/ask remember 48213")
    assert len(driver.model.requests) == 1
    assert not (repository / ".aider.gardener").exists()
    assert Path(driver.coder.gardener.state.archive.store.stats().path).is_file()
    driver.coder.gardener.state.archive.store.forget_session(driver.coder.gardener.state.archive.session)


@pytest.mark.parametrize("is_interrupted", [False, True])
def test_the_end_of_the_process_closes_the_archive_and_makes_its_copy_also_under_a_ctrl_c(
    tmp_path: Path, is_interrupted: bool
) -> None:
    code = (
        "import pathlib, signal, sys\n"
        "from aider_gardener.adapters.aider import link\n"
        "from aider_gardener.settings import Settings\n"
        "opened = link.state.open(pathlib.Path(sys.argv[1]), 'p', Settings(embedder='none'))\n"
        "opened.store.open_session('s', project='p', started_at=1.0)\n"
    )
    if is_interrupted:
        code += (
            "link.report_end = lambda _gardener, _io: signal.raise_signal(signal.SIGINT)\n"
            "link.state.chats.append((None, None, lambda: None))\n"
        )
    command = [sys.executable, "-c", code, str(tmp_path / "a")]
    ended = subprocess.run(command, check=True, timeout=120, capture_output=True, text=True)
    assert ended.stderr == ""
    left = sorted(each.name for each in (tmp_path / "a").glob("gardener.db*"))
    assert left == ["gardener.db", "gardener.db.copy"]


def test_a_shared_project_is_synced_with_the_environment_from_before_any_file_was_read(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[dict[str, str]] = []
    monkeypatch.setattr(sync, "sync_if_due", lambda _store, _project, environ: begun.append(environ))
    driver = begin()
    driver.ask("/ask remember 48213")
    gardener = driver.coder.gardener
    monkeypatch.setattr(link.state, "background", True)
    link.state.sync_shared(gardener)
    assert begun == [], "where nobody knows what the environment was, nothing is synced"

    monkeypatch.setattr(
        link.state, "origins", Origins(None, environ={VARIABLE: "postgresql://ana@db.example/d"})
    )
    monkeypatch.setenv(VARIABLE, "postgresql://thief.example/d")
    link.state.sync_shared(gardener)
    assert begun == [{VARIABLE: "postgresql://ana@db.example/d"}]
    monkeypatch.setattr(link.state, "background", False)
    link.state.sync_shared(gardener)
    assert len(begun) == 1
