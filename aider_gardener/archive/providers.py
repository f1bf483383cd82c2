"""Which providers run on the user's own machine, and what was said to which may go where.

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
SHARED = "shared:"
"""How the id of a session begins that came from a server: `shared:AUTHOR:ID`. It is found by recall alone."""


def is_here(provider: str) -> bool:
    """Whether what is sent to this provider stays on the user's machine."""
    return provider.endswith(HERE) or provider in LOCAL_PROVIDERS


def may_go(first_sent_to: str, provider: str) -> bool:
    """Whether text that was first sent to one provider ("" for none) may go to another one unasked.

    A chat held with a local model never goes to a remote one.
    """
    name = first_sent_to.partition("@")[0]
    kept_here = not name or name in LOCAL_PROVIDERS or is_here(first_sent_to)
    return is_here(provider) or not kept_here
