"""Reading node's spec reporter: the tree of results, and the list of failing tests at its end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.testruns.blocks import digest
from aider_gardener.compress.testruns.run import PARENT_ONLY, Failure, Run

RESULT = re.compile(r"^( *)(▶|✔|✖|﹣|⚠|✘) (.*?)(?: \((\d[\d.]*)ms\))?(?: # (SKIP|TODO)\b.*)?$")
TOTAL = re.compile(r"^ *ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$")
LOCATED = re.compile(r"^test at (.+)$")
INFO = re.compile(r"^ *ℹ ")
SINGLE_VALUE = re.compile(r"^\s*(?:actual|expected): (?![\[{]$)\S.*$")
DIFF_LINE = re.compile(r"^\s*[-+] |^\s{2,}\S|^\s*[\[\]{}(),]+$|^\.\.\.$|^\s*$")


class _Reader:
    def __init__(self) -> None:
        self.run = Run()
        self.suites: list[tuple[int, str]] = []
        self.failure: Failure | None = None
        self.block: list[str] = []
        self.totals: list[str] = []
        self.listed = False
        self.located = ""
        self.paths: dict[str, list[str]] = {}

    def read(self, lines: Sequence[str]) -> Run:
        for line in lines:
            self.line(line)
        self.close()
        if self.totals:
            self.run.totals.append(", ".join(self.totals))
        self.run.failures = [one for one in self.run.failures if not _only_parent(one, self.run.failures)]
        return self.run

    def line(self, line: str) -> None:
        start = line.lstrip()[:1]
        if start == "ℹ":
            self.close()
            self.total(line)
        elif start in "▶✔✖﹣⚠✘" and start:
            found = RESULT.match(line)
            if found:
                self.result(found)
                return
        elif line.startswith("test at "):
            self.close()
            self.located = line[8:].strip()
        elif self.failure is not None:
            self.block.append(line)
        elif line.strip():
            self.run.outside.append(line)

    def total(self, line: str) -> None:
        found = TOTAL.match(line)
        if not found:
            self.run.notes.append(line.strip())
        elif found.group(1) in ("tests", "pass", "fail", "duration_ms") or found.group(2) != "0":
            self.totals.append(f"{found.group(1)} {found.group(2)}")

    def result(self, found: re.Match[str]) -> None:
        self.close()
        depth, mark, name = len(found.group(1)), found.group(2), found.group(3)
        if name == "failing tests:":
            self.listed = True
            self.paths = {}
            for failure in self.run.failures:
                self.paths.setdefault(failure.id.rpartition(" > ")[2], []).append(failure.id)
            self.inline, self.run.failures = self.run.failures, []
            return
        while self.suites and self.suites[-1][0] >= depth:
            self.suites.pop()
        if mark == "▶":
            self.suites.append((depth, name))
        elif mark in "✖✘":
            waiting = self.paths.get(name, [])
            path = (
                waiting.pop(0)
                if self.listed and waiting
                else " > ".join([*(n for _, n in self.suites), name])
            )
            self.failure = Failure(path)
        elif mark == "✔":
            self.run.passed += 1
        elif found.group(5):
            self.run.notes.append(found.group(0).strip())

    def close(self) -> None:
        if self.failure is not None:
            told = digest(line for line in self.block if not line.strip().startswith("[cause]:"))
            self.failure.message = _with_values(told.message)
            self.failure.where = [*([self.located] if self.located else []), *told.where]
            self.run.failures.append(self.failure)
        self.failure, self.block, self.located = None, [], ""


def _with_values(message: Sequence[str]) -> list[str]:
    """The message without the raw dump of the error object, but with the values it was thrown with."""
    lines = [line for line in message if line.strip() not in ("{", "}", "+ actual - expected")]
    if any(re.search(r"\S !==? \S", line) for line in lines):
        return [line for line in lines if not SINGLE_VALUE.match(line)]
    values = [line.strip().rstrip(",") for line in lines if SINGLE_VALUE.match(line)]
    if len(values) == 2:
        plain = [line for line in lines if not DIFF_LINE.match(line) and not SINGLE_VALUE.match(line)]
        return [*plain[:3], *values]
    if any(re.search(r" !==? |^[-+] ", line) for line in lines):
        lines = [line for line in lines if not re.match(r"^\s*(?:actual|expected): [\[{]$", line)]
    return lines


def _only_parent(failure: Failure, failures: Sequence[Failure]) -> bool:
    if failure.message and not PARENT_ONLY.match(failure.message[0]):
        return False
    return any(other.id.startswith(failure.id + " > ") for other in failures) or bool(failure.message)


def parse_node(lines: Sequence[str]) -> Run:
    """Read the output of `node --test` with its spec reporter."""
    return _Reader().read(lines)
