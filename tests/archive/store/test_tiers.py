"""Each place gives a tier; an archive is copied from any tier to any."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import apsw
import pytest
from made_lines import NoSqlite, opened_by_a_command, put

from aider_gardener.archive.store import Store, open_store
from aider_gardener.archive.store.encryption import VARIABLE
from aider_gardener.archive.store.lines import FileLines
from aider_gardener.errors import StoreError


def filled(store: Store) -> Store:
    store.open_session("s1", project="p", started_at=1.0)
    for seq in range(3):
        put(store, f"text {seq}", seq=seq)
    store.record_event("s1", 1, "clear", {}, 2.0)
    return store


def test_where_neither_sqlite_nor_lines_can_be_begun_it_is_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_sqlite: NoSqlite
) -> None:
    monkeypatch.setattr(FileLines, "begin", Mock(side_effect=OSError(30, "Read-only file system")))
    assert not open_store(tmp_path).persistent


@pytest.mark.parametrize("is_ours", [True, False], ids=["damaged", "another program's"])
def test_what_is_there_decides_whether_a_chat_has_a_file(tmp_path: Path, is_ours: bool) -> None:
    path = tmp_path / "gardener.db"
    if is_ours:
        path.write_text("my notes " * 1_000)
    else:
        with apsw.Connection(str(path)) as db:
            db.execute("CREATE TABLE theirs (a)")
    before = path.read_bytes()
    store = open_store(tmp_path)
    assert store.persistent == store.is_file == is_ours
    assert is_ours or (store.notice and path.read_bytes() == before)


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
