"""Each rule of legality, broken and kept."""

from __future__ import annotations

import pytest

from aider_gardener.messages import Message
from aider_gardener.plan.view import KnownRoles, NothingEmpty, RolesAlternate, Rule, UserFirst, problems

U, A = Message("user", "u"), Message("assistant", "a")


@pytest.mark.parametrize(
    ("rule", "messages"),
    [
        (KnownRoles(), [U, Message("system", "s")]),
        (UserFirst(), [A, U]),
        (RolesAlternate(), [U, U]),
        (RolesAlternate(), [U, A, A]),
        (NothingEmpty(), [U, Message("assistant", " \n")]),
    ],
)
def test_each_rule_can_be_broken(rule: Rule, messages: list[Message]) -> None:
    assert rule.broken(messages)
    assert rule.broken(messages) in problems(messages)


def test_a_plain_exchange_is_legal() -> None:
    assert problems([U, A, U]) == []
    assert problems([]) == []
