"""Reading `dart test` and `flutter test`: a counting line for each test, and what failed below it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.testruns.run import Failure, SuiteRun, dedent

COUNTING = re.compile(r"^\d\d:\d\d \+\d+(?: ~\d+)?(?: -\d+)?: (.+?)( \[E\])?$")
FINAL = re.compile(r"(?:Some tests failed|All tests passed|All other tests passed|No tests ran)[.!]")
FRAME = re.compile(r"^ +(\S+\.dart) (\d+:\d+) +\S.*$")
VM_FRAME = re.compile(r"^#\d+ +.*\((?:file://)?(\S+\.dart:\d+(?::\d+)?)\)$")
COMPILE = re.compile(r"^ *(\S+\.dart:\d+:\d+): (?:Error|Context): ")
CAUGHT = re.compile(r"^══+[╡ ]+EXCEPTION CAUGHT BY ")
NOISE = re.compile(
    r"^(?:══+.*|  package:\S+ +\S+|<asynchronous suspension>|\(elided .*|"
    r"When the exception was thrown, this was the stack:|"
    r"The test description was:.*|  The test description was:.*|  Test failed\. See exception logs above\.|"
    r"To run this test again: .*|\.\.\.  *Normal element mounting.*|#\d+ .*)$"
)
LIBRARY = re.compile(r"^(?:package:(?:matcher|test|test_api|flutter_test|flutter|stack_trace|async)\b|dart:)")


def parse_dart(lines: Sequence[str]) -> SuiteRun:
    """Read the output of `dart test` or `flutter test`."""
    run, caught, last = SuiteRun(), list[str](), ""
    failure: Failure | None = None
    excepted = False
    for line in lines:
        counting = COUNTING.match(line)
        if counting and FINAL.match(counting[1]):
            last, failure = line, None
        elif counting:
            excepted, failure = False, None
            if counting[2]:
                failure = Failure(counting[1])
                run.failures.append(failure)
                for one in caught:
                    _detail(failure, one)
                caught = []
        elif CAUGHT.match(line):
            excepted, failure = True, None
        elif excepted:
            caught.append(line)
        elif failure is not None:
            _detail(failure, line)
        elif line.strip() and not NOISE.match(line):
            run.outside.append(line)
    for told in run.failures:
        told.message, told.where = dedent(told.message), told.where[::-1]
    if last:
        run.totals.append(last)
    run.outside.extend(caught)
    return run


def _detail(failure: Failure, line: str) -> None:
    frame, vm, broken = FRAME.match(line), VM_FRAME.match(line), COMPILE.match(line)
    if frame:
        if not LIBRARY.match(frame[1]):
            failure.where.append(f"{frame[1]}:{frame[2]}")
    elif vm:
        failure.where.append(vm[1])
    elif line.strip() and not NOISE.match(line):
        if broken:
            failure.where.append(broken[1])
        failure.message.append(line)
