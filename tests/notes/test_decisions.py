"""Decisions: found in typed words and replies, listed, replaced by the last word, kept by the prose compressor."""

from __future__ import annotations

import pytest
from made_entries import make_gardener, talk

from aider_gardener.reading.speech import CHOICE, decides, masked

SETTLES = """
let's go with option B
we'll use Postgres
We decided to drop the old endpoint.
I will keep the lock where it is.
agreed, no covering index
We use a queue instead of threads.
the cache is out of scope
call it Turnstile
we chose half-even
switch to the streaming parser
We decided against Redis.
use cents instead of euros
Wir nehmen Variante zwei.
wir haben uns gegen Redis entschieden
on garde la version actuelle
usaremos la segunda opción
decidimos usar SQLite
我们使用第二个方案
我们决定保留三十六小时。
第二案を採用します
キャッシュには Redis を使うことにします
решили оставить SQLite
SQLite kullanacağız
قررنا الاحتفاظ بـ SQLite
हम SQLite का उपयोग करेंगे
vamos usar SQLite
abbiamo deciso per SQLite
""".strip().splitlines()

SETTLES_NOTHING = """
should we use Postgres or SQLite
why did we decide that?
we'll use redis, right?
if we go with B, what breaks?
If we decided against Redis, it would be slow.
This is not yet decided.
that has to be decided by the team, to be decided
the tests pass
add a retry to the client
the order is random on each run
it prints "we decided to stop"
maybe we'll use a queue
ما اسم الوسم الذي اخترناه للإصدار؟
The parser reads one line at a time.
""".strip().splitlines()


@pytest.mark.parametrize("sentence", SETTLES)
def test_what_settles_is_a_decision(sentence: str) -> None:
    assert decides(sentence)


@pytest.mark.parametrize("sentence", SETTLES_NOTHING)
def test_what_settles_nothing_is_none(sentence: str) -> None:
    assert not decides(sentence)


def test_what_the_model_prefers_explains_and_settles_nothing() -> None:
    sentence = "The loop uses an index instead of a pointer."
    assert decides(sentence) and not decides(sentence, is_users=False)


def test_a_quotation_is_masked_in_its_place() -> None:
    text = 'the test says "we decided against it" here'
    assert len(masked(text)) == len(text) and "decided" not in masked(text)


@pytest.mark.parametrize("words", ["C, please", "option 2 then", "ok, b"])
def test_a_pick_among_what_was_offered_is_one(words: str) -> None:
    assert CHOICE.match(words)


def test_code_in_a_reply_decides_nothing() -> None:
    gardener = make_gardener()
    gardener.sync(
        talk(("write it", "Here:\n\n```python\n# we'll use a list instead of a dict\nx = []\n```")), []
    )
    assert gardener.decisions() == []
