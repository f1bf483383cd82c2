"""The provider's usage numbers, as litellm hands them over, reach the chat's usage."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aider_gardener.adapters.aider.call import reported_call
from aider_gardener.plan.usage import Call
from aider_gardener.replay.play.calls import completion

from .conftest import Begin


def litellm_usage(**numbers: Any) -> Any:
    from litellm.types.utils import Usage

    return Usage(**numbers)


@pytest.mark.parametrize(
    ("numbers", "call"),
    [
        ({}, Call(900, 7)),
        ({"prompt_tokens_details": {"cached_tokens": 512}}, Call(900, 7, 512)),
        ({"prompt_cache_hit_tokens": 640}, Call(900, 7, 640)),
        ({"cache_read_input_tokens": 300, "cache_creation_input_tokens": 500}, Call(900, 7, 300, 500)),
    ],
)
def test_the_usage_of_each_provider_is_read(numbers: dict[str, Any], call: Call) -> None:
    usage = litellm_usage(prompt_tokens=900, completion_tokens=7, **numbers)
    assert reported_call(SimpleNamespace(usage=usage)) == call


def test_a_stream_reports_in_its_chunks() -> None:
    first = litellm_usage(prompt_tokens=900, cache_read_input_tokens=300)
    last = litellm_usage(prompt_tokens=0, completion_tokens=70)
    chunks = [SimpleNamespace(usage=first), SimpleNamespace(), SimpleNamespace(usage=last)]
    assert reported_call(SimpleNamespace(chunks=chunks)) == Call(900, 70, 300)
    assert reported_call(SimpleNamespace(chunks=[SimpleNamespace()])) is None
    assert reported_call(iter([])) is None


def test_numbers_reach_the_chat_and_correct_the_counter(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    import litellm

    driver = begin()
    count = driver.coder.main_model.token_count

    def complete(**options: Any) -> Any:
        return completion("Fine.", "gpt-4o", int(1.2 * count(options["messages"])), 5)

    monkeypatch.setattr(litellm, "completion", complete)
    for number in range(3):
        driver.type(f"question {number}")
    gardener = driver.coder.gardener
    assert gardener.state.usage.calls == 3
    assert gardener.state.usage.factor("gpt-4o") == pytest.approx(1.2, abs=0.06)
    plain = len(driver.coder.main_model.tokenizer("some words of a text " * 50))
    assert gardener.state.count("some words of a text " * 50) == pytest.approx(1.2 * plain, rel=0.06)
    driver.type("/model gpt-4")
    driver.type("on")
    assert gardener.state.count("some words of a text " * 50) < 1.1 * plain


def test_no_prompt_passes_the_window_when_the_provider_reports_too_little(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    import litellm

    driver = begin(model_name="gpt-4")
    count, window = driver.coder.main_model.token_count, driver.coder.main_model.info["max_input_tokens"]
    sent: list[int] = []

    def complete(**options: Any) -> Any:
        sent.append(count(options["messages"]))
        return completion("So it is. " * 60, "gpt-4", sent[-1] // 2, 5)

    monkeypatch.setattr(litellm, "completion", complete)
    for turn in range(9):
        driver.type(f"Turn {turn}: " + " ".join(f"item {n} of list {turn} stays;" for n in range(200)))
    assert len(sent) == 9 and max(sent[3:]) > window // 2
    assert max(sent) <= window
    assert driver.coder.gardener.state.usage.prompt_tokens == sum(n // 2 for n in sent)


def test_without_numbers_a_call_is_estimated(begin: Begin) -> None:
    driver = begin(stream=True)
    driver.ask("hello")
    usage = driver.coder.gardener.state.usage
    assert usage.calls == 1 and usage.cache_read_share is None
    assert usage.prompt_tokens > 500
    assert usage.cost > 0
