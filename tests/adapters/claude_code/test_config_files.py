"""Files of the user's: read with care, replaced whole, put back byte for byte."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from aider_gardener.adapters.claude_code import config_files
from aider_gardener.adapters.claude_code.config_files import FileChange, apply, find, origin, unified_diff
from aider_gardener.adapters.claude_code.json_edits import Edit
from aider_gardener.errors import GardenerError, StoreError, UsageError

needs_modes = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes and links")


def grown(path: Path, more: str = " more") -> FileChange:
    """A change that adds some text at the end."""
    file = find(path, path.parent)
    text = file.text or ""
    return FileChange(file, text + more, file.text, (Edit(len(text), "", more),))


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return tmp_path / "records"


def test_a_change_is_written_and_known_to_have_been_from_its_record(tmp_path: Path, records: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes("é\r\n\ufeff".encode())
    apply(grown(path), records)
    assert path.read_bytes() == "é\r\n\ufeff more".encode()
    assert origin(find(path, tmp_path), records) == (True, "é\r\n\ufeff")
    path.write_text("edited since", "utf-8")
    assert origin(find(path, tmp_path), records) == (False, None)


def test_the_record_holds_nothing_of_the_file_but_its_hashes(tmp_path: Path, records: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("a secret key", "utf-8")
    apply(grown(path), records)
    (record,) = records.iterdir()
    assert "secret" not in record.read_text() and " more" in record.read_text()


def test_a_damaged_record_counts_as_none(tmp_path: Path, records: Path) -> None:
    path = tmp_path / "a.json"
    apply(grown(path), records)
    (record,) = records.iterdir()
    for text in ("", "[]", '{"format": 2}', '{"format": 1, "path": 0}'):
        record.write_text(text)
        assert origin(find(path, tmp_path), records) == (False, None)


def test_a_file_that_was_made_goes_with_the_folders_that_were_made_for_it(
    tmp_path: Path, records: Path
) -> None:
    path = tmp_path / "new" / "deep" / "a.json"
    apply(grown(path), records)
    file = find(path, path.parent)
    assert origin(file, records) == (True, None)
    apply(FileChange(file, None), records)
    assert not (tmp_path / "new").exists() and list(records.iterdir()) == []


def test_a_folder_with_something_else_in_it_stays(tmp_path: Path, records: Path) -> None:
    path = tmp_path / "new" / "a.json"
    apply(grown(path), records)
    (tmp_path / "new" / "mine").touch()
    apply(FileChange(find(path, path.parent), None), records)
    assert [each.name for each in (tmp_path / "new").iterdir()] == ["mine"]


@needs_modes
def test_mode_and_link_outlive_a_change(tmp_path: Path, records: Path) -> None:
    kept = tmp_path / "dotfiles" / "settings.json"
    kept.parent.mkdir()
    kept.write_text("{}", "utf-8")
    kept.chmod(0o640)
    folder = tmp_path / "claude"
    folder.mkdir()
    (folder / "settings.json").symlink_to(kept)
    file = find(folder / "settings.json", folder)
    assert file.is_linked and file.real == kept
    apply(FileChange(file, "{ }", "{}", (Edit(1, "", " "),)), records)
    assert (folder / "settings.json").is_symlink() and kept.read_text() == "{ }"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640
    assert sorted(each.name for each in kept.parent.iterdir()) == ["settings.json"]


@needs_modes
def test_a_link_out_of_a_folder_is_refused_where_it_has_to_stay_inside(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".claude").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="is a link out of"):
        find(folder / ".claude" / "a.json", folder, inside=True)
    (folder / "a.json").symlink_to(folder / "a.json")
    with pytest.raises(UsageError, match=r"circle|cannot be read"):
        find(folder / "a.json", folder)


@needs_modes
def test_a_file_without_the_right_to_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}", "utf-8")
    path.chmod(0o400)
    with pytest.raises(UsageError, match="is read-only; make it writable"):
        config_files.check_writable(grown(path))
    config_files.check_writable(FileChange(find(path, tmp_path), "{}"))


def test_what_is_no_text_or_no_file_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe{")
    (tmp_path / "folder").mkdir()
    (tmp_path / "large").write_text("12345")
    monkeypatch.setattr(config_files, "LIMIT_BYTES", 4)
    for name, words in (("binary", "not UTF-8"), ("folder", "not a regular file"), ("large", "larger than")):
        with pytest.raises(UsageError, match=words):
            find(tmp_path / name, tmp_path)


def test_a_file_that_another_program_wrote_meanwhile_stays_as_that_left_it(
    tmp_path: Path, records: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}", "utf-8")
    for change in (grown(path), FileChange(find(path, tmp_path), None)):
        path.write_text("theirs", "utf-8")
        with pytest.raises(StoreError, match="run the command again"):
            apply(change, records)
        assert path.read_text() == "theirs"
        path.write_text("{}", "utf-8")
    assert [each.name for each in tmp_path.iterdir() if each.name.endswith(".tmp")] == []


def test_a_write_that_fails_leaves_file_and_folder_as_they_were(
    tmp_path: Path, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}", "utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(GardenerError, match="cannot be written: No space left"):
        apply(grown(path), records)
    assert path.read_text() == "{}"
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["a.json"]


def test_a_change_is_made_also_where_no_record_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    apply(grown(tmp_path / "a.json"), tmp_path / "taken")
    assert (tmp_path / "a.json").read_text() == " more"


def test_a_diff_names_the_file_and_says_where_the_last_line_has_no_end(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("1\n2", "utf-8")
    lines = list(unified_diff(FileChange(find(path, tmp_path), "1\n2\n3\n")))
    assert lines[:2] == [f"--- {path}", f"+++ {path}"]
    assert lines[3:] == [" 1", "-2", "\\ No newline at end of file", "+2", "+3"]
    assert next(iter(unified_diff(FileChange(find(tmp_path / "new", tmp_path), "1")))) == f"--- {os.devnull}"
