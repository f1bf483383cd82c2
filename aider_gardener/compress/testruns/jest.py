"""Reading jest, vitest and bun: blocks by bullet, by FAIL heading, or before their result line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.testruns.run import Failure, SuiteRun, digest

TOTAL = re.compile(
    r"^ *(?:Tests?:|Test Suites:|Snapshots:|Test Files  |Tests  |Snapshots  |Errors  |"
    r"Type Errors  ).*\d.*$|"
    r"^ *\d+ (?:pass|fail|skip|todo|error|filtered out)s?$|^Ran \d+ tests? across .*$|"
    r"^ *›.*(?:obsolete|written|failed).*$|"
    r"^ *Time:  .*$|^ *Duration  .*$"
)
BULLET = re.compile(r"^ *● (.+)$")
HEADING = re.compile(r"^ *(?:FAIL|❯ FAIL) +(\S.*? > .+?)(?: \[.*\])?$")
SUITE = re.compile(r"^ *(PASS|FAIL) +(\S+\.\w+)(?: \(.*\))?(?: \[.*\])?$")
UNLOADED = re.compile(r"^ *(?:FAIL|❯ FAIL) +(?:\|\S+\| )?(\S+\.\w+) \[ .* \]$")
"""A file of vitest that did not load: its error follows."""

SECTION = re.compile(r"^⎯+ (?:Failed (?:Suites|Tests|Typecheck)|Unhandled Errors) .*⎯+$|^⎯+\[\d+/\d+\]⎯+$")
RESULT = re.compile(
    r"^ *(?:(✓|✗|✕|×|√|○|✎|»|↓)|\((pass|fail|skip|todo)\)) (.+?)(?: (?:\[([\d.]+m?s)\s*\]?|"
    r"\(([\d.]+ ?m?s)\)|\d+ ?ms))?$"
)
UNHANDLED = re.compile(r"^# Unhandled error between tests$|^⎯+ Unhandled (?:Error|Rejection|Exception) ⎯+$")
RULE = re.compile(r"^[⎯-]{5,}.*$")
FILE = re.compile(r"^(\S+\.(?:test|spec|tests)\.\w+|\S*test\S*\.[jt]sx?):$")
PROGRESS = re.compile(
    r"^ *(?:RUNS|✓|❯|×) +\S+\.\w+ +(?:\(\d+ tests?|\d+/\d+)|^ RUN  v\d|^ RERUN |^bun test v|"
    r"^ +Start at |^Snapshot Summary|^Ran all test suites"
)
REPEATED = re.compile(r"^Summary of all failing tests$|^\d+ tests? failed:$|^Test results:")


class _Reader:
    def __init__(self) -> None:
        self.run = SuiteRun()
        self.failure: Failure | None = None
        self.block: list[str] = []
        self.before: list[str] = []
        self.totals: list[str] = []
        self.file = ""
        self.repeated = self.bun = False
        self.known: set[tuple[str, ...]] = set()
        self.named: set[str] = set()

    def read(self, lines: Sequence[str]) -> SuiteRun:
        self.bun = any(
            line.startswith("bun test v") or re.match(r"^ \d+ expect\(\) calls|^Ran \d+ tests? across", line)
            for line in [*lines[:60], *lines[-30:]]
        )
        for line in lines:
            self.line(line)
        self.close()
        if self.before:
            self.run.outside.extend(self.before)
        if self.totals:
            self.run.totals.append(", ".join(" ".join(total.split()) for total in self.totals))
        return self.run

    def line(self, line: str) -> None:
        if TOTAL.match(line):
            self.close()
            (self.run.notes if "›" in line else self.totals).append(line.strip())
            return
        stripped = line.strip()
        if REPEATED.match(stripped):
            self.close()
            self.repeated = True
        elif SECTION.match(stripped):
            self.close()
        elif UNHANDLED.match(stripped):
            self.close()
            self.failure = Failure("(unhandled error between tests)", "ERROR")
        elif not self.heading(line) and stripped:
            if self.failure is not None:
                if not RULE.match(stripped):
                    self.block.append(line)
            elif not PROGRESS.match(line):
                self.before.append(line)

    def heading(self, line: str) -> bool:
        """True for a line that names a test or a file."""
        start = line.lstrip()[:1]
        if start in "✓✗✕×√○(✎»↓" and start:
            return self.result(line)
        unloaded = UNLOADED.match(line)
        if unloaded:
            self.close()
            self.before = []
            self.failure = Failure(unloaded.group(1), "FAILED to load")
            return True
        found = SUITE.match(line)
        if found:
            self.close()
            self.file = found.group(2)
            return True
        found = HEADING.match(line) or (BULLET.match(line) if start == "●" else None)
        if found and "Console" not in found.group(1):
            self.close()
            self.before = []
            self.failure = Failure(" ".join(found.group(1).split()))
            suite = self.failure.id == "Test suite failed to run"
            if self.file and "●" in line:
                self.failure.id = (
                    f"{self.file} › {self.failure.id}"
                    if " › " in self.failure.id or suite
                    else self.failure.id
                )
            return True
        found = FILE.match(line)
        if found:
            self.close()
            self.file = found.group(1)
            self.run.outside.extend(self.before)
            self.before = []
        return bool(found)

    def result(self, line: str) -> bool:
        found = RESULT.match(line)
        if not found:
            return False
        mark = found.group(1) or found.group(2)
        if self.failure is not None and self.failure.outcome == "ERROR" and self.bun:
            self.close()
        if mark in ("✓", "√", "pass"):
            self.run.passed += 1
            if self.failure is None and self.bun:
                self.run.outside.extend(self.before)
                self.before = []
        elif mark in ("✗", "✕", "×", "fail") and (self.bun or self.failure is None):
            block = self.before if self.bun and not self.repeated else []
            self.before = [] if self.bun else self.before
            if self.bun:
                self.bun_failure(found.group(3), block)
        elif mark in ("○", "skip", "todo", "✎", "»", "↓"):
            self.run.notes.append(line.strip()[:160])
        return True

    def bun_failure(self, name: str, block: Sequence[str]) -> None:
        told = digest(block)
        failure = Failure(name, "FAILED", _bun_message(told.message), told.where, _bun_source(block))
        if not (self.repeated and name in self.named):
            self.add(failure)

    def close(self) -> None:
        failure, block = self.failure, self.block
        self.failure, self.block = None, []
        if failure is None:
            return
        told = digest(block)
        failure.message = [line for line in told.message if not re.match(r"^\s*[⎯-]{3,}", line)]
        failure.where, failure.source = told.where, told.source
        if (failure.id, *failure.message) not in self.known:
            self.add(failure)

    def add(self, failure: Failure) -> None:
        self.run.failures.append(failure)
        self.known.add((failure.id, *failure.message))
        self.named.add(failure.id)


def _bun_message(message: Sequence[str]) -> list[str]:
    """The message from its `error:` line on; what stood before it is the program's output."""
    for at, line in enumerate(message):
        if re.match(r"^\s*(?:error|\w*Error)\b", line):
            return [*message[at:], *(f"(output) {text.strip()}" for text in message[:at][-2:])]
    return list(message)


def _bun_source(block: Sequence[str]) -> str:
    """The last line of the code frame, on which bun puts its caret."""
    source = ""
    for line in block:
        found = re.match(r"^\s*\d+ \| (.*)$", line)
        if found:
            source = found.group(1).strip()
    return source


def parse_jest(lines: Sequence[str]) -> SuiteRun:
    """Read the output of jest, vitest, bun test or mocha (the latter by its numbered list)."""
    if any(re.match(r"^ *\d+ passing(?: \(.*\))?$", line) for line in lines):
        from aider_gardener.compress.testruns.numbered import parse_numbered

        return parse_numbered(lines)
    return _Reader().read(lines)
