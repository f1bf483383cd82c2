"""Where a provider's models run: on a machine of the user's, or somewhere else.

What was said to a local model must not go to a remote one unasked, so each entry knows the provider that
it was first sent to.
"""

from __future__ import annotations

import ipaddress
import re

LOCAL_PROVIDERS = (
    "docker_model_runner",
    "lemonade",
    "llamafile",
    "lm_studio",
    "hosted_vllm",
    "ollama",
    "ollama_chat",
    "oobabooga",
    "vllm",
    "xinference",
)
"""Names (litellm's) of servers that people run themselves; with a public address they count as remote."""

AT_HOME = "@local"
"""Ends the name of any other provider whose address is on this machine or in a private network."""

AWAY = "@remote"
"""Ends the name of a provider of the list whose address is a public one."""

LOCAL_NAMES = ("localhost", "host.docker.internal")
HOST = re.compile(r"(?:\w[\w+.-]*://)?(?:[^/?#@]*@)?(?:\[(?P<numeric>[^\]]*)\]|(?P<name>[^/?#:]*))")
LOCAL_DOMAINS = (".localhost", ".local", ".lan", ".internal", ".home.arpa")


def provider_name(model: str, *, provider: str = "", address: str = "") -> str:
    """The name under which entries keep their provider; never "".

    `provider` is litellm's word for it where it knows the model, else the first part of the model's name
    stands for it; `address` is the server's, where the user set one.
    """
    name = provider or (model.partition("/")[0] if "/" in model else "") or "unknown"
    if not address:
        return name
    if is_local_address(address):
        return name if name in LOCAL_PROVIDERS else name + AT_HOME
    return name + AWAY if name in LOCAL_PROVIDERS else name


def is_local(provider: str) -> bool:
    """Whether what was sent to this provider stayed with the user."""
    return provider in LOCAL_PROVIDERS or provider.endswith(AT_HOME)


def is_local_address(address: str) -> bool:
    """Whether an address (with or without a scheme) is this machine's or of a private network."""
    found = HOST.match(address.strip())
    host = (found["numeric"] or found["name"]).lower() if found else ""
    if host in LOCAL_NAMES or host.endswith(LOCAL_DOMAINS):
        return True
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return False
    return number.is_private or number.is_loopback or number.is_link_local
