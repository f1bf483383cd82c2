"""How each word is asked for in the index."""

from __future__ import annotations

from aider_gardener.archive.store import search
from aider_gardener.archive.store.words import Word


def test_each_word_is_asked_for_as_itself_and_by_its_stem() -> None:
    assert search.expression(Word("running", "run")) == 'words : "running" OR {words stems} : "run"'
    assert search.expression(Word("x1")) == 'words : "x1"'


def test_one_character_of_a_script_without_spaces_is_the_beginning_of_what_is_found() -> None:
    assert search.expression(Word("\u6570")) == 'words : "\u6570" *'


def test_what_is_no_word_is_safe_to_ask_for() -> None:
    assert search.expression(Word('a" OR b')) == 'words : "a"" OR b"'
