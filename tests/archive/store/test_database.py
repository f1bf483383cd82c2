"""The archive on disk: private, redacted, shared, and really emptied by forgetting."""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import closing, suppress
from pathlib import Path

import apsw
import made_lines
import pytest
from made_lines import bytes_of, put, said, written

from aider_gardener.archive.store import Store, entries, open_store
from aider_gardener.archive.store.database import BUSY_MILLISECONDS, NETWORK_BUSY_MILLISECONDS
from aider_gardener.errors import StoreError
from aider_gardener.messages import Level, Rendition

SECRET = "Zx9-marker-Secret-4711"
POSIX = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")


@POSIX
def test_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o000)
    try:
        store = open_store(tmp_path / "a")
        put(store, "x")
        store.export(tmp_path / "a" / "out.jsonl")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a").iterdir()}
    assert {"gardener.db", "gardener.db-wal", "gardener.db-shm", ".gitignore", "out.jsonl"} == set(modes)
    assert set(modes.values()) == {0o600}


@POSIX
def test_modes_that_were_opened_up_are_closed_again(tmp_path: Path) -> None:
    open_store(tmp_path / "a").close()
    (tmp_path / "a").chmod(0o755)
    (tmp_path / "a" / "gardener.db").chmod(0o644)
    open_store(tmp_path / "a").close()
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a" / "gardener.db").stat().st_mode) == 0o600


def test_git_does_not_see_the_archive(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    assert (tmp_path / ".gitignore").read_text() == "*\n"


def test_texts_that_differ_in_their_secret_only_are_two_entries(store: Store) -> None:
    one, two = put(store, 'password = "hunter22"'), put(store, 'password = "hunter23"', seq=1)
    assert one.id != two.id and store.original(one.id) != store.original(two.id)


@pytest.mark.parametrize("way", ["entry", "session"])
def test_forgotten_bytes_are_gone_from_every_file(tmp_path: Path, way: str, store: Store) -> None:
    store.open_session("gone", project="p", started_at=1.0)
    for n in range(60):
        put(store, f"neighbour {n} " + f"word{n} filler text " * 40, seq=n)
    marker = "Quokkamarker"
    big = f"{marker} again {marker}Camel " * 3_000
    texts = [f"small {marker} text", big, f"other {marker}\n" * 50]
    renditions = (Rendition(Level.COMPRESSED, f"{marker} compressed", 3),)
    ids = [
        put(store, text, seq=n, session="gone", chunk_chars=300, renditions=() if n else renditions).id
        for n, text in enumerate(texts)
    ]
    while store.work_off(500):
        pass
    store.record_event("gone", 1, "swap", {"entry_id": ids[0], "reason": f"about {marker}"}, 1.0)
    for n in range(60, 120):
        put(store, f"neighbour {n} " + f"word{n} filler text " * 40, seq=n)
    assert marker.encode() in bytes_of(tmp_path)
    assert (store.forget(ids) if way == "entry" else store.forget_session("gone")) == 3
    left = bytes_of(tmp_path).lower()
    assert marker.lower().encode() not in left and b"quokka" not in left
    assert store.stats().entries == 120 and store.verify() == []
    assert store.notice == ""


def test_forgetting_says_when_another_process_holds_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aider_gardener.archive.store.entries.CHECKPOINT_MILLISECONDS", 50)
    store = open_store(tmp_path)
    stored = put(store, "to be forgotten")
    store._db.live.set_busy_timeout(50)
    reader = apsw.Connection(str(tmp_path / "gardener.db"))
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM originals").fetchall()
    assert store.forget([stored.id]) == 1
    assert "another process" in store.notice and store.get(stored.id) is None
    reader.close()


def test_colliding_ids_are_lengthened(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "content_hash", lambda role, content: "ab" * 8 + content_hash_tail(content))
    monkeypatch.setattr(made_lines, "entry_id", lambda role, content: "gababababa")
    one, two = put(store, "one"), put(store, "two", seq=1)
    assert one.id == "gababababa" and two.id.startswith(one.id) and len(two.id) > len(one.id)
    assert (store.original(one.id), store.original(two.id)) == ("one", "two")
    assert put(store, "two", seq=5).id == two.id
    assert store.resolve("gab") == [one.id, two.id]
    other = open_store(None)
    own = put(other, "two")
    other.record_event("s1", 1, "plan", {"swaps": [{"entry_id": own.id}], "entry_ids": [own.id]}, 1.0)
    other.export(tmp_path / "out")
    store.import_(tmp_path / "out")
    assert own.id == one.id
    assert store.events()[0].data == {"swaps": [{"entry_id": two.id}], "entry_ids": [two.id]}


def content_hash_tail(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()[:48]


def test_what_fails_within_a_transaction_is_undone_alone(store: Store) -> None:
    def do() -> None:
        put(store, "one")
        with suppress(StoreError):
            store.put_renditions("gffffffff", [Rendition(Level.LINE, "of none", 1)])
        put(store, "two", seq=1)

    store.together(do)
    assert said(store) == ["one", "two"]


def test_an_index_that_is_of_another_moment_is_damage(tmp_path: Path, store: Store) -> None:
    put(store, "one fox")
    head = store._db.live.execute("SELECT block FROM word_index_data WHERE id = 10").get
    put(store, "two foxes", seq=1)
    store.close()
    sql = f"UPDATE word_index_data SET block = x'{head.hex()}' WHERE id = 10"
    written(tmp_path / "gardener.db", sql)
    with closing(open_store(tmp_path)) as again:
        put(again, "three", seq=2)
        assert "was damaged" in again.notice and said(again) == ["one fox", "two foxes", "three"]
        assert again.verify() == []


def test_write_ahead_log_and_durable_writes(tmp_path: Path, store: Store) -> None:
    assert store._db.live.pragma("journal_mode") == "wal"
    assert store._db.live.pragma("synchronous") == 2
    assert store._db.live.pragma("secure_delete") == 1
    store.close()
    assert not (tmp_path / "gardener.db-wal").exists()


def test_network_file_systems_get_a_rollback_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aider_gardener.archive.store.location.is_network_path", lambda path: True)
    store = open_store(tmp_path)
    stored = put(store, "over the wire")
    assert store._db.live.pragma("journal_mode") == "truncate"
    assert not list(tmp_path.glob("*-wal")) and not list(tmp_path.glob("*-shm"))
    assert store.forget([stored.id]) == 1 and b"wire" not in bytes_of(tmp_path)


def test_an_archive_that_was_moved_to_a_network_leaves_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    stored = put(store, "written at home")
    store.close()
    monkeypatch.setattr("aider_gardener.archive.store.location.is_network_path", lambda path: True)
    moved = open_store(tmp_path)
    assert (
        moved.notice == ""
        and moved.original(stored.id) == "written at home"
        and not list(tmp_path.glob("*-wal"))
    )
    waited = moved._db.live.pragma("busy_timeout")
    assert waited == NETWORK_BUSY_MILLISECONDS > BUSY_MILLISECONDS
    monkeypatch.undo()
    moved.close()
    again = open_store(tmp_path)
    assert again._db.live.pragma("journal_mode") == "wal"


@POSIX
def test_a_disk_that_has_no_room_for_the_index_of_the_log_is_full(tmp_path: Path, store: Store) -> None:
    import resource

    put(store, "x")
    store.close()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, before[1]))
    try:
        with pytest.raises(StoreError, match="the disk is full; free some space"):
            open_store(tmp_path, or_memory=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_export_to_where_nothing_can_be_written(tmp_path: Path) -> None:
    store = open_store(None)
    with pytest.raises(StoreError, match="cannot be written"):
        store.export(tmp_path / "missing" / "out.jsonl")


@pytest.mark.parametrize("met", ["a scrub", "a repair", "a file that can be written again"])
def test_a_hook_waits_for_a_lock_no_longer_than_it_said_whatever_came_between(
    tmp_path: Path, met: str
) -> None:
    store = open_store(tmp_path, patience_milliseconds=250)
    put(store, "said")
    if met == "a scrub":
        store.scrub()
    elif met == "a repair":
        os.unlink(tmp_path / "gardener.db")
        put(store, "said anew", seq=1)
        assert "was removed" in store.notice
    else:
        with closing(apsw.Connection(str(tmp_path / "gardener.db"))) as other:
            other.execute("BEGIN IMMEDIATE")
            put(store, "said beside it", seq=1)
        put(store, "and on", seq=2)
        assert "can be written again" in store.notice
    assert store.database.live.pragma("busy_timeout") == 250
