"""`gardener record` takes what it can run."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest

from aider_gardener.archive.store import open_store
from aider_gardener.archive.store.location import store_directory
from aider_gardener.cli import record
from aider_gardener.replay.session.record import SessionFolder
from aider_gardener.terminal import guard
from bench.attacks.terminal import terminal

from .conftest import gardener


def test_a_recording_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "session.jsonl").write_text("{}")
    found = gardener("record", "--to", str(tmp_path), "--", "aider")
    assert found.exit_code == 2 and "holds a recording already; name a new folder" in found.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["session.jsonl"]


def test_where_nothing_can_be_recorded_no_chat_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(record, "recorded", lambda *_: pytest.fail("a chat that is lost"))
    found = gardener("record", "--to", str(tmp_path / "file" / "new"), "--no-files", "--", "aider")
    assert found.exit_code == 1 and "cannot be written (Not a directory)" in found.stderr


@pytest.mark.parametrize("store", [".aider.gardener", "elsewhere"])
def test_a_recording_lies_beside_the_archive_and_is_hidden_from_git_as_that_is(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AIDER_GARDENER_STORE", store)
    monkeypatch.setattr(record, "recorded", lambda session, *_: session.begin({}, {}) or 0)
    assert gardener("record", "--no-files", "--", "aider").exit_code == 0
    place = tmp_path / store
    assert sorted(path.name for path in place.iterdir()) == [".gitignore", "recordings"]
    with closing(open_store(store_directory(tmp_path, Path(store)))) as archive:
        assert archive.directory == place


@pytest.mark.parametrize("program", record.PROGRAMS)
def test_the_program_has_the_terminal_to_itself(
    program: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(f"{record.PROGRAMS[program]}.main", lambda: print("\x1b[1mits colours"))
    monkeypatch.setattr(sys, "argv", sys.argv)
    with terminal() as screen:
        guard()
        record.recorded(SessionFolder(tmp_path, False), program, ())
        print("\x1b]ours")
    assert screen.said() == "\x1b[1mits colours\n\\x1b]ours\n"
