"""The files for people: the index renewed where there is one, and nobody's else written over."""

from __future__ import annotations

from pathlib import Path

import pytest
from gardener.test_account import chat

from aider_gardener.archive.store import Store, open_store
from aider_gardener.errors import UsageError
from aider_gardener.gardener.files import add_conventions, index_path, renew_index, renew_now, write_index


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = open_store(tmp_path / "archive")
    chat(made, "hello there", "Hi.")
    return made


def test_the_index_is_renewed_only_where_there_is_one(store: Store) -> None:
    renew_index(store, "p")
    assert not index_path(store).exists()
    assert renew_now(store, "p", would=True).startswith("1 session would be listed in ")
    assert not index_path(store).exists()
    assert renew_now(store, "p", would=False) == f"1 session listed in {index_path(store)}"
    store.forget_session("s")
    renew_index(store, "p")
    assert "hello there" not in index_path(store).read_text("utf-8")


def test_what_is_not_ours_is_not_written_over(store: Store) -> None:
    index_path(store).write_text("mine")
    with pytest.raises(UsageError, match="name another file"):
        write_index(store, "p")
    assert index_path(store).read_text() == "mine"


def test_rules_are_added_to_conventions_once(tmp_path: Path) -> None:
    path = tmp_path / "CONVENTIONS.md"
    assert add_conventions(path, ["use httpx", "no prints"]) == 2
    held = path.read_bytes()
    assert add_conventions(path, ["no prints"]) == 0 and path.read_bytes() == held
    assert held.count(b"- ") == 2
