"""The cut of a text into index words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener.archive.store import words
from aider_gardener.archive.store.words import index_words, query_words, stop_words


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
    lists = words.stop_lists()
    assert len(lists) == 10 and stop_words([]) == stop_words(["war"]) == lists[0]
    assert all(index_words(word) == [word] for each in lists for word in each)


def test_long_questions_keep_their_longest_words() -> None:
    filler = " ".join(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(200))
    kept = query_words(f"{filler} E4711 {filler}")
    assert len(kept) == words.QUERY_WORDS and "e4711" in kept
