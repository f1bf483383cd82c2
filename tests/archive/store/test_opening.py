"""An archive is opened as a file, in lines, in memory, or to be read only; what is in the way is said in one
line and left whole."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from made_lines import NoSqlite, bytes_of, files_of, left_behind, opened_by_a_command, put, said, written
from made_search import found

from aider_gardener import files
from aider_gardener.archive.store import location, open_store, open_to_read, schema
from aider_gardener.archive.store.encryption import VARIABLE
from aider_gardener.errors import StoreError, UsageError
from aider_gardener.messages import Entry, Level, Rendition, entry_id


def filled(place: Path) -> list[Entry]:
    """An archive with a copy, closed."""
    store = open_store(place)
    store.open_session("s1", project="p", started_at=1.0)
    found = [put(store, f"entry {number} about the fox", seq=number) for number in range(8)]
    store.close()
    return found


def test_what_is_said_where_sqlite_cannot_open_is_there_at_the_next_start(
    tmp_path: Path, no_sqlite: NoSqlite
) -> None:
    store = open_store(tmp_path / "a")
    assert "cannot be opened" in store.notice and "lines of JSON" in store.notice and "\n" not in store.notice
    assert store.persistent and store.directory == tmp_path / "a"
    put(store, "the quokka lives in the attic", renditions=(Rendition(Level.LINE, "stub", 1),))
    store.close()
    again = open_store(tmp_path / "a")
    assert said(again) == ["the quokka lives in the attic"]
    assert found(again, "quokka") == [again.session_entries("s1")[0].id]
    put(again, "and the second", seq=1)
    again.close()
    assert len(files_of(tmp_path / "a")) == 2
    no_sqlite(False)
    last = open_store(tmp_path / "a")
    assert said(last) == ["the quokka lives in the attic", "and the second"]
    assert "2 lines" in last.notice and files_of(tmp_path / "a") == [] and last.verify() == []
    assert "damaged" not in again.notice + last.notice, "there was no archive yet"


def test_lines_are_never_written_beside_an_encrypted_archive(
    tmp_path: Path, no_sqlite: NoSqlite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "ab" * 32)
    no_sqlite(False)
    open_store(tmp_path / "old", key_source="env").close()
    no_sqlite(True)
    for directory, source in ((tmp_path / "new", "env"), (tmp_path / "old", "")):
        store = open_store(directory, key_source=source)
        put(store, "confidential")
        assert not store.persistent and "in memory only" in store.notice and "plain text" in store.notice
        store.close()
    assert b"confidential" not in bytes_of(tmp_path)


@pytest.mark.parametrize("name", ["gardener.db", "gardener.db.copy", "gardener.db.lines-1.jsonl"])
def test_no_export_takes_the_place_of_the_archive(name: str, tmp_path: Path) -> None:
    stored = filled(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    with closing(open_store(tmp_path)) as store:
        for path in (tmp_path / name, tmp_path / "link" / name):
            with pytest.raises(UsageError, match="a file of the archive; name another"):
                store.export(path)
        assert len(said(store)) == len(stored) and store.export(tmp_path / "out.jsonl")


def test_what_is_set_aside_within_a_second_has_a_name_of_its_own(tmp_path: Path) -> None:
    for _ in range(3):
        filled(tmp_path)
        (tmp_path / "gardener.db").unlink()
        open_store(tmp_path).close()
    assert len(list(tmp_path.glob("gardener.db.removed-*"))) == 3


def test_an_archive_that_is_gone_at_the_start_leaves_its_copy(tmp_path: Path) -> None:
    stored = filled(tmp_path)
    (tmp_path / "gardener.db").unlink()
    store = open_store(tmp_path)
    aside = next(tmp_path.glob("gardener.db.removed-*"))
    assert aside.name in store.notice and "copy --from" in store.notice
    assert said(store) == []
    (tmp_path / "old").mkdir()
    aside.rename(tmp_path / "old" / "gardener.db")
    with closing(open_store(tmp_path / "old")) as old:
        store.copy_from(old)
    assert len(said(store)) == len(stored)


def test_what_is_open_to_be_read_only_sees_a_chat_that_goes_on_beside_it(tmp_path: Path) -> None:
    chat = open_store(tmp_path)
    put(chat, "said a moment ago")
    reader = open_to_read(tmp_path)
    assert len(found(reader, "moment")) == 1
    put(chat, "and one thing more", seq=1)
    assert reader.stats().entries == 2 and reader.verify() == []
    reader.close()
    chat.close()
    names = sorted(path.name for path in tmp_path.iterdir())
    reader = open_to_read(tmp_path)
    reader.touch([entry_id("user", "said a moment ago")], 9.0)
    assert reader.stats().entries == 2
    with pytest.raises(StoreError, match="read only"):
        reader.pin("g1", True)
    reader.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == names


@pytest.mark.parametrize("by", ["an older program", "a newer one", "another SQLite", "a new page format"])
def test_another_version_is_left_alone_whoever_wrote_its_number(tmp_path: Path, by: str) -> None:
    filled(tmp_path)
    path, is_older = tmp_path / "gardener.db", by == "an older program"
    sql = f"PRAGMA user_version = {schema.VERSION - 1 if is_older else schema.VERSION + 90}"
    if by in ("an older program", "a newer one"):
        written(path, sql)
    else:
        with closing(sqlite3.connect(path)) as db:
            db.execute(sql)
    if by == "a new page format":
        path.write_bytes(path.read_bytes()[:20] + b"\0" + path.read_bytes()[21:])
    before = path.read_bytes()
    left_behind(tmp_path, "said to this version")
    for opened in (open_to_read, opened_by_a_command):
        with pytest.raises(StoreError, match="another version"):
            opened(tmp_path)
    chat = open_store(tmp_path)
    assert "another version" in chat.notice and "damaged" not in chat.notice and put(chat, "goes on")
    chat.close()
    assert said(open_store(tmp_path)) == ["said to this version", "goes on"] and path.read_bytes() == before


def test_a_turned_bit_of_the_version_is_damage(tmp_path: Path) -> None:
    stored, path = filled(tmp_path), tmp_path / "gardener.db"
    data = bytearray(path.read_bytes())
    data[62] ^= 1
    path.write_bytes(data)
    store = open_store(tmp_path)
    assert "damaged" in store.notice and said(store) == [entry.content for entry in stored]


def test_to_be_read_only_lines_are_shown_and_nothing_changes(tmp_path: Path, no_sqlite: NoSqlite) -> None:
    left_behind(tmp_path, "the quokka")
    before = sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir())
    reader = open_to_read(tmp_path)
    assert said(reader) == ["the quokka"] and len(found(reader, "quokka")) == 1
    reader.touch(["g1"], 1.0)
    with pytest.raises(StoreError, match="read only"):
        reader.pin("g1", True)
    assert reader.verify() == []
    reader.close()
    assert sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir()) == before
    no_sqlite(False)
    chat = open_store(tmp_path / "b")
    put(chat, "in the file")
    chat.close()
    for path in files_of(tmp_path):
        (tmp_path / "b" / path.name).write_bytes(path.read_bytes())
    reader = open_to_read(tmp_path / "b")
    assert said(reader) == ["in the file"] and "yet: 1 line;" in reader.notice


def test_a_folder_whose_name_is_no_text_has_an_archive_too(tmp_path: Path) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/p\xff\xe9")
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("file names are text here")
    with closing(open_store(Path(folder))) as store:
        store.open_session("s", project=folder, started_at=1.0)
        assert store.is_file and not store.notice
    with closing(open_to_read(Path(folder))) as store:
        assert [info.id for info in store.sessions(folder)] == ["s"]


@pytest.mark.parametrize("is_open", [False, True])
def test_a_folder_that_is_taken_away_while_its_archive_is_opened_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_open: bool
) -> None:
    """As `git clean -x` may, between two steps: a chat was kept in memory only from then on."""
    place, opened, left = tmp_path / ".aider.gardener", files.open_private, [1]

    def taken_away(path: Path) -> Any:
        if left and path.name == location.FILE_NAME:
            left.pop()
            shutil.rmtree(path.parent)
        return opened(path)

    if is_open:
        store = open_store(place)
        put(store, "before")
        shutil.rmtree(place)
    monkeypatch.setattr(files, "open_private", taken_away)
    if not is_open:
        store = open_store(place)
    put(store, "more", seq=1)
    assert store.is_file and store.persistent and left == [], store.notice
    store.close()
    store = open_store(place)
    assert [entry.content for entry in store.session_entries("s1")] == ["more"]
    store.close()
