"""Chats in memory, long enough to be compacted, and what stands in them."""

from __future__ import annotations

from made_entries import make_gardener, talk

from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Message

PROSE = " ".join(f"The part number {n} of the answer explains a detail of topic {n * 3}." for n in range(30))
ANSWER = " ".join(f"Step {n} of it is explained here in a few words." for n in range(6))


def long_talk(turns: int) -> list[Message]:
    """So many questions, each with an answer of some 400 words."""
    return talk(*((f"question {n} about subject {n}", f"Answer {n}. {PROSE}") for n in range(turns)))


def shown(gardener: Gardener) -> list[Message]:
    """The messages of both lists as they stand."""
    return [piece.message for part in gardener.pieces for piece in part]


def rolling_chat(turns: int, keep: int = 4, budget: int = 1_200) -> tuple[Gardener, list[int]]:
    """A chat with incremental context after so many turns, each gardened as before a prompt, and the
    history's tokens by turn."""
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
        sizes.append(gardener.state.history_used + gardener.state.count(note))
        done = [piece.message for piece in gardener.pieces[0]]
        gardener.sync(
            [*done, question, Message("assistant", f"unit_{turn} has port {4000 + turn}. {ANSWER}")], []
        )
        gardener.leave_turn()
    return gardener, sizes
