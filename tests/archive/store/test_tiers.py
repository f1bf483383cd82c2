"""Each place gives a tier, with the reason why no better one; an archive is copied from any tier to any."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from made_lines import NoSqlite, opened_by_a_command, put, written

from aider_gardener.archive.store import Store, location, open_store, opening, schema
from aider_gardener.archive.store.encryption import VARIABLE
from aider_gardener.errors import StoreError


def filled(store: Store) -> Store:
    store.open_session("s1", project="p", started_at=1.0)
    for seq in range(3):
        put(store, f"text {seq}", seq=seq)
    store.record_event("s1", 1, "clear", {}, 2.0)
    return store


def test_a_place_where_sqlite_works_gives_sqlite_and_stays_as_it_was(tmp_path: Path) -> None:
    assert opening.tier_of(tmp_path / "not" / "yet") == (opening.SQLITE, "")
    assert os.listdir(tmp_path) == []
    open_store(tmp_path / "a").close()
    before = sorted(os.listdir(tmp_path / "a"))
    assert opening.tier_of(tmp_path / "a") == (opening.SQLITE, "")
    assert sorted(os.listdir(tmp_path / "a")) == before


def test_a_place_where_sqlite_opens_nothing_gives_lines_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_sqlite: NoSqlite
) -> None:
    location.prepare_directory(tmp_path / "a")
    before = sorted(os.listdir(tmp_path / "a"))
    name, why = opening.tier_of(tmp_path / "a")
    assert name == opening.LINES and "cannot be opened" in why and "\n" not in why
    assert sorted(os.listdir(tmp_path / "a")) == before
    name, why = opening.tier_of(tmp_path / "a", "env")
    assert name == opening.MEMORY and "plain text" in why
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    name, why = opening.tier_of(tmp_path / "a")
    assert name == opening.MEMORY and "cannot be written" in why


@pytest.mark.parametrize("damage", ["newer", "not ours", "damaged", "older", "locked"])
def test_an_archive_that_is_there_counts_with_what_the_next_chat_does_about_it(
    tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "ab" * 32)
    path, wanted = tmp_path / "gardener.db", opening.SQLITE
    if damage == "damaged":
        path.write_text("my notes " * 1_000)
    elif damage == "not ours":
        with apsw.Connection(str(path)) as db:
            db.execute("CREATE TABLE theirs (a)")
        wanted = opening.MEMORY
    elif damage == "older":
        open_store(tmp_path).close()
        written(path, f"PRAGMA user_version = {schema.VERSION - 1}")
    elif damage == "newer":
        open_store(tmp_path).close()
        written(path, f"PRAGMA user_version = {schema.VERSION + 1}; CREATE TABLE news (a)")
        wanted = opening.LINES
    else:
        open_store(tmp_path, key_source="env").close()
        monkeypatch.delenv(VARIABLE)
        wanted = opening.MEMORY
    before = path.read_bytes()
    name, why = opening.tier_of(tmp_path)
    assert (name, bool(why)) == (wanted, wanted != opening.SQLITE), why
    assert path.read_bytes() == before
    store = open_store(tmp_path)
    assert store.persistent == (wanted != opening.MEMORY) and store.is_file == (wanted == opening.SQLITE)


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
