"""Care for the libraries that run the model: silent, gone from memory when unloaded, safe at exit."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Iterator

from aider_gardener.errors import GardenerError

TELEMETRY_OFF = ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED")
EXIT_SECONDS = 5.0
"""An exit waits no longer for a call into the libraries; they take a fraction of a second."""

_exit = threading.Condition()
_running = 0
_ending = False


class ProcessEnding(GardenerError):
    """The interpreter is ending: no call into the libraries may begin."""


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """The environment in which onnxruntime starts: since 1.29 it would otherwise send usage data over
    the network and leave a device id in the home directory. It reads this once, when it is loaded."""
    before = {name: os.environ.get(name) for name in TELEMETRY_OFF}
    os.environ.update(dict.fromkeys(TELEMETRY_OFF, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def native() -> Iterator[None]:
    """Around every call into the model's libraries. A daemon thread that were still in one when the
    interpreter ends would abort the process: the exit waits for it, and no other is let in."""
    global _running
    with _exit:
        if _ending:
            raise ProcessEnding("the process is ending")
        _running += 1
    try:
        yield
    finally:
        with _exit:
            _running -= 1
            _exit.notify_all()


def wait_for_native() -> None:
    """Let no call into the libraries begin any more, and wait for those under way."""
    global _ending
    with _exit:
        _ending = True
        _exit.wait_for(lambda: not _running, timeout=EXIT_SECONDS)


def return_memory() -> None:
    """Hand freed memory back to the system where the C library keeps it otherwise (glibc: 160 MB)."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


atexit.register(wait_for_native)
