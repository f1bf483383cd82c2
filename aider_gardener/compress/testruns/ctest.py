"""Reading googletest and ctest: blocks before their result line, output below ctest's."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.testruns.run import Failure, SuiteRun

GTEST = re.compile(r"^\[ +(RUN|OK|FAILED|SKIPPED|PASSED|----------|==========) +\] (.*)$")
GTEST_RULE = re.compile(r"^\[[-=]+\] ")
GTEST_FAILURE = re.compile(r"^(\S+?[:(]\d+\)?): (?:Failure|error: .*)$")
GTEST_SKIP = re.compile(r"^(\S+?[:(]\d+\)?): Skipped$")
DISABLED = re.compile(r"^ +YOU HAVE \d+ DISABLED TESTS?$")
CTEST = re.compile(r"^ *\d+/\d+ +(?:Test|MemCheck) +#\d+: (\S+) \.*(?: |\*\*\*)(.*)$")
START = re.compile(r"^ +Start +\d+: ")
CTEST_TOTAL = re.compile(r"^\d+% tests passed, .*$")
LISTED = re.compile(r"^\s+\d+ - (\S+) \((.+)\)(?: +\S.*)?$")
NOISE = re.compile(
    r"^(?:Test project |Total Test time|The following tests |Errors while running|Label Time Summary|"
    r"\S+ += +[\d.]+ sec|\s*\d+ FAILED TESTS?$|Note: Google Test filter|Running main\(\)|\d+: )"
)
ASSERTED = re.compile(
    r"fail|error|assert|expect|abort|exception|sanitizer|timed? ?out|unable|not found|terminate", re.I
)
OUTPUT_LINES = 12


class _Reader:
    def __init__(self) -> None:
        self.run = SuiteRun()
        self.block: list[str] = []
        self.test: Failure | None = None
        self.inner = 0
        self.output: list[str] = []
        self.before: list[str] = []
        self.known: dict[str, Failure] = {}

    def read(self, lines: Sequence[str]) -> SuiteRun:
        for line in lines:
            self.line(line)
        self.close()
        self.run.outside.extend(self.block if not self.known else [])
        return self.run

    def line(self, line: str) -> None:
        ctest = CTEST.match(line)
        if CTEST_TOTAL.match(line):
            self.close()
            self.run.totals.append(line)
        elif ctest:
            self.close()
            self.ctest(ctest[1], ctest[2])
        elif START.match(line):
            self.close()
            self.block = []
        elif listed := LISTED.match(line):
            self.listed(listed[1], listed[2])
        elif not self.gtest(line) and not NOISE.match(line):
            self.block.append(line)
            if self.test is not None and line.strip():
                self.output.append(line)

    def ctest(self, name: str, result: str) -> None:
        if "Passed" in result:
            self.run.passed, self.block = self.run.passed + 1, []
            return
        self.test = Failure(name, " ".join(result.strip(" *").split()) or "FAILED")
        self.output = [line for line in self.block if line.strip()]
        self.inner, self.block = len(self.run.failures), []
        self.known[name] = self.test

    def listed(self, name: str, state: str) -> None:
        """A line of the closing list: what ctest calls the outcome, and tests that stood nowhere else."""
        if name not in self.known:
            self.known[name] = Failure(name, state)
            self.run.failures.append(self.known[name])

    def gtest(self, line: str) -> bool:
        found = GTEST.match(line)
        if not found:
            if DISABLED.match(line):
                self.run.notes.append(line.strip())
                return True
            return bool(GTEST_RULE.match(line))
        state, rest = found[1], found[2]
        if state == "RUN":
            self.block = []
        elif state == "OK":
            self.run.passed, self.block = self.run.passed + 1, []
        elif state in ("FAILED", "SKIPPED") and "(" in rest and " ms)" in rest:
            self.finished(state, rest)
        elif re.match(r"^\d+ tests?", rest):
            self.run.totals.append(f"{state} {rest}")
        return True

    def finished(self, state: str, rest: str) -> None:
        block, self.block = self.block, []
        name = rest.rpartition(" (")[0]
        if state == "SKIPPED":
            reason = " ".join(line.strip() for line in block if line.strip() and not GTEST_SKIP.match(line))
            self.run.notes.append(f"skipped {name} {reason[:200]}".strip())
            return
        places = [match.group(1) for match in map(GTEST_FAILURE.match, block) if match]
        message = [text for text in block if text.strip() and not GTEST_FAILURE.match(text)]
        name, _, parameter = name.partition(", where ")
        failure = Failure(name, "FAILED", message, places[::-1])
        if parameter:
            failure.message.append(parameter)
        self.run.failures.append(failure)

    def close(self) -> None:
        """Give a test of ctest what it printed, unless its own failures were read from that."""
        test, output = self.test, self.output
        self.test, self.output = None, []
        if test is None:
            return
        if len(self.run.failures) == self.inner:
            telling = [line for line in output if ASSERTED.search(line)]
            shown = telling[:OUTPUT_LINES] or output[-OUTPUT_LINES:]
            test.message = shown if len(output) > OUTPUT_LINES else output
        self.run.failures.insert(self.inner, test)


def parse_gtest(lines: Sequence[str]) -> SuiteRun:
    """Read googletest and ctest."""
    return _Reader().read(lines)
