"""Incremental context: the plan that hides older turns in batches and leaves the last ones whole."""

from __future__ import annotations

import pytest
from made_chats import shown
from made_entries import chat_of, make_gardener, message, talk, words

from aider_gardener.messages import Focus, Level
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.goals import Goal
from aider_gardener.plan.planner import Draft, Policy, draft
from aider_gardener.plan.view import is_legal

ROOMY = Goal(high=10_000, low=5_000)


def test_large_turns_among_the_last_ones_still_meet_the_budget() -> None:
    gardener = make_gardener(history_tokens=900, incremental=6)
    long = " ".join(f"Detail {n} of the answer tells how part {n} works." for n in range(60))
    gardener.sync(
        talk(*((f"question {n}", f"Answer {n}. {long}") for n in range(12))), [message("user", "x")]
    )
    plan = gardener.compact_if_due()
    assert plan.tokens_after < plan.tokens_before
    assert is_legal(shown(gardener))


def hidden(made: Draft | None) -> list[int]:
    """The entries that are hidden in the chat of a plan, which there must be."""
    return [seq for seq, level in made.chat.levels.items() if level is Level.HIDDEN]


def rolled(chat: Chat, goal: Goal, keep: int) -> Draft | None:
    """What incremental context does with a chat whose entries have no shorter form."""
    policy = Policy(incremental=keep)
    return draft(chat, goal, focus=Focus(), count=words, renditions=lambda _entry: {}, policy=policy)


@pytest.mark.parametrize(
    ("turns", "keep", "is_due"), [(4, 1, False), (5, 1, True), (7, 3, False), (8, 3, True)]
)
def test_a_batch_is_of_as_many_turns_as_stay_whole_and_of_two_at_least(
    turns: int, keep: int, is_due: bool
) -> None:
    chat = chat_of(talk(*((f"question {n}", f"answer {n}") for n in range(turns))))
    assert (rolled(chat, ROOMY, keep=keep) is not None) is is_due


def test_less_than_a_batch_leaves_only_when_the_history_is_above_its_mark() -> None:
    chat = chat_of(talk(*((f"question {n}", "word " * 50) for n in range(5))))
    assert rolled(chat, ROOMY, keep=2) is None
    made = rolled(chat, Goal(high=250, low=200), keep=2)
    assert made.plan.reason == "turns left the last 2 that stay whole"
    assert hidden(made) == [0, 1, 2, 3]
