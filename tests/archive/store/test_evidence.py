"""Where the words of a question stand: every passage in the order in which it was said, whoever asks."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_lines import put

from aider_gardener.archive.store import Store, open_store
from aider_gardener.archive.store import search as module
from aider_gardener.archive.store.words import query_words

SPAN = 20


def add(store: Store, session: str, seq: int, *passages: str, span: int = SPAN) -> str:
    """A message of these passages, each of so many characters; returns its id."""
    text = "".join(passage.ljust(span) for passage in passages)
    return put(store, text, session=session, seq=seq, chunk_chars=span).id


@pytest.fixture
def store() -> Store:
    store = open_store(None)
    for session in ("one", "two"):
        store.open_session(session, project="p", started_at=0.0)
    add(store, "two", 0, "the kettle", "the stove")
    add(store, "one", 5, "a kettle", "a pan")
    add(store, "one", 2, "kettles and stoves")
    return store


def told(store: Store, question: str, *sessions: str) -> list[tuple[int, list[bool]]]:
    """Where each passage begins, and which words it holds."""
    found = store.evidence(query_words(question), sessions)
    return [(int(start), found.has_word[:, at].tolist()) for at, start in enumerate(found.starts)]


def test_passages_come_session_by_session_as_they_were_said(store: Store) -> None:
    kettle = [(0, [True]), (0, [True]), (SPAN, [False])]
    assert told(store, "kettle", "one") == kettle
    assert told(store, "kettle", "two") == [(0, [True]), (SPAN, [False])]
    found = store.evidence(query_words("kettle stove"))
    assert len(found) == 5 and sorted(found.sessions.tolist()) == found.sessions.tolist()
    assert found.has_word.sum(axis=1).tolist() == [3, 2]
    assert (found.ends - found.starts).tolist() == [SPAN] * 5
    assert told(store, "kettle") == []
    assert len(told(store, "kettle", "one", "two")) == 5


def test_what_is_said_twice_stands_twice_and_what_is_forgotten_nowhere(store: Store) -> None:
    again = add(store, "two", 7, "a kettle", "a pan")
    assert [start for start, _held in told(store, "kettle", "two")] == [0, SPAN, 0, SPAN]
    assert len(store.evidence([])) == 7
    store.forget([again])
    assert len(store.evidence([])) == 3
    assert told(store, "kettle", "two") == [(0, [True]), (SPAN, [False])]


def test_the_places_are_read_anew_after_any_change_also_of_a_freed_number(store: Store) -> None:
    last = add(store, "two", 9, "the last")
    before = store.evidence(query_words("last"))
    store.forget([last])
    put(store, "shorter", session="two", seq=9, at=6.0)
    after = store.evidence(query_words("shorter"))
    assert len(before) == len(after) and after.ends[-1] == 7 and after.has_word[0, -1]


def test_nothing_of_a_file_that_was_begun_anew_is_kept(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.open_session("one", project="p", started_at=0.0)
    add(store, "one", 0, "a kettle")
    assert len(store.evidence([])) == 1
    for path in tmp_path.glob("gardener.db*"):
        path.unlink()
    found = store.evidence(query_words("kettle"))
    assert store.notice and len(found) == len(store.evidence([], ["one"]))
    store.close()


def test_the_places_are_not_read_again_while_nothing_changed(store: Store) -> None:
    store.evidence([])
    kept = store._places._places  # type: ignore[attr-defined]  # reason: what is kept is looked at
    store.evidence(query_words("kettle"))
    assert store._places._places is kept and kept is not None  # type: ignore[attr-defined]  # reason: as above


def test_of_a_word_that_very_many_passages_hold_the_newest_are_told(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 1)
    assert [held for _start, held in told(store, "kettle", "one")] == [[True], [False], [False]]
    assert store.evidence(["kettle"], ["one"]).has_word.sum() == 1
