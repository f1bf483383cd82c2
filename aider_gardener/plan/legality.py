"""What makes a message sequence legal for aider and for strict providers: one small class a rule."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Protocol

from aider_gardener.messages import Message


class Rule(Protocol):
    """A rule finds what is wrong with a history, in words; "" when it is kept."""

    def broken(self, messages: Sequence[Message]) -> str: ...


class KnownRoles:
    """A history holds user and assistant messages only; a system message there is hoisted by some
    providers, which breaks the whole cache."""

    def broken(self, messages: Sequence[Message]) -> str:
        strange = sorted({m.role for m in messages} - {"user", "assistant"})
        return f"roles {', '.join(strange)} in a history" if strange else ""


class UserFirst:
    """A history begins with the user: some providers refuse another beginning."""

    def broken(self, messages: Sequence[Message]) -> str:
        return "begins with the assistant" if messages and messages[0].role == "assistant" else ""


class RolesAlternate:
    """User and assistant take turns: aider checks it, some providers demand it."""

    def broken(self, messages: Sequence[Message]) -> str:
        for at, (first, second) in enumerate(itertools.pairwise(messages)):
            if first.role == second.role:
                return f"messages {at + 1} and {at + 2} are both the {first.role}'s"
        return ""


class NothingEmpty:
    """Every message has content: some providers refuse an empty one."""

    def broken(self, messages: Sequence[Message]) -> str:
        empty = next((at for at, m in enumerate(messages) if not m.content.strip()), None)
        return f"message {empty + 1} is empty" if empty is not None else ""


RULES: tuple[Rule, ...] = (KnownRoles(), UserFirst(), RolesAlternate(), NothingEmpty())


def problems(messages: Sequence[Message]) -> list[str]:
    """Everything that is wrong with a history; [] when it is legal."""
    return [found for rule in RULES if (found := rule.broken(messages))]
