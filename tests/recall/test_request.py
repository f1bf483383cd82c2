"""A question about the past may recall more than an order to go on; what it may have is said in it."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from made_entries import chat_of, entry, talk

from aider_gardener.messages import Level, Source, SourceKind
from aider_gardener.recall.request import Request, asks, excluded

ASKING = [
    "how long do we keep the keys?",
    "which port did I give you on the first day",
    "read my rule about logs again. undid it",
    "do it the way we said, same numbers",
    "no: the same header as before",
    "which port do the other hosts use",
    "ok. and in which order do they restart",
    "15608 is too big. where to cut",
    "und ab welcher Version ist das so",
    "wie hieß die Spalte",
    "à quelle heure part le lot",
    "por qué quitamos la caché",
    "whats open of the list",
    "list all changes, by file",
    "fasse bitte die Zuständigkeiten zusammen",
    "em qual porta fica o servidor",
    "какой порт у сервера",
    "hangi port kullanılıyor",
    "端口是多少",
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
    "when the build is green, tag it",
    "fix what is broken in the parser",
    "写一个测试",
]


@pytest.mark.parametrize("prompt", ASKING)
def test_these_ask_for_the_past(prompt: str) -> None:
    assert asks(prompt)


@pytest.mark.parametrize("prompt", GOING_ON)
def test_these_go_on(prompt: str) -> None:
    assert not asks(prompt)


def test_a_prompt_of_nothing_but_line_ends_or_little_words_takes_no_time() -> None:
    begun = time.process_time()
    for prompt in ("\n" * 20_000, "and " * 5_000, "in\n" * 6_000, "." * 20_000):
        asks(prompt)
    assert time.process_time() - begun < 2.0  # a backtracking pattern took minutes


def test_notes_and_notices_are_no_answer() -> None:
    one = replace(entry(0, "user", "abc"), created_at=100.0)
    for kind in SourceKind:
        wanted = Request("abc").wants(replace(one, source=Source(kind)))
        assert wanted is (kind not in (SourceKind.STUB, SourceKind.NOTICE))


def test_what_was_taken_out_may_come_back_once_it_was_said_again() -> None:
    chat = chat_of(talk(("keep the port", "ok"), ("go on", "done"), ("keep the port", "yes"), ("more", "so")))
    port = chat.entries[0].id
    chat = chat.shown_at({0: Level.HIDDEN, 4: Level.HIDDEN}, lambda entry, _level: entry.content)
    chat = replace(chat, order=tuple(seq for seq in chat.order if seq != 0))
    assert chat.removed == {0} and port not in excluded(chat)
    chat = replace(chat, order=tuple(seq for seq in chat.order if seq != 4))
    assert chat.removed == {0, 4} and port in excluded(chat)
    assert chat.entries[2].id in excluded(chat), "what stands in full"


def test_the_open_question_is_not_recalled_for_itself_however_it_is_shown() -> None:
    chat = chat_of(talk(("keep the port", "ok")), [{"role": "user", "content": "a very long question"}])
    open_question = chat.entries[2].id
    assert open_question in excluded(chat)
    assert open_question in excluded(replace(chat, levels={2: Level.COMPRESSED}))


def test_the_length_of_a_prompt_decides_whether_a_question_mark_in_it_asks() -> None:
    for count, asked in ((60, True), (61, False)):
        assert asks(" ".join(["word"] * (count - 1)) + " what?") is asked
    for count, asked in ((250, True), (251, False)):
        assert asks(" ".join(["word"] * (count - 1)) + " remember") is asked
    assert asks("限" * 100 + "？") and not asks("限" * 200 + "？")
