"""The files for people: the index renewed where there is one, and nobody's else written over."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from archive.test_pruning import OLD, put
from gardener.test_account import chat

from aider_gardener.archive.store import Store, open_store
from aider_gardener.errors import UsageError
from aider_gardener.gardener import files
from aider_gardener.gardener.files import apply_retention, backlog_of, index_path, write_index
from aider_gardener.settings import Settings

PRUNE = Settings(retention="prune")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = open_store(tmp_path / "archive")
    chat(made, "hello there", "Hi.")
    return made


def test_a_file_that_comes_while_the_page_is_made_is_not_written_over(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(store: Store, project: str) -> str:
        index_path(store).write_text("mine")
        return "page"

    monkeypatch.setattr(files, "project_index", late)
    with pytest.raises(UsageError, match="name another file"):
        write_index(store, "p")
    assert index_path(store).read_text() == "mine"


def prunable(store: Store) -> None:
    """Something said 60 days ago, in a session that no process holds; another archive's."""
    store.open_session("old", project="p", started_at=OLD, live=False)
    put(store, "where did the quokka go?", seq=0)


def test_what_retention_prunes_leaves_the_index_too(store: Store) -> None:
    prunable(store)
    assert apply_retention(store, "p", Settings()) == ""
    write_index(store, "p")
    assert "## old" in index_path(store).read_text("utf-8")
    assert "1 archived messages" in apply_retention(store, "p", PRUNE)
    assert "## old" not in index_path(store).read_text("utf-8")
    index_path(store).unlink()
    prunable(store)
    assert apply_retention(store, "p", PRUNE) and not index_path(store).exists()


def test_an_index_that_cannot_be_renewed_is_told_with_what_was_pruned(store: Store) -> None:
    prunable(store)
    index_path(store).write_text("mine")
    said = apply_retention(store, "p", PRUNE)
    assert "were deleted" in said and "the index of sessions still holds them" in said and "\n" not in said
    assert index_path(store).read_text() == "mine" and apply_retention(store, "p", PRUNE) == ""


def test_the_backlog_of_a_chat_does_that_when_it_rests_first(store: Store) -> None:
    prunable(store)
    backlog, until = (
        backlog_of(store, "p", Settings(retention="prune", embedder="none")),
        time.monotonic() + 60,
    )
    while not (said := backlog.take_notice()) and time.monotonic() < until:
        time.sleep(0.05)
    backlog.stop()
    assert "1 archived messages" in said


def test_an_embedder_that_nobody_offers_is_said_before_it_is_needed(store: Store) -> None:
    backlog = backlog_of(store, "p", Settings(embedder="nosuch"), background=False)
    assert "no installed package offers an embedder nosuch" in backlog.take_notice()
