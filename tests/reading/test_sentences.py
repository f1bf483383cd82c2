"""Sentences, items, headings and rows as units, and what each is worth."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.reading.sentences import content_words, units, worth


def test_abbreviations_versions_and_numbers_do_not_end_a_sentence() -> None:
    assert len(units("Use e.g. sqlite 3.31.1 here. It works.")) == 2
    assert len(units("1. first point\n2. second point")) == 2


def test_each_kind_of_unit_is_told() -> None:
    text = "# Rates\n\nThey are kept in cents.\n\n- one thing\n- another\n\n| a | b |\n"
    assert [(unit.kind, text[unit.start : unit.end].strip()) for unit in units(text)] == [
        ("heading", "# Rates"),
        ("sentence", "They are kept in cents."),
        ("item", "- one thing"),
        ("item", "- another"),
        ("row", "| a | b |"),
    ]


@given(st.text(max_size=300))
def test_units_are_in_order_and_miss_only_white_space(text: str) -> None:
    found = units(text)
    assert all(one.end <= two.start for one, two in pairwise(found))
    covered = "".join("".join(text[unit.start : unit.end].split()) for unit in found)
    assert covered == "".join(text.split())


def test_numbers_and_names_are_worth_more_than_small_talk() -> None:
    assert content_words("The lease is released by the worker") == ["lease", "released", "worker"]
    assert worth("Thanks a lot!") < worth("The limit is 36 hours in `src/worker.py`.")
