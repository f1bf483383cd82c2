"""What a turn costs: taking in messages, planning, counting tokens."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aider_gardener.archive.store import open_store
from aider_gardener.gardener.compactions import compact_to
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Focus, Message, TokenCounter
from aider_gardener.plan.goals import Goal
from aider_gardener.tokens import counter
from bench.inputs import made
from bench.micro.chats import next_exchange

ROUNDS = 60
Lists = tuple[tuple[list[dict[str, Any]], list[dict[str, Any]]], dict[str, Any]]
numbers = itertools.count(1)


def asked(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


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


def test_turn_with_nothing_due(benchmark: Any, gardeners: Callable[[int], Gardener], entries: int) -> None:
    """Sync and plan before a prompt, recall apart, when the history is below its high mark."""
    gardener = gardeners(entries)
    base = gardener.state.chat

    def setup() -> Lists:
        gardener.state.chat = base
        return (list(base.done), [asked(f"What is left to do in part {next(numbers)}?")]), {}

    def turn(done: list[dict[str, Any]], cur: list[dict[str, Any]]) -> None:
        gardener.enter_turn()
        gardener.sync(done, cur)
        assert gardener.compact_if_due() is None
        gardener.leave_turn()

    benchmark.pedantic(turn, setup=setup, rounds=ROUNDS)
    gardener.state.chat = base


def test_turn_with_a_plan_due(benchmark: Any, gardeners: Callable[[int], Gardener], entries: int) -> None:
    """The same with a plan due that takes the whole history down to a twentieth of it."""
    gardener = gardeners(entries)
    base, before = gardener.state.chat, gardener.state.plans
    used = gardener.state.history_used
    goal = Goal(high=used // 10, low=used // 20, hard=0, reason="bench")

    def setup() -> Lists:
        gardener.state.chat, gardener.state.plans = base, ()
        return (list(base.done), [asked(f"Go on with part {next(numbers)}.")]), {}

    def turn(done: list[dict[str, Any]], cur: list[dict[str, Any]]) -> None:
        gardener.enter_turn()
        gardener.sync(done, cur)
        assert compact_to(gardener.state, goal)
        gardener.leave_turn()

    benchmark.pedantic(turn, setup=setup, rounds=ROUNDS // 2)
    gardener.state.chat, gardener.state.plans = base, before


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
    base = gardener.state.chat

    def setup() -> Lists:
        added = [message._asdict() for message in next_exchange(next(numbers))]
        return ([*gardener.state.chat.done, *added], []), {}

    benchmark.pedantic(gardener.sync, setup=setup, rounds=ROUNDS // 2)
    gardener.state.chat = base
