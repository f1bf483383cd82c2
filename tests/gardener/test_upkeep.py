"""Upkeep: what a round does between turns, when it does nothing, and how it ends."""

from __future__ import annotations

import time

import pytest
from made_entries import make_gardener, talk, words

from aider_gardener.errors import StoreError
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.gardener.upkeep import Refiner, Upkeep, upkeep_for
from aider_gardener.messages import Fidelity, Message

PROSE = " ".join(f"The part number {n} of the answer explains a detail of topic {n * 3}." for n in range(60))


def chat(**options: object) -> Gardener:
    gardener = make_gardener(**options)
    gardener.sync(talk((f"what about it? {PROSE}", f"Answer. {PROSE}"), ("and then?", "Nothing.")), [])
    return gardener


def test_a_round_scores_counts_what_is_due_and_changes_nothing_in_the_chat() -> None:
    gardener = chat(context_ttl="prose=2", history_tokens=100_000)
    gardener.chat.turn += 5
    before = gardener.pieces
    look = Upkeep(gardener).round()
    assert (look.scored, look.due) == (4, 1)
    assert set(gardener.scores) == set(gardener.chat.entries)
    assert gardener.pieces == before
    assert gardener.chat.fidelity == {}


def test_what_waits_of_a_long_original_is_indexed() -> None:
    gardener = make_gardener()
    text = "\n".join(f"paragraph {n} of a very long page. " * 30 for n in range(900))
    middle = text[: len(text) // 2] + "\nhaystack-8822\n" + text[len(text) // 2 :]
    gardener.sync([Message("user", middle), Message("assistant", "Ok.")], [])
    upkeep = Upkeep(gardener)
    assert upkeep.round().indexed > 0
    while upkeep.round().indexed:
        pass
    assert gardener.archive.store.search_text("haystack 8822", any_word=False)


def test_during_a_turn_nothing_is_done() -> None:
    gardener = chat()
    upkeep = Upkeep(gardener)
    gardener.enter_turn()
    upkeep.round()
    assert upkeep.rounds == 0
    gardener.leave_turn()
    upkeep.round()
    assert upkeep.rounds == 1


def test_by_default_no_model_is_asked_even_if_there_is_one() -> None:
    def ask(prompt: str) -> str:
        raise AssertionError("a model was asked")

    upkeep = upkeep_for(chat(), ask)
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
    gardener = chat(refine=True)
    entry = gardener.chat.entries[0]
    form = gardener.archive.renditions(entry)[Fidelity.COMPRESSED]
    upkeep = upkeep_for(gardener, answer, clock=lambda: 0.0)  # type: ignore[arg-type]  # reason: parametrised
    look = upkeep.round()
    assert upkeep.refiner is not None
    assert upkeep.refiner.calls == 1
    assert (look.refined != "") is accepted
    now = gardener.archive.renditions(entry)[Fidelity.COMPRESSED]
    stored = gardener.archive.store.renditions(entry.id)[Fidelity.COMPRESSED]
    assert (words(now.text) < words(form.text)) is accepted
    assert stored.text == now.text
    assert upkeep.round().refined == ""
    assert upkeep.refiner.calls == 1


def test_what_stands_in_the_chat_is_not_refined() -> None:
    gardener = chat(refine=True)
    gardener.apply(dict.fromkeys([0, 1], Fidelity.COMPRESSED), "test")
    upkeep = upkeep_for(gardener, shorter)
    upkeep.round()
    assert upkeep.refiner is not None
    assert upkeep.refiner.calls == 0


def test_a_turn_that_begins_while_the_model_answers_makes_the_answer_void() -> None:
    gardener = chat(refine=True)

    def slow(prompt: str) -> str:
        gardener.enter_turn()
        return shorter(prompt)

    assert upkeep_for(gardener, slow).round().refined == ""


def test_the_loop_runs_by_itself_and_stops_at_once() -> None:
    gardener = chat()
    upkeep = Upkeep(gardener, seconds=0.01)
    upkeep.start()
    upkeep.start()
    deadline = time.monotonic() + 20
    while not upkeep.rounds and time.monotonic() < deadline:
        time.sleep(0.01)
    assert upkeep.rounds
    thread = upkeep._thread
    upkeep.stop()
    upkeep.stop()
    assert thread is not None
    assert not thread.is_alive()
    assert thread.daemon


def test_a_long_wait_does_not_delay_the_stop() -> None:
    upkeep = Upkeep(chat(), seconds=3_600)
    upkeep.start()
    thread = upkeep._thread
    upkeep.stop()
    assert thread is not None
    assert not thread.is_alive()


def test_a_dropped_chat_ends_its_loop() -> None:
    upkeep = Upkeep(chat(), seconds=0.01)
    upkeep.start()
    assert upkeep._thread is not None
    upkeep._thread.join(20)
    assert not upkeep._thread.is_alive()


def test_a_store_that_refuses_is_tried_again_and_then_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    gardener = chat()
    tries: list[int] = []

    def refuse(limit: int = 500) -> int:
        tries.append(limit)
        raise StoreError("locked")

    monkeypatch.setattr(gardener.archive.store, "work_off", refuse)
    upkeep = Upkeep(gardener, seconds=0.01)
    upkeep.start()
    assert upkeep._thread is not None
    upkeep._thread.join(20)
    assert len(tries) == 3


def test_refiner_is_given_a_clock() -> None:
    assert isinstance(upkeep_for(chat(refine=True), shorter).refiner, Refiner)
