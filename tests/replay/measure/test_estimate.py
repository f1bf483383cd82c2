"""Estimates come near the whole from a small part of it, whether a variant's prompts grow or stay level."""

from __future__ import annotations

import pytest

from aider_gardener.replay.measure.estimate import BUDGET_CHARS, FRAME_CHARS, LEAST_TURNS, Estimate, weights
from aider_gardener.replay.session.session import Session, SessionEvent


def history(*chats: int) -> Session:
    events: list[SessionEvent] = []
    for turns in chats:
        if events:
            events.append(SessionEvent("restart", events[-1].turn))
        for _turn in range(turns):
            turn = (events[-1].turn if events else 0) + 1
            events += [
                SessionEvent("user", turn, text="q" * 500),
                SessionEvent("reply", turn, text="r" * 3_500),
            ]
    return Session(name="shop", events=tuple(events), sha256="", recorded=False)


SESSION = history(30, 5, 60, 12, 40, 7)


def test_a_turn_weighs_what_its_chat_held_and_a_new_chat_begins_empty() -> None:
    found = weights(SESSION)
    assert found[1] == (FRAME_CHARS + 4_000,) * 2
    assert found[30] == (FRAME_CHARS + 120_000, FRAME_CHARS + BUDGET_CHARS)
    assert found[31] == found[1]


@pytest.mark.parametrize("most_chars", [10_000_000, 32_000])
def test_the_first_chats_stand_for_all(most_chars: int) -> None:
    def tokens(turn: int) -> int:
        held = round(weights(SESSION)[turn][0]) - FRAME_CHARS
        return 2_000 + min(held, most_chars) // 4

    estimate = Estimate([("shop", SESSION, "stock")])
    whole = sum(tokens(turn) for turn in range(1, SESSION.turn_count + 1))
    for turn in range(1, 36):
        estimate.add("shop", "stock", turn, tokens(turn), tokens(turn) / 1e6)
    (guess,) = estimate.guesses()
    assert guess.tokens == pytest.approx(whole, rel=0.1)
    assert guess.usd == pytest.approx(guess.tokens / 1e6)


def test_all_turns_done_the_estimate_is_the_sum_and_few_turns_give_none() -> None:
    estimate = Estimate([("shop", SESSION, "stock"), ("shop", SESSION, "gardener")])
    for turn in range(1, SESSION.turn_count + 1):
        assert len(list(estimate.guesses())) == (turn > LEAST_TURNS)
        estimate.add("shop", "stock", turn, 100 * turn, 0.5)
    (guess,) = estimate.guesses()
    turns = SESSION.turn_count
    assert guess.tokens == pytest.approx(100 * turns * (turns + 1) / 2)
    assert guess.usd == pytest.approx(0.5 * turns)
