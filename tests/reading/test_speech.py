"""Sentences that settle something, told from questions, conditions and quotations."""

from __future__ import annotations

import pytest

from aider_gardener.reading.speech import CHOICE, MASK, decides, masked


@pytest.mark.parametrize(
    "sentence",
    [
        "We decided against Redis.",
        "let's go with SQLite",
        "use cents instead of euros",
        "wir haben uns gegen Redis entschieden",
        "on garde les centimes",
        "decidimos usar SQLite",
        "我们决定保留三十六小时。",
    ],
)
def test_these_settle_something(sentence: str) -> None:
    assert decides(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Should we use Redis?",
        "If we decided against Redis, it would be slow.",
        "This is not yet decided.",
        "It works.",
    ],
)
def test_these_settle_nothing(sentence: str) -> None:
    assert not decides(sentence)


def test_what_the_model_prefers_explains_and_settles_nothing() -> None:
    sentence = "The loop uses an index instead of a pointer."
    assert decides(sentence) and not decides(sentence, is_users=False)


def test_quotations_are_masked_in_place() -> None:
    text = 'the test says "we decided against it" here'
    shown = masked(text)
    assert len(shown) == len(text) and "decided" not in shown and MASK in shown
    assert not decides('the error reads "we decided against it"')


@pytest.mark.parametrize("words", ["C, please", "option 2 then", "ok, b"])
def test_a_pick_among_what_was_offered(words: str) -> None:
    assert CHOICE.match(words)
