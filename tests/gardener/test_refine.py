"""Refinement: a proposal is believed only if it is shorter and lost and invented nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_entries import entry, words

from aider_gardener.gardener.upkeep import CALLS_A_CHAT, FAILURES, Refiner, facts, is_better, stands
from aider_gardener.messages import Fidelity, Rendition

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


def test_a_fact_does_not_stand_in_a_longer_one() -> None:
    assert not stands("12", "it took 120 ms")
    assert stands("12", "it took 12, then")


def refiner(answers: list[str | Exception], now: list[float]) -> Refiner:
    def ask(prompt: str) -> str:
        assert FORM in prompt
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return Refiner(ask, lambda: now[0])


FORM_RENDITION = Rendition(Fidelity.COMPRESSED, FORM, 200)


def test_one_call_a_minute_and_never_twice_for_one_entry() -> None:
    now = [0.0]
    made = refiner([GOOD], now)
    one = entry(0, "user", FORM)
    assert made.ready
    assert made.next([(one, FORM_RENDITION)])
    assert made.refine(one, FORM_RENDITION, count=words) == GOOD
    assert not made.ready
    now[0] = 59.0
    assert not made.ready
    now[0] = 60.0
    assert made.ready
    assert made.next([(one, FORM_RENDITION)]) is None


def test_short_forms_are_not_worth_a_call() -> None:
    small = Rendition(Fidelity.COMPRESSED, FORM, 20)
    assert refiner([], [0.0]).next([(entry(0, "user", FORM), small)]) is None


def test_failures_in_a_row_end_it_and_so_does_the_limit() -> None:
    made = refiner([ConnectionError("down")] * FAILURES, [0.0])
    for number in range(FAILURES):
        assert not made.over
        assert made.refine(entry(number, "user", f"{FORM} {number}"), FORM_RENDITION, count=words) is None
    assert made.over
    many = Refiner(lambda prompt: "", lambda: 0.0, calls=CALLS_A_CHAT)
    assert not many.ready
