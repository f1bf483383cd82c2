"""The cut of a text into index words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener.archive.store import words
from aider_gardener.archive.store.words import Word, index_words, query_words, stem


def texts(text: str) -> list[str]:
    return [word.text for word in index_words(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserName", ["getusername", "get", "user", "name"]),
        ("get_user_name", ["getusername", "get", "user", "name"]),
        ("src/app/main.py", ["src", "app", "main", "py", "srcappmainpy", "mainpy"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("2.1.220", ["2", "1", "220", "2_1_220", "1_220"]),
        ("std::vector", ["std", "vector", "stdvector"]),
        ("CAFÉ Straße", ["cafe", "strasse"]),
        ("ｆｕｌｌ", ["full"]),
        ("接続エラー", ["接続", "続エ", "エラ", "ラー"]),
        ("log接続", ["log", "接続"]),
        ("接", ["接"]),
        ("__init__", ["init"]),
        ("a\0b", ["a", "b"]),
        ("", []),
        ("?! ...", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@pytest.mark.parametrize(
    "forms",
    [
        ["configure", "configured", "configuration", "configures"],
        ["retry", "retries"],
        ["run", "running", "runs"],
        ["class", "classes"],
        ["ошибка", "ошибки", "ошибке"],
        ["Überprüfung", "Überprüfungen"],
    ],
)
def test_inflected_forms_share_a_key(forms: list[str]) -> None:
    keys = [
        {word.text for word in index_words(form)} | {word.stem for word in index_words(form)} - {""}
        for form in forms
    ]
    assert set.intersection(*keys)


@pytest.mark.parametrize("word", ["", "abc", "e42", "接続", "x" * 3])
def test_short_and_mixed_words_have_no_stem(word: str) -> None:
    assert stem(word) == ""


def test_compounds_have_no_stem() -> None:
    assert Word("getusername") in index_words("getUserName")


@given(st.text(st.characters(exclude_categories=()), max_size=300))
@settings(max_examples=100, deadline=None)
def test_a_text_is_found_by_its_own_words(text: str) -> None:
    found = texts(text)
    assert all(
        word and " " not in word and '"' not in word and len(word) <= 3 * words.WHOLE_CHARS for word in found
    )
    assert {word.text for word in query_words(text)} <= set(found)


def test_common_words_are_left_out_unless_alone() -> None:
    assert [word.text for word in query_words("what is the timeout of it")] == ["timeout"]
    assert [word.text for word in query_words("what is it")] == ["what", "is", "it"]


def test_long_questions_keep_their_telling_words() -> None:
    filler = " ".join(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(200))
    kept = {word.text for word in query_words(f"{filler} E4711 {filler}")}
    assert len(kept) == words.QUERY_WORDS and "e4711" in kept
