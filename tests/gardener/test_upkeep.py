"""Upkeep: what a round does between turns and how it ends; which shorter form of a model is believed."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_entries import make_gardener, talk, words

from aider_gardener.errors import StoreError
from aider_gardener.gardener import upkeep as upkeep_module
from aider_gardener.gardener.compactions import compact_to
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.gardener.upkeep import (
    CALLS_A_CHAT,
    FAILURES,
    Refiner,
    Upkeep,
    facts,
    is_better,
    stands,
    upkeep_for,
)
from aider_gardener.messages import Fidelity
from aider_gardener.plan.goals import Goal

PROSE = " ".join(f"The part number {n} of the answer explains a detail of topic {n * 3}." for n in range(60))


def chat(**options: object) -> Gardener:
    gardener = make_gardener(**options)
    gardener.sync(talk((f"what about it? {PROSE}", f"Answer. {PROSE}"), ("and then?", "Nothing.")), [])
    return gardener


def test_a_round_changes_nothing_in_the_chat() -> None:
    gardener = chat(ttl="prose=2", history_tokens=100_000)
    before = gardener.state.chat.pieces
    Upkeep(gardener.state).round()
    assert gardener.state.chat.pieces == before and gardener.state.chat.fidelity == {}


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What rounds were made, each by the archive that it looked at."""
    made: list[object] = []
    monkeypatch.setattr(upkeep_module, "wake_backlog", made.append)
    return made


def test_during_a_turn_nothing_is_done(rounds: list[object]) -> None:
    gardener = chat()
    upkeep = Upkeep(gardener.state)
    gardener.enter_turn()
    upkeep.round()
    assert rounds == []
    gardener.leave_turn()
    upkeep.round()
    assert len(rounds) == 1


def test_by_default_no_model_is_asked_even_if_there_is_one() -> None:
    def ask(prompt: str) -> str:
        raise AssertionError("a model was asked")

    upkeep = upkeep_for(chat().state, ask)
    upkeep.round()
    assert upkeep.refiner is None


def shorter(prompt: str) -> str:
    """A good answer: the note without its filler words."""
    note = prompt.split("\n\n", 1)[1]
    return note.replace(" explains a detail of", ":")


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [(shorter, True), (lambda prompt: prompt, False), (lambda prompt: shorter(prompt)[:400], False)],
    ids=["good", "longer", "lossy"],
)
def test_only_a_good_answer_takes_the_place_of_the_form(answer: object, accepted: bool) -> None:
    gardener = chat(llm="refine")
    entry = gardener.state.chat.entries[0]
    form = gardener.state.archive.renditions(entry)[Fidelity.COMPRESSED]
    upkeep = upkeep_for(gardener.state, answer, clock=lambda: 0.0)  # type: ignore[arg-type]  # reason: parametrised
    upkeep.round()
    assert upkeep.refiner is not None
    assert upkeep.refiner.calls == 1
    now = gardener.state.archive.renditions(entry)[Fidelity.COMPRESSED]
    stored = gardener.state.archive.store.renditions(entry.id)[Fidelity.COMPRESSED]
    assert (words(now.text) < words(form.text)) is accepted
    assert stored.text == now.text
    upkeep.round()
    assert upkeep.refiner.calls == 1


def test_what_stands_in_the_chat_is_not_refined() -> None:
    gardener = chat(llm="refine")
    assert compact_to(gardener.state, Goal(high=500, low=100)) is not None
    assert {0, 1} <= {*gardener.state.chat.fidelity}
    upkeep = upkeep_for(gardener.state, shorter)
    upkeep.round()
    assert upkeep.refiner is not None
    assert upkeep.refiner.calls == 0


def test_a_turn_that_begins_while_the_model_answers_makes_the_answer_void() -> None:
    gardener = chat(llm="refine")

    def slow(prompt: str) -> str:
        gardener.enter_turn()
        return shorter(prompt)

    forms = [gardener.state.archive.renditions(e) for e in gardener.state.chat.entries.values()]
    upkeep_for(gardener.state, slow).round()
    assert forms == [gardener.state.archive.renditions(e) for e in gardener.state.chat.entries.values()]


def test_the_loop_runs_by_itself_and_stops_at_once(rounds: list[object]) -> None:
    gardener = chat()
    upkeep = Upkeep(gardener.state, seconds=0.01)
    upkeep.start()
    deadline = time.monotonic() + 20
    while not rounds and time.monotonic() < deadline:
        time.sleep(0.01)
    assert rounds
    thread = upkeep._thread
    upkeep.stop()
    upkeep.stop()
    assert not thread.is_alive() and thread.daemon


def test_a_long_wait_does_not_delay_the_stop() -> None:
    upkeep = Upkeep(chat().state, seconds=3_600)
    upkeep.start()
    upkeep.stop()
    assert not upkeep._thread.is_alive()


def test_a_dropped_chat_ends_its_loop() -> None:
    upkeep = Upkeep(chat().state, seconds=0.01)
    upkeep.start()
    upkeep._thread.join(20)
    assert not upkeep._thread.is_alive()


def test_a_store_that_refuses_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    gardener = chat()
    tries: list[int] = []

    def refuse(archive: object) -> None:
        tries.append(1)
        raise StoreError("locked")

    monkeypatch.setattr(upkeep_module, "wake_backlog", refuse)
    upkeep = Upkeep(gardener.state, seconds=0.01)
    upkeep.start()
    deadline = time.monotonic() + 20
    while len(tries) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    upkeep.stop()
    assert len(tries) >= 3


def test_a_fault_of_a_round_tells_the_log_nothing_of_the_chat(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gardener = chat()
    upkeep = Upkeep(gardener.state, seconds=0.01)

    def fail(_archive: object) -> None:
        raise ValueError("what about it?")

    monkeypatch.setattr(upkeep_module, "wake_backlog", fail)
    with caplog.at_level("INFO", logger="aider_gardener"):
        upkeep.start()
        deadline = time.monotonic() + 5
        while "ValueError" not in caplog.text and time.monotonic() < deadline:
            time.sleep(0.01)
        upkeep.stop()
    assert "ValueError" in caplog.text and "what about it?" not in caplog.text


def test_refiner_is_given_a_clock() -> None:
    assert isinstance(upkeep_for(chat(llm="refine").state, shorter).refiner, Refiner)


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


def test_a_fact_does_not_stand_in_a_longer_one() -> None:
    assert not stands("12", "it took 120 ms")
    assert stands("12", "it took 12, then")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_one_call_a_minute_and_never_twice_for_one_entry() -> None:
    gardener, clock, asked = chat(llm="refine"), Clock(), []
    made = Refiner(lambda prompt: asked.append(prompt) or "", clock)  # type: ignore[func-returns-value]
    for clock.now in (0.0, 59.0, 60.0, 120.0, 180.0):
        assert made.refine(gardener.state) == ""
    assert made.calls == len(asked) == len(set(asked)) == 2, "two forms are long enough"


def test_failures_in_a_row_end_it_and_so_does_the_limit() -> None:
    def down(prompt: str) -> str:
        raise ConnectionError

    gardener, clock = chat(llm="refine"), Clock()
    gardener.sync(
        [*gardener.state.chat.pieces, *talk(*((f"{n}? {PROSE}", f"Answer {n}. {PROSE}") for n in range(9)))],
        [],
    )
    made = Refiner(down, clock)
    for number in range(FAILURES + 2):
        clock.now = 60.0 * number
        made.refine(gardener.state)
    assert made.calls == FAILURES
    made = Refiner(shorter, clock, calls=CALLS_A_CHAT)
    made.refine(gardener.state)
    assert made.calls == CALLS_A_CHAT
