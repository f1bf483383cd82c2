"""Cached token counts are the counts that aider itself would give, and each message has its part."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from aider_gardener.replay.play.calls import CHUNKS, Calls
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


def test_copies_of_messages_have_the_part_of_theirs_and_others_that_of_the_one_before() -> None:
    chunks = SimpleNamespace(**{attribute: [] for _, attribute in CHUNKS})
    chunks.repo, chunks.cur = [{"role": "user", "content": "map"}], [{"role": "user", "content": "why?"}]
    nothing: Any = None
    log = Calls(nothing, nothing, nothing, nothing)
    sent = log.watching(lambda found: [*found.cur, *found.repo])(chunks)
    more = [*map(dict, sent), {"role": "assistant", "content": "nobody's"}]
    rows = log.rows(more, "main", lambda _message: 1)
    assert [part for _sha, _tokens, part in rows] == ["cur", "repo", "repo"]
    assert set(log.texts.values()) == {"map", "why?", "nobody's"}
