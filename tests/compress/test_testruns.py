"""A compressed test run names every failing test with its message and place, and the totals."""

from __future__ import annotations

import pytest
from tool_outputs import assert_kept, compressed, context, output, ratio

from aider_gardener.compress import testruns


@pytest.mark.parametrize(
    "name",
    ["pytest_q", "pytest_v", "pytest_short", "pytest_nosummary", "pytest_collect_error", "pytest_rsx", "pytest_xdist",
     "unittest", "unittest_v", "node_spec", "bun", "cargo_test", "cargo_backtrace", "go_v", "go_packages", "maven",
     "dotnet"],
)  # fmt: skip
def test_every_failure_is_kept(name: str) -> None:
    text = output(name)
    assert_kept(text, compressed(testruns.compress, text), "test")


EXPECTED = {
    "jest": ["totals › adds the fee", "src/totals.test.ts:14:24", "Expected: 2105", "Received: 2100",
             "totals › matches the snapshot", "2 failed, 1 skipped, 14 passed, 17 total"],
    "vitest": ["src/totals.test.ts > totals > adds the fee", "expected 2100 to be 2105", "src/totals.test.ts:14:24",
               "1 failed | 15 passed (16)"],
    "mocha": ["cart adds the fee", "2100 !== 2105", "test/cart.js:9:12", "cart #find finds by sku",
              "Cannot read properties of undefined (reading 'sku')", "lib/cart.js:31:17", "2 failing"],
    "go_v": ["TestTotal (shop/cart)", "cart_test.go:14", "total of 2 lines = 2100, want 2105", "TestRate/usd",
             'rate("usd") = 1.0855, want 1.0850', "expected: 3", "actual : 4", "stock after two sales", "SKIP: TestSlow",
             "index out of range [5] with length 3", "TestPanic", "/srv/shop/cart.go:22", "4 tests failed"],
    "go_json": ["TestTotal (shop/cart)", "total of 2 lines = 2100, want 2105", "1 passed"],
    "gradle": ["CartTest > addsTheFee()", "expected: <2105> but was: <2100>", "CartTest.java:18",
               "connection refused: 10.0.0.7:8443", "Rates.java:44", "17 tests completed, 2 failed, 1 skipped"],
    "dotnet": ["Shop.Tests.CartTests.AddsTheFee", "Expected: 2105", "Actual: 2100", "CartTests.cs:23", "Total: 17"],
    "rspec": ["Cart#total adds the fee", "expected: 2105", "got: 2100", "./spec/cart_spec.rb:14", "no line with sku nope",
              "./lib/cart.rb:31", "29 examples, 2 failures"],
    "phpunit": ["Shop\\CartTest::testFind", "OutOfBoundsException: no line with sku nope", "Shop\\CartTest::testTotal",
                "2100 matches expected 2105", "/srv/shop/tests/CartTest.php:14", "Errors: 1, Failures: 1."],
    "gtest": ["Cart.AddsTheFee", "Which is: 2100", "2105", "/srv/shop/tests/cart_test.cc:14", "2 tests."],
    "node_tap": ["cart > keeps lines", "qty: 2", "qty: 3", "cart > totals > rounds", "/srv/shop/test/cart.test.js:8:56",
                 "tests 68", "fail 6"],
    "unittest": ["test_sub (tests.test_unit.Sums.test_sub) (i=4)", "4 not less than 3", "{'de': 3, 'at': 2}",
                 "tests/test_unit.py:6", "Ran 6 tests", "failures=4, errors=1, skipped=1"],
    "pytest_line": ["tests/test_cart.py::TestFind::test_chain", "no line with sku 'nope'", "shop/cart.py:15",
                    "tests/test_cart.py::test_add[x::y-3]", "13 failed, 404 passed"],
    "pytest_nosummary": ["test_add[x::y-3]", "assert [3] == [4]", "tests/test_cart.py:15"],
    "pytest_xdist": ["Using --random-order-seed=41217"],
    "pytest_rsx": ["needs the network", "DeprecationWarning: total() is slow"],
    "cargo_backtrace": ["tests::adds", "two teas", "left: 900", "right: 901", "src/lib.rs:6:25", 'Err` value: "no price"',
                        "test did not panic as expected", "tests::slow ... ignored, slow", "unused variable: `unused`"],
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_what_each_runner_says_is_kept(name: str) -> None:
    shown = " ".join(compressed(testruns.compress, output(name)).text.split())
    assert [part for part in EXPECTED[name] if part not in shown] == []


def long_run(failures: int, passed: int) -> str:
    """A pytest run like a real one, as long as wanted."""
    lines = ["=" * 30 + " test session starts " + "=" * 30, f"collected {failures + passed} items", ""]
    lines += [
        f"tests/test_shop.py::test_line_{n}[sku-{n * 7}] PASSED [ {n * 100 // passed:2}%]"
        for n in range(passed)
    ]
    lines += ["", "=" * 35 + " FAILURES " + "=" * 35]
    for n in range(failures):
        lines += [
            f"____________ test_total_{n} ____________",
            "",
            "    def test_total():",
            "        cart = Cart()",
        ]
        lines += [f">       assert total({n}) == {n * 3 + 1}", f"E       assert {n * 3} == {n * 3 + 1}"]
        lines += ["", f"tests/test_shop.py:{n + 20}: AssertionError"]
    lines += ["=" * 27 + " short test summary info " + "=" * 27]
    lines += [
        f"FAILED tests/test_shop.py::test_total_{n} - assert {n * 3} == {n * 3 + 1}" for n in range(failures)
    ]
    return "\n".join([*lines, f"===== {failures} failed, {passed} passed in 4.21s ====="])


def test_a_long_run_meets_its_target() -> None:
    text = long_run(25, 4_000)
    result = compressed(testruns.compress, text)
    assert context().count(text) > 50_000
    assert ratio(text, result) <= 0.03
    assert result.kept["failures"] == 25
    assert_kept(text, result, "test")


def test_failures_of_one_cause_are_told_together_with_all_ids() -> None:
    head = "=" * 30 + " FAILURES " + "=" * 30
    block = "\n{}\n\n>       raise KeyError(rate)\nE       KeyError: 'usd'\n\nshop/rates.py:14: KeyError"
    blocks = [block.format(f"_______ test_rate[{name}] _______") for name in ("a", "b", "c")]
    summary = [f"FAILED tests/test_rates.py::test_rate[{name}] - KeyError: 'usd'" for name in ("a", "b", "c")]
    text = "\n".join(
        [head, *blocks, "=== short test summary info ===", *summary, "3 failed in 0.1s", "." * 400]
    )
    shown = compressed(testruns.compress, text, context("pytest")).text
    assert shown.count("KeyError: 'usd'") == 1
    assert [name for name in ("a", "b", "c") if f"tests/test_rates.py::test_rate[{name}]" not in shown] == []


def test_order_is_kept() -> None:
    shown = compressed(testruns.compress, long_run(9, 200)).text
    places = [shown.index(f"::test_total_{n} ") for n in range(9)]
    assert places == sorted(places)


def test_a_passing_run_is_its_totals_and_what_is_unusual() -> None:
    text = long_run(0, 600).replace("=================================== FAILURES", "x")
    result = compressed(testruns.compress, text)
    assert "0 failed, 600 passed" in result.text
    assert ratio(text, result) < 0.02


@pytest.mark.parametrize("change", ["colour", "crlf", "ci"])
def test_dressed_up_output_is_read_the_same(change: str) -> None:
    text = output("pytest_q")
    plain = compressed(testruns.compress, text).text
    if change == "colour":
        dressed = text.replace("FAILED ", "\x1b[31mFAILED\x1b[0m ").replace("E   ", "\x1b[1m\x1b[31mE   ")
    elif change == "crlf":
        dressed = text.replace("\n", "\r\n")
    else:
        dressed = "\n".join(f"2026-01-02T03:04:05.1234567Z {line}" for line in text.split("\n"))
    assert compressed(testruns.compress, dressed).text.split("\n")[1:] == plain.split("\n")[1:]


def test_a_truncated_run_still_names_what_failed() -> None:
    text = output("pytest_v")
    cut = text[: text.index("short test summary info")]
    shown = compressed(testruns.compress, cut).text
    assert "tests/test_cart.py::test_total" in shown
    assert "assert 2100 == 2105" in shown


def test_a_failed_build_of_tests_says_so() -> None:
    text = "   Compiling hex v0.4.3 (/srv/src)\n" + "\n".join(
        f"error[E0432]: unresolved import `dep{n}`\n  --> src/lib.rs:{n}:9\n   |\n{n} |     use dep{n};\n   |  ^^^^"
        for n in range(1, 9)
    )
    text += "\nerror: could not compile `hex` (lib test) due to 8 previous errors\n"
    shown = compressed(testruns.compress, text).text
    assert "did not build, 8 errors" in shown
    assert "src/lib.rs:7:9" in shown


def test_a_failure_that_the_user_asks_about_gets_more_room() -> None:
    text = long_run(40, 600)
    asked = testruns.compress(text, context(words=("test_total_17",))).text
    assert "> assert total(17)" in asked or "assert 51 == 52" in asked
