"""Patterns that are compiled when they are first asked: a hook reads one text in a process of its own, and
most of what a text could be it is not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast


class _Late:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> object:
        found = getattr(re.compile(self.pattern, self._flags), name)  # which keeps what it compiled
        setattr(self, name, found)  # so that this is not called for the name again
        return found


class _Marked:
    def __init__(self, pattern: re.Pattern[str], marks: Sequence[str]) -> None:
        self.unmarked, self._marks = pattern, marks

    def match(self, text: str) -> re.Match[str] | None:
        return self.unmarked.match(text) if any(map(text.__contains__, self._marks)) else None

    def search(self, text: str, pos: int = 0) -> re.Match[str] | None:
        return self.unmarked.search(text, pos) if any(map(text.__contains__, self._marks)) else None


def late(pattern: str, flags: int = 0, *, marks: Sequence[str] = ()) -> re.Pattern[str]:
    """The pattern that `re.compile` makes, once one of its methods is asked for. With `marks` only texts are
    tried in which one of these stands, as one does in whatever it finds: to look for them takes a tenth."""
    found = cast("re.Pattern[str]", _Late(pattern, flags))
    return cast("re.Pattern[str]", _Marked(found, marks)) if marks else found
