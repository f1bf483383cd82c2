"""Whether an address of a model's is this machine."""

from __future__ import annotations

from urllib.parse import urlsplit


def is_loopback(address: str) -> bool:
    """Whether an address, with or without a scheme, is this machine."""
    import ipaddress  # late: a hook is asked only where the user gave an address

    host = urlsplit(address if "//" in address else f"//{address}").hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return False
    return found.is_loopback or found.is_unspecified
