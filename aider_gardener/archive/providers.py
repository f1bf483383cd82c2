"""Where a provider's models run: on a machine of the user's, or somewhere else.

What was said to a local model must not go to a remote one unasked, so each entry knows the provider that
it was first sent to.
"""

from __future__ import annotations

HERE, AWAY = "@here", "@away"
"""Behind a provider's name where the address it is reached at says something else than the name."""
LOCAL_PROVIDERS = frozenset(
    "ollama ollama_chat llamafile lm_studio vllm hosted_vllm xinference oobabooga docker_model_runner".split()
)
"""Providers that run on the user's own machines unless an address says otherwise."""


def is_here(provider: str) -> bool:
    """Whether what is sent to this provider stays on the user's machine."""
    return provider.endswith(HERE) or provider in LOCAL_PROVIDERS
