"""Reading minitest as Rails prints it, and test-unit: failures between the dots, each with its place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.places import RUBY_FRAME, is_library
from aider_gardener.compress.testruns.run import Failure, SuiteRun

TOTAL = re.compile(r"^\d+ (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors\b.*$")
HEAD = re.compile(r"^(Failure|Error):$")
NAMED = re.compile(r"^(\S+#.+?)(?: \[(\S+:\d+)\])?:$")
UNIT_HEAD = re.compile(r"^(Failure|Error|Pending|Omission|Notification): (.+)$")
UNIT_TITLE = re.compile(r"^(\w.*?\([\w:]+\)): ?(.*)$")
UNIT_NAMED = re.compile(r"^(.*) \[(\w.*\([\w:]+\))\]$")
UNIT_RULE = re.compile(r"^={40,}$")
CODE = re.compile(r"^ *(=>)? *\d+: (.*)$")
RERUN = re.compile(r"^(?:bin/)?rails test \S+|^rake test |^ruby -I")
NOISE = re.compile(
    r"^(?:[.SEFPON*]+|# Running:|Running \d+ tests .*|Loaded suite .*|Started|Run options: .*|-{40,}|"
    r"Finished in .*|You have skipped tests.*|[\d.]+ tests/s, .*|[\d.]+% passed)$"
)
SEED = re.compile(r"^Run options: .*--seed \d+|^Randomized with seed")


class _Reader:
    def __init__(self) -> None:
        self.run = SuiteRun()
        self.failure: Failure | None = None
        self.blank = 0

    def read(self, lines: Sequence[str]) -> SuiteRun:
        for line in lines:
            self.line(line)
        self.close()
        return self.run

    def line(self, line: str) -> None:
        head, unit = HEAD.match(line), UNIT_HEAD.match(line)
        if TOTAL.match(line):
            self.close()
            self.run.totals.append(line)
        elif head:
            self.close()
            self.failure = Failure("", "ERROR" if head[1] == "Error" else "FAILED")
        elif unit and (self.failure is None or not self.failure.message):
            self.close()
            self.unit(unit[1], unit[2])
        elif RERUN.match(line) or UNIT_RULE.match(line):
            self.close()
        elif self.failure is not None:
            self.detail(self.failure, line)
        elif SEED.match(line):
            self.run.notes.append(line.strip())
        elif line.strip() and not NOISE.match(line):
            self.run.outside.append(line)

    def unit(self, outcome: str, rest: str) -> None:
        """A heading of test-unit: `Failure: test_x(ThingTest): words` or `Pending: words [test_x(Thing)]`."""
        named = UNIT_NAMED.match(rest)
        if outcome not in ("Failure", "Error"):
            self.run.notes.append(f"{outcome}: {rest}")
            self.failure = Failure("", "NOTE")
            return
        titled = UNIT_TITLE.match(rest)
        name, message = (named[2], named[1]) if named else (titled[1], titled[2]) if titled else (rest, "")
        self.failure = Failure(
            name, "ERROR" if outcome == "Error" else "FAILED", [message] if message else []
        )

    def detail(self, failure: Failure, line: str) -> None:
        named = NAMED.match(line) if not failure.id else None
        frame = RUBY_FRAME.match(line)
        code = CODE.match(line) if failure.where else None
        if named:
            failure.id = named[1]
            if named[2]:
                failure.where.append(named[2])
        elif frame:
            if not is_library(frame[1]) or not failure.where:
                failure.where.append(frame[1])
        elif code:
            failure.source = code[2].strip() if code[1] else failure.source
        elif line.strip() and not NOISE.match(line):
            failure.message.append(line)

    def close(self) -> None:
        if self.failure is not None and self.failure.outcome != "NOTE":
            self.failure.where = self.failure.where[::-1]
            self.run.failures.append(self.failure)
        self.failure = None


def parse_ruby(lines: Sequence[str]) -> SuiteRun:
    """Read `rails test` or test-unit."""
    return _Reader().read(lines)
