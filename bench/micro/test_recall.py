"""Recall in archives of several sizes, with vectors; the question's own embedding costs nothing here."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Level, Message
from bench.micro.archives import question

ROUNDS = 100
WARM_ROUNDS = 10


def questions(entries: int) -> Callable[[], tuple[tuple[str], dict[str, Any]]]:
    rng = random.Random(5)
    return lambda: ((question(rng, entries),), {})


def test_recall(benchmark: Any, gardeners: Callable[[int], Gardener], entries: int) -> None:
    """`recall` on request: over the whole archive, all sessions."""
    gardener = gardeners(entries)
    warm = questions(entries)
    found = [gardener.recall(*warm()[0]) for _round in range(WARM_ROUNDS)]
    assert any(found)
    benchmark.pedantic(gardener.recall, setup=questions(entries), rounds=ROUNDS)


def test_recall_before_a_prompt(
    benchmark: Any, gardeners: Callable[[int], Gardener], history: list[Message], entries: int
) -> None:
    """What is looked up unasked before a send: this chat's own entries, all of them hidden, in the whole
    archive."""
    gardener, rng = gardeners(entries), random.Random(5)
    chat, typed = gardener.state.chat, [said.content for said in history if " never use " in said.content]
    hidden = dict.fromkeys(chat.entries, Level.HIDDEN)
    gardener.state.chat = chat.shown_at(hidden, gardener.state.archive.text)

    def ask() -> tuple[tuple[str, str], dict[str, Any]]:
        return (f"why did we say, at {rng.random()}, that {rng.choice(typed)[:60]}?", ""), {}

    assert all(gardener.recall_note(*ask()[0]) for _round in range(WARM_ROUNDS))
    benchmark.pedantic(gardener.recall_note, setup=ask, rounds=ROUNDS)
    gardener.state.chat = chat
