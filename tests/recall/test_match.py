"""What is told of a passage: the words it shares with the question, how near it is, whose company it is."""

from __future__ import annotations

from aider_gardener.archive.store.words import query_words
from aider_gardener.recall.match import Match, matched

WORDS = query_words("how long do retries wait after a timeout?")


def test_words_count_by_their_stem_too() -> None:
    found = matched("Each retry waits 4.5 s.", WORDS, 0.0, beside=False)
    assert set(found.words) == {"retries", "wait"}
    assert str(found) == f"words: {', '.join(found.words)}"


def test_what_is_near_says_how_near_and_what_shares_nothing_names_its_neighbours() -> None:
    near = matched("backoff", WORDS, 0.4, beside=False)
    assert near == Match((), near.meaning) and 0.0 < near.meaning < 1.0
    assert str(near) == f"meaning: {near.meaning:.0%}"
    assert str(matched("backoff", WORDS, 0.0, beside=True)) == "its neighbours"
    assert matched("backoff", WORDS, 0.0, beside=True).as_json() == {
        "words": [],
        "meaning": 0.0,
        "neighbours": True,
    }
