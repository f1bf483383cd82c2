"""Reads the provider's own usage numbers from what litellm returned, streamed or not."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import link, overflow
from aider_gardener.adapters.aider.coder import HostCoder, HostMessage, Original
from aider_gardener.adapters.aider.guard import Guard
from aider_gardener.adapters.aider.provider import token_counter
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.plan.usage import Call


def show_cost(original: Original) -> Original:
    """Stands in for the host's report of tokens and cost: afterwards the call is counted."""

    @wraps(original)
    def calculate_and_show_tokens_and_cost(
        self: HostCoder, messages: list[HostMessage], completion: Any = None
    ) -> Any:
        result = original(self, messages, completion)
        with Guard(self):
            note_call(self, messages, completion)
        return result

    return calculate_and_show_tokens_and_cost


def note_call(coder: HostCoder, messages: list[HostMessage], completion: Any) -> None:
    """The provider got a prompt; the completion, if there is one, says what it used."""
    coder.__dict__[overflow.TRIED] = True
    gardener = link.gardener_of(coder)
    if gardener is not None and completion is not None:
        count_call(coder, gardener, messages, completion)


def count_call(coder: HostCoder, gardener: Gardener, messages: list[HostMessage], completion: Any) -> None:
    """Add a finished call to the chat's usage; correct the counter where the provider counts otherwise."""
    from aider_gardener.gardener.growth import sent
    from aider_gardener.plan.usage import Call, Prices

    state, model, said = gardener.state, coder.main_model, texts(messages)
    plain = token_counter(model)
    estimated = sum(plain(text) + MESSAGE_OVERHEAD_TOKENS for text in said)
    call = reported_call(completion)
    if call is None:
        reply = plain(coder.partial_response_content or "")
        state.usage.add(Call(estimated, reply, reported=False), Prices.of(model.info))
        sent(state, said)
        return
    state.usage.add(call, Prices.of(model.info))
    sent(state, said)
    if all(isinstance(message.get("content"), str) for message in messages):  # no images
        before = state.usage.factor(model.name)
        state.usage.compare(model.name, estimated=estimated, reported=call.prompt_tokens)
        after = state.usage.factor(model.name)
        if after != before and state.frame.model == model.name:
            gardener.set_counter(token_counter(model, after))


def texts(messages: list[HostMessage]) -> list[str]:
    """The texts of the messages; of several content parts the textual ones."""
    found = []
    for message in messages:
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"text": content}]
        found.append("\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict)))
    return found


def reported_call(completion: Any) -> Call | None:
    """The call as its response reports it, or None. Of a stream, what its chunks have said so far."""
    from aider_gardener.plan.usage import Call

    whole = getattr(completion, "usage", None)
    chunks = getattr(completion, "chunks", None)
    parts = [whole] if whole else [getattr(c, "usage", None) for c in chunks or []]
    rows = [numbers(part) for part in parts if part is not None]
    if not rows:
        return None
    prompt, answer, cached, written = (max(column) for column in zip(*rows, strict=True))
    return Call(prompt, answer, min(cached, prompt), min(written, prompt)) if prompt else None


def numbers(usage: Any) -> tuple[int, int, int, int]:
    """Prompt, completion, cached and written tokens of one report; litellm's prompt tokens hold all."""
    details = getattr(usage, "prompt_tokens_details", None)
    cached = number(details, "cached_tokens") or number(usage, "prompt_cache_hit_tokens")
    written = number(details, "cache_creation_tokens") or number(usage, "cache_creation_input_tokens")
    return number(usage, "prompt_tokens"), number(usage, "completion_tokens"), cached, written


def number(holder: Any, name: str) -> int:
    value = getattr(holder, name, 0)
    return value if isinstance(value, int) and value > 0 else 0
