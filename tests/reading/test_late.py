"""Patterns that are compiled when they are first asked."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

from aider_gardener import compress, notes, reading
from aider_gardener.compress.runs import FAILED_BEHIND, SKIPPED
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
    found_late = [getattr(found, "unmarked", found) for found in of]
    patterns = [found for found in found_late if type(found) is type(late(""))]
    assert len(patterns) > 10
    for pattern in patterns:
        assert re.compile(pattern.pattern, pattern.flags & ~re.UNICODE)


@pytest.mark.parametrize(
    "line",
    [
        "ok 3 # SKIP no network", "not ok 4 - later # TODO", "test_a ... skipped 'no'", "tests/a.py::b SKIPPED [ 1%]",
        "a ... ignored", "a ... expected failure", "1 skipped (2)", "a XFAIL", "○ later", "  ↓ suite", "b (PENDING)",
        "[ERROR] a.B.c -- Time elapsed: 1 s <<< FAILURE!", "shop ... *** Failed", "a => b.rb:3", "a ... FAILED",
        "x: Test Failed at a.jl:3", "x: Error During Test at a.jl:3", "a ... failed (2 ms)", "t | FAILED", "a [E]",
        "tests/a.py::b FAILED  [ 50%]", "a (E)", "a [✘]", "a (✗)", "a ... TIMEOUT", "a ... SIGSEGV", "a ... XPASS",
    ],
)  # fmt: skip
def test_what_a_marked_pattern_finds_has_one_of_its_marks(line: str) -> None:
    skipped, failed = (each.unmarked for each in (SKIPPED, FAILED_BEHIND))  # type: ignore[attr-defined]
    pairs = [(SKIPPED.match(line), skipped.match(line))]
    pairs += [(FAILED_BEHIND.search(line, 1), failed.search(line, 1))]
    spans = [[found and found.span() for found in pair] for pair in pairs]
    assert all(marked == unmarked for marked, unmarked in spans) and any(map(any, spans))
    assert not SKIPPED.match("a line of code")
