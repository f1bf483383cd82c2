"""What a turn costs: taking in messages, planning, counting tokens."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aider_gardener.archive.store import open_store
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.gardener.state import Compactions
from aider_gardener.messages import Focus, Message, TokenCounter, twin
from aider_gardener.plan.goals import Goal
from aider_gardener.tokens import counter
from bench.inputs import made
from bench.micro.chats import next_exchange

ROUNDS = 60
numbers = itertools.count(1)


def test_ingest_a_message(benchmark: Any, gardeners: Callable[[int], Gardener], entries: int) -> None:
    """A message of about 2,000 tokens: segmented, compressed, stored in an archive of so many entries."""
    gardener = gardeners(entries)
    first = gardener.state.chat.next_seq

    def setup() -> tuple[tuple[Message, int], dict[str, Any]]:
        n = next(numbers)
        return (Message("user", made("pytest", 7_000, seed=10_000 + n)), first + n), {}

    def add(message: Message, seq: int) -> None:
        gardener.state.archive.add(message, turn=1, seq=seq, focus=Focus())

    benchmark.pedantic(add, setup=setup, rounds=ROUNDS)


def test_turn_with_nothing_due(
    benchmark: Any, gardeners: Callable[[int], Gardener], history: list[Message], entries: int
) -> None:
    """Sync and plan before a prompt, recall apart, when the history is below its high mark."""
    gardener = gardeners(entries)
    base = twin(gardener.state.chat)

    def setup() -> tuple[tuple[list[Message], list[Message]], dict[str, Any]]:
        gardener.state.chat = twin(base)
        return (history, [Message("user", f"What is left to do in part {next(numbers)}?")]), {}

    def turn(done: list[Message], cur: list[Message]) -> None:
        gardener.enter_turn()
        gardener.sync(done, cur)
        assert gardener.tend() is None
        gardener.leave_turn()

    benchmark.pedantic(turn, setup=setup, rounds=ROUNDS)
    gardener.state.chat = base


def test_turn_with_a_plan_due(
    benchmark: Any, gardeners: Callable[[int], Gardener], history: list[Message], entries: int
) -> None:
    """The same with a plan due that takes the whole history down to a twentieth of it."""
    gardener = gardeners(entries)
    base, before = twin(gardener.state.chat), gardener.state.compactions
    used = gardener.state.history_used
    goal = Goal(high=used // 10, low=used // 20, hard=0, reason="bench")

    def setup() -> tuple[tuple[list[Message], list[Message]], dict[str, Any]]:
        gardener.state.chat, gardener.state.compactions = twin(base), Compactions()
        return (history, [Message("user", f"Go on with part {next(numbers)}.")]), {}

    def turn(done: list[Message], cur: list[Message]) -> None:
        gardener.enter_turn()
        gardener.sync(done, cur)
        assert gardener.tend(goal=goal)
        gardener.leave_turn()

    benchmark.pedantic(turn, setup=setup, rounds=ROUNDS // 2)
    gardener.state.chat, gardener.state.compactions = base, before


def test_count_tokens(benchmark: Any, chars: int) -> None:
    """Counting with the tokenizer, nothing remembered from before."""
    from litellm.litellm_core_utils.default_encoding import encoding

    text = made("python", chars)

    def count_anew(text: str) -> int:
        fresh: TokenCounter = counter(lambda piece: len(encoding.encode(piece, disallowed_special=())))
        return fresh(text)

    assert benchmark.pedantic(count_anew, (text,), rounds=3, warmup_rounds=1)


def test_open_an_archive(benchmark: Any, archives: Callable[[int], Path], entries: int) -> None:
    folder = archives(entries)

    def open_and_close() -> None:
        open_store(folder).close()

    benchmark.pedantic(open_and_close, rounds=10, warmup_rounds=1)


def test_ingest_an_exchange(benchmark: Any, gardeners: Callable[[int], Gardener], entries: int) -> None:
    """All six messages that a turn with a command, an edit and a commit brings, through `sync`."""
    gardener = gardeners(entries)
    base = twin(gardener.state.chat)
    standing = [piece.message for piece in [*base.done, *base.cur]]

    def setup() -> tuple[tuple[list[Message], list[Message]], dict[str, Any]]:
        gardener.state.chat = twin(base)
        gardener.state.chat.next_seq += 1000 + 10 * next(numbers)
        return ([*standing, *next_exchange(next(numbers))], []), {}

    benchmark.pedantic(gardener.sync, setup=setup, rounds=ROUNDS // 2)
    gardener.state.chat = base
