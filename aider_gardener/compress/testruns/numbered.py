"""Reading runners that list failures by number (mocha, rspec, minitest, phpunit), and googletest."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.testruns.run import PLACE, Failure, Run, digest

NUMBER = re.compile(r"^ {0,4}(\d+)\) (.*)$")
TOTAL = re.compile(
    r"^ *\d+ (?:passing|failing|pending)\b.*$|^\d+ examples?, .*$|^\d+ (?:runs|tests), \d+ assertions.*$|"
    r"^Tests: \d+, Assertions: .*$|^OK \(.*\)$|^(?:FAILURES|ERRORS|WARNINGS)!$|^Finished in .*$|^Time: .*$"
)
RERUN = re.compile(r"^(?:Failed examples:|rspec \./|bin/rails test )")
MINITEST = re.compile(r"^(\S+#\S+) \[(\S+:\d+)\]:$")
BETWEEN = re.compile(r"^--$|^There (?:was|were) \d+ ")
PASSED = re.compile(r"^ +(?:✓|✔|√) ")
ERROR_LINE = re.compile(r"^\s+(?:[\w.]*(?:Error|Exception)\b|Failure/Error:|expected|Error:)")


class _Reader:
    def __init__(self) -> None:
        self.run = Run()
        self.failure: Failure | None = None
        self.block: list[str] = []
        self.numbers: set[str] = set()
        self.totals: list[str] = []
        self.mocha = False

    def read(self, lines: Sequence[str]) -> Run:
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

    def line(self, line: str) -> None:
        found = NUMBER.match(line)
        if found and (line[0].isdigit() or self.failure is None or found.group(1) not in self.numbers):
            self.close()
            self.numbers.add(found.group(1))
            title = found.group(2).strip()
            kind = title.rstrip(":") in ("Failure", "Error")
            self.failure = Failure("" if kind else title, "ERROR" if title == "Error:" else "FAILED")
        elif RERUN.match(line) or BETWEEN.match(line):
            self.close()
        elif self.failure is not None:
            self.block.append(line)
        elif line.strip() and not re.match(
            r"^[.FES*]+(?: +\d+ / \d+ \(.*\))?$|^Failures:$|^There (?:was|were)|^--$", line
        ):
            self.run.outside.append(line)

    def close(self) -> None:
        failure, block = self.failure, self.block
        self.failure, self.block = None, []
        if failure is None:
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


def parse_numbered(lines: Sequence[str]) -> Run:
    """Read mocha, rspec, minitest or phpunit."""
    return _Reader().read(lines)


GTEST = re.compile(r"^\[ +(RUN|OK|FAILED|SKIPPED|PASSED|----------|==========) +\] (.*)$")
GTEST_RULE = re.compile(r"^\[[-=]+\] ")
GTEST_FAILURE = re.compile(r"^(\S+?[:(]\d+\)?): (?:Failure|error: .*)$")
CTEST = re.compile(r"^ *\d+/\d+ +Test +#\d+: (\S+) \.+\**(.*)$")
CTEST_TOTAL = re.compile(r"^\d+% tests passed, .*$|^Total Test time .*$")


def parse_gtest(lines: Sequence[str]) -> Run:
    """Read googletest and ctest."""
    run, block = Run(), list[str]()
    for line in lines:
        found = GTEST.match(line)
        ctest = CTEST.match(line)
        if CTEST_TOTAL.match(line):
            run.totals.append(line)
        elif ctest:
            if "Passed" in ctest.group(2):
                run.passed += 1
            else:
                run.failures.append(Failure(ctest.group(1), ctest.group(2).strip(" *") or "FAILED"))
        elif found and found.group(1) == "RUN":
            block = []
        elif found and found.group(1) == "OK":
            run.passed, block = run.passed + 1, []
        elif found and found.group(1) == "FAILED" and "(" in found.group(2):
            places = [match.group(1) for match in map(GTEST_FAILURE.match, block) if match]
            message = [text for text in block if text.strip() and not GTEST_FAILURE.match(text)]
            name = found.group(2).partition(" (")[0].partition(", where")[0]
            run.failures.append(Failure(name, "FAILED", message, places))
            block = []
        elif found and found.group(1) in ("PASSED", "SKIPPED", "FAILED"):
            if re.match(r"^\d+ tests?", found.group(2)):
                run.totals.append(f"{found.group(1)} {found.group(2)}")
        elif not found and not GTEST_RULE.match(line):
            block.append(line)
    return run
