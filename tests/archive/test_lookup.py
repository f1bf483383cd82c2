"""One stored entry: found by the beginning of its id, with what was done to it and why."""

from __future__ import annotations

import pytest
from made_entries import entry

from aider_gardener.archive.lookup import full_id, quoting, source_words, why_stored
from aider_gardener.archive.store import Store, open_store
from aider_gardener.errors import UsageError
from aider_gardener.messages import Entry, Source, SourceKind


@pytest.fixture
def store() -> Store:
    return open_store(None)


def put(store: Store, seq: int, content: str, source: Source | None = None) -> Entry:
    new = entry(seq, "user", content)
    new = Entry(**{**vars(new), "source": source}) if source else new
    return store.add(new, chunks=[(0, len(content))])


def test_an_id_is_found_by_its_beginning_as_people_paste_it(store: Store) -> None:
    stored = put(store, 0, "the lease is 30 seconds")
    for given in (stored.id, stored.id[:6], f"[{stored.id}]", f"({stored.id.upper()}).", f"`{stored.id}`"):
        assert full_id(store, given) == stored.id
    assert full_id(store, "gfeed", more_ids=["gfeed00001"]) == "gfeed00001"


def test_an_id_that_names_none_or_many_is_refused_with_what_to_do(store: Store) -> None:
    for n in range(9):
        put(store, n, f"text {n}")
    with pytest.raises(UsageError, match="name the id"):
        full_id(store, " [] ")
    with pytest.raises(UsageError, match="no entry has the id gzzz"):
        full_id(store, "gzzz")
    with pytest.raises(UsageError, match=r"beginning of several ids \(.*…\)"):
        full_id(store, "g")


def test_notes_that_quote_an_entry_are_found_beside_any_number_of_passages_that_name_it(store: Store) -> None:
    stored, other = put(store, 0, "the lease is 30 seconds"), put(store, 1, "the queue is full")
    notes = [
        put(store, 2 + n, (f"{n} ({stored.id})", f"{n} [{other.id}]")[n % 2], Source(SourceKind.STUB))
        for n in range(60)
    ]
    for n in range(60):
        put(store, 62 + n, f"why does it say ({stored.id}) {n}?")
    assert sorted(quoting(store, [stored.id, other.id])) == sorted(note.id for note in notes)
    assert quoting(store, ["g000000000", '"', ""]) == quoting(store, []) == []


def test_why_tells_every_change_and_how_it_stands(store: Store) -> None:
    stored = put(store, 0, "1 passed", Source(SourceKind.COMMAND, "pytest -q"))
    swap = {"entry_id": stored.id, "before": "full", "after": "line", "reason": "old"}
    data = {
        "swaps": [swap, swap],  # the same words said twice
        "entry_ids": [stored.id],
        "reason": "history over its mark",
        "tokens_before": 9_000,
        "marks": {"passed": "high", "high": 8_000},
    }
    store.record_event("s", 3, "plan", data, 5.0)
    why = why_stored(store, stored)
    assert why.standing == "line" and why.source == source_words(store, stored) == "shell: pytest -q"
    (change,) = why.changes
    assert (change.turn, change.before, change.after, change.reason) == (3, "full", "line", "old")
    assert "9,000" in change.cause and "8,000" in change.cause
    assert why.as_json()["class"] == "prose" and "cls" not in why.as_json()
