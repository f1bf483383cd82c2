"""What the tests of the plain adapter share: lists of messages as agents send them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from aider_gardener.adapters.plain.gardener import Gardener
from aider_gardener.adapters.plain.reading import items
from aider_gardener.settings import Settings
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS, approximate

Sent = list[dict[str, Any]]


def opened(window: int = 8_000, **settings: Any) -> Gardener:
    """A gardener in memory that embeds nothing and counts a quarter of the bytes."""
    chosen = Settings(embedder="none", **settings)
    return Gardener.open(".", window=window, memory=True, background=False, settings=chosen)


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def call(call_id: str, command: str, name: str = "bash") -> dict[str, Any]:
    arguments = json.dumps({"command": command})
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: dict[str, Any], text: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": list(made)}


def result(call_id: str, text: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def test_run(number: int, lines: int = 60) -> str:
    """The output of a test run that passes, like no other."""
    rows = [f"tests/test_part_{number}.py::test_case_{n}_{number * n % 97} PASSED" for n in range(lines)]
    return "\n".join([*rows, f"===== {lines} passed in {number}.13s ====="])


test_run.__test__ = False  # type: ignore[attr-defined]  # reason: it is what pytest prints, no test


def turn(number: int, question: str = "", lines: int = 60) -> Sent:
    """A question, a run of the tests and the answer."""
    return [
        user(question or f"Please do step {number} of the plan."),
        calls(call(f"c{number}", f"pytest tests/test_part_{number}.py")),
        result(f"c{number}", test_run(number, lines)),
        said(f"Step {number} is done; all its tests pass."),
    ]


def tokens(messages: Sequence[Any]) -> int:
    """The tokens of a list as the gardener counts them."""
    return sum(approximate(item.message.content) + MESSAGE_OVERHEAD_TOKENS for item in items(messages))


def illegal(messages: Sequence[dict[str, Any]]) -> str:
    """What an endpoint would refuse about calls and their results; "" for nothing."""
    waiting: list[str] = []
    for at, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return f"message {at} answers no call before it"
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return f"message {at} stands before the results of {waiting}"
        else:
            waiting = [made["id"] for made in message.get("tool_calls") or []]
    return f"no results for {waiting}" if waiting else ""
