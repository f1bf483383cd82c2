"""Patterns that are compiled when they are first asked: a hook reads one text in a process of its own, and
most of what a text could be it is not."""

from __future__ import annotations

import re
from typing import cast


class _Late:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> object:
        found = getattr(re.compile(self.pattern, self._flags), name)  # which keeps what it compiled
        setattr(self, name, found)  # so that this is not called for the name again
        return found


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern that `re.compile` makes, once one of its methods is asked for."""
    return cast("re.Pattern[str]", _Late(pattern, flags))
