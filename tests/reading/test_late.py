"""Patterns that are compiled when they are first asked."""

from __future__ import annotations

import re

from aider_gardener.reading.late import late


def test_a_late_pattern_is_what_it_would_be_at_once() -> None:
    made, at_once = late("^a", re.MULTILINE | re.IGNORECASE), re.compile("^a", re.MULTILINE | re.IGNORECASE)
    assert (made.pattern, made.flags) == (at_once.pattern, at_once.flags)
    for _time in range(2):
        assert made.findall("b\nA") == at_once.findall("b\nA") == ["A"]
