"""What is forgotten of a shared project is noted, of no other, and told of by whom it was said."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_entries import entry

from aider_gardener.archive.sessions import project_sessions
from aider_gardener.archive.store import Store, entries, open_store, repair, schema, sessions
from aider_gardener.archive.store.opening import open_lines

PROJECT = "/projects/pump"
SHARE = {"author": "ana", "sent": 9, "told": 1, "seen": 7, "vectors_sent": 3}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = open_store(tmp_path / "archive")
    found.open_session("s", project=PROJECT, started_at=1.0, live=False)
    found.database.write(
        lambda db: sessions.set_state(db, schema.OWN, entries.SHARE + PROJECT, json.dumps(SHARE))
    )
    return found


def say(store: Store, text: str, seq: int, *, session: str = "s", provider: str = "openai") -> str:
    store.open_session(session, project=PROJECT, started_at=1.0, live=False)
    new = replace(entry(seq, "user", text), session=session, provider=provider)
    return store.add(new, chunks=[(0, len(text))]).id


def stones(store: Store, told: str = "is_own") -> list[Any]:
    sql = f"SELECT kind, key, entry, at FROM tombstones WHERE {told} ORDER BY seq"
    return store.database.read(lambda db: db.execute(sql).fetchall())


def test_of_a_project_that_is_not_shared_nothing_is_noted(store: Store) -> None:
    store.open_session("t", project="/projects/other", started_at=1.0, live=False)
    new = replace(entry(0, "user", "forgotten"), session="t", provider="openai")
    store.forget([store.add(new, chunks=[(0, 5)]).id])
    assert stones(store, "1") == []


def test_nothing_is_told_of_what_stayed_here_or_is_a_colleagues(store: Store) -> None:
    ids = [say(store, "to llama", 0, provider="ollama"), say(store, "of bob's", 0, session="shared:bob:x")]
    store.forget(ids)
    assert stones(store) == [] and len(stones(store, "1")) == 2


def test_what_came_from_the_authors_other_machine_is_told_unless_it_was_pruned(store: Store) -> None:
    pruned, gone = (say(store, text, seq, session="shared:ana:x") for seq, text in enumerate(("one", "two")))
    store.forget([pruned], everywhere=False)
    store.forget([gone])
    assert [each[2] for each in stones(store)] == [gone]


@pytest.mark.parametrize("told", [True, False])
def test_what_was_forgotten_in_lines_is_told_unless_it_was_pruned(
    store: Store, tmp_path: Path, told: bool
) -> None:
    said = say(store, "one", 0, session="shared:ana:x")
    store.close()
    in_lines = open_lines(tmp_path / "archive", time.time, tmp_path / "user")
    in_lines.forget([said], everywhere=told)
    in_lines.close()
    again = open_store(tmp_path / "archive")
    assert again.get(said) is None
    assert [each[2] for each in stones(again)] == ([said] if told else [])


def test_a_forgotten_session_is_told_of_under_its_own_id(store: Store) -> None:
    say(store, "one", 0)
    say(store, "two", 0, session="shared:ana:x")
    store.forget_session("s")
    store.forget_session("shared:ana:x")
    assert [each[:2] for each in stones(store) if each[0] == "session"] == [
        ("session", "s"),
        ("session", "x"),
    ]


def test_sessions_that_were_fetched_are_no_chats_of_the_users(store: Store) -> None:
    say(store, "one", 0)
    say(store, "of bob's", 0, session="shared:bob:x")
    assert [info.id for info in project_sessions(store, PROJECT)] == ["s"]
    assert len(store.sessions(PROJECT)) == 2


def test_an_archive_that_was_saved_from_damage_sends_everything_again(store: Store, tmp_path: Path) -> None:
    store.forget([say(store, "forgotten", 0)])
    say(store, "kept", 1)
    store.close()
    fresh = open_store(tmp_path / "fresh")
    path = tmp_path / "archive" / "gardener.db"
    repair.salvage(fresh.database, path, repair.copy_of(path), "")
    share = json.loads(str(fresh.get_state(schema.OWN, entries.SHARE + PROJECT)))
    assert share == {"author": "ana", "sent": 0, "told": 0, "seen": 0, "vectors_sent": 0}
    assert len(stones(fresh)) == 1, "what was forgotten is remembered"
