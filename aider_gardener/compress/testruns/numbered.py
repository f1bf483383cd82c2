"""Reading runners that list failures by number (mocha, rspec, minitest, phpunit), and googletest."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.testruns.run import PLACE, Failure, SuiteRun, digest

NUMBER = re.compile(r"^ {0,4}(\d+)\) (.*)$")
TOTAL = re.compile(
    r"^ *\d+ (?:passing|failing|pending)\b.*$|^\d+ examples?, .*$|^\d+ (?:runs|tests), \d+ assertions.*$|"
    r"^Tests: \d+, Assertions: .*$|^OK \(.*\)$|^(?:FAILURES|ERRORS|WARNINGS)!$|^Finished in .*$|^Time: .*$"
)
RERUN = re.compile(r"^(?:Failed examples:|rspec \./|bin/rails test )")
MINITEST = re.compile(r"^(\S+#\S+) \[(\S+:\d+)\]:$")
MOST_RERUNS = 12
"""So many commands that run one failed example again are told."""

BETWEEN = re.compile(r"^--$")
PENDING = re.compile(r"^Pending: \(Failures listed here")
FAILED = re.compile(r"^Failures:$|^Failed examples:$")
THERE = re.compile(
    r"^There (?:was|were) \d+ (?:PHPUnit )?(?:test runner )?(error|failure|warning|deprecation|notice|risky|"
    r"skipped|incomplete)|^\d+ tests? triggered \d+ (?:PHP |PHPUnit )?(error|warning|deprecation|notice)"
)
UNLOADED = re.compile(r"^An error occurred (while loading|in an? `?\w+\(?:?\w*\)?`? hook)(?: (\S+?)\.?)?$")
SEED = re.compile(r"^Randomized with seed \d+$")
SLOWEST = re.compile(r"^Top \d+ slowest example")
OUTCOMES = {
    "error": "ERROR", "warning": "WARNING", "deprecation": "DEPRECATION", "notice": "NOTICE",
    "risky": "RISKY", "skipped": "SKIPPED", "incomplete": "INCOMPLETE",
}  # fmt: skip
PASSED = re.compile(r"^ +(?:✓|✔|√) ")
ERROR_LINE = re.compile(r"^\s+(?:[\w.]*(?:Error|Exception)\b|Failure/Error:|expected|Error:)")


class _Reader:
    def __init__(self) -> None:
        self.run = SuiteRun()
        self.failure: Failure | None = None
        self.block: list[str] = []
        self.numbers: set[str] = set()
        self.totals: list[str] = []
        self.mocha = False
        self.outcome = "FAILED"
        self.pending = self.slowest = False
        self.reruns = 0

    def read(self, lines: Sequence[str]) -> SuiteRun:
        self.mocha = any(re.match(r"^ *\d+ passing", line) for line in lines)
        started = not self.mocha
        for line in lines:
            if TOTAL.match(line):
                self.close()
                self.totals.append(line.strip())
                started = True
            elif not started:
                self.tree(line)
            else:
                self.line(line)
        self.close()
        if self.totals:
            self.run.totals.append(", ".join(self.totals))
        return self.run

    def tree(self, line: str) -> None:
        """A line of mocha's result tree, before its totals."""
        if PASSED.match(line):
            self.run.passed += 1
        elif line.strip() and not NUMBER.match(line.lstrip()) and not line.startswith("  "):
            self.run.outside.append(line)

    def section(self, line: str) -> bool:
        """True for a line that says what the entries below it are."""
        there, unloaded = THERE.match(line), UNLOADED.match(line)
        pending, failed = PENDING.match(line), FAILED.match(line)
        if not (there or unloaded or pending or failed or SLOWEST.match(line)):
            return False
        self.close()
        self.numbers = set()
        self.pending, self.slowest = bool(pending), bool(SLOWEST.match(line))
        self.outcome = OUTCOMES.get(there[1] or there[2], "FAILED") if there else "FAILED"
        if unloaded:
            self.failure = Failure(f"{unloaded[1]} {unloaded[2] or ''}".strip(), "ERROR")
        return True

    def line(self, line: str) -> None:
        if self.section(line):
            return
        found = NUMBER.match(line)
        if SEED.match(line) or line.startswith("Run options:"):
            self.close()
            self.run.notes.append(line)
        elif found and (line[0].isdigit() or self.failure is None or found.group(1) not in self.numbers):
            self.close()
            self.numbers.add(found.group(1))
            title = found.group(2).strip()
            kind = title.rstrip(":") in ("Failure", "Error")
            self.failure = Failure("" if kind else title, "ERROR" if title == "Error:" else self.outcome)
        elif RERUN.match(line) or BETWEEN.match(line):
            self.close()
            if line.startswith("rspec ") and self.reruns < MOST_RERUNS:
                self.reruns += 1
                self.run.notes.append(line.partition(" #")[0])
        elif self.failure is not None:
            self.block.append(line)
        elif (
            not self.slowest
            and line.strip()
            and not re.match(r"^[.FES*]+(?: +\d+ / \d+ \(.*\))?$|^Failures:$|^There (?:was|were)|^--$", line)
        ):
            self.run.outside.append(line)

    def close(self) -> None:
        failure, block = self.failure, self.block
        self.failure, self.block = None, []
        if failure is None:
            return
        if self.pending:
            reason = next((line.strip(" #") for line in block if line.strip()), "")
            self.run.notes.append(f"pending: {failure.id} ({reason})")
            return
        if failure.outcome == "ERROR" and failure.id.startswith(("while loading", "in a")):
            told = digest(block)
            failure.message, failure.where = told.message, told.where[::-1]
            self.run.failures.append(failure)
            return
        where: list[str] = []
        names = [failure.id] if failure.id else []
        at = 0
        while at < len(block) and block[at].strip():
            minitest = MINITEST.match(block[at])
            if minitest:
                names, where = [minitest.group(1)], [minitest.group(2)]
            elif not names:
                names = [block[at].strip().rstrip(":")]
            elif self.mocha and not ERROR_LINE.match(block[at]):
                names.append(block[at].strip())
            else:
                break
            at += 1
            if self.mocha and len(names) > 1 and names[-1].endswith(":"):
                break
        block = block[at:]
        failure.id = " ".join(names).rstrip(":")
        told = digest(block)
        failure.message = told.message
        failure.where = where or told.where[::-1] or _bare_places(block)
        self.run.failures.append(failure)


def _bare_places(block: Sequence[str]) -> list[str]:
    found = [place for line in block for place in PLACE.findall(line)]
    return found[:1]


def parse_numbered(lines: Sequence[str]) -> SuiteRun:
    """Read mocha, rspec, minitest or phpunit."""
    return _Reader().read(lines)
