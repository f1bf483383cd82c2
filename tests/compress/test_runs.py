"""Test runs: of tests that fail alike, and of runs told in events. What runners print is in tests/data/facts."""

from __future__ import annotations

import re

import pytest

from aider_gardener.compress.outline import CAUSE, apart
from aider_gardener.compress.runs import kind_of, read
from aider_gardener.compress.shapes import shortened


def test_of_a_run_told_in_events_what_the_failing_test_printed_stands() -> None:
    event = '{{"Time":"1","Action":"{}","Package":"p{}","Test":"Test{}","Output":"{}"}}'
    lines = [event.format("output", at, at, f"--- PASS: Test{at} (0.00s)") for at in range(60)]
    lines.insert(31, event.format("output", 7, "Dips", "    a_test.go:3: got 1, want 2"))
    lines.insert(32, event.format("fail", 7, "Dips", ""))
    form = shortened("\n".join(lines), lambda text: len(text) // 4).text
    assert lines[31] in form and lines[32] in form and len(form) < len("\n".join(lines)) // 2


def test_the_values_of_each_of_a_few_failing_tests_stand_though_they_read_alike() -> None:
    frames = "".join(f"  {at:2}: core::ops::function::FnOnce::call_once\n" for at in range(30))
    said = ["left == right", "left != right", "left == right"]
    cases = [
        f"---- tests::t{n} stdout ----\nthread 'tests::t{n}' panicked at src/lib.rs:{n}:9:\n"
        f"assertion `{what}` failed\n  left: 4\n right: {n}\nstack backtrace:\n{frames}"
        f"  31: stock::tests::t{n}\n             at ./src/lib.rs:{n}:9\n"
        for n, what in enumerate(said)
    ]
    others = [
        f"---- tests::o{n} stdout ----\nthread 'tests::o{n}' panicked at src/{name}.rs:{n}:9:\n"
        f"{name} is not to be had in this house of {name}s, nor in the next one, where there was {name} once\n"
        f"stack backtrace:\n{frames}  31: stock::{name}::o{n}\n             at ./src/{name}.rs:{n}:9\n"
        for n, name in enumerate(["barley", "copper", "damson", "eel", "flint", "gorse"])
    ]
    end = "test result: FAILED. 2 passed; 9 failed; 0 ignored; finished in 0.21s\n"
    form = shortened(
        "running 11 tests\n" + "\n".join([*cases, *others, end]), lambda text: len(text) // 4
    ).text
    assert form.count("  left: 4") == 3 and all(f" right: {n}\n" in form for n in range(3))


def test_a_test_failed_for_what_tells_of_an_error_and_not_for_what_is_printed_first() -> None:
    heads = [
        f"____________ lamp {n} ____________\nCase: {name}\n- " for n, name in enumerate(["ab", "cd", "ef"])
    ]
    lines = "".join(f"{head}server error: {500 + n}\n" for n, head in enumerate(heads)).split("\n")
    notes = read([*lines, "=========== 3 failed in 1.14s ==========="])
    case, error = (next(row for row, line in enumerate(lines) if word in line) for word in ("Case", "error"))
    assert notes[error].worth == CAUSE > notes[case].worth


def test_the_last_exception_of_a_chain_and_what_a_report_calls_its_error_stand() -> None:
    chain = (
        "=== FAILURES ===\n____ test_exc ____\ntest_lager.py:15: in test_exc\n    int('abc')\n"
        "E   ValueError: invalid literal\n\nThe above exception was the direct cause of the following exception:\n"
        "test_lager.py:17: in test_exc\n    raise RuntimeError('no stock') from e\nE   RuntimeError: no stock\n"
    )
    rest = "".join(f"test_lager.py::test_{n} PASSED\n" for n in range(90))
    form = shortened(f"{rest}{chain}=== 1 failed, 90 passed in 0.2s ===\n", lambda text: len(text) // 4).text
    assert "E   ValueError: invalid literal" in form and "E   RuntimeError: no stock" in form
    report = "".join(
        f"not ok {n} - part {n}\n  ---\n  duration_ms: 0.{n}\n  location: '/a.js:{n}:1'\n"
        f"  failureType: 'testCodeFailure'\n  error: 'cause {n}'\n  code: 'ERR_TEST_FAILURE'\n  stack: |-\n"
        + "    Test.run (node:internal/test_runner/test:796:25)\n" * 12
        + "  ...\n"
        for n in range(1, 6)
    )
    form = shortened(f"TAP version 13\n{report}1..5\n# fail 5\n", lambda text: len(text) // 4).text
    assert all(f"error: 'cause {n}'" in form for n in range(1, 6))


NAMED = {
    "pytest": "____ test_bed[{n}] ____\n\n    def test_bed(n):\n>       assert bed(n) == n\n"
    "E       assert {n}.5 == {n}\n\ntest_hut.py:9: AssertionError",
    "unittest": "FAIL: test_bed_{n} (hut.TestBed.test_bed_{n})\nTraceback (most recent call last):\n"
    '  File "hut.py", line 9, in bed\n    self.assertEqual(bed, 7)\nAssertionError: {n} != 7\n',
    "tap": "not ok {n} - bed_{n} sleeps\n  ---\n  error: 'beds differ'\n  code: 'ERR_ASSERTION'\n  ...",
    "minitest": " {n}) Failure:\nTestTide#test_{n} [tide_test.rb:{n}]:\nExpected: 1\n  Actual: {n}\n",
    "go": "--- FAIL: TestBed/hut_{n} (0.00s)\n    hut_test.go:9: got {n}, want 7",
}


@pytest.mark.parametrize("runner", NAMED)
def test_every_test_that_fails_for_one_cause_is_named_or_none_where_they_are_too_many(runner: str) -> None:
    for size in (5, 30, 900):
        lines = [NAMED[runner].format(n=n) for n in range(101, 101 + size)]
        whole = "\n".join(["Ran 999 tests in 2.0s", *lines, f"{size} failed, {999 - size} passed in 2.0s"])
        form = shortened(whole, lambda text: len(text) // 4).text
        names = {f"{n}" for n in range(101, 101 + size)} & set(re.findall(r"\d+", form))
        assert len(names) == size if size < 900 else len(names) < size / 4
        assert size < 30 or len(form) < 0.9 * len(whole)


def test_a_name_has_the_words_that_stand_elsewhere_in_the_line_shown() -> None:
    shown = "FAILED t.py::t[0] - assert 1 == 0"
    assert apart("FAILED t.py::t[1] - assert 2 == 1", shown) == "t.py::t[1] 2 1"
    assert apart("FAILED t.py::u - KeyError: 'a'", shown) == "t.py::u KeyError 'a'"
    assert apart("FAILED t.py::t[0] - assert 3 == 0", shown) == ""


def test_what_a_failing_test_logged_is_not_the_name_of_another() -> None:
    logged = "ERROR    hut.beds:hut_test.py:23 no bed left"
    assert kind_of(logged) == ("", "") and kind_of("ERROR hut_test.py::test_bed - KeyError")[0] == "bad"


def test_of_tests_with_one_name_that_fail_in_several_places_each_is_told() -> None:
    rows = [
        f"FAILED tests/test_{name}.py::test_open - no {name} found here"
        for name in ("bolt", "hinge", "latch")
    ]
    form = shortened(
        "\n".join([*ok(90), *rows, "3 failed, 90 passed in 1s"]), lambda text: len(text) // 4
    ).text
    assert all(row in form for row in rows)


def test_what_a_failing_test_was_called_with_parts_it_from_nothing_below() -> None:
    cases = [
        f"____ test_tide[{n}] ____\n\nn = {n}\n\n    def test_tide(n):\n>       tide(n)\n\ntest_tide.py:4: \n"
        f"_ _ _ _ _\n\nn = {n}\n\n    def tide(n):\n>       {what}\nE       {what}\n\ntide.py:{n}: Low\n"
        for n, what in enumerate(["no water", "mud is deep", "moon fell down"], 1)
    ]
    text = "\n".join([*ok(90), *cases, "3 failed, 90 passed in 1s"])
    form = shortened(text, lambda text: len(text) // 4).text
    assert all(f"E       {what}" in form for what in ("no water", "mud is deep", "moon fell down"))
    assert "alike: test_tide[2]" not in form


def ok(size: int) -> list[str]:
    return [f"test_lock.py::test_{n} PASSED" for n in range(size)]


def test_of_a_run_that_was_cut_short_the_test_that_was_running_is_shown() -> None:
    passed = [f"test_sack_{n} (mill.GrindTest) ... ok" for n in range(60)]
    lines = [*passed, "Ran 60 tests in 1.2s", "OK", *passed, "=== RUN   TestWheel"]
    form = shortened("\n".join(lines), lambda text: len(text) // 4)
    assert form.engine == "testruns" and form.text.split("\n")[-1] == lines[-1]
