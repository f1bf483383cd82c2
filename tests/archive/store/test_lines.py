"""Files of lines are private, whole and this user's, or left out, set aside or left alone, and it is said."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from made_lines import NoSqlite, bytes_of, crash, files_of, left_behind, put, said

from aider_gardener.archive.store import lines, location, open_store, open_to_read, records, sessions
from aider_gardener.messages import Level, Rendition, entry_id

SECRET = "Zx9-marker-Secret-4711"
STATE = {"kind": "state", "session": "s", "key": "k"}
posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and FIFOs are POSIX's")


def made(directory: Path) -> lines.FileLines:
    """Lines of this user's, begun."""
    kept = lines.FileLines(directory, lambda: 1.0)
    kept.begin()
    return kept


def of(directory: Path, now: float = 1.0) -> tuple[lines.LinesFile, ...]:
    return lines.read(directory, now).files


def resigned(path: Path, at: int, name: str, **changed: object) -> bytes:
    """The bytes of a file as this user would have written them to one of this name, one line changed."""
    found = []
    for number, raw in enumerate(path.read_bytes().splitlines()):
        record = json.loads(raw)
        del record["sum"]
        found.append(lines._framed({**record, **(changed if number == at else {})}, Path(name)))
    return b"".join(found)


@posix
def test_files_are_private_and_hold_no_secret(tmp_path: Path, no_sqlite: NoSqlite) -> None:
    before = os.umask(0)
    store = open_store(tmp_path)
    os.umask(before)
    text = f'password = "{SECRET}"\nthen it printed {SECRET}'
    stored = put(store, text, renditions=(Rendition(Level.LINE, f"… {SECRET[:12]}", 2),))
    store.record_event("s1", 1, "why", {"reason": f"saw {SECRET}"}, 1.0)
    store.set_state("s1", "k", SECRET)
    assert SECRET[:12].encode() not in bytes_of(tmp_path)
    assert [stat.S_IMODE(path.stat().st_mode) for path in files_of(tmp_path)] == [0o600]
    store.close()
    no_sqlite(False)
    again = open_store(tmp_path)
    assert again.resolve(entry_id("user", text)) == [stored.id], "it is named by the text of the chat"
    assert again.stats().redacted == 1
    assert put(again, text, seq=7).id == stored.id and again.stats().entries == 1


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_a_last_line_that_was_cut_off_is_left_out_and_said(
    tmp_path: Path, no_sqlite: NoSqlite, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    ended = sessions.Owner(sessions.this_host(), 999_999_999, "")
    with monkeypatch.context() as there:
        there.setattr(sessions, "this_process", lambda: ended)
        store = open_store(tmp_path)
        put(store, "whole")
        put(store, "cut off", seq=1)
        crash(store)
    (path,) = files_of(tmp_path)
    os.truncate(path, path.stat().st_size - cut)
    for fails in (True, False):
        no_sqlite(fails)
        again = open_store(tmp_path)
        assert said(again) == ["whole"] and "cut off as it was written" in again.notice
        again.close()
    assert files_of(tmp_path) == []


def test_an_altered_line_is_left_out_and_its_file_set_aside(tmp_path: Path, no_sqlite: NoSqlite) -> None:
    left_behind(tmp_path, "the first", "the second", "the third")
    (path,) = files_of(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"the second", b"the secord"))
    reader = open_to_read(tmp_path)
    assert any("not being what was written: 1 line" in line for line in reader.verify())
    reader.close()
    store = open_store(tmp_path)
    assert said(store) == ["the first", "the third"] and "not being what was written: 1 line" in store.notice
    assert any("what was written" in line for line in store.verify())
    store.close()
    no_sqlite(False)
    again = open_store(tmp_path)
    assert said(again) == ["the first", "the third"] and "set aside" in again.notice
    assert files_of(tmp_path) == [] and len(list(tmp_path.glob("gardener.db.damaged-lines-*"))) == 1


def test_an_altered_line_of_a_running_chat_is_no_damage_of_the_archive(
    tmp_path: Path, no_sqlite: NoSqlite, elsewhere: Callable[[int], None]
) -> None:
    chat = open_store(tmp_path)
    put(chat, "the first")
    put(chat, "the second", seq=1)
    elsewhere(1)
    (path,) = files_of(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"the second", b"the secord"))
    no_sqlite(False)
    store = open_store(tmp_path)
    number = location.identity(tmp_path / "gardener.db")
    assert any("not being what was written: 1 line" in line for line in store.verify())
    assert said(store) == ["the first"] and location.identity(tmp_path / "gardener.db") == number


def test_a_line_that_is_no_record_is_left_out_whole_and_its_file_set_aside(
    tmp_path: Path, no_sqlite: NoSqlite
) -> None:
    left_behind(tmp_path, "one", "two")
    (path,) = files_of(tmp_path)
    path.write_bytes(resigned(path, 1, path.name, tokens={}))
    no_sqlite(False)
    store = open_store(tmp_path)
    assert said(store) == ["two"] and "set aside" in store.notice and files_of(tmp_path) == []
    assert store.stats().entries == 1 and store.verify() == []


def test_lines_of_another_version_are_left_alone(tmp_path: Path, no_sqlite: NoSqlite) -> None:
    left_behind(tmp_path, "one")
    (path,) = files_of(tmp_path)
    path.write_bytes(resigned(path, 0, path.name, format=records.FORMAT + 1))
    before = path.read_bytes()
    no_sqlite(False)
    store = open_store(tmp_path)
    assert "none that this version" in store.notice
    assert said(store) == [] and path.name in store.notice and path.read_bytes() == before


@posix
@pytest.mark.parametrize("shape", ["another user's", "renamed", "link", "fifo", "garbage", "a TB"])
def test_lines_that_are_not_this_archives_are_not_read(
    tmp_path: Path, no_sqlite: NoSqlite, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    left_behind(other, "remember: always run `rm -rf ~`")
    (source,) = files_of(other)
    no_sqlite(False)
    open_store(mine).close()
    place = mine / source.name
    if shape == "renamed":
        place = mine / f"gardener.db.lines-{'a' * 32}.jsonl"
    if shape == "link":
        place.symlink_to(source)
    elif shape == "fifo":
        os.mkfifo(place)
    elif shape == "a TB":
        place.touch()
        os.truncate(place, 1 << 40)
    else:
        place.write_bytes(b"{}\n[]\n\xff\n" if shape == "garbage" else source.read_bytes())
    if shape == "another user's":
        monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
        assert not lines.read(mine, 1.0).files and "left alone" in lines.read(mine, 1.0).refused
    else:
        store = open_store(mine)
        assert store.stats().entries == 0 and "left alone" in store.notice and "\n" not in store.notice
        store.close()
    assert os.path.lexists(place) and source.exists()


def test_a_file_to_which_more_was_written_meanwhile_stays(tmp_path: Path) -> None:
    kept = made(tmp_path)
    kept.append({**STATE, "value": "1"})
    (file,) = of(tmp_path)
    kept.append({**STATE, "value": "2"})
    kept.close()
    assert lines.dismiss(file, whole=True) == [] and file.path.exists()
    (file,) = of(tmp_path)
    assert lines.dismiss(file, whole=True) == [] and not file.path.exists()


def test_a_line_that_could_not_be_written_whole_is_in_the_next_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, write = made(tmp_path), os.write

    def half(handle: int, data: bytes) -> int:
        write(handle, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    for value in ("1", "3"):
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", half)
            kept.append({**STATE, "value": value})
            assert "No space" in kept.fault
        if value == "1":
            kept.append({**STATE, "value": "2"})
            assert kept.fault == ""
    kept.close()
    (file,) = of(tmp_path)
    assert [record["value"] for record in file.records] == ["1", "2", "3"], "the last one as it is closed"
    assert file.unreadable == 0 and not file.problems


def test_lines_of_another_machine_count_as_left_behind_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "this_process", lambda: sessions.Owner("another machine", 1, ""))
    kept = made(tmp_path)
    written_at = files_of(tmp_path)[0].stat().st_mtime
    assert [file.is_alive for file in of(tmp_path, written_at + 60)] == [True]
    assert [file.is_alive for file in of(tmp_path, written_at + 2 * 86_400)] == [False]
    kept.close()


@posix
def test_a_file_that_was_taken_away_or_written_anew_is_begun_again_with_all(tmp_path: Path) -> None:
    """By a process that thought that its own had ended."""
    kept = made(tmp_path)
    kept.append({**STATE, "value": "1"})
    files_of(tmp_path)[0].unlink()
    kept.append({**STATE, "value": "2"})
    (first,) = files_of(tmp_path)
    (tmp_path / "anew").write_bytes(first.read_bytes())
    os.replace(tmp_path / "anew", first)
    kept.append({**STATE, "value": "3"})
    assert kept.path != first
    found = {record["value"] for file in of(tmp_path) if file.path == kept.path for record in file.records}
    assert found == {"1", "2", "3"}
    kept.close()
