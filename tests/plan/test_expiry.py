"""Expiry: entries come due by class or by themselves, and only a plan applies it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from made_entries import make_gardener, message, talk

from aider_gardener.errors import UsageError
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Level
from aider_gardener.settings import parse_terms

LOG = "I ran this command:\n\n./serve\n\nAnd got this output:\n\n" + "\n".join(
    f"2026-01-01 10:00:{n % 60:02} INFO request {n} took {n % 7} ms" for n in range(120)
)
PROSE = " ".join(f"The part number {n} of the answer explains a detail of topic {n * 3}." for n in range(20))


def grown(gardener: Gardener, turns: int, *, logs: int = 1) -> list[dict[str, Any]]:
    """Turns that begin with a command's output; every turn is synced."""
    messages: list[dict[str, Any]] = []
    for number in range(turns):
        gardener.enter_turn()
        if number < logs:
            messages += [message("user", f"{LOG}\nrun {number}"), message("assistant", "Ok.")]
        messages += talk((f"question {number} about it", f"Answer {number}. {PROSE}"))
        gardener.sync(messages, [])
        gardener.leave_turn()
    return messages


def pass_turns(gardener: Gardener, turns: int) -> None:
    state = gardener.state
    state.chat = replace(state.chat, turn=state.chat.turn + turns)


def test_terms_are_read_and_refused_by_name() -> None:
    terms = parse_terms("log=4, structured=3/10, code=5/, all=30")
    lines = {cls: turns for (cls, level), turns in terms.items() if level is Level.LINE}
    short = {cls: turns for (cls, level), turns in terms.items() if level is Level.COMPRESSED}
    assert lines == {"log": 4, "structured": 10, "all": 30}
    assert short == {"structured": 3, "code": 5}
    for wrong in ("log", "log=x", "logs=4", "log=0", "log=/", "log=3/0"):
        with pytest.raises(UsageError, match="ttl"):
            parse_terms(wrong)
        with pytest.raises(UsageError, match="ttl"):
            make_gardener(ttl=wrong)


def test_a_large_expired_entry_is_a_plan_of_its_own() -> None:
    gardener = make_gardener(history_tokens=3_000, recall_tokens=0, ttl="log=3")
    grown(gardener, 3)
    assert gardener.compact_if_due() is None
    pass_turns(gardener, 1)
    plan = gardener.compact_if_due()
    assert plan.reason == "expired"
    assert {swap.after for swap in plan.swaps} == {Level.LINE}
    assert gardener.state.chat.levels == {0: Level.LINE, 1: Level.HIDDEN}  # its "Ok." goes with it


def test_what_would_save_little_waits_for_the_next_plan() -> None:
    gardener = make_gardener(history_tokens=8_000, recall_tokens=0, ttl="log=3")
    grown(gardener, 6)
    assert gardener.compact_if_due() is None
    assert gardener.state.chat.levels == {}
    assert gardener.plan() is not None
    assert gardener.plan().swaps[0].after is Level.LINE  # type: ignore[union-attr]  # reason: asserted above


def test_typed_words_expire_only_by_their_own_class_and_the_last_exchange_never() -> None:
    gardener = make_gardener(history_tokens=4_000, recall_tokens=0, ttl="all=1")
    messages = grown(gardener, 5)
    assert gardener.compact_if_due()
    levels = gardener.state.chat.levels
    typed = [
        seq for seq, entry in gardener.state.chat.entries.items() if entry.content.startswith("question")
    ]
    assert not set(typed) & set(levels)
    assert max(gardener.state.chat.entries) not in levels
    assert list(gardener.state.chat.done)[-2:] == messages[-2:]


def test_one_entry_has_its_own_term() -> None:
    gardener = make_gardener(history_tokens=3_500, recall_tokens=0, ttl="log=2")
    grown(gardener, 2, logs=2)
    first, second = (e for e in gardener.state.chat.entries.values() if e.content.startswith("I ran"))
    gardener.expire(first.id, context_ttl=0)
    pass_turns(gardener, 4)
    assert gardener.compact_if_due()
    assert first.seq not in gardener.state.chat.levels
    assert gardener.state.chat.levels[second.seq] is Level.LINE


def test_the_aggressive_preset_keeps_four_turns_and_eighty_characters_of_the_rest() -> None:
    gardener = make_gardener(preset="aggressive")
    turns = 0
    while gardener.compact_if_due() is None:
        turns += 1
        pass_turns(gardener, 1)
        done = list(gardener.state.chat.done)
        gardener.sync([*done, *talk((f"question {turns} {PROSE}", f"Answer {turns}. {PROSE}"))], [])
        assert turns < 200
    assert gardener.state.plans[-1].plan.tokens_before > 20_000
    recent = [e for e in gardener.state.chat.entries.values() if e.turn >= gardener.state.chat.turn - 4]
    assert not {e.seq for e in recent} & set(gardener.state.chat.levels)
    older = [e for e in gardener.state.chat.entries.values() if e.turn < gardener.state.chat.turn - 4]
    assert {gardener.state.chat.levels[e.seq] for e in older} <= {Level.LINE, Level.HIDDEN}
    line = gardener.state.archive.text(older[0], Level.LINE)
    assert len(line.rpartition(" [")[0]) <= 80
    assert older[0].id in line
