"""The package's exceptions. Each message is one line and says what to do next.

And where a fault may end that must cost no more than the one step it happened in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import Logger

MESSAGE_CHARS = 500
"""A message is no longer, which has room for what failed, a path and what to do; of what was typed the middle
goes."""
_tolerated: Counter[str] = Counter()


class GardenerError(Exception):
    """Base of all errors the package raises on purpose."""

    def __str__(self) -> str:
        text, half = super().__str__(), MESSAGE_CHARS // 2
        return text if len(text) <= MESSAGE_CHARS else f"{text[: half - 3]} … {text[-half:]}"


class UsageError(GardenerError):
    """The call cannot be carried out as written (exit code 2)."""


class PatchPointError(GardenerError):
    """The installed aider lacks a patch point or has another signature; nothing was changed."""


class StoreError(GardenerError):
    """The archive cannot be opened, read or written."""


class SessionError(GardenerError):
    """A recorded session or history file cannot be read."""


class ReplayError(GardenerError):
    """A replay left its recording, or two results may not be compared."""


class PatchError(GardenerError):
    """A patch cannot be read, or a tree of aider is not one that it applies to; nothing was changed."""


@cache
def fault_log() -> Logger:
    """The package's log. Without a handler of the host's it is silent: faults are told in one line."""
    import logging  # late: a hook seldom needs it, and its import takes some milliseconds

    found = logging.getLogger("aider_gardener")
    found.addHandler(logging.NullHandler())
    return found


@contextmanager
def tolerating(step: str) -> Iterator[list[str]]:
    """A context in which reading or shortening one text may fail: what the caller set before stands.

    Yields a list that holds the class name of the fault afterwards, if there was one. The log gets that
    name and how often it occurred in this process, never the message, which may quote the text.
    """
    faults: list[str] = []
    try:
        yield faults
    except Exception as error:  # reason: any text may come in, and none is worth the chat
        name = type(error).__name__
        faults.append(name)
        _tolerated[name] += 1
        fault_log().warning("%s failed: %s (%d)", step, name, _tolerated[name])
