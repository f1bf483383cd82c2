"""A guard that keeps a process's Python code off the network: only this machine's loopback answers.

Used by conftest.py for our tests and by upstream/upstream_plugin.py for aider's own.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from typing import Any

LOCAL_NAMES = ("localhost", "", None)


def is_local(host: Any) -> bool:
    """Whether a host is a loopback address or a name of this machine; names are not looked up."""
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host in LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(str(host).split("%")[0]).is_loopback
    except ValueError:
        return False


def deny_network(on_attempt: Callable[[str], None] = lambda host: None) -> None:
    """Make look-ups and connections that leave this machine fail at once; `on_attempt` hears the host.

    Look-ups raise socket.gaierror and connections ConnectionRefusedError, as on a machine without a
    network. It holds until the process ends.
    """
    guarded = socket.socket
    real_connect, real_connect_ex, real_lookup = guarded.connect, guarded.connect_ex, socket.getaddrinfo

    def check(address: Any) -> None:
        if isinstance(address, tuple) and not is_local(address[0]):
            on_attempt(str(address[0]))
            raise ConnectionRefusedError(f"the tests run without a network: {address[0]}")

    def connect(self: socket.socket, address: Any) -> None:
        check(address)
        real_connect(self, address)

    def connect_ex(self: socket.socket, address: Any) -> int:
        check(address)
        return real_connect_ex(self, address)

    def lookup(host: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_local(host):
            on_attempt(str(host))
            raise socket.gaierror(socket.EAI_NONAME, f"the tests run without a network: {host}")
        return real_lookup(host, *args, **kwargs)

    # reason for the ignores: replacing these three attributes is what the guard is
    guarded.connect = connect  # type: ignore[assignment, method-assign]
    guarded.connect_ex = connect_ex  # type: ignore[assignment, method-assign]
    socket.getaddrinfo = lookup
