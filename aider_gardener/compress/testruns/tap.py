"""Reading TAP: nested subtests, YAML diagnostics, comment diagnostics (prove, bats, tape)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.testruns.blocks import digest
from aider_gardener.compress.testruns.run import PARENT_ONLY, Failure, Run

RESULT = re.compile(r"^( *)(not ok|ok) (\d+)(?: - | )?(.*?)(?: # (SKIP|TODO|skip|todo|time=)\b(.*))?$")
SUBTEST = re.compile(r"^( *)# Subtest: (.*)$")
TOTAL = re.compile(r"^# (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms|ok)\b ?([\d./]*)$")
FIELD = re.compile(
    r"^( *)(location|failureType|error|code|name|expected|actual|operator|stack|at|message|severity|found|"
    r"wanted|got|compare|line|file|column|source|diff|type|duration_ms): ?(.*)$"
)
PLAN = re.compile(r"^1\.\.\d+$")
PLAIN = ("TAP version", "1..")


class _Reader:
    def __init__(self) -> None:
        self.run = Run()
        self.suites: list[tuple[int, str]] = []
        self.failure: Failure | None = None
        self.block: list[str] = []
        self.yaml = False
        self.totals: list[str] = []

    def read(self, lines: Sequence[str]) -> Run:
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
        elif self.failure is not None:
            self.block.append(re.sub(r"^\s*#  ? ?", "", line))
        elif line.strip("# "):
            self.run.notes.append(line.strip())

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
            self.failure = Failure(" > ".join([*parents, name or found.group(3)]))

    def close(self) -> None:
        failure, block = self.failure, self.block
        self.failure, self.block, self.yaml = None, [], False
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


def parse_tap(lines: Sequence[str]) -> Run:
    """Read TAP, as written by `node --test`, tape, tap, prove or bats."""
    return _Reader().read(lines)
