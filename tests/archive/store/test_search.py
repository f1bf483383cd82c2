"""How each word is asked for in the index."""

from __future__ import annotations

import pytest

from aider_gardener.archive.store import search


@pytest.mark.parametrize(
    ("word", "asked"),
    [
        ("running", '"run"'),
        ("x1", '"x1"'),
        ("\u6570", '"\u6570" *'),  # the beginning of what is found
        ('a" OR b', '"a"" OR b"'),
    ],
)
def test_each_word_is_asked_for_by_its_stem(word: str, asked: str) -> None:
    assert search.expression(word) == asked
