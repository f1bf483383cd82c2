"""Forms of speech: by the words that are named beside them no sentence is passed over that a pattern finds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener.reading import speech
from aider_gardener.reading.speech import ANNOUNCES, PREFERS, RULES, SETTLES, TAKES_BACK, Forms, finds

ALL = (*RULES, *SETTLES, PREFERS, TAKES_BACK, ANNOUNCES)
BY_PATTERN = [(forms, pattern) for forms in ALL for pattern in forms.patterns]


@pytest.mark.parametrize(("forms", "pattern"), BY_PATTERN, ids=range(len(BY_PATTERN)))
@settings(max_examples=10)
@given(st.data())
def test_what_a_pattern_finds_has_one_of_its_words(
    forms: Forms, pattern: re.Pattern[str], data: st.DataObject
) -> None:
    compiled = re.compile(pattern.pattern, pattern.flags & ~re.UNICODE)
    sentence = data.draw(st.from_regex(compiled)).lower()
    assert finds((forms,), sentence) or not compiled.search(sentence)


def test_every_forms_of_the_module_is_tried() -> None:
    named = [found for found in vars(speech).values() if type(found) is Forms]
    assert all(found in ALL for found in named)


def test_words_beyond_latin_scripts_are_found_within_others() -> None:
    assert finds(RULES, "请勿直接提交到main") and finds(RULES, "не меняй этот файл")
    assert not finds(RULES, "go on with step 3 — then stop")
