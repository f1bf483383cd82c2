"""Stack traces: what stands there again is shown once. What is raised in which language is in tests/data/facts."""

from __future__ import annotations

from aider_gardener.compress.outline import FAILURE
from aider_gardener.compress.traces import read

JAVA = """java.lang.IllegalStateException: order 17 failed
\tat org.example.Order.book(Order.java:30)
\tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: java.io.IOException: no key
\tat org.example.Key.turn(Key.java:8)
\t... 3 more"""


def test_a_stack_that_stood_there_already_is_worth_nothing_again() -> None:
    lines = [*JAVA.split("\n"), "2026-01-02 retry 2", *JAVA.split("\n")]
    notes = read(lines)
    assert notes[8].worth == 0 < notes[1].worth
    assert notes[8].form == notes[1].form


def test_recursion_shows_each_frame_once_and_how_often_it_was_left_out() -> None:
    frame = ['  File "rec.py", line 2, in walk', "    return walk(node)"]
    told = "  [Previous line repeated 970 more times]"
    lines = [HEAD, *frame * 3, told, "RecursionError: maximum recursion depth exceeded"]
    notes = read(lines)
    assert notes[3].worth == 0 < notes[1].worth
    assert notes[7].worth >= FAILURE


HEAD = "Traceback (most recent call last):"
