"""Test runs of many runners: each failing test with what it compared and where, and the runner's own counts."""

from __future__ import annotations

import pytest

from aider_gardener.compress.outline import CAUSE, FAILURE, NOISE, OUTCOME, Note
from aider_gardener.compress.runs import read

PYTEST = """tests/test_pier.py F.                                         [100%]
=================================== FAILURES ===================================
_________________________________ test_depth[low] __________________________________

    def test_depth(tide):
>       assert depth(tide) == 9.4
E       assert 8.9 == 9.4
E        +  where 8.9 = depth('low')

tests/test_pier.py:17: AssertionError
------------------------------ Captured log call -------------------------------
INFO     pier:pier.py:70 asked for low
=========================== short test summary info ============================
FAILED tests/test_pier.py::test_depth[low] - assert 8.9 == 9.4
========================= 1 failed, 1 passed in 1.20s ========================="""
UNITTEST = """.F
======================================================================
FAIL: test_fare (ferry.tests.FareTest)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/srv/ferry/tests.py", line 60, in test_fare
    self.assertEqual(fare(2), 12)
AssertionError: 13 != 12

----------------------------------------------------------------------
Ran 2 tests in 0.003s

FAILED (failures=1)"""
JEST = """PASS src/a.test.js
FAIL src/cart.test.js
    ✓ adds (2 ms)
    ✕ totals (5 ms)

  ● cart › totals

    Expected: 10
    Received: 12

      at Object.<anonymous> (src/cart.test.js:13:24)

Tests:       1 failed, 2 passed, 3 total"""
MOCHA = """  ledger
    ✔ books
    1) balances

  1 passing (8ms)
  1 failing

  1) ledger
       balances:
     AssertionError: expected 12 to equal 10
      at Context.<anonymous> (test/ledger.js:5:31)"""
TAP = """TAP version 13
ok 1 - calm
not ok 2 - gust is clipped

#   at t/wind.t line 14.
#          got: '41'
#     expected: '35'
1..2
# fail 1"""
CARGO = """running 2 tests
test oar::floats ... ok
test oar::steers ... FAILED

failures:

---- oar::steers stdout ----

thread 'oar::steers' panicked at src/lib.rs:31:9:
assertion `left == right` failed
  left: 90
 right: 91

failures:
    oar::steers

test result: FAILED. 1 passed; 1 failed; 0 ignored; finished in 0.00s"""
GO = """=== RUN   TestParse
    parse_test.go:31: got 1 tokens, want 2
--- FAIL: TestParse (0.00s)
=== RUN   TestInk
    ink_test.go:9: dipped
--- PASS: TestInk (0.00s)
FAIL
FAIL\texample.org/quill\t0.231s"""
JUNIT = """[INFO] Running org.example.ShelfTest
[ERROR] org.example.ShelfTest.holds -- Time elapsed: 0.01 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <3> but was: <4>
\tat org.junit.jupiter.api.AssertionFailureBuilder.build(AssertionFailureBuilder.java:151)
\tat org.example.ShelfTest.holds(ShelfTest.java:19)

[ERROR] Tests run: 11, Failures: 1, Errors: 0, Skipped: 0"""
GTEST = """[ RUN      ] Sieve.Coarse
[       OK ] Sieve.Coarse (0 ms)
[ RUN      ] Sieve.Fine
/srv/mill/sieve_test.cc:47: Failure
Expected equality of these values:
    Which is: 17
[  FAILED  ] Sieve.Fine (1 ms)
[  FAILED  ] 1 test, listed below:"""
UNKNOWN = """[1/3] login page loads ............ PASS (0.4s)
[2/3] cart keeps its total ........ FAIL (0.9s)
    cart.py:88 total after removal
    expected 10.00 EUR but got 12.00 EUR
[3/3] logout ...................... PASS (0.2s)
== 2 passed, 1 failed in 1.6s =="""


def noted(text: str) -> dict[str, Note]:
    lines = text.split("\n")
    return {
        lines[row].strip(): note for row, note in sorted(read(lines).items(), key=lambda one: one[1].worth)
    }


def parents(text: str, line: str) -> list[str]:
    """The lines that a line needs above it, nearest first."""
    lines = text.split("\n")
    notes = read(lines)
    row, found = next(row for row, one in enumerate(lines) if line in one and row in notes), list[str]()
    while (row := notes[row].above) >= 0:
        found.append(lines[row].strip())
    return found


@pytest.mark.parametrize(
    ("text", "heading", "values", "place"),
    [
        (PYTEST, "test_depth[low]", ["+  where 8.9 = depth('low')"], "tests/test_pier.py:17: AssertionError"),
        (
            UNITTEST,
            "FAIL: test_fare (ferry.tests.FareTest)",
            ["AssertionError: 13 != 12"],
            "line 60, in test_fare",
        ),
        (JEST, "● cart › totals", ["Expected: 10", "Received: 12"], "src/cart.test.js:13:24"),
        (MOCHA, "1) ledger", ["expected 12 to equal 10"], "test/ledger.js:5:31"),
        (TAP, "not ok 2 - gust is clipped", ["got: '41'", "expected: '35'"], "at t/wind.t line 14."),
        (CARGO, "---- oar::steers stdout ----", ["left: 90", "right: 91"], "src/lib.rs:31:9"),
        (GO, "=== RUN   TestParse", ["got 1 tokens, want 2"], "parse_test.go:31"),
        (JUNIT, "ShelfTest.holds -- Time", ["expected: <3> but was: <4>"], "ShelfTest.java:19"),
        (GTEST, "[ RUN      ] Sieve.Fine", ["Which is: 17"], "/srv/mill/sieve_test.cc:47: Failure"),
        (UNKNOWN, "[2/3] cart keeps its total", ["expected 10.00 EUR but got 12.00 EUR"], "cart.py:88"),
    ],
)
def test_what_a_failing_test_compared_and_where_stands_under_its_heading(
    text: str, heading: str, values: list[str], place: str
) -> None:
    notes = noted(text)
    for part in (*values, place):
        line = next(line for line in reversed(notes) if part in line)
        assert notes[line].worth >= FAILURE - 1
        assert any(heading in above for above in parents(text, part))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (JEST, "✕ totals (5 ms)"),
        (MOCHA, "1) balances"),
        (CARGO, "test oar::steers ... FAILED"),
    ],
)
def test_a_test_is_not_named_again(text: str, line: str) -> None:
    assert noted(text)[line].worth == NOISE


def test_what_the_summary_says_is_not_said_again() -> None:
    notes = noted(PYTEST)
    assert notes["FAILED tests/test_pier.py::test_depth[low] - assert 8.9 == 9.4"].worth > FAILURE
    assert notes["E       assert 8.9 == 9.4"].worth < 2
    assert notes["INFO     pier:pier.py:70 asked for low"].worth < 1


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
