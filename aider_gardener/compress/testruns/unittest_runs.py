"""Reading Python's unittest: failure blocks between rules, totals, skips in verbose lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.testruns.run import Failure, SuiteRun, digest

HEAD = re.compile(r"^(FAIL|ERROR|UNEXPECTED SUCCESS): (.+)$")
VERBOSE = re.compile(r"^(?:(.*) )?\.\.\. (ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$")
TOTALS = re.compile(r"^(?:Ran \d+ tests? in .*|(?:FAILED|OK)(?: \(.*\))?|NO TESTS RAN.*)$")
DOTS = re.compile(r"^[.FEsxu]+$")
THICK, THIN = re.compile(r"^={40,}$"), re.compile(r"^-{40,}$")


def parse_unittest(lines: Sequence[str]) -> SuiteRun:
    """Read the output of `python -m unittest` (and Django's runner)."""
    run, block, failure = SuiteRun(), list[str](), None
    for line in lines:
        head = HEAD.match(line)
        if head:
            _finish(run, failure, block)
            failure, block = Failure(head.group(2), head.group(1)), []
        elif TOTALS.match(line):
            _finish(run, failure, block)
            failure, block = None, []
            run.totals.append(line)
        elif failure is not None:
            if not THICK.match(line) and not (THIN.match(line)):
                block.append(line)
        else:
            _outside(run, line)
    _finish(run, failure, block)
    return run


def _outside(run: SuiteRun, line: str) -> None:
    found = VERBOSE.match(line)
    if found:
        result = found.group(2)
        if result == "ok":
            run.passed += 1
        elif result.startswith(("skipped", "unexpected", "expected")):
            run.notes.append(line)
    elif not DOTS.match(line) and not THICK.match(line) and not THIN.match(line):
        run.outside.append(line)


def _finish(run: SuiteRun, failure: Failure | None, block: Sequence[str]) -> None:
    if failure is None:
        return
    told, errors, source = digest(block), list[str](), ""
    frames = False
    chain: list[str] = []
    for line in block:
        if line.startswith("Traceback (most recent") and errors:
            chain.append(errors[0])
        if line.startswith("  File "):
            frames, errors = True, []
        elif frames and line.startswith("    "):
            source = line.strip() if not re.match(r"^[\s^~]+$", line) else source
        elif frames and line.strip():
            errors.append(line)
    failure.message = [*(errors or told.message), *(f"(after: {line.strip()})" for line in chain)]
    failure.where, failure.source = told.where, source
    run.failures.append(failure)
