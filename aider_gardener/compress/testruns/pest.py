"""Reading Pest and Laravel's `artisan test`: marks by test, then a block for each failure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.testruns.run import Failure, SuiteRun

HEAD = re.compile(r"^ {2,4}FAILED +(\S.*? > .+?)(?: {2,}(\w+))? *$")
PLACE = re.compile(r"^ {2}at (\S+\.php:\d+)$")
FRAME = re.compile(r"^ {2}\d+ +(\S+\.php:\d+)$")
MARKED = re.compile(r"^ *➜ +\d+▕ ?(.*)$")
CODE = re.compile(r"^ *\d+▕|^ *\+\d+ vendor frames|^ *─+ *$")
PASSED = re.compile(r"^ {2}✓ ")
OTHER = re.compile(r"^ {2}(?:[-…!] )(\S.*?)(?: +\d[\d.]*s)? *$")
FAILED = re.compile(r"^ {2}⨯ ")
TOTAL = re.compile(r"^ {2}(?:Tests|Duration|Parallel|Random Order Seed): +(\S.*)$")
SUITE = re.compile(r"^ {2,4}(?:PASS|FAIL|WARN|TODO) +\S+$")


def parse_pest(lines: Sequence[str]) -> SuiteRun:
    """Read the output of `pest` or `php artisan test`."""
    run, failure = SuiteRun(), None
    for line in lines:
        head = HEAD.match(line)
        total = TOTAL.match(line)
        if head:
            failure = Failure(head[1].strip(), "FAILED", [f"{head[2]}:"] if head[2] else [])
            run.failures.append(failure)
        elif total:
            failure = None
            run.totals.append(" ".join(line.split()))
        elif failure is not None:
            _detail(failure, line)
        elif PASSED.match(line):
            run.passed += 1
        elif other := OTHER.match(line):
            run.notes.append(f"not run: {other[1]}")
        elif line.strip() and not SUITE.match(line) and not FAILED.match(line) and not CODE.match(line):
            run.outside.append(line)
    for one in run.failures:
        own = [place for place in one.where if not place.startswith("vendor/")]
        one.where = (own or one.where)[::-1]
    return run


def _detail(failure: Failure, line: str) -> None:
    at = PLACE.match(line) or FRAME.match(line)
    marked = MARKED.match(line)
    if at:
        failure.where.append(at[1])
    elif marked:
        failure.source = marked[1].strip()
    elif line.strip() and not CODE.match(line):
        failure.message.append(line)
