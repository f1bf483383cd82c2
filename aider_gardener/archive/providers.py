"""Which providers run on the user's own machine, and what was said to which may go where.

What was said to a local model must not go to a remote one unasked, so each entry knows the provider that
it was first sent to.
"""

from __future__ import annotations

HERE, LOOPBACK, AWAY = "@here", "@loopback", "@away"
"""Behind a provider's name: the user says that it runs on this machine; its address is of this machine, where
a proxy to anywhere may listen; its address is elsewhere, whatever its name says."""
WITHHELD = (
    "What was said to a model of this machine, or to none that is known, is withheld from this one (messages"
    " that fit: {count}); if it runs here too, {how}"
)
SAY_LOCAL, NAME_LOCAL = (
    "set AIDER_GARDENER_LOCAL=true",
    "name it by a provider that does: ollama_chat/…, lm_studio/…, hosted_vllm/…",
)
"""How the user says that a model runs on this machine: in other hosts, and in aider."""
LOCAL_PROVIDERS = frozenset(
    "ollama ollama_chat llamafile lm_studio vllm hosted_vllm xinference oobabooga docker_model_runner".split()
)
"""Providers that run on the user's own machines unless an address says otherwise."""
SHARED = "shared:"
"""How the id of a session begins that came from a server: `shared:AUTHOR:ID`. It is found by recall alone."""


def may_go(first_sent_to: str, provider: str) -> bool:
    """Whether text that was first sent to one provider ("" for none) may go to another one unasked.

    A chat held with a local model never goes to a remote one. What listens on this machine may be either:
    what was said to it goes to nothing remote, and nothing that was said to a local model goes to it.
    """
    name = first_sent_to.partition("@")[0]
    is_local = not name or name in LOCAL_PROVIDERS or first_sent_to.endswith((HERE, LOOPBACK))
    is_same = first_sent_to == provider and provider.endswith(LOOPBACK)
    is_here = provider.endswith(HERE) or provider in LOCAL_PROVIDERS
    return is_here or is_same or not is_local
