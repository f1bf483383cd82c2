"""A coder's model and its provider: where prompts go, how tokens are counted, and what the user allows the
history."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from aider_gardener.adapters import is_loopback
from aider_gardener.adapters.aider.coder import HostCoder, HostModel
from aider_gardener.archive.providers import AWAY, LOCAL_PROVIDERS, LOOPBACK
from aider_gardener.messages import TokenCounter
from aider_gardener.plan.usage import Prices
from aider_gardener.tokens import counter

BASE_VARIABLES = ("{}_API_BASE", "{}_BASE_URL")
FAMILY_VARIABLES = {"ollama_chat": "OLLAMA", "text-completion-openai": "OPENAI"}
BASE_KEYS = ("api_base", "base_url")


def provider_of(model: HostModel) -> str:
    """The provider of a model, marked where its address contradicts what its name says: `openai@loopback`
    for what listens on this machine and may be a proxy, `ollama@away` for a server elsewhere; "" when nothing
    tells."""
    name = str(model.info.get("litellm_provider") or "") or str(model.name).partition("/")[0]
    if "/" not in str(model.name) and not model.info.get("litellm_provider"):
        name = ""
    address = _address_of(model, name)
    if not address:
        return name
    here = is_loopback(address)
    if here and name not in LOCAL_PROVIDERS:
        return name + LOOPBACK
    return name + AWAY if not here and name in LOCAL_PROVIDERS else name


def _address_of(model: HostModel, provider: str) -> str:
    """The address that was set for the model or its provider, "" where it is the provider's own."""
    extra = getattr(model, "extra_params", None) or {}
    given = [extra.get(key) for key in BASE_KEYS]
    family = FAMILY_VARIABLES.get(provider, provider.upper().replace("-", "_"))
    given += [os.environ.get(pattern.format(family)) for pattern in BASE_VARIABLES] if family else []
    return next((str(address) for address in given if address), "")


def listed_window(model: HostModel) -> int:
    """The window of a model in tokens as it is listed, 0 where it is not known."""
    return int(model.info.get("max_input_tokens") or 0)


def caches_if_asked(coder: HostCoder) -> bool:
    """Whether the model's provider would cache prompts if --cache-prompts were given, and it is not."""
    return bool(getattr(coder.main_model, "cache_control", False)) and not coder.add_cache_headers


def prices_of(coder: HostCoder) -> Prices:
    """What the tokens of the coder's model cost. Where its provider caches only what it is asked to, and is
    not, none is read from a cache."""
    prices = Prices.of(coder.main_model.info)
    if not caches_if_asked(coder):
        return prices
    return replace(prices, cache_read=prices.input, cache_write=prices.input)


def token_counter(model: HostModel, factor: float = 1.0) -> TokenCounter:
    """Counts one text with the model's own tokenizer, times a factor that corrects it."""
    plain = _counter_of_name(model.name, model.tokenizer)
    return plain if factor == 1.0 else lambda text: round(factor * plain(text))


@lru_cache(maxsize=8)
def _counter_of_name(name: str, tokenizer: Callable[[str], Sequence[int]]) -> TokenCounter:
    return counter(lambda text: len(tokenizer(text)))


def history_limit(coder: HostCoder) -> tuple[int, bool]:
    """aider's limit for the history in tokens, and whether the user gave it (--max-chat-history-tokens)."""
    model = int(coder.main_model.max_chat_history_tokens or 0)
    args = getattr(coder.commands, "args", None)
    given = int(getattr(args, "max_chat_history_tokens", None) or 0)
    if given:
        return given, True
    summarizer = coder.summarizer
    defaults = {int(m.max_chat_history_tokens) for m in summarizer.models if m.max_chat_history_tokens}
    limit = int(summarizer.max_tokens)
    return (limit, True) if limit not in {model, *defaults} else (model, False)
