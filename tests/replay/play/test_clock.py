"""Cached token counts are the counts that aider itself would give."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from aider_gardener.replay.play.clock import CachedTokenCount


def test_each_text_is_counted_once_and_sums_are_exact() -> None:
    asked: list[Any] = []

    def original(model: Any, value: Any) -> int:
        asked.append(value)
        return 3 + sum(len(m["content"]) + 4 for m in value) if isinstance(value, list) else len(value)

    counted = CachedTokenCount(original)
    model = SimpleNamespace(name="m")
    messages = [{"role": "user", "content": "abc"}, {"role": "assistant", "content": [{"type": "text"}]}]
    for _again in range(3):
        assert counted.of_messages(model, messages) == original(model, messages)
        assert counted.method()(model, "abcd") == 4
    singles = [value for value in asked if isinstance(value, list) and value == [messages[0]]]
    assert len(singles) == 1


def test_role_and_model_are_part_of_what_is_counted() -> None:
    counted = CachedTokenCount(lambda model, value: 10 * len(value) + len(model.name) + len(value[0]["role"]))
    short, long = SimpleNamespace(name="m"), SimpleNamespace(name="mmm")
    user = {"role": "user", "content": "x"}
    assert counted.of_message(short, user) != counted.of_message(short, {**user, "role": "assistant"})
    assert counted.overhead(short) != counted.overhead(long)
