"""The note on what is settled, in a real chat: where it stands, that it stays, that it never enters the history."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from aider_gardener.notes.chatmap import MAP_HEAD

from .conftest import EDIT, Driver, MakeDriver, ScriptedModel
from .test_wrappers import chatter

RULE = "Never touch the table ledger_lines."


def texts(request: list[dict[str, Any]]) -> list[str]:
    return [str(message["content"]) for message in request]


def with_rule(drive: MakeDriver, turns: int = 12) -> Driver:
    driver = drive()
    driver.ask(f"/ask {RULE} Is that clear? " + "Some more words to make it a long message. " * 60)
    chatter(driver, turns)
    return driver


def test_a_rule_outlives_its_message(drive: MakeDriver, gardened: Any, model: ScriptedModel) -> None:
    gardened(history_tokens=600)
    driver = with_rule(drive)
    assert not any(RULE in message["content"] for message in driver.history)
    notes = [text for text in texts(model.requests[-1]) if text.startswith(MAP_HEAD)]
    assert len(notes) == 1
    assert RULE in notes[0]
    assert not any(MAP_HEAD in message["content"] for message in driver.history)


def test_without_rules_share_it_does_not(drive: MakeDriver, gardened: Any, model: ScriptedModel) -> None:
    gardened(history_tokens=600, rules_share=0.0)
    with_rule(drive)
    assert not any(RULE in text for text in texts(model.requests[-1]))


def test_the_note_is_the_same_from_one_plan_to_the_next(
    drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened(history_tokens=600, chat_map=0.2)
    driver = with_rule(drive)
    notes = [next((t for t in texts(r) if t.startswith(MAP_HEAD)), "") for r in model.requests]
    changes = sum(one != other for one, other in itertools.pairwise(notes))
    assert 0 < changes <= len(driver.coder.gardener.state.compactions.applied)


@pytest.mark.parametrize("options", [{}, {"chat_map": 0.2}, {"incremental": True, "incremental_turns": 2}])
def test_the_sequence_stays_legal(
    drive: MakeDriver, gardened: Any, model: ScriptedModel, options: dict[str, Any]
) -> None:
    gardened(history_tokens=600, **options)
    driver = with_rule(drive, 10)
    model.replies.append(EDIT.format(path="app.py", old="    return 'hello'", new="    return 'goodbye'"))
    driver.type("say goodbye instead")
    driver.ask(*(f"/ask and {n}?" for n in range(8)), reply="So be it. " * 60)
    for request in model.requests:
        roles = [m["role"] for m in request if m["role"] != "system"]
        assert roles[0] == "user"
        assert all(one != other for one, other in itertools.pairwise(roles))
    assert any(MAP_HEAD in text for text in texts(model.requests[-1]))


def test_after_clear_the_rule_is_gone(drive: MakeDriver, gardened: Any, model: ScriptedModel) -> None:
    gardened(history_tokens=1_000)
    driver = with_rule(drive, 6)
    driver.type("/clear")
    driver.ask("/ask hello again")
    assert RULE not in "\n".join(texts(model.requests[-1]))


def test_constraints_and_decisions_are_listed(drive: MakeDriver, gardened: Any) -> None:
    gardened()
    driver = drive()
    driver.ask(f"/ask {RULE}", reply="We'll use another table then.")
    driver.type("/gardener constraints")
    assert RULE in driver.said[-1]
    driver.type("/gardener decisions")
    assert "model: We'll use another table then." in driver.said[-1]


def test_incremental_keeps_the_last_turns_and_sums_up_the_rest(
    drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened(history_tokens=3_000, recall_tokens=1_000, incremental=True, incremental_turns=3)
    driver = drive()
    chatter(driver, 20)
    sent = texts(model.requests[-1])
    assert any("Earlier turns:" in text for text in sent)
    assert all(f"question {n} about topic {n}" in sent for n in (16, 17, 18))
    assert "question 3 about topic 3" not in sent
    sizes = [sum(map(len, texts(request))) for request in model.requests]
    assert max(sizes) - sizes[0] < 4 * 3_000  # characters of the budget, four a token
