"""`gardener doctor` looks at each part, and a part out of order is a line that says what to do."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from aider_gardener.adapters.aider import install
from aider_gardener.adapters.claude_code.client import LOG_NAME
from aider_gardener.adapters.intake import UNKNOWN_RECORD
from aider_gardener.archive.store import database, open_store
from aider_gardener.cli import doctor
from aider_gardener.cli.root import main


def test_every_part_is_looked_at(repository: Path) -> None:
    found = CliRunner().invoke(main, ["doctor", "--json"])
    checks = json.loads(found.stdout)
    assert found.exit_code == 0
    names = ["Python", "aider", "SQLite", "archive", "hooks"]
    assert [check["name"] for check in checks] == names
    shown = (Path(__file__).parents[2] / "docs" / "quickstart.md").read_text("utf-8")
    assert re.findall(r"^ok  (\w.*?)  ", shown, re.M) == names
    assert all(check["ok"] for check in checks)
    by_name = {check["name"]: check["found"] for check in checks}
    assert "none yet" in by_name["archive"]


def test_a_line_without_end_in_the_log_of_hooks_is_cut(repository: Path) -> None:
    store = open_store(repository / ".aider.gardener")
    (repository / ".aider.gardener" / LOG_NAME).write_bytes(bytes(1 << 20))
    store.close()
    assert len(doctor.checked(doctor.hooks)[1]) < 1_000


def test_it_tells_what_hooks_could_not_read_and_where_they_failed(repository: Path) -> None:
    store = open_store(repository / ".aider.gardener")
    store.record_event("s", 1, UNKNOWN_RECORD, {"type": "hologram"}, 1.0)
    store.close()
    ok, found = doctor.checked(doctor.hooks)
    assert ok and found.endswith("kept as they are, or not read: 1 of the type hologram")
    (repository / ".aider.gardener" / LOG_NAME).write_text("2026-11-23T10:00:00Z PreCompact OSError\n")
    ok, found = doctor.checked(doctor.hooks)
    assert not ok and "1 hook failed, last 2026-11-23T10:00:00Z PreCompact OSError" in found


def test_a_part_out_of_order_says_what_to_do_and_the_others_are_looked_at_all_the_same(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "NEWEST", (3, 9))
    (repository / ".aider.gardener").mkdir()
    (repository / ".aider.gardener" / "gardener.db").write_bytes(b"no database" * 999)
    found = CliRunner().invoke(main, ["doctor"])
    assert found.exit_code == 1
    assert "needs Python 3.10 to 3.12" in found.stdout and "patch points as expected" in found.stdout


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("0.86.2", "0.86.2 was tried, all"),
        ("0.86.3.dev4", "0.86.3.dev4 was not tried (0.83.2 to 0.86.2 were), all"),
    ],
)
def test_it_says_which_aider_there_is_and_whether_that_was_tried(
    monkeypatch: pytest.MonkeyPatch, version: str, said: str
) -> None:
    monkeypatch.setattr(install, "installed_version", lambda: version)
    ok, found = doctor.checked(doctor.patch_points)
    assert ok and found.startswith(said) and found.endswith("patch points as expected")


def test_an_aider_that_cannot_be_imported_is_a_line(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Mock(side_effect=ValueError("numpy.dtype size changed,\nmay indicate binary incompatibility"))
    monkeypatch.setattr(install, "needed_points", broken)
    found = CliRunner().invoke(main, ["doctor", "--json"])
    aider = json.loads(found.stdout)[1]
    assert (found.exit_code, aider["ok"]) == (1, False)
    assert aider["found"].startswith("ValueError: numpy.dtype size changed, may indicate")


def test_an_aider_that_does_not_match_is_a_line_that_names_the_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    from aider.commands import Commands

    monkeypatch.delattr(Commands, "raw_cmd_undo")
    ok, found = doctor.checked(doctor.patch_points)
    assert not ok and "raw_cmd_undo is missing" in found and "tried were 0.83.2 to" in found


@pytest.mark.parametrize("name", ["gardener.db", "gardener.db-wal", "gardener.db-shm"])
def test_an_archive_that_cannot_be_written_is_out_of_order(
    repository: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    open_store(repository / ".aider.gardener").close()
    (repository / ".aider.gardener" / name).touch()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != name)
    ok, found = doctor.checked(doctor.archive)
    assert not ok and f"{name} cannot be written" in found


def test_an_archive_that_could_not_be_begun_is_out_of_order(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIDER_GARDENER_STORE_KEY", f"file:{repository}/none")
    assert doctor.checked(doctor.archive)[1].startswith("no key for the encrypted archive from file:")
    monkeypatch.setattr(database.time, "sleep", lambda _seconds: pytest.fail("nothing is waited for"))
    (repository / ".aider.gardener" / "gardener.db").mkdir(parents=True)
    ok, found = doctor.checked(doctor.archive)
    assert not ok and "gardener.db cannot be used (not a regular file)" in found


def test_a_current_directory_that_is_gone_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (gone := tmp_path / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    _ok, found = doctor.checked(doctor.archive)
    assert found == "the current directory cannot be used (No such file or directory)"


def test_a_directory_that_may_not_be_entered_is_a_line(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "exists", Mock(side_effect=PermissionError(13, "Permission denied")))
    ok, found = doctor.checked(doctor.hooks)
    assert not ok and "Permission denied" in found
