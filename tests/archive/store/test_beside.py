"""While the file cannot be written the archive goes on in memory, with lines of JSON beside the file; later all
goes into the file, once. Where it cannot be opened at all the lines are the archive."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import apsw
import pytest
from made_lines import NoSqlite, bytes_of, crash, files_of, left_behind, put, said
from made_search import found, rows_in

from aider_gardener.archive.store import Store, lines, open_store, repair, sessions, sqlite
from aider_gardener.archive.store.encryption import VARIABLE
from aider_gardener.errors import StoreError
from aider_gardener.messages import Level, Rendition


def test_what_was_taken_in_before_a_kill_is_not_taken_twice(
    tmp_path: Path, no_sqlite: NoSqlite, monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
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
        assert len(store.events()) == 1 and rows_in(store, "occurrences") == 1
        with pytest.raises(StoreError, match="still holds it"):
            store.forget([stored.id])  # it would come again with the lines
        store.close()
    assert len(files_of(tmp_path)) == 1


@pytest.mark.parametrize("way", ["entry", "session"])
def test_what_is_forgotten_leaves_every_file(tmp_path: Path, no_sqlite: NoSqlite, way: str) -> None:
    left_behind(tmp_path, "the aardvark of last time", "kept of last time")
    store = open_store(tmp_path)
    ids = [store.session_entries("s1")[0].id, put(store, "the aardvark of today", seq=5, session="gone").id]
    put(store, "kept of today", seq=6)
    store.record_event("s1", 1, "swap", {"entry_ids": ids, "why": "x"}, 1.0)
    for number in range(30):  # more lines than are left
        store.touch(ids, 10.0 + number)
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


@pytest.mark.parametrize("is_file", [False, True])
def test_what_a_running_chat_has_in_lines_is_forgotten_when_that_ended(
    tmp_path: Path, no_sqlite: NoSqlite, elsewhere: Callable[[int], None], is_file: bool
) -> None:
    chat = open_store(tmp_path)
    stored = put(chat, "the aardvark")
    elsewhere(1)
    no_sqlite(not is_file)
    other = open_store(tmp_path)
    assert said(other) == ["the aardvark"]
    with pytest.raises(StoreError, match=files_of(tmp_path)[0].name if is_file else "running chat"):
        other.forget([stored.id])
    assert said(other) == ["the aardvark"]
    put(chat, "the badger", seq=1)
    chat.close()
    assert other.forget([stored.id]) == 1 and b"aardvark" not in bytes_of(tmp_path)
    assert said(other) == ["the badger"]
    other.close()
    for fails in (True, False):
        no_sqlite(fails and not is_file)
        again = open_store(tmp_path)
        assert said(again) == ["the badger"]
        again.close()
    assert files_of(tmp_path) == []


def test_what_was_said_in_lines_that_ended_meanwhile_is_forgotten_too(
    tmp_path: Path, no_sqlite: NoSqlite, elsewhere: Callable[[int], None]
) -> None:
    chat = open_store(tmp_path)
    elsewhere(1)
    left_behind(tmp_path, "the aardvark", "the badger")
    elsewhere(0)
    assert chat.forget([put(chat, "the aardvark", session="s2").id]) == 1
    assert b"aardvark" not in bytes_of(tmp_path) and said(chat) == ["the badger"]


def impatient(directory: Path, key_source: str = "") -> Store:
    store = open_store(directory, key_source=key_source)
    store.database.live.set_busy_timeout(50)
    return store


def all_sorts(store: Store) -> str:
    stored = put(store, "not now", renditions=(Rendition(Level.LINE, "stub", 1),))
    store.set_state("s1", "k", "v")
    store.record_event("s1", 1, "swap", {"entry_id": stored.id}, 5.0)
    store.touch([stored.id], 9.0)
    store.pin(stored.id, True)
    return stored.id


def check_all_sorts(store: Store, stored_id: str) -> None:
    assert said(store) == ["not now"] and store.get_state("s1", "k") == "v"
    got = store.get(stored_id)
    assert got is not None and (got.pinned, got.access_count) == (True, 1) and len(store.events()) == 1
    assert store.renditions(stored_id)[Level.LINE].text == "stub" and found(store, "now") == [stored_id]


def test_what_waits_for_a_lock_is_known_and_outlives_the_process(
    tmp_path: Path, locker: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = impatient(tmp_path)
    stored_id = all_sorts(store)
    assert "locked by another process" in store.notice and "lines of JSON beside it" in store.notice
    assert "\n" not in store.notice and len(files_of(tmp_path)) == 1
    check_all_sorts(store, stored_id)
    with pytest.raises(StoreError, match="for the moment"):
        store.forget([stored_id])
    crash(store)
    monkeypatch.setattr(sessions, "is_running", lambda pid, started: False)
    locker.execute("ROLLBACK")
    again = open_store(tmp_path)
    check_all_sorts(again, stored_id)
    assert files_of(tmp_path) == []


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
    assert "can be written again; stored what waited: 1" in store.notice and files_of(tmp_path) == []
    assert store.forget([stored_id]) == 1 and store.verify() == []
    store.close()
    assert b"not now" not in bytes_of(tmp_path)


def test_what_waits_of_an_encrypted_archive_is_written_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "ab" * 32)
    store, other = impatient(tmp_path, "env"), impatient(tmp_path, "env")
    other.database.live.execute("BEGIN IMMEDIATE")
    stored_id = all_sorts(store)
    assert "wait in memory" in store.notice and files_of(tmp_path) == []
    check_all_sorts(store, stored_id)
    other.database.live.execute("ROLLBACK")
    store.set_state("s1", "other", "x")
    other.close()
    store.close()
    again = open_store(tmp_path)
    check_all_sorts(again, stored_id)
    again.close()
    assert b"not now" not in bytes_of(tmp_path)


@pytest.mark.parametrize("key_source", ["", "env"])
def test_while_it_waits_what_was_said_before_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key_source: str
) -> None:
    monkeypatch.setenv(VARIABLE, "ab" * 32)
    store, other = impatient(tmp_path, key_source), impatient(tmp_path, key_source)
    put(store, "the aardvark of before")
    other.database.live.execute("BEGIN IMMEDIATE")
    put(store, "the badger meanwhile", seq=1)
    assert said(store) == ["the aardvark of before", "the badger meanwhile"] and store.generation == 0
    assert found(store, "aardvark") and found(store, "badger")
    other.database.live.execute("ROLLBACK")
    put(store, "later", seq=2)
    assert said(store) == ["the aardvark of before", "the badger meanwhile", "later"]


def test_where_neither_file_nor_lines_can_be_written_it_waits_in_memory(
    tmp_path: Path, locker: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = impatient(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(lines.os, "fsync", Mock(side_effect=OSError(28, "No space left on device")))
        stored_id = all_sorts(store)
        assert "kept in memory only" in store.notice and "No space" in store.notice
        check_all_sorts(store, stored_id)
        put(store, "sooner", session="s2")
    put(store, "later", session="s2", seq=1)
    assert all(text in bytes_of(tmp_path) for text in (b"not now", b"sooner", b"later"))
    locker.execute("ROLLBACK")
    put(store, "at last", session="s2", seq=2)
    assert "stored what waited: 3" in store.notice and "in memory only" not in store.notice
    check_all_sorts(store, stored_id)
    assert said(store, "s2") == ["sooner", "later", "at last"] and files_of(tmp_path) == []


@pytest.mark.parametrize("at", ["take", "remove"])
def test_a_kill_while_what_waited_is_written_doubles_nothing(
    tmp_path: Path, locker: apsw.Connection, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    store = impatient(tmp_path)
    stored_id = all_sorts(store)
    locker.execute("ROLLBACK")
    with monkeypatch.context() as patch:
        patch.setattr(
            lines.FileLines if at == "remove" else sqlite.records, at, Mock(side_effect=KeyboardInterrupt)
        )
        with pytest.raises(KeyboardInterrupt):
            store.set_state("s1", "other", "x")
    crash(store)
    monkeypatch.setattr(sessions, "is_running", lambda pid, started: False)
    again = open_store(tmp_path)
    check_all_sorts(again, stored_id)
    assert files_of(tmp_path) == [] and again.verify() == []


def test_other_threads_read_while_the_archive_goes_beside_the_file_and_back(
    tmp_path: Path, locker: apsw.Connection
) -> None:
    locker.execute("ROLLBACK")
    store, ended = impatient(tmp_path), threading.Event()
    first = put(store, "quokka 0")

    def read() -> None:
        while not ended.is_set():
            assert first.id in found(store, "quokka") and store.original(first.id) == "quokka 0"
            store.verify()

    with ThreadPoolExecutor(2) as threads:
        reading = [threads.submit(read) for _ in range(2)]
        for seq in range(1, 5):
            if seq == 2:
                locker.execute("BEGIN IMMEDIATE")
            put(store, f"quokka {seq}", seq=seq)
        locker.execute("ROLLBACK")
        ended.set()
    put(store, "quokka 5", seq=5)
    assert [each.exception() for each in reading] == [None, None]
    assert said(store) == [f"quokka {seq}" for seq in range(6)]
    assert len(found(store, "quokka")) == 6


def test_a_thread_that_reads_just_then_keeps_no_message_from_going_beside(
    tmp_path: Path, locker: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, reads = impatient(tmp_path), threading.Event()
    file, write = store.database, store.database.write

    def reading(_db: apsw.Connection) -> None:
        reads.set()
        time.sleep(0.2)

    def met(step: Callable[[apsw.Connection], object]) -> object:
        try:
            return write(step)
        except StoreError:
            threading.Thread(target=file.read, args=(reading,)).start()
            assert reads.wait(10.0)
            raise

    monkeypatch.setattr(file, "write", met)
    put(store, "said meanwhile")
    assert said(store) == ["said meanwhile"] and "until then messages wait" in store.notice


def test_readers_that_meet_a_lost_archive_together_go_beside_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = impatient(tmp_path)
    put(store, "before")
    monkeypatch.setattr(repair, "begin_anew", Mock(side_effect=OSError(1, "Operation not permitted")))
    barrier = threading.Barrier(4)

    def read(_number: int) -> object:
        barrier.wait()
        store.session_entries("s1")
        return store.lines

    store.database.live.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    (tmp_path / "gardener.db").write_bytes(b"\xa5" * 4_096 * 20)
    store.database.live.release_memory()
    with ThreadPoolExecutor(4) as threads:
        assert len({id(each) for each in threads.map(read, range(4))}) == 1


def test_what_nobody_has_asked_for_yet_is_told_with_what_comes_then(store: Store) -> None:
    assert store.notice == ""
    for line in ("the first", "the second", "the first"):
        store.notice = line
    assert store.notice == "the first; the second"
    store.notice = "the third"
    assert store.notice == store.notice == "the third"
