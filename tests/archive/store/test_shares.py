"""What the archive knows of being shared: per project, safe against exports, and of what was forgotten."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from made_entries import entry

from aider_gardener.archive.sessions import project_sessions
from aider_gardener.archive.store import Chunk, open_store, records, repair, shares
from aider_gardener.archive.store.opening import open_lines
from aider_gardener.archive.postgres.local import Share, Tombstone
from aider_gardener.archive.store.sqlite import SqliteStore

SHARE = Share("/projects/pump", "ana/pump", 1, "server", "ana", True, "machine", sent=9, told=1, seen=7)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    found = open_store(tmp_path / "archive", user=tmp_path / "user")
    assert isinstance(found, SqliteStore)
    found.open_session("s", project="/projects/pump", started_at=1.0, hold=False)
    yield found
    found.close()


def keep(store: SqliteStore, share: Share = SHARE) -> None:
    store.database.write(lambda db: local.keep(db, share))


def kept(store: SqliteStore) -> Share | None:
    return store.database.read(lambda db: local.share_of(db, "/projects/pump"))


def say(store: SqliteStore, text: str, seq: int, *, session: str = "s", provider: str = "openai") -> str:
    store.open_session(session, project="/projects/pump", started_at=1.0, hold=False)
    new = replace(entry(seq, "user", text), session=session, provider=provider)
    return store.add(new, chunks=[Chunk(new.id, 0, len(text))]).id


def stones(store: SqliteStore) -> list[Tombstone]:
    return store.database.read(lambda db: local.tombstones(db, "/projects/pump", 0, 100))


def test_a_share_is_kept_by_project_and_dropped(store: SqliteStore) -> None:
    keep(store)
    assert kept(store) == SHARE
    assert store.database.read(local.all_shares) == [SHARE]
    store.database.write(lambda db: local.drop(db, "/projects/pump"))
    assert kept(store) is None and store.database.read(local.all_shares) == []


def test_a_sync_may_begin_once_in_so_many_seconds(store: SqliteStore) -> None:
    def begins(now: float) -> bool:
        return store.database.write(lambda db: local.may_begin(db, "/projects/pump", now, 60.0))

    assert not begins(100.0), "nothing is shared"
    keep(store)
    assert begins(100.0) and not begins(100.0) and not begins(159.0) and begins(160.0)
    store.database.write(lambda db: local.note_active(db, "/projects/pump", 200.0))
    assert not begins(259.0) and begins(260.0)
    assert begins(250.0), "a clock that was put back"


def test_an_export_does_not_carry_a_share_into_another_archive(store: SqliteStore, tmp_path: Path) -> None:
    keep(store)
    say(store, "a message", 0)
    store.export(tmp_path / "export")
    assert "ana/pump" not in (tmp_path / "export").read_text()
    other = open_store(tmp_path / "other", user=tmp_path / "user")
    assert isinstance(other, SqliteStore)
    other.import_(tmp_path / "export")
    assert kept(other) is None
    other.close()


def test_without_a_share_nothing_is_noted_of_what_is_forgotten(store: SqliteStore) -> None:
    store.forget([say(store, "forgotten", 0)])
    assert store.database.read(lambda db: db.execute("SELECT count(*) FROM tombstones").get) == 0


def test_what_is_forgotten_is_noted_by_its_hash_and_time(store: SqliteStore) -> None:
    keep(store)
    said = say(store, "forgotten", 0)
    store.forget([said])
    (stone,) = stones(store)
    assert (stone.kind, stone.entry, len(stone.key)) == ("entry", said, 64)
    forgotten = store.database.read(
        lambda db: [
            local.is_forgotten(db, "/projects/pump", stone.key, at) for at in (stone.at, stone.at + 1)
        ]
    )
    assert forgotten == [True, False]


def test_nothing_is_told_of_what_stayed_here_or_is_a_colleagues(store: SqliteStore) -> None:
    keep(store)
    ids = [say(store, "to llama", 0, provider="ollama"), say(store, "of bob's", 0, session="shared:bob:x")]
    store.forget(ids)
    assert stones(store) == []
    assert store.database.read(lambda db: db.execute("SELECT count(*) FROM tombstones").get) == 2


def test_what_came_from_the_authors_other_machine_is_told_unless_it_was_pruned(store: SqliteStore) -> None:
    keep(store)
    pruned, forgotten = (
        say(store, text, seq, session="shared:ana:x") for seq, text in enumerate(("one", "two"))
    )
    store.forget([pruned], told=False)
    store.forget([forgotten])
    assert [stone.entry for stone in stones(store)] == [forgotten]


@pytest.mark.parametrize("told", [True, False])
def test_what_was_forgotten_in_lines_is_told_unless_it_was_pruned(
    store: SqliteStore, tmp_path: Path, told: bool
) -> None:
    keep(store)
    said = say(store, "one", 0, session="shared:ana:x")
    store.close()
    in_lines = open_lines(tmp_path / "archive", time.time, tmp_path / "user")
    in_lines.forget([said], told=told)
    in_lines.close()
    again = open_store(tmp_path / "archive", user=tmp_path / "user")
    assert isinstance(again, SqliteStore) and again.get(said) is None
    assert [stone.entry for stone in stones(again)] == ([said] if told else [])
    again.close()


def test_a_line_from_before_that_does_not_say_so_is_told(store: SqliteStore) -> None:
    keep(store)
    said = say(store, "one", 0, session="shared:ana:x")
    store.database.write(lambda db: records.apply(db, {"kind": records.FORGET, "ids": [said]}))
    assert [stone.entry for stone in stones(store)] == [said]


def test_a_forgotten_session_is_told_of_under_its_own_id(store: SqliteStore) -> None:
    keep(store)
    say(store, "one", 0)
    say(store, "two", 0, session="shared:ana:x")
    store.forget_session("s")
    store.forget_session("shared:ana:x")
    assert [(stone.kind, stone.key) for stone in stones(store) if stone.kind == "session"] == [
        ("session", "s"), ("session", "x"),
    ]  # fmt: skip


def test_marks_never_stand_above_the_last_row(store: SqliteStore) -> None:
    keep(store)
    say(store, "one", 0)
    store.forget([say(store, "two", 1)])
    found = kept(store)
    assert found is not None and (found.sent, found.cuts) == (1, 1)


def test_sessions_that_were_fetched_are_no_chats_of_the_users(store: SqliteStore) -> None:
    say(store, "one", 0)
    say(store, "of bob's", 0, session="shared:bob:x")
    assert [info.id for info in project_sessions(store, "/projects/pump")] == ["s"]
    assert len(store.sessions("/projects/pump")) == 2


def test_places_go_without_the_texts_that_stand_elsewhere(store: SqliteStore) -> None:
    from aider_gardener.archive.store import entries

    both, alone = say(store, "both", 0), say(store, "alone", 0, session="shared:bob:x")
    say(store, "both", 1, session="shared:bob:x")
    sql = "SELECT n.number FROM occurrences n JOIN sessions s ON s.number = n.session WHERE s.id LIKE 'shared:%'"
    numbers = store.database.read(lambda db: [row[0] for row in db.execute(sql)])
    assert store.database.write(lambda db: entries.forget_places(db, numbers)) == [alone]
    store.scrub()
    assert store.original(both) == "both" and store.original(alone) is None
    assert [info.id for info in store.sessions("/projects/pump")] == ["s"]
    assert store.verify() == []


def test_an_archive_that_was_saved_from_damage_sends_everything_again(
    store: SqliteStore, tmp_path: Path
) -> None:
    keep(store)
    store.forget([say(store, "forgotten", 0)])
    say(store, "kept", 1)
    store.close()
    fresh = open_store(tmp_path / "fresh", user=tmp_path / "user")
    assert isinstance(fresh, SqliteStore)
    fresh.database.write(lambda db: repair.salvage(db, tmp_path / "archive" / "gardener.db"))
    found = kept(fresh)
    assert found is not None and (found.sent, found.told, found.seen) == (0, 0, 0)
    assert len(stones(fresh)) == 1, "what was forgotten is remembered"
    fresh.close()


def test_an_archive_from_before_gets_the_table(tmp_path: Path) -> None:
    from aider_gardener.archive.store import schema

    db = apsw.Connection(":memory:")
    schema.migrate(db, schema.MIGRATIONS[:5])
    schema.migrate(db)
    assert db.execute("SELECT count(*) FROM tombstones").get == 0 and schema.has_newest_tables(db)
