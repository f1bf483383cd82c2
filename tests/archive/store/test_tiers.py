"""Each place gives a tier; an archive is copied from any tier to any."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import apsw
import pytest
from made_lines import NoSqlite, opened_by_a_command, put, written

from aider_gardener.archive.store import Store, open_store, schema
from aider_gardener.archive.store.encryption import VARIABLE
from aider_gardener.archive.store.lines import FileLines
from aider_gardener.errors import StoreError


def filled(store: Store) -> Store:
    store.open_session("s1", project="p", started_at=1.0)
    for seq in range(3):
        put(store, f"text {seq}", seq=seq)
    store.record_event("s1", 1, "clear", {}, 2.0)
    return store


def test_where_sqlite_opens_nothing_there_are_lines_unless_as_plain_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_sqlite: NoSqlite
) -> None:
    monkeypatch.setenv(VARIABLE, "ab" * 32)
    lines = open_store(tmp_path / "a")
    assert lines.persistent and not lines.is_file and "cannot be opened" in lines.notice
    secret = open_store(tmp_path / "b", key_source="env")
    assert not secret.persistent and "plain text" in secret.notice
    monkeypatch.setattr(FileLines, "begin", Mock(side_effect=OSError(30, "Read-only file system")))
    assert not open_store(tmp_path / "c").persistent


@pytest.mark.parametrize("damage", ["another version", "not ours", "damaged", "locked"])
def test_what_is_there_decides_the_tier_of_a_chat(
    tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "ab" * 32)
    path, wanted = tmp_path / "gardener.db", "SQLite"
    if damage == "damaged":
        path.write_text("my notes " * 1_000)
    elif damage == "not ours":
        with apsw.Connection(str(path)) as db:
            db.execute("CREATE TABLE theirs (a)")
        wanted = "memory"
    elif damage == "another version":
        open_store(tmp_path).close()
        written(path, f"PRAGMA user_version = {schema.VERSION + 1}; CREATE TABLE news (a)")
        wanted = "JSON lines"
    else:
        open_store(tmp_path, key_source="env").close()
        monkeypatch.delenv(VARIABLE)
        wanted = "memory"
    before = path.read_bytes()
    store = open_store(tmp_path)
    assert store.persistent == (wanted != "memory") and store.is_file == (wanted == "SQLite")
    assert store.is_file or (store.notice and path.read_bytes() == before)


def copied(source: Path, target: Path, key_source: str = "") -> tuple[int, str, bool]:
    with (
        closing(opened_by_a_command(source, key_source=key_source)) as one,
        closing(opened_by_a_command(target, key_source=key_source)) as other,
    ):
        return other.copy_from(one), other.notice, other.is_file


def test_a_copy_of_an_encrypted_archive_says_whether_it_is_encrypted_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "ab" * 32)
    filled(open_store(tmp_path / "from", key_source="env")).close()
    assert copied(tmp_path / "from", tmp_path / "same", "env")[1] == ""
    assert "is not encrypted" in copied(tmp_path / "from", tmp_path / "open")[1]
    assert b"text 1" in (tmp_path / "open" / "gardener.db").read_bytes()
    assert b"text 1" not in (tmp_path / "same" / "gardener.db").read_bytes()


def test_a_copy_of_a_damaged_archive_is_none(tmp_path: Path) -> None:
    filled(open_store(tmp_path / "from")).close()
    data = (tmp_path / "from" / "gardener.db").read_bytes()
    (tmp_path / "from" / "gardener.db").write_bytes(data.replace(b"text 1", b"text 9"))
    with pytest.raises(StoreError, match="nothing was copied"):
        copied(tmp_path / "from", tmp_path / "to")
    copy = open_store(tmp_path / "to")
    assert copy.stats().entries == 0
