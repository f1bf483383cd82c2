"""Reading bats as it prints for people, and prove: marks or dots, then what each failing test said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.testruns.run import Failure, SuiteRun

MARK = re.compile(r"^ (✓|✗|-) (.+?)(?: \[\d+\])?$")
IN_FILE = re.compile(r"in test file (\S+), line (\d+)")
IN_FUNCTION = re.compile(r"^ {3}\(?(?:from function `.*' )?in (?:test )?file \S+, line \d+[,)]$")
TOTAL = re.compile(r"^\d+ tests?, \d+ failures?.*$")


def parse_bats(lines: Sequence[str]) -> SuiteRun:
    """Read the pretty output of bats."""
    run, failure = SuiteRun(), None
    for line in lines:
        mark = MARK.match(line)
        if mark:
            failure = None
            if mark[1] == "✓":
                run.passed += 1
            elif mark[1] == "-":
                run.notes.append(f"not run: {mark[2]}")
            else:
                failure = Failure(mark[2])
                run.failures.append(failure)
        elif TOTAL.match(line):
            failure = None
            run.totals.append(line)
        elif failure is not None and line.startswith("   "):
            found = IN_FILE.search(line)
            if found:
                failure.where.append(f"{found[1]}:{found[2]}")
            if not IN_FUNCTION.match(line) and line.strip(" -"):
                failure.message.append(line)
        elif line.strip() and line.strip() not in ("bats",):
            run.outside.append(line)
    return run


FAILED_TEST = re.compile(
    r"^\s*#\s+Failed (\(TODO\) )?test(?: '(.*)')?(?: (?:at|in) (\S+) (?:at )?line (\d+)\.?)?$"
)
AT = re.compile(r"^\s*#\s+(?:at|in) (\S+) (?:at )?line (\d+)\.?$")
COMMENT = re.compile(r"^\s*# ?(.*)$")
SUMMARY = re.compile(r"^Test Summary Report$")
PROVE_TOTAL = re.compile(r"^(?:Files=\d+, Tests=\d+|Result: |All tests successful)")
FILE = re.compile(r"^(\S+\.t) \.+ ?(.*)$")
RESULT = re.compile(r"^\s*(not ok|ok)\b(?: \d+)?(?: - (.*?))?(?: # (TODO|SKIP|skip|todo)\b ?(.*))?$")
NO_PLAN = re.compile(r"^(?:\d+\.\.\d+|ok|-+|\s*\(less .*)$")
REPORT = re.compile(
    r"^(?:\S+\.t +\(Wstat: |  (?:Failed tests?|Non-zero|Parse errors|TODO passed|Tests were run))"
)
DUBIOUS = re.compile(r"^(?:Dubious, |Failed \d+/\d+ subtests|No subtests run|# Looks like you )")


def parse_prove(lines: Sequence[str]) -> SuiteRun:
    """Read the output of prove, verbose or not."""
    run, failure, todo = SuiteRun(), None, False
    path, said = "", list[str]()
    for line in lines:
        failed, at, comment, result = (shape.match(line) for shape in (FAILED_TEST, AT, COMMENT, RESULT))
        if failed:
            todo = bool(failed[1])
            failure = None if todo else Failure(failed[2] or path)
            if failure is not None:
                failure.where = [f"{failed[3]}:{failed[4]}"] if failed[3] else []
                run.failures.append(failure)
        elif at:
            if failure is not None and not failure.where:
                failure.where.append(f"{at[1]}:{at[2]}")
                failure.message.append(line.replace("#", " ", 1))
        elif comment and not DUBIOUS.match(line):
            if failure is not None:
                failure.message.append(comment[1])
            elif not todo:
                said.append(line)
        elif result:
            failure = None
            run.passed += result[1] == "ok" and not result[3]
            if result[3]:
                run.notes.append(line.strip())
        elif PROVE_TOTAL.match(line):
            run.totals.append(line)
        elif found := FILE.match(line):
            path, failure, todo = found[1], None, False
            if found[2].startswith("skipped"):
                run.notes.append(f"{path} {found[2]}")
        elif DUBIOUS.match(line):
            failure = None
            said.append(f"{path}: {line.strip('# ')}")
        elif line.strip() and not NO_PLAN.match(line) and not SUMMARY.match(line):
            (run.notes if REPORT.match(line) else said).append(line)
    run.notes = [*said, *run.notes]
    return run
