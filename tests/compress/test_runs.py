"""Test runs: of tests that fail alike, and of runs told in events. What runners print is in tests/data/facts."""

from __future__ import annotations

from aider_gardener.compress.outline import CAUSE, NOISE, OUTCOME
from aider_gardener.compress.runs import read


def many(size: int) -> list[str]:
    blocks = [
        f"  {at}) route {at}\n     expected {200 + at} to equal 200\n     at api.js:14:3\n"
        for at in range(1, size)
    ]
    return ["  0 passing", f"  {size - 1} failing", "", *"\n".join(blocks).split("\n")]


def test_of_tests_that_fail_alike_the_first_is_told_and_the_last() -> None:
    lines = many(40)
    notes = read(lines)
    said = [notes[row] for row, line in enumerate(lines) if "to equal" in line]
    assert said[0].worth >= CAUSE > said[20].worth
    assert said[-1].worth == said[0].worth and said[-1].form != said[0].form
    assert said[0].form == said[20].form


def test_events_of_failing_tests_are_told_and_those_of_others_are_not() -> None:
    event = '{{"Time":"1","Action":"{}","Package":"p","Test":"{}","Output":"{}"}}'
    lines = [
        event.format("output", "TestA", "    a_test.go:3: got 1, want 2\\n"),
        event.format("output", "TestB", "    b_test.go:3: dipped\\n"),
        event.format("fail", "TestA", ""),
        event.format("pass", "TestB", ""),
        '{"Time":"1","Action":"fail","Package":"p"}',
    ]
    notes = read(lines)
    assert [notes[row].worth for row in (0, 1, 4)] == [CAUSE, NOISE, OUTCOME]
