"""Failures of one cause are told once, with all ids and values, and nothing is told that was not seen."""

from __future__ import annotations

import pytest
from tool_outputs import compressed, context

from aider_gardener.compress import testruns
from aider_gardener.compress.testruns.compressor import clip_comparison, compared_values
from aider_gardener.compress.testruns.groups import grouped, named, value_ranges
from aider_gardener.compress.testruns.run import Failure


def failed(name: str, message: str, place: str = "tests/test_a.py:9") -> Failure:
    return Failure(name, "FAILED", [message], [place])


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        ([f"t.py::test_x[{n}]" for n in range(413)], "t.py::test_x[0-412]"),
        ([f"t.py::test_x[{n}]" for n in range(20) if n != 7], "t.py::test_x[0-6, 8-19]"),
        ([f"t.py::test_x[{a}-{b}]" for a in range(3) for b in range(9)], "t.py::test_x[{0..2}-{0..8}]"),
        ([f"t.py::test_x[{a}]" for a in ("de", "at", "ch")], "t.py::test_x[de, at, ch]"),
        (["geo > tile 1", "geo > tile 7"], "geo > tile 1, tile 7"),
        (["Test/a (x/y)", "Test/b (x/y)"], "Test/a, b (x/y)"),
    ],
)
def test_ids_are_told_by_what_they_differ_in(ids: list[str], told: str) -> None:
    assert named(ids) == told


def test_of_many_ids_without_numbers_the_first_and_the_last_stand() -> None:
    told = named([f"t.py::test_x[{chr(97 + n)}k]" for n in range(26)])
    assert told.startswith("t.py::test_x[ak, bk, ") and told.endswith("… 14 more, zk]")


def test_failures_that_differ_in_values_only_are_one_cause() -> None:
    same = [failed(f"t.py::test_x[{n}]", f"assert {n} == {n + 1}") for n in range(30)]
    other = failed("t.py::test_y", "assert 3 == 4", "tests/test_a.py:20")
    assert [len(group) for group in grouped([*same, other])] == [30, 1]


def test_failures_at_other_places_are_other_causes() -> None:
    one, other = (
        failed("t.py::test_x[1]", "assert 1 == 2"),
        failed("t.py::test_x[2]", "assert 1 == 2", "t.py:4"),
    )
    assert len(grouped([one, other])) == 2


def test_failures_of_several_tests_with_one_message_and_place_are_one_cause() -> None:
    group = [failed(f"t.py::test_{name}", "ConnectionError: refused") for name in "abc"]
    assert len(grouped(group)) == 1


def test_values_are_told_by_their_range() -> None:
    assert value_ranges([f"assert {n} == {n + 1}" for n in range(9)]) == "assert 0..8 == 1..9"
    assert value_ranges(["KeyError: 'a'", "KeyError: 'b'"]) == "KeyError: {'a', 'b'}"
    assert value_ranges(["got 1", "got 1 of 2"]) == ""


def test_values_on_lines_of_their_own_are_those_that_differ() -> None:
    group = [
        Failure("a", message=["expect(received).toBe(expected)", f"Expected: {n}", f"Received: {n + 1}"])
        for n in range(3)
    ]
    assert compared_values(group)[2] == "Expected: 2; Received: 3"


def test_a_long_comparison_keeps_what_differs_on_both_sides() -> None:
    same = ", ".join(f"'key{n}': {n}" for n in range(40))
    line = f"assert {{{same}, 'site': 'Graz', {same}}} == {{{same}, 'site': 'Linz', {same}}}"
    short = clip_comparison(line, 200)
    assert "'Graz'" in short and "'Linz'" in short and len(short) < 260


def test_a_run_without_a_closing_line_has_no_count_of_what_it_did_not_do() -> None:
    lines = ["=" * 30 + " test session starts " + "=" * 30, "collected 900 items", ""]
    lines += [f"tests/test_a.py::test_{n} PASSED [ {n // 9}%]" for n in range(300)]
    shown = compressed(testruns.compress, "\n".join(lines), context("pytest")).text
    assert "300 passed, no closing line" in shown and "0 fail" not in shown
