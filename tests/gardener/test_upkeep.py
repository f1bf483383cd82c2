"""Upkeep: which shorter form of a model is believed, when one is asked, and how the loop ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_entries import make_gardener, talk, words

from aider_gardener.gardener.compactions import compact_to
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.gardener.upkeep import MOST_FAILURES, begin, facts, is_better, refine
from aider_gardener.messages import Level
from aider_gardener.plan.goals import Goal

PROSE = " ".join(f"The part number {n} of the answer explains a detail of topic {n * 3}." for n in range(60))


def chat(**options: object) -> Gardener:
    gardener = make_gardener(**options)
    gardener.sync(talk((f"what about it? {PROSE}", f"Answer. {PROSE}"), ("and then?", "Nothing.")), [])
    return gardener


def shorter(prompt: str) -> str:
    """A good answer: the note without its filler words."""
    note = prompt.split("\n\n", 1)[1]
    return note.replace(" explains a detail of", ":")


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [(shorter, True), (lambda prompt: prompt, False), (lambda prompt: shorter(prompt)[:400], False)],
    ids=["good", "longer", "lossy"],
)
def test_only_a_good_answer_takes_the_place_of_the_form(answer: Callable[[str], str], accepted: bool) -> None:
    gardener = chat(llm="refine")
    entry = gardener.state.chat.entries[0]
    form = gardener.state.archive.renditions(entry)[Level.COMPRESSED]
    tried: set[str] = set()
    assert (refine(gardener.state, answer, tried) == entry.id) is accepted and tried == {entry.id}
    now = gardener.state.archive.renditions(entry)[Level.COMPRESSED]
    stored = gardener.state.archive.store.renditions(entry.id)[Level.COMPRESSED]
    assert (words(now.text) < words(form.text)) is accepted
    assert stored.text == now.text


def test_nothing_is_refined_twice_and_nothing_that_stands_in_the_chat() -> None:
    gardener, tried, asked = chat(llm="refine"), set[str](), list[str]()
    for _round in range(4):
        assert refine(gardener.state, lambda prompt: asked.append(prompt) or "", tried) == ""  # type: ignore[func-returns-value]  # reason: a list is at hand
    assert len(asked) == 1, "no plan shows the short form of a reply"
    gardener.expire(gardener.state.chat.entries[1].id, summarise_after=5)
    assert refine(gardener.state, lambda prompt: asked.append(prompt) or "", tried) == ""  # type: ignore[func-returns-value]  # reason: the same
    assert len(asked) == len(set(asked)) == 2, "by terms one does"
    assert compact_to(gardener.state, Goal(high=500, low=100)) is not None
    assert refine(gardener.state, lambda _prompt: pytest.fail("a model was asked"), set()) == ""


def test_during_a_turn_no_model_is_asked_and_what_it_answered_is_void() -> None:
    gardener, asked = chat(llm="refine"), list[str]()

    def slow(prompt: str) -> str:
        asked.append(prompt)
        gardener.enter_turn()
        return shorter(prompt)

    forms = [gardener.state.archive.renditions(e) for e in gardener.state.chat.entries.values()]
    assert refine(gardener.state, slow, set()) == refine(gardener.state, slow, set()) == ""
    assert len(asked) == 1
    assert forms == [gardener.state.archive.renditions(e) for e in gardener.state.chat.entries.values()]


def test_a_fault_of_a_round_tells_the_log_nothing_of_the_chat_and_after_some_none_is_asked_any_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rounds: list[str] = []

    def fail(prompt: str) -> str:
        rounds.append(prompt)
        raise ValueError(prompt)

    gardener = make_gardener(llm="refine")
    asks = (f"what about it, {n}? {PROSE}" for n in range(MOST_FAILURES + 2))
    gardener.sync(talk(*((ask, "So.") for ask in asks)), [])
    with caplog.at_level("INFO", logger="aider_gardener"):
        stop = begin(gardener.state, fail, seconds=0.01)
        deadline = time.monotonic() + 120
        while running() and time.monotonic() < deadline:
            time.sleep(0.01)
        stop()
        stop()
    assert len(rounds) == MOST_FAILURES
    assert "ValueError" in caplog.text and "what about it?" not in caplog.text
    assert not running()


def running() -> bool:
    return any(thread.name == "gardener-upkeep" for thread in threading.enumerate())


# Refinement: a proposal is believed only if it is shorter and lost and invented nothing

FORM = (
    "[3] shell: ran pytest -q in the project folder, as was agreed upon before, and what it printed was"
    " that 3 failed and 128 passed; tests/test_store.py:44 says that read_batch() gave 17 where 18 was"
    " expected by Kestrel, see `retry_limit` in config.toml [g12ab34cd5]"
)
GOOD = (
    "[3] shell: pytest -q: 3 failed, 128 passed; tests/test_store.py:44: read_batch() gave 17, 18 expected"
    " by Kestrel; see `retry_limit` in config.toml [g12ab34cd5]"
)


def test_a_shorter_text_with_every_fact_is_better() -> None:
    assert is_better(FORM, GOOD, FORM, count=words)


@pytest.mark.parametrize(
    "lossy",
    [
        GOOD.replace("128", "many"),
        GOOD.replace("17", "170"),
        GOOD.replace("tests/test_store.py:44", "a test"),
        GOOD.replace("read_batch()", "the reader"),
        GOOD.replace("Kestrel", "someone"),
        GOOD.replace("`retry_limit`", "the limit"),
        GOOD.replace("config.toml", "the settings"),
        GOOD.replace(" [g12ab34cd5]", ""),
        GOOD.replace("3 failed", "3 failed in 4.2 seconds"),
        GOOD.replace("Kestrel", "Kestrel in src/reader.py"),
        FORM + " indeed",
        FORM,
        "",
    ],
)
def test_a_text_that_lost_or_invented_something_is_not(lossy: str) -> None:
    assert not is_better(FORM, lossy, FORM, count=words)


@given(st.text(max_size=300))
def test_every_fact_of_a_text_stands_in_it(text: str) -> None:
    assert all(fact in text for fact in facts(text))
