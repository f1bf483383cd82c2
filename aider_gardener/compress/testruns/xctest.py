"""Reading XCTest and Swift Testing: issues with their place in one line, suites and counts around them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.testruns.run import Failure, SuiteRun

ISSUE = re.compile(r"^(\S+?:\d+): error: (-\[[^\]]+\]|[\w.]+) : (.+)$")
SKIPPED = re.compile(r"^(\S+?:\d+): (-\[[^\]]+\]|[\w.]+) : Test skipped(?: - (.*))?$")
CASE = re.compile(r"^Test Case '(.+?)' (started|passed|failed|skipped)\b")
SUITE = re.compile(
    r"^Test Suite '|^\s+Executed \d+ tests?, |^(?:Build|Run) script |^Build complete!|^\[\d+/\d+\] "
)
TOTAL = re.compile(
    r"^\s+(Executed \d+ tests?, .*)$|^\S (Test run with \d+ tests? .*)$|^(\*\* TEST \w+ \*\*)$"
)
RECORDED = re.compile(
    r"^[✘✗X] Test (.+?) recorded an issue(?: with \d+ arguments? (.+?))? at (\S+:\d+(?::\d+)?): (.+)$"
)
FURTHER = re.compile(r"^[↳] (.*)$")
PASSED = re.compile(r"^[✔✓] Test (?!run )")
SWIFT_SKIP = re.compile(r"^[➜-] Test (.+ skipped.*)$")
SWIFT_NOISE = re.compile(r"^[◇✔✘✓↳] ")


def parse_xctest(lines: Sequence[str]) -> SuiteRun:
    """Read the output of `swift test` or `xcodebuild test`."""
    run, known, executed, last = SuiteRun(build=True), dict[str, Failure](), "", None
    for line in lines:
        issue, recorded, total = ISSUE.match(line), RECORDED.match(line), TOTAL.match(line)
        case, skipped = CASE.match(line), SKIPPED.match(line)
        if issue:
            last = _failure(run, known, issue[2], issue[3], issue[1])
        elif recorded:
            name = recorded[1] + (f" ({recorded[2]})" if recorded[2] else "")
            last = _failure(run, known, name, recorded[4], recorded[3])
        elif skipped:
            run.notes.append(f"skipped {skipped[2]} {skipped[3] or ''}".rstrip())
        elif total:
            executed = total[1] or executed
            if not total[1]:
                run.totals.append(total[2] or total[3])
        elif case:
            run.passed += case[2] == "passed"
            last = None
            if case[2] == "failed" and case[1] not in known:
                known[case[1]] = Failure(case[1])
                run.failures.append(known[case[1]])
        elif PASSED.match(line):
            run.passed += 1
        elif last is not None and (further := FURTHER.match(line)):
            last.message.append(further[1])
        elif swift := SWIFT_SKIP.match(line):
            run.notes.append(swift[1])
        elif line.strip() and not SUITE.match(line) and not SWIFT_NOISE.match(line):
            run.outside.append(line)
    if executed:
        run.totals.insert(0, executed)
    return run


def _failure(run: SuiteRun, known: dict[str, Failure], name: str, message: str, place: str) -> Failure:
    """One issue: of a test with several each is a failure of its own, as each has its place."""
    failure = Failure(name, "FAILED", [message], [place])
    known.setdefault(name, failure)
    run.failures.append(failure)
    return failure
