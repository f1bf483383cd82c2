"""Reading Playwright: numbered failures by project and place, flaky and skipped ones, counts at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.testruns.run import Failure, SuiteRun, digest

HEAD = re.compile(r"^ {2}\d+\) (\[[^\]]+\] › .+?|\S+:\d+:\d+ › .+?) ?─*$")
LIVE = re.compile(r"^ +(✓|✘|-|ok|x|±) +\d+ (.+?)(?: \(([\d.]+m?s|[\d.]+m)\))?$")
COUNT = re.compile(r"^ {2}(\d+ (?:failed|flaky|skipped|passed|interrupted|did not run|errors?).*)$")
LISTED = re.compile(r"^ {4}(\[[^\]]+\] › .+?) ?─*$")
ATTACHMENT = re.compile(
    r"^ {4}attachment #\d+: |^ {4}─{20,}|^ {4}(?:test-results|playwright-report)/|^ {4}Usage:$"
)
RETRY = re.compile(r"^ {4}Retry #\d+ ─*$")
LOG = re.compile(r"^ *(?:\d+ × )?(?:- )?(?:waiting (?:for|until)|retrying|attempting|locator resolved)\b")
NOISE = re.compile(r"^(?:Running \d+ tests? using .*|To open last HTML report run:.*|  Serving HTML.*)$")
TELLING_LOG = 3


class _Reader:
    def __init__(self) -> None:
        self.run = SuiteRun()
        self.failure: Failure | None = None
        self.block: list[str] = []
        self.retried = False
        self.counts: list[str] = []
        self.counted = ""
        self.flaky: set[str] = set()

    def read(self, lines: Sequence[str]) -> SuiteRun:
        for line in lines:
            self.line(line)
        self.close()
        for failure in self.run.failures:
            if failure.id in self.flaky:
                failure.outcome = "FLAKY (passed on a retry)"
        if self.counts:
            self.run.totals.append(", ".join(self.counts))
        return self.run

    def line(self, line: str) -> None:
        head, count = HEAD.match(line), COUNT.match(line)
        if head:
            self.close()
            self.failure = Failure(head[1].strip())
        elif count:
            self.close()
            self.counts.append(count[1].strip())
            self.counted = count[1]
        elif self.counted and (listed := LISTED.match(line)):
            if "flaky" in self.counted:
                self.flaky.add(listed[1].strip())
        elif self.failure is not None:
            self.retried = self.retried or bool(RETRY.match(line))
            if not self.retried:
                self.block.append(line)
        else:
            self.outer(line)

    def outer(self, line: str) -> None:
        live = LIVE.match(line)
        if live:
            if live[1] in ("✓", "ok"):
                self.run.passed += 1
            elif live[1] == "-":
                self.run.notes.append(f"skipped {live[2]}")
        elif line.strip() and not NOISE.match(line):
            self.run.outside.append(line)

    def close(self) -> None:
        failure, block = self.failure, self.block
        self.failure, self.block, self.retried = None, [], False
        if failure is None:
            return
        told = digest(line for line in block if not ATTACHMENT.match(line))
        logged = [line for line in told.message if LOG.match(line)][-TELLING_LOG:]
        failure.message = [line for line in told.message if not LOG.match(line) or line in logged]
        failure.where, failure.source = told.where, told.source
        self.run.failures.append(failure)


def parse_playwright(lines: Sequence[str]) -> SuiteRun:
    """Read the output of `playwright test` with its list, line or dot reporter."""
    return _Reader().read(lines)
