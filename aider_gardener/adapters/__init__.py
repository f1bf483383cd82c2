"""Adapters: each puts the core into one host."""

NAMES = CLAUDE, CODEX, OPENCODE, GEMINI, CURSOR = "claude-code", "codex", "opencode", "gemini", "cursor"
"""The agents that it is put into besides aider."""


def is_loopback(address: str) -> bool:
    """Whether an address of a model's, with or without a scheme, is this machine."""
    import ipaddress  # late: a hook is asked only where the user gave an address
    from urllib.parse import urlsplit

    host = urlsplit(address if "//" in address else f"//{address}").hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return False
    return found.is_loopback or found.is_unspecified
