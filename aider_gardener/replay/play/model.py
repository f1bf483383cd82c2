"""The calls of a model as aider makes them and as litellm answers them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from aider_gardener.adapters.aider.coder import text_of
from aider_gardener.replay.measure.result import COMMIT, MAIN, OTHER, SUMMARY


def kind_of(messages: Sequence[Mapping[str, Any]], model: str, main_models: Sequence[str]) -> str:
    """Which of aider's prompts this is, by its system message; otherwise by the model's name."""
    from aider import prompts

    first = text_of(messages[0]) if messages else ""
    if first == prompts.summarize:
        return SUMMARY
    if first.startswith(prompts.commit_system[:80]):
        return COMMIT
    return MAIN if model in main_models else OTHER


def completion(text: str, model: str, prompt_tokens: int, completion_tokens: int) -> Any:
    """A litellm response that says `text`, with usage numbers as a provider would give them."""
    from litellm.types.utils import Choices, Message, ModelResponse, Usage

    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return ModelResponse(
        id=f"chatcmpl-{digest[:24]}",
        created=0,
        model=model,
        choices=[Choices(finish_reason="stop", index=0, message=Message(role="assistant", content=text))],
        usage=Usage(
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            total_tokens=prompt_tokens + completion_tokens,
        ),
    )
