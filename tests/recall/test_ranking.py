"""A passage is scored by its own words and meaning and by what stands around it, in arrays of any length."""

from __future__ import annotations

import numpy as np
import pytest

from aider_gardener.archive.store.base import Evidence
from aider_gardener.recall.ranking import FAR, FIRST, NEAR, WEIGHTS, first, okapi, scores, text_bonus

LENGTH = 300


def evidence(*rows: str, sessions: str = "", chars: int = LENGTH) -> Evidence:
    """A row for each word of the question, a mark for each passage: x where it is held. `sessions` has a letter
    for each passage."""
    count = len(rows[0])
    numbers = np.arange(count, dtype=np.int64)
    of = np.array([ord(letter) for letter in sessions or "a" * count], dtype=np.int64)
    held = np.array([[mark == "x" for mark in row] for row in rows], dtype=np.bool_)
    return Evidence(numbers, of, numbers * chars, (numbers + 1) * chars, held)


def nowhere(count: int) -> np.ndarray:
    return np.full(count, np.nan, dtype=np.float32)


def order(of: Evidence, similarity: np.ndarray | None = None) -> list[int]:
    similarity = nowhere(len(of)) if similarity is None else similarity
    return [int(at) for at in np.argsort(-scores(of, similarity).relevance, kind="stable")]


def test_more_of_the_words_tell_more_and_rare_ones_most() -> None:
    far = "." * 40
    two_of_three = evidence(
        "x" + far + "." + far + "x", "x" + far + "." + far + ".", "." + far + "x" + far + "."
    )
    assert order(two_of_three)[0] == 0
    rare = evidence("x" + "." * 60 + ".", "." + "x." * 30 + "x")
    assert scores(rare, nowhere(62)).words[0] > scores(rare, nowhere(62)).words[-1]


def test_what_stands_near_the_words_comes_before_what_stands_alone() -> None:
    row = "." * 30 + "x" + "." * 60
    relevance = scores(evidence(row), nowhere(len(row))).relevance
    assert relevance[30] > relevance[30 + NEAR] > relevance[30 + FAR] > relevance[30 + FAR + 1] == 0
    assert relevance[30 - NEAR : 30] == pytest.approx(relevance[30 + NEAR : 30 : -1])
    assert relevance[30 - FAR : 30] == pytest.approx(relevance[30 + FAR : 30 : -1])


def test_nothing_is_near_across_a_border_of_sessions() -> None:
    of = evidence("." * 5 + "x" + "." * 5, sessions="a" * 6 + "b" * 5)
    relevance = scores(of, nowhere(11)).relevance
    assert relevance[4] > 0 and (relevance[6:] == 0).all()


def test_a_session_that_fits_as_a_whole_lifts_all_its_passages() -> None:
    gap = "." * 40
    whole = evidence(
        "x" + gap + "." + gap + "." + "x" + gap,
        "." + gap + "x" + gap + "." + "." + gap,
        sessions="a" * 83 + "b" * 41,
    )
    relevance = scores(whole, nowhere(124)).relevance
    assert relevance[20] > relevance[83 + 20] > 0, "both words stand in the first, one in the second"


def test_meaning_counts_its_own_and_its_neighbours_and_what_is_not_known_is_as_the_others_are() -> None:
    of = evidence("." * 9)
    similarity = np.array([0.1, 0.1, 0.1, 0.9, 0.1, 0.1, 0.1, 0.1, np.nan], dtype=np.float32)
    relevance = scores(of, similarity).relevance
    assert order(of, similarity)[0] == 3
    assert min(relevance[2], relevance[4]) > max(relevance[0], relevance[6])
    assert relevance[8] > relevance[6], "the mean of what is known"
    assert (scores(of, nowhere(9)).relevance == 0).all()


def test_the_best_by_meaning_alone_is_not_lost_among_what_fits_by_half() -> None:
    assert first(np.array([0.2, -1.0, 0.8, 0.4])).tolist() == pytest.approx([0.2 / 3, 0.0, 0.8, 0.2])
    many = first(np.arange(1, 40) / 40)
    assert np.count_nonzero(many) == FIRST and many[-1] == many.max()
    assert first(np.zeros(0)).shape == (0,)


def test_relevance_is_at_most_about_one_and_nothing_is_made_of_nothing() -> None:
    every = evidence("x" * 5, "x" * 5, sessions="aabbb")
    assert (scores(every, np.ones(5, dtype=np.float32)).relevance <= 1).all()
    for empty in (
        evidence("", ""),
        Evidence(*np.empty((4, 0), dtype=np.int64), has_word=np.empty((0, 0), dtype=bool)),
    ):
        assert scores(empty, nowhere(0)).relevance.shape == (0,)
    no_words = Evidence(*np.zeros((4, 3), dtype=np.int64), has_word=np.empty((0, 3), dtype=bool))
    assert (scores(no_words, nowhere(3)).relevance == 0).all()


def test_okapi_is_what_its_formula_says() -> None:
    counts, lengths = np.array([[2.0, 0.0], [1.0, 3.0]]), np.array([50, 150])
    idf = np.log(1 + (2 - np.array([1, 2]) + 0.5) / (np.array([1, 2]) + 0.5))
    bound = 1.2 * (0.25 + 0.75 * lengths / 100)
    wanted = sum(idf[word] * counts[word] / (counts[word] + bound) for word in (0, 1)) / idf.sum()
    before = np.concatenate([np.zeros((2, 1)), counts.cumsum(axis=1)], axis=1)
    assert okapi(before, np.arange(2), np.arange(1, 3), lengths) == pytest.approx(wanted)


def test_a_question_is_seldom_the_answer_and_who_is_named_often_has_it() -> None:
    assert text_bonus("Which port is it?\n", frozenset()) < 0 == text_bonus("Is it 8080? Yes.", frozenset())
    asked = frozenset({"when", "did", "melanie", "paint"})
    assert text_bonus("8 May\nMelanie: I painted it.", asked) > 0
    assert text_bonus("8 May\nCaroline: Melanie painted it.", asked) == 0
    assert text_bonus("melanie painted: a lake", asked) == 0
    assert abs(text_bonus("Melanie: why?", asked)) < WEIGHTS.named
