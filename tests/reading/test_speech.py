"""Sentences that settle something, told from questions, conditions and quotations."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from aider_gardener.reading.speech import CHOICE, MASK, RULES, SETTLES, Sign, decides, finds, masked


@pytest.mark.parametrize(
    "sentence",
    [
        "We decided against Redis.",
        "let's go with SQLite",
        "use cents instead of euros",
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


@pytest.mark.parametrize("sign", [sign for sign in (*RULES, *SETTLES) if sign.words])
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
@given(data=st.data())
def test_no_sentence_is_passed_over_for_want_of_a_word(sign: Sign, data: st.DataObject) -> None:
    sentence = data.draw(st.from_regex(re.compile(sign.pattern.pattern))).lower()
    assume(sign.pattern.search(sentence))
    assert finds([sign], sentence)
