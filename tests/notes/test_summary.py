"""Incremental context: the last turns whole, older ones in a summary of fixed size, nothing lost."""

from __future__ import annotations

import itertools

from made_entries import make_gardener, talk

from aider_gardener.gardener.compactions import history_used
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Message
from aider_gardener.notes.summary import SUMMARY_SHARE
from aider_gardener.plan.rolling import spare_turns
from aider_gardener.plan.view import problems

ANSWER = " ".join(f"Step {n} of it is explained here in a few words." for n in range(6))


def chat(turns: int, keep: int = 4, budget: int = 1_200) -> tuple[Gardener, list[int]]:
    """A gardener after so many turns, each gardened as before a prompt, and the history's tokens by turn."""
    gardener = make_gardener(
        history_tokens=budget, incremental=True, incremental_turns=keep, recall_tokens=1_000
    )
    sizes: list[int] = []
    for turn in range(1, turns + 1):
        gardener.enter_turn()
        done = [piece.message for piece in gardener.pieces[0]]
        question = Message("user", f"question {turn} about unit_{turn}")
        gardener.sync(done, [question])
        gardener.tend()
        note = gardener.map_note(lambda: "")
        sizes.append(history_used(gardener) + gardener.count(note))
        done = [piece.message for piece in gardener.pieces[0]]
        gardener.sync(
            [*done, question, Message("assistant", f"unit_{turn} has port {4000 + turn}. {ANSWER}")], []
        )
        gardener.leave_turn()
    return gardener, sizes


def shown(gardener: Gardener) -> list[Message]:
    return [piece.message for part in gardener.pieces for piece in part]


def test_the_last_turns_stay_whole_and_older_ones_are_in_the_summary() -> None:
    gardener, _sizes = chat(20)
    texts = [message.content for message in shown(gardener)]
    for turn in range(17, 21):
        assert f"question {turn} about unit_{turn}" in texts
    assert "question 5 about unit_5" not in texts
    assert "Earlier turns:" in gardener.chat_map.note.text
    assert "unit_12" in gardener.chat_map.note.text
    assert problems(shown(gardener)) == []


def test_turns_leave_in_batches_so_that_the_cache_lasts() -> None:
    gardener, _sizes = chat(40, budget=2_400)
    turns = [applied.turn for applied in gardener.plans_applied]
    assert all(later - earlier > spare_turns(4) for earlier, later in itertools.pairwise(turns))


def test_the_prompt_is_flat_and_the_summary_keeps_its_size() -> None:
    gardener, sizes = chat(90)
    assert max(sizes[60:]) <= max(sizes[20:50]) * 1.1
    assert gardener.chat_map.note.tokens <= SUMMARY_SHARE * 1_200 + 60


def test_what_left_can_be_recalled_and_taken_back() -> None:
    gardener, _sizes = chat(60)
    assert "4003" not in "\n".join(message.content for message in shown(gardener))
    assert "4003" in gardener.recall_note("which port has unit_3?", "")
    gardener.show_originals()
    assert "question 3 about unit_3" in [message.content for message in shown(gardener)]


def test_large_turns_among_the_last_ones_still_meet_the_budget() -> None:
    gardener = make_gardener(history_tokens=900, incremental=True, incremental_turns=6)
    long = " ".join(f"Detail {n} of the answer tells how part {n} works." for n in range(60))
    gardener.sync(
        talk(*((f"question {n}", f"Answer {n}. {long}") for n in range(12))), [Message("user", "x")]
    )
    plan = gardener.tend()
    assert plan is not None
    assert plan.tokens_after < plan.tokens_before
    assert problems(shown(gardener)) == []


def test_switched_off_nothing_is_summarised() -> None:
    gardener = make_gardener(history_tokens=1_000)
    gardener.sync(
        talk(*((f"question {n}", f"Answer {n}. {ANSWER}") for n in range(40))), [Message("user", "x")]
    )
    assert gardener.tend()
    assert "Earlier turns:" not in gardener.map_note(lambda: "")
