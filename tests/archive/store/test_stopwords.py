"""Which words of a question say nothing depends on the language it is asked in."""

from __future__ import annotations

import pytest

from aider_gardener.archive.store.stopwords import ENGLISH, OTHERS, plain, stop_words
from aider_gardener.archive.store.words import query_words


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("why did the process die in the war", ["process", "die", "war"]),
        ("die Sperre: wie lange war sie nach dem Fehler?", ["sperre", "lange", "fehler"]),
        ("¿cuánto dura el bloqueo en la base?", ["dura", "bloqueo", "base"]),
        ("quelle est la durée du verrou ?", ["duree", "verrou"]),
        ("какой был срок блокировки", ["срок", "блокировки"]),
        ("comment on the war and die", ["comment", "war", "die"]),
        ("the who", ["the", "who"]),
    ],
)
def test_the_words_that_are_asked_for(question: str, left: list[str]) -> None:
    assert query_words(question) == left


def test_every_list_is_written_as_the_index_is() -> None:
    assert all(word == plain(word).lower() for words in (ENGLISH, *OTHERS) for word in words)


def test_a_question_of_one_word_is_of_no_language() -> None:
    assert stop_words(["war"]) == ENGLISH
