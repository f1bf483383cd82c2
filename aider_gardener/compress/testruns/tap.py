"""Reading TAP (nested subtests, YAML diagnostics, comment diagnostics: prove, bats, tape), and the spec
reporter of node, which says the same as a tree with the failing tests at its end.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from aider_gardener.compress.testruns.run import PARENT_ONLY, Failure, SuiteRun, digest

RESULT = re.compile(r"^( *)(not ok|ok) (\d+)(?: - | )?(.*?)(?: # (SKIP|TODO|skip|todo|time=)\b(.*))?$")
SUBTEST = re.compile(r"^( *)# Subtest: (.*)$")
TOTAL = re.compile(r"^# (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms|ok)\b *([\d./]*)$")
TOLD = re.compile(r"fail|error|warn|skip|looks like|planned|bail|seed", re.IGNORECASE)
"""A comment that is no test's title."""

FIELD = re.compile(
    r"^( *)(location|failureType|error|code|name|expected|actual|operator|stack|at|message|severity|found|"
    r"wanted|got|compare|line|file|column|source|diff|type|duration_ms): ?(.*)$"
)
PLAN = re.compile(r"^1\.\.\d+$")
PLAIN = ("TAP version", "1..")

NODE_RESULT = re.compile(r"^( *)(▶|✔|✖|﹣|⚠|✘) (.*?)(?: \((\d[\d.]*)ms\))?(?: # (SKIP|TODO)\b.*)?$")
NODE_TOTAL = re.compile(r"^ *ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$")
LOCATED = re.compile(r"^test at (.+)$")
SINGLE_VALUE = re.compile(r"^\s*(?:actual|expected): (?![\[{]$)\S.*$")
DIFF_LINE = re.compile(r"^\s*[-+] |^\s{2,}\S|^\s*[\[\]{}(),]+$|^\.\.\.$|^\s*$")


class _Reader:
    def __init__(self) -> None:
        self.run = SuiteRun()
        self.suites: list[tuple[int, str]] = []
        self.failure: Failure | None = None
        self.block: list[str] = []
        self.yaml = False
        self.title = ""
        self.diagnosed = False
        self.totals: list[str] = []

    def read(self, lines: Sequence[str]) -> SuiteRun:
        for line in lines:
            self.line(line)
        self.close()
        if self.totals:
            self.run.totals.append(", ".join(self.totals))
        return self.run

    def line(self, line: str) -> None:
        stripped = line.lstrip()
        if self.yaml:
            self.yaml = stripped != "..."
            self.diagnosed = not self.yaml
            if self.yaml and self.failure is not None:
                self.block.append(line)
        elif stripped == "---":
            self.yaml = True
        elif stripped.startswith(("ok ", "not ok ")):
            self.result(line)
        elif stripped.startswith("#"):
            self.comment(line)
        elif self.failure is not None and stripped and not PLAN.match(stripped):
            self.block.append(line)
        elif stripped and not stripped.startswith(PLAIN):
            self.run.outside.append(line)

    def comment(self, line: str) -> None:
        found = SUBTEST.match(line)
        if found:
            self.close()
            depth = len(found.group(1))
            while self.suites and self.suites[-1][0] >= depth:
                self.suites.pop()
            self.suites.append((depth, found.group(2)))
            return
        total = TOTAL.match(line)
        if total:
            self.close()
            if total.group(1) in ("tests", "pass", "fail", "duration_ms", "ok") or total.group(2) not in (
                "0",
                "",
            ):
                self.totals.append(f"{total.group(1)} {total.group(2)}".strip())
        elif self.failure is not None and not self.diagnosed:
            self.block.append(re.sub(r"^\s*#  ? ?", "", line))
        elif TOLD.search(line):
            self.run.notes.append(line.strip())
        elif line.strip("# "):
            self.title = line.strip("# ")

    def result(self, line: str) -> None:
        self.close()
        found = RESULT.match(line)
        if not found:
            return
        depth, name = len(found.group(1)), found.group(4)
        parents = [title for level, title in self.suites if level < depth]
        if found.group(5) in ("SKIP", "TODO", "skip", "todo"):
            self.run.notes.append(line.strip())
        elif found.group(2) == "ok":
            self.run.passed += 1
        else:
            titles = parents or ([self.title] if self.title else [])
            self.failure = Failure(" > ".join([*titles, name or found.group(3)]))

    def close(self) -> None:
        failure, block = self.failure, self.block
        self.failure, self.block, self.yaml, self.diagnosed = None, [], False, False
        if failure is None:
            return
        fields = _fields(block)
        if any(
            PARENT_ONLY.match(value[0].strip("'\""))
            for value in (fields["error"], fields["failureType"])
            if value
        ):
            return
        location = "".join(fields["location"]).strip("'\"")
        told = digest([*fields[""], *fields["error"], *fields["message"], *fields["stack"], *fields["at"]])
        message = told.message
        if not any(" !==" in line or re.match(r"^\s*[-+] ", line) for line in message):
            for name in ("expected", "wanted", "actual", "found"):
                if fields[name]:
                    message.append(f"{name}: " + " ".join(part.strip() for part in fields[name])[:400])
        failure.message = message
        failure.where = [*([location] if location else []), *told.where]
        self.run.failures.append(failure)


def _fields(block: Sequence[str]) -> dict[str, list[str]]:
    """The fields of a YAML diagnostic block by name; lines outside any field under ""."""
    fields: dict[str, list[str]] = {
        name: []
        for name in (
            "",
            "location",
            "failureType",
            "error",
            "message",
            "expected",
            "actual",
            "stack",
            "at",
            "found",
            "wanted",
        )
    }
    current, depth = "", -1
    for line in block:
        found = FIELD.match(line)
        if found and (depth < 0 or len(found.group(1)) <= depth):
            current, depth = found.group(2), len(found.group(1))
            value = found.group(3).strip()
            fields.setdefault(current, [])
            if value and value not in ("|-", "|", ">-", ">"):
                fields[current].append(value.strip("'") if value.count("'") == 2 else value)
        else:
            fields[current].append(line)
    return fields


def parse_tap(lines: Sequence[str]) -> SuiteRun:
    """Read TAP, as written by `node --test`, tape, tap, prove or bats."""
    return _Reader().read(lines)


class _NodeReader:
    def __init__(self) -> None:
        self.run = SuiteRun()
        self.suites: list[tuple[int, str]] = []
        self.failure: Failure | None = None
        self.block: list[str] = []
        self.totals: list[str] = []
        self.listed = False
        self.located = ""
        self.paths: dict[str, list[str]] = {}

    def read(self, lines: Sequence[str]) -> SuiteRun:
        for line in lines:
            self.line(line)
        self.close()
        if self.totals:
            self.run.totals.append(", ".join(self.totals))
        names = sorted(one.id for one in self.run.failures)
        self.run.failures = [one for one in self.run.failures if not _only_parent(one, names)]
        return self.run

    def line(self, line: str) -> None:
        start = line.lstrip()[:1]
        if start == "ℹ":
            self.close()
            self.total(line)
        elif start in "▶✔✖﹣⚠✘" and start:
            found = NODE_RESULT.match(line)
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
        found = NODE_TOTAL.match(line)
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
            self.run.failures = []
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


def _only_parent(failure: Failure, names: Sequence[str]) -> bool:
    """True for a suite that failed through its tests; `names` are those of all failures, sorted."""
    if failure.message:
        return bool(PARENT_ONLY.match(failure.message[0]))
    below = failure.id + " > "
    at = bisect_left(names, below)
    return at < len(names) and names[at].startswith(below)


def parse_node(lines: Sequence[str]) -> SuiteRun:
    """Read the output of `node --test` with its spec reporter."""
    return _NodeReader().read(lines)
