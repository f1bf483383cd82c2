"""Which process holds a session open, told in a way that is safe on every system."""

from __future__ import annotations

import os
import platform
import sys
from functools import lru_cache
from pathlib import Path

STILL_ACTIVE = 259
QUERY_LIMITED_INFORMATION = 0x1000
INVALID_PARAMETER = 87


@lru_cache(maxsize=1)
def this_host() -> str:
    """Names this machine; inside a container that is the container."""
    return platform.node()


def start_of(pid: int) -> str:
    """When a process was started, as this system writes it; "" where it does not say (other than Linux)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        return text.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def is_running(pid: int, started: str) -> bool:
    """Whether the process still runs; where nothing can be learnt the answer is yes.

    `started` is what `start_of` said of it then: another process may have its number by now.
    """
    if pid <= 0:
        return False
    if sys.platform == "win32":
        return _is_running_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    now = start_of(pid)
    return not (started and now) or started == now


def _is_running_on_windows(pid: int) -> bool:
    """`os.kill` would end the process there: its handle is asked instead."""
    import ctypes

    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009  # reason: mypy knows no windll elsewhere
    handle = kernel.OpenProcess(QUERY_LIMITED_INFORMATION, False, pid)
    if not handle:
        return bool(kernel.GetLastError() != INVALID_PARAMETER)
    try:
        code = ctypes.c_ulong()
        return not kernel.GetExitCodeProcess(handle, ctypes.byref(code)) or code.value == STILL_ACTIVE
    finally:
        kernel.CloseHandle(handle)
