"""A question about the past may recall more than an order to go on."""

from __future__ import annotations

import pytest

from aider_gardener.recall.candidates import ORDINARY_SHARE, asks, recall_part

ASKING = [
    "how long do we keep the keys?",
    "which port did I give you on the first day",
    "read my rule about logs again. undid it",
    "do it the way we said, same numbers",
    "no: the same header as before",
    "wie lange heben wir die Schlüssel auf?",
    "nimm den Port, den ich vorhin gesagt habe",
    "quel port as-tu choisi déjà",
    "限制是多少？",
    "之前的端口还要用",
    "ポートは何番でしたか。",
    "포트가 몇 번이었나요?",
]
GOING_ON = [
    "do 1, 2 and 3",
    "add a test for the parser, in a file of its own",
    "commit",
    "the build is green, now write the changelog",
    "bitte die Tests laufen lassen",
    "写一个测试",
]


@pytest.mark.parametrize("prompt", ASKING)
def test_these_ask_for_the_past(prompt: str) -> None:
    assert asks(prompt)
    assert recall_part(prompt) == 1.0


@pytest.mark.parametrize("prompt", GOING_ON)
def test_these_go_on(prompt: str) -> None:
    assert not asks(prompt)
    assert recall_part(prompt) == ORDINARY_SHARE


def test_a_long_paste_with_a_question_mark_in_it_is_no_question_about_the_past() -> None:
    paste = "GET /pages?limit=10 200 12ms " * 60
    assert not asks(f"the log of the run:\n{paste}")
