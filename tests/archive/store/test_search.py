"""Full text in a large archive: rare words are looked for everywhere, common ones among the newest only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from made_entries import entry

from aider_gardener.archive.store import Chunk, open_store, search
from aider_gardener.archive.store.base import Store, TextHit
from aider_gardener.archive.store.words import Word, query_words

Put = Callable[..., list[str]]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    """An archive in which ten chunks are many, and the newest five are the newest."""
    monkeypatch.setattr(search, "SMALL_INDEX_CHUNKS", 10)
    monkeypatch.setattr(search, "NEWEST_CHUNKS", 5)
    return open_store(None)


@pytest.fixture
def put(store: Store) -> Put:
    """Adds messages of one passage each; gives their ids."""

    def add(*texts: str) -> list[str]:
        begin = len(store.session_entries("s"))
        made = [entry(begin + at, "user", text) for at, text in enumerate(texts)]
        return [store.add(one, chunks=[Chunk(one.id, 0, len(one.content))]).id for one in made]

    return add


def many(word: str, count: int) -> list[str]:
    return [f"{word} number{n}" for n in range(count)]


def ids(store: Store, query: str, **given: Any) -> list[str]:
    return [hit.entry_id for hit in store.search_text(query, **given)]


def told(store: Store, query: str) -> tuple[list[str], list[str]]:
    rare, common = search.affordable(store._db.live, query_words(query))  # type: ignore[attr-defined]  # reason: what a search of it costs
    return [word.text for word in rare], [word.text for word in common]


def test_as_long_as_an_archive_is_small_every_word_is_looked_for(store: Store, put: Put) -> None:
    put(*many("alpha", 10))
    assert told(store, "alpha zebra") == (["alpha", "zebra"], [])
    assert len(ids(store, "alpha")) == 10
    put("alpha the eleventh")
    assert told(store, "alpha zebra") == (["zebra"], ["alpha"])


def test_rare_words_are_found_wherever_they_stand_and_common_ones_fill_up_from_the_newest(
    store: Store, put: Put
) -> None:
    (rare,) = put("zebra by itself")
    old = put(*many("alpha", 15))
    new = put(*many("alpha later", 3))
    found = ids(store, "alpha zebra")
    assert found[0] == rare
    assert set(found) & set(new) == set(new) and not set(found) & set(old[:12])
    assert ids(store, "alpha zebra", limit=1) == [rare]
    assert len(ids(store, "alpha zebra", limit=3)) == 3
    assert ids(store, "zebra") == [rare]


def test_words_that_are_all_common_are_looked_for_among_the_newest_and_if_there_is_none_everywhere(
    store: Store, put: Put
) -> None:
    old = put(*many("alpha", 15))
    assert 0 < len(ids(store, "alpha")) < 15
    put(*many("beta", 6))
    assert set(ids(store, "alpha")) == set(old)


def test_where_a_rare_word_is_found_old_common_ones_are_not_looked_for(store: Store, put: Put) -> None:
    (rare,) = put("zebra by itself")
    put(*many("alpha", 15), *many("beta", 6))
    assert ids(store, "alpha zebra") == [rare]


def test_the_rarest_words_come_first_until_they_match_too_much_and_two_more_are_common(
    store: Store, put: Put
) -> None:
    put(*many("five", 5), *many("four", 4), *many("three", 3), *many("twenty", 20), *many("thirty", 30))
    assert told(store, "twenty five three four thirty") == (["three", "four"], ["five", "twenty"])


def test_a_stem_is_looked_for_where_it_matches_little(store: Store, put: Put) -> None:
    itself, other, *_alphas = put("it was migrating", "it is migrated", *many("alpha", 15))
    assert set(ids(store, "migrating")) == {itself, other}
    put(*(f"migrates number{n}" for n in range(9)))
    assert ids(store, "migrating") == [itself], "its other forms are too many now"


def test_of_two_searches_each_hit_comes_once_with_the_better_score() -> None:
    one = [TextHit("g1", 0, 5, 2.0), TextHit("g2", 0, 5, 1.0)]
    other = [TextHit("g2", 0, 5, 3.0), TextHit("g1", 0, 5, 0.5), TextHit("g1", 5, 9, 2.5)]
    assert search._merged(one, other) == [other[0], other[2], one[0]]


def test_each_word_is_asked_for_as_itself_and_by_its_stem() -> None:
    assert search.expression([]) == ""
    both = search.expression([Word("running", "run"), Word("x1")])
    assert both == '({words gloss} : "running" OR {words stems} : "run") OR ({words gloss} : "x1")'
