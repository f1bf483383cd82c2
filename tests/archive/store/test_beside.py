"""What cannot be written waits, in memory and in lines of JSON, and goes into the archive later, once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from made_lines import NoSqlite, bytes_of, crash, files_of, left_behind, put, said

from aider_gardener.archive.store import Store, lines, open_store
from aider_gardener.archive.store.sqlite import SqliteStore
from aider_gardener.messages import Fidelity, Rendition


def test_it_goes_into_the_archive_as_soon_as_that_opens(tmp_path: Path, no_sqlite: NoSqlite) -> None:
    left_behind(tmp_path, "one", "two")
    no_sqlite(False)
    store = open_store(tmp_path)
    assert store.stats().path.endswith("gardener.db") and said(store) == ["one", "two"]
    assert "2 lines" in store.notice and files_of(tmp_path) == [] and store.verify() == []
    store.close()
    again = open_store(tmp_path)
    assert again.notice == "" and said(again) == ["one", "two"]
    again.close()


def test_what_was_taken_in_before_a_kill_is_not_taken_twice(
    tmp_path: Path, no_sqlite: NoSqlite, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path)
    stored = put(store, "once")
    store.touch([stored.id], 9.0)
    store.record_event("s1", 1, "swap", {"entry_id": stored.id}, 9.0)
    store.close()
    no_sqlite(False)
    monkeypatch.setattr(lines, "dismiss", lambda file, whole: [])
    for _ in range(2):
        store = open_store(tmp_path)
        got = store.get(stored.id)
        assert got is not None and got.access_count == 1
        assert len(store.events()) == 1 and store.stats().occurrences == 1
        store.close()
    assert len(files_of(tmp_path)) == 1


def test_a_trial_leaves_no_line(tmp_path: Path, no_sqlite: NoSqlite) -> None:
    store = open_store(tmp_path)
    with store.trial():
        put(store, "only tried")
    store.close()
    assert files_of(tmp_path) == [], "what has no line leaves no file"


@pytest.mark.parametrize("way", ["entry", "session"])
def test_what_is_forgotten_leaves_every_file(tmp_path: Path, no_sqlite: NoSqlite, way: str) -> None:
    left_behind(tmp_path, "the aardvark of last time", "kept of last time")
    store = open_store(tmp_path)
    ids = [store.session_entries("s1")[0].id, put(store, "the aardvark of today", seq=5, session="gone").id]
    put(store, "kept of today", seq=6)
    store.record_event("s1", 1, "swap", {"entry_ids": ids, "why": "x"}, 1.0)
    if way == "entry":
        assert store.forget(ids) == 2
        assert b"aardvark" not in bytes_of(tmp_path)
    else:
        assert store.forget_session("gone") == 1
        assert b"aardvark of today" not in bytes_of(tmp_path) and b"aardvark of last" in bytes_of(tmp_path)
    put(store, "after that", seq=9)
    store.close()
    left = ["kept of last time", "kept of today", "after that"]
    wanted = left if way == "entry" else ["the aardvark of last time", *left]
    for fails in (True, False):
        no_sqlite(fails)
        again = open_store(tmp_path)
        assert said(again) == wanted and "aardvark of today" not in str(again.events())
        again.close()


def test_what_is_forgotten_and_said_again_stays(tmp_path: Path, no_sqlite: NoSqlite) -> None:
    store = open_store(tmp_path, clock=lambda: 7.0)
    store.forget([put(store, "said twice").id])
    put(store, "said twice", seq=1)
    store.close()
    again = open_store(tmp_path, clock=lambda: 7.0)
    assert said(again) == ["said twice"]
    again.close()


def test_what_a_running_chat_has_in_its_lines_goes_when_that_ends(
    tmp_path: Path, no_sqlite: NoSqlite, elsewhere: Callable[[int], None]
) -> None:
    chat = open_store(tmp_path)
    stored = put(chat, "the aardvark")
    elsewhere(1)
    other = open_store(tmp_path)
    assert other.forget([stored.id]) == 1
    assert files_of(tmp_path)[0].name in other.notice or files_of(tmp_path)[1].name in other.notice
    other.close()
    chat.close()
    elsewhere(2)
    open_store(tmp_path).close()
    assert b"aardvark" not in bytes_of(tmp_path)
    no_sqlite(False)
    again = open_store(tmp_path)
    assert again.stats().entries == 0
    again.close()


def test_the_archive_takes_in_what_a_running_chat_has_written_and_leaves_its_file(
    tmp_path: Path, no_sqlite: NoSqlite, elsewhere: Callable[[int], None]
) -> None:
    chat = open_store(tmp_path)
    chat.open_session("s1", project="p", started_at=1.0)
    stored = put(chat, "the aardvark")
    elsewhere(1)
    no_sqlite(False)
    other = open_store(tmp_path)
    assert said(other) == ["the aardvark"] and len(files_of(tmp_path)) == 1
    assert other.live_sessions() >= {"s1"}
    assert other.forget([stored.id]) == 1 and "running chat" in other.notice
    other.close()
    put(chat, "the badger", seq=1)
    chat.close()
    again = open_store(tmp_path)
    assert said(again) == ["the badger"], "what was forgotten meanwhile does not come back"
    assert files_of(tmp_path) == []
    again.close()


def impatient(directory: Path) -> SqliteStore:
    store = open_store(directory)
    assert isinstance(store, SqliteStore)
    store._db.live.set_busy_timeout(50)
    return store


def all_sorts(store: Store) -> str:
    stored = put(store, "not now", renditions=(Rendition(Fidelity.LINE, "stub", 1),))
    store.set_state("s1", "k", "v")
    store.record_event("s1", 1, "swap", {"entry_id": stored.id}, 5.0)
    store.touch([stored.id], 9.0)
    store.pin(stored.id, True)
    return stored.id


def check_all_sorts(store: Store, stored_id: str) -> None:
    assert said(store) == ["not now"] and store.get_state("s1", "k") == "v"
    got = store.get(stored_id)
    assert got is not None and (got.pinned, got.access_count) == (True, 1) and len(store.events()) == 1
    assert store.renditions(stored_id)[Fidelity.LINE].text == "stub"


def test_what_waits_for_a_lock_outlives_the_process(tmp_path: Path, locker: apsw.Connection) -> None:
    store = impatient(tmp_path)
    stored_id = all_sorts(store)
    assert f"wait in {files_of(tmp_path)[0]}" in store.notice
    store.fallback.lines._journal.close()  # type: ignore[union-attr]  # reason: one is open, as the line above shows
    crash(store)
    locker.execute("ROLLBACK")
    again = open_store(tmp_path)
    check_all_sorts(again, stored_id)
    assert files_of(tmp_path) == []
    again.close()


@pytest.mark.parametrize("taken", [False, True])
def test_what_waited_is_written_once_and_its_lines_go(
    tmp_path: Path, locker: apsw.Connection, taken: bool
) -> None:
    store = impatient(tmp_path)
    stored_id = all_sorts(store)
    locker.execute("ROLLBACK")
    if taken:  # by another chat, which was quicker
        other = open_store(tmp_path)
        check_all_sorts(other, stored_id)
        other.close()
    store.set_state("s1", "other", "x")
    check_all_sorts(store, stored_id)
    assert "can be written again" in store.notice and files_of(tmp_path) == []
    store.close()


def test_what_waits_at_the_end_is_left_in_lines(tmp_path: Path, locker: apsw.Connection) -> None:
    store = impatient(tmp_path)
    stored_id = all_sorts(store)
    store.close()
    assert len(files_of(tmp_path)) == 1
    locker.execute("ROLLBACK")
    again = open_store(tmp_path)
    check_all_sorts(again, stored_id)
    again.close()
