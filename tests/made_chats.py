"""Chats in memory, long enough to be compacted, and what stands in them."""

from __future__ import annotations

from typing import Any

from made_entries import make_gardener, message, talk

from aider_gardener.gardener.gardener import Gardener
from aider_gardener.plan.view import Piece

PROSE = " ".join(f"The part number {n} of the answer explains a detail of topic {n * 3}." for n in range(30))
OUTPUT = "\n".join(
    [
        "I ran this command:\n\n./serve\n\nAnd got this output:\n",
        "Traceback (most recent call last):",
        *(
            f'  File "/usr/lib/python3.11/part_{n}.py", line {n}, in call_{n}\n    step({n})'
            for n in range(60)
        ),
        "ValueError: the request failed",
    ]
)
"""What an error printed, which has a short form."""
ANSWER = " ".join(f"Step {n} of it is explained here in a few words." for n in range(6))


def long_talk(turns: int) -> list[dict[str, Any]]:
    """So many questions, each with an answer of some 400 words."""
    return talk(*((f"question {n} about subject {n}", f"Answer {n}. {PROSE}") for n in range(turns)))


def with_outputs(turns: int) -> list[dict[str, Any]]:
    """The same, behind the output of a command."""
    return [*talk((OUTPUT, "Ok.")), *long_talk(turns)]


def shown(gardener: Gardener) -> list[Piece]:
    """The messages of both lists as they stand."""
    return gardener.state.chat.pieces


def texts(gardener: Gardener) -> list[str]:
    """Their texts."""
    return [piece.content for piece in shown(gardener)]


def rolling_chat(turns: int, keep: int = 4, budget: int = 1_200) -> tuple[Gardener, list[int]]:
    """A chat with incremental context after so many turns, each gardened as before a prompt, and the
    history's tokens by turn."""
    gardener = make_gardener(history_tokens=budget, incremental=keep, recall_tokens=1_000)
    sizes: list[int] = []
    for turn in range(1, turns + 1):
        gardener.enter_turn()
        gardener.sync(list(gardener.state.chat.done), [message("user", f"question {turn} about unit_{turn}")])
        gardener.compact_if_due()
        note = gardener.map_note(lambda: "")
        sizes.append(gardener.state.history_used + gardener.state.count(note))
        reply = message("assistant", f"unit_{turn} has port {4000 + turn}. {ANSWER}")
        gardener.sync([*gardener.state.chat.pieces, reply], [])
        gardener.leave_turn()
    return gardener, sizes
