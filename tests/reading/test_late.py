"""Patterns that are compiled when they are first asked."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

from aider_gardener import compress, notes, reading
from aider_gardener.reading.late import late


def test_a_late_pattern_is_what_it_would_be_at_once() -> None:
    made, at_once = late("^a", re.MULTILINE | re.IGNORECASE), re.compile("^a", re.MULTILINE | re.IGNORECASE)
    assert (made.pattern, made.flags) == (at_once.pattern, at_once.flags)
    for _time in range(2):
        assert made.findall("b\nA") == at_once.findall("b\nA") == ["A"]


@pytest.mark.parametrize("room", [reading, compress, notes])
def test_every_pattern_of_a_room_can_be_compiled(room: object) -> None:
    names = [each.name for each in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")]  # type: ignore[attr-defined]
    of = [found for name in names for found in vars(importlib.import_module(name)).values()]
    patterns = [found for found in of if type(found) is type(late(""))]
    assert len(patterns) > 10
    for pattern in patterns:
        assert re.compile(pattern.pattern, pattern.flags & ~re.UNICODE)
