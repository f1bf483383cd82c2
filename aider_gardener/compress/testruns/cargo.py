"""Reading cargo test and cargo nextest: panics under their stdout heads, totals by target, warnings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from aider_gardener.compress.places import frame_place, is_library
from aider_gardener.compress.testruns.run import Failure, SuiteRun, dedent

HEAD = re.compile(
    r"^---- (.+?) stdout ----$|^-{3,} (?:STDOUT|STDERR|TRY \d+ STD\w+): +(\S+ .+?) -{3,}$|"
    r"^ +(?:stdout|stderr) ───.*$"
)
RESULT = re.compile(r"^test (.+?) \.\.\. (ok|FAILED|ignored|bench:|should panic)(.*)$")
NEXTEST = re.compile(
    r"^ +(?:TRY \d+ )?(PASS|FAIL|SIG[A-Z]+|TIMEOUT|TMT|ABORT|XFAIL|LEAK|SLOW|FLAKY \d+/\d+) "
    r"\[[ >\d.]+s\] (?:\( *\d+/\d+\) )?(.+)$"
)
NEXTEST_RULE = re.compile(r"^─{6,}$|^ +(?:Summary|Cancell?ing|Canceling) ")
INNER = re.compile(
    r"^(?:running \d+ tests?|test \S+.* \.\.\. FAILED|failures:|test result: FAILED.*|    \S+::\S+|"
    r"successes:)$"
)
TOTAL = re.compile(r"^test result: .*$|^ +Summary \[.*$")
TARGET = re.compile(
    r"^ +(?:Running (?:unittests )?(\S+)(?: \(\S*?([\w-]+)-[0-9a-f]{8,}(?:\.exe)?\))?|Doc-tests (\S+))"
)
PANIC = re.compile(r"^(?:thread '.*' (?:\(\d+\) )?)?panicked at (.+?:\d+:\d+):?$")
OLD_PANIC = re.compile(r"^thread '.*' panicked at '(.*)', (\S+:\d+:\d+)$")
NOISE = re.compile(
    r"^(?:running \d+ tests?|failures:|successes:|note: run with|stack backtrace:|"
    r"error: (?:test failed, to rerun|"
    r"\d+ targets? failed)|-{5,}|    \S+ .*|    [`\w:]+|Caused by:|  process didn't exit)"
)
MOST_FRAMES = 3
"""So many frames of the project stand before the place of the panic."""


class _Reader:
    def __init__(self) -> None:
        self.run = SuiteRun()
        self.target = self.crate = ""
        self.failure: Failure | None = None
        self.block: list[str] = []
        self.build: list[str] = []
        self.failed: dict[tuple[str, str], None] = {}
        self.known: dict[tuple[str, str], Failure] = {}
        self.testing = False
        self.current = ""
        self.states: dict[str, str] = {}

    def read(self, lines: Sequence[str]) -> SuiteRun:
        for line in lines:
            self.line(line)
        self.close()
        self.known.update({key: Failure(key[1]) for key in self.failed if key not in self.known})
        self.run.failures = list(self.known.values())
        names = Counter(failure.id for failure in self.run.failures)
        for (crate, name), failure in self.known.items():
            failure.outcome = self.states.get(name, failure.outcome)
            failure.id += f" ({crate})" if names[name] > 1 else ""
        self.run.outside, self.run.build = self.build, True
        self.run.totals = _summed(self.run.totals)
        return self.run

    def line(self, line: str) -> None:
        head = HEAD.match(line)
        if head:
            self.close()
            name = head.group(1) or head.group(2) or self.current
            self.failure = Failure(name) if name else None
        elif TOTAL.match(line):
            self.close()
            where = f" ({' '.join(dict.fromkeys((self.crate, self.target)))})" if self.target else ""
            self.run.totals.append(line.strip().removeprefix("test result: ") + where)
        elif (
            self.failure is not None
            and line.rstrip() != "failures:"
            and not (self.current and (NEXTEST.match(line) or NEXTEST_RULE.match(line)))
        ):
            self.block.append(line)
        else:
            self.close()
            self.outer(line)

    def outer(self, line: str) -> None:
        found = RESULT.match(line)
        if found:
            if found.group(2) == "ok":
                self.run.passed += 1
            elif found.group(2) == "FAILED":
                self.failed[self.crate, found.group(1).removesuffix(" - should panic")] = None
            else:
                self.run.notes.append(line)
            return
        found = NEXTEST.match(line)
        if found:
            self.current = found.group(2)
            if found.group(1) == "PASS":
                self.run.passed += 1
            elif found.group(1).startswith(("LEAK", "SLOW", "FLAKY")):
                self.run.notes.append(" ".join(line.split()))
            else:
                self.failed[self.crate, found.group(2)] = None
                self.states[found.group(2)] = "FAILED" if found.group(1) == "FAIL" else found.group(1)
            return
        target = TARGET.match(line)
        if target:
            self.target = target.group(1) or f"doc-tests {target.group(3)}"
            self.crate, self.testing = target.group(2) or self.target, True
        elif (line.strip() and not NOISE.match(line)) or not self.testing:
            self.build.append(line)

    def close(self) -> None:
        failure, block = self.failure, self.block
        self.failure, self.block = None, []
        if failure is None:
            return
        failure.message, failure.where, failure.output = _read_block(dedent(block))
        known = self.known.setdefault((self.crate, failure.id), failure)
        if known is not failure and not known.where:
            known.message, known.where = failure.message or known.message, failure.where


def _summed(totals: Sequence[str]) -> list[str]:
    """The totals of all targets as one line, followed by those of the targets that failed."""
    counts: dict[str, int] = {}
    for total in totals:
        for number, word in re.findall(r"(\d+) (passed|failed|ignored|measured|filtered out|skipped)", total):
            counts[word] = counts.get(word, 0) + int(number)
    if len(totals) < 2 or not counts:
        return list(totals)
    told = ", ".join(
        f"{number} {word}" for word, number in counts.items() if number or word in ("passed", "failed")
    )
    failed = [total for total in totals if total.startswith("FAILED")]
    return [*failed, f"{len(totals)} targets: {told}"]


def _read_block(block: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    message: list[str] = []
    where: list[str] = []
    output: list[str] = []
    frames: list[str] = []
    trace = panicked = False
    for line in block:
        old = OLD_PANIC.match(line)
        found = PANIC.match(line)
        if old:
            message.append(f"panicked: {old.group(1)}")
            where.append(old.group(2))
            panicked = True
        elif found:
            where.append(found.group(1))
            panicked = True
        elif line.startswith("note: test did not"):
            message.append(line.removeprefix("note: "))
        elif line.startswith(("stack backtrace:", "note: ")):
            trace = line.startswith("stack") or trace
        elif trace and (
            re.match(r"^ +\d+: ", line) or frame_place(line) is not None or line.startswith("    ")
        ):
            place = (frame_place(line) or "").removeprefix("./")
            if place and not is_library(place) and len(frames) < MOST_FRAMES:
                frames.append(place)
        elif line.strip() and not INNER.match(line):
            (message if panicked else output).append(line)
    if not message:
        message, output = output, []
    return message, [*(place for place in frames[::-1] if place not in where), *where], output


def parse_cargo(lines: Sequence[str]) -> SuiteRun:
    """Read the output of `cargo test` or `cargo nextest run`."""
    return _Reader().read(lines)
