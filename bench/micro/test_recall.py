"""Recall in archives of several sizes, with vectors; the question's own embedding costs nothing here."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from aider_gardener.gardener.gardener import Gardener
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


def test_recall_before_a_prompt(benchmark: Any, gardeners: Callable[[int], Gardener], entries: int) -> None:
    """What is looked up unasked before a send: this chat's own entries, in the whole archive."""
    gardener = gardeners(entries)
    ask = questions(entries)
    gardener.recall_note(ask()[0][0], "")
    benchmark.pedantic(lambda query: gardener.recall_note(query, ""), setup=ask, rounds=ROUNDS)
