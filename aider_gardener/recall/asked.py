"""A request as it is typed: what is asked, and options before it that say what may answer."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from aider_gardener.errors import UsageError
from aider_gardener.messages import ContentClass
from aider_gardener.recall.request import Request

AGE = re.compile(r"(\d{1,5})([hdw])")
SECONDS = {"h": 3_600, "d": 86_400, "w": 604_800}
CLASSES = ", ".join(cls.value for cls in ContentClass)
USAGE = (
    "Usage: /recall [--class NAME] [--since 3d|2026-01-31] [--session ID] [--passages N] [--full]"
    " QUESTION OR WORDS"
)


def moment(text: str, now: float | None = None) -> float:
    """Seconds since the epoch of `3h`, `2d` or `1w` ago, or of a day or time written as ISO 8601 (local time
    where it names no zone). Raises UsageError."""
    age = AGE.fullmatch(text)
    if age:
        return (time.time() if now is None else now) - int(age[1]) * SECONDS[age[2]]
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"{text} is no time; write 3h, 2d, 1w or 2026-01-31") from error


def content_class(name: str) -> ContentClass:
    """The class of that name. Raises UsageError."""
    try:
        return ContentClass(name.lower())
    except ValueError as error:
        raise UsageError(f"no class is called {name}; there are {CLASSES}") from error


def passages(text: str) -> int:
    """A number of passages. Raises UsageError."""
    if not text.isdecimal() or int(text[:6]) == 0:
        raise UsageError(f"{text} is no number of passages; write 1 or more")
    return int(text[:6])


def words(rest: list[str], usage: str) -> list[str]:
    """What stands behind the options of a command that is typed: words, which may begin as an option does
    behind a `--`. Raises UsageError, with the usage, for an option that the command does not have."""
    if not rest or not rest[0].startswith("--"):
        return rest
    if rest[0] != "--":
        raise UsageError(f"{usage} (words that begin with -- stand behind a --)")
    return rest[1:]


def typed(args: str, session: Callable[[str], str], *, now: float | None = None) -> Request:
    """The request that is typed behind /recall. `session` gives the whole id of one that begins so. Raises
    UsageError."""
    rest, given = args.split(), dict[str, Any]()
    valued: dict[str, Callable[[str], object]] = {
        "--class": lambda name: [*given.get("class", ()), content_class(name)],
        "--since": lambda text: moment(text, now),
        "--session": session,
        "--passages": passages,
    }
    while rest and rest[0].startswith("--"):
        name, *values = rest
        if name == "--full":
            given["full"], rest = True, values
        elif name in valued and values:
            given[name[2:]], rest = valued[name](values[0]), values[1:]
        else:
            break
    if not (rest := words(rest, USAGE)):
        raise UsageError(USAGE)
    classes = frozenset(given.pop("class", ()))
    return Request(" ".join(rest), classes=classes, **given)
