"""The cut of a text into index words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener.archive.store import words
from aider_gardener.archive.store.words import index_words, query_words, stem, stop_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserName", ["get", "user", "name", "getusername"]),
        ("get_user_name", ["get", "user", "name", "getusername"]),
        ("src/app/main.py", ["src", "app", "main", "py"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("2.1.220", ["2", "1", "220"]),
        ("std::vector", ["std", "vector"]),
        ("CAFÉ Straße", ["cafe", "strasse"]),
        ("ｆｕｌｌ", ["full"]),
        ("接続エラー", ["接続", "続エ", "エラ", "ラー"]),
        ("log接続", ["log", "接続"]),
        ("接", ["接"]),
        ("ガス カス", ["ガス", "カス"]),
        ("Łódź œuvre", ["lodz", "oeuvre"]),
        ("कनेक्शन", ["कनकशन"]),
        ("ข้อผิด", ["ขอ", "อผ", "ผด"]),
        ("x" * 70, ["x" * 64]),
        ("A" * 40 + "b" * 40, ["a" * 39, "a" + "b" * 40]),
        ("__init__", ["init"]),
        ("a\0b", ["a", "b"]),
        ("", []),
        ("?! ...", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert index_words(text) == expected


@pytest.mark.parametrize(
    "forms",
    [
        ["configure", "configured", "configuration", "configures"],
        ["retry", "retries", "retried"],
        ["run", "running", "runs"],
        ["class", "classes"],
        ["خطأ", "الخطأ"],
        ["ошибка", "ошибки", "ошибке"],
        ["Überprüfung", "Überprüfungen"],
    ],
)
def test_inflected_forms_share_a_key(forms: list[str]) -> None:
    assert len({stem(word) for form in forms for word in index_words(form)}) == 1


@pytest.mark.parametrize("word", ["", "abc", "e42", "接続", "x" * 3])
def test_short_and_mixed_words_are_their_own_stem(word: str) -> None:
    assert stem(word) == word


@given(st.text(st.characters(exclude_categories=()), max_size=300))
@settings(max_examples=100, deadline=None)
def test_a_text_is_found_by_its_own_words(text: str) -> None:
    found = index_words(text)
    assert all(
        word and " " not in word and '"' not in word and len(word) <= words.WORD_CHARS for word in found
    )
    assert set(query_words(text)) <= set(found)


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("what is the timeout of it, the timeout", ["timeout"]),
        ("what is it", ["what", "is", "it"]),
        ("why did the process die in the war", ["process", "die", "war"]),
        ("die Sperre: wie lange war sie nach dem Fehler?", ["sperre", "lange", "fehler"]),
        ("¿cuánto dura el bloqueo en la base?", ["dura", "bloqueo", "base"]),
        ("quelle est la durée du verrou ?", ["duree", "verrou"]),
        ("какой был срок блокировки", ["срок", "блокировки"]),
        ("comment on the war and die", ["comment", "war", "die"]),
        ("war", ["war"]),
    ],
)
def test_what_says_nothing_is_left_out_by_the_language_of_the_question(
    question: str, left: list[str]
) -> None:
    assert query_words(question) == left


def test_every_stop_word_is_written_as_the_index_is() -> None:
    lists = words._stop_lists()
    assert len(lists) == 10 and stop_words([]) == stop_words(["war"]) == lists[0]
    assert all(index_words(word) == [word] for each in lists for word in each)


def test_long_questions_keep_their_longest_words() -> None:
    filler = " ".join(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(200))
    kept = query_words(f"{filler} E4711 {filler}")
    assert len(kept) == words.QUERY_WORDS and "e4711" in kept
