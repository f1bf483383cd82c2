"""Reading go test: plain, -v and -json; failures, panics, build errors, packages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from aider_gardener.compress.places import is_library
from aider_gardener.compress.testruns.run import Failure, SuiteRun, dedent

RESULT = re.compile(r"^( *)--- (FAIL|PASS|SKIP|BENCH): (\S+)(?: \(([\d.]+)s\))?$")
STATE = re.compile(r"^=== (RUN|PAUSE|CONT|NAME|FUZZ) +(\S*)$")
PACKAGE = re.compile(r"^(ok|FAIL|\?)\s+(\S+)(?:\s+(.*))?$")
LOCATED = re.compile(r"^\s+((?:[A-Za-z]:)?[^\s:]+\.go:\d+): ?(.*)$")
FRAME = re.compile(r"^\t(\S.*\.go:\d+)(?: \+0x[0-9a-f]+)?$")
TRACE = re.compile(r"^\s+Error Trace:\s+(\S+\.go:\d+)")
TEST_FRAME = re.compile(r"^\S+\.(Test\w+)(?:\.func\d+)*\(")
COMPILE = re.compile(r"^(?:\./)?(\S+\.go:\d+:\d+): (.+)$")


class _Reader:
    def __init__(self) -> None:
        self.run = SuiteRun()
        self.current = ""
        self.logs: dict[str, list[str]] = {}
        self.failure: Failure | None = None
        self.depth = 0
        self.panic: Failure | None = None
        self.panic_lines: list[str] = []
        self.counts = {"ok": 0, "FAIL": 0, "?": 0}
        self.pending: list[Failure] = []

    def read(self, lines: Sequence[str]) -> SuiteRun:
        for line in lines:
            self.line(line)
        self.close_panic("")
        self.package_end("")
        counts = [f"{self.counts['ok']} packages ok", f"{self.counts['FAIL']} packages failed"]
        if self.counts["?"]:
            counts.append(f"{self.counts['?']} without tests")
        parents = {part for one in self.run.failures for part in _parents(one.id)}
        self.run.failures = [one for one in self.run.failures if one.message or one.id not in parents]
        failed = sum(
            1 for one in self.run.failures if not one.id.startswith(("package ", "build ", "(package"))
        )
        unbuilt = not failed and self.counts["FAIL"]
        tests = ([] if unbuilt else [f"{failed} tests failed"]) + (
            [f"{self.run.passed} passed"] if self.run.passed else []
        )
        self.run.totals.append(", ".join([*tests, *counts]))
        return self.run

    def line(self, line: str) -> None:
        state = STATE.match(line) if line.startswith("===") else None
        if state:
            self.current, self.failure = state.group(2), None
            return
        result = RESULT.match(line) if "--- " in line else None
        if result:
            self.close_panic("")
            self.result(result)
            return
        package = PACKAGE.match(line) if line.startswith(("ok ", "ok\t", "FAIL", "?")) else None
        if package:
            self.close_panic(package.group(2))
            self.package_end(package.group(2))
            self.package(package)
        elif line.startswith(("panic: ", "fatal error: ")) and self.panic is None:
            self.panic, self.panic_lines = Failure(self.current or "(package)", "PANIC"), [line]
        elif self.panic is not None:
            self.panic_lines.append(line)
        elif line not in ("FAIL", "PASS", ""):
            self.text(line)

    def text(self, line: str) -> None:
        if self.failure is not None and line.startswith(" " * (self.depth + 4)):
            self.logs.setdefault(self.failure.id, []).append(line)
        elif self.current and line.startswith("    "):
            self.logs.setdefault(self.current, []).append(line)
        else:
            found = COMPILE.match(line)
            if found:
                self.run.failures.append(
                    Failure(f"build {found.group(1)}", "ERROR", [found.group(2)], [found.group(1)])
                )
            elif not line.startswith(("coverage: ", "exit status", "# ")):
                self.run.outside.append(line)

    def result(self, found: re.Match[str]) -> None:
        self.failure, self.depth, self.current = None, len(found.group(1)), ""
        outcome, name = found.group(2), found.group(3)
        if outcome == "FAIL":
            self.failure = Failure(name)
            self.pending.append(self.failure)
        elif outcome == "PASS":
            self.run.passed += 1
            self.logs.pop(name, None)
        else:
            reason = " ".join(part.strip() for part in self.logs.pop(name, []))[:160]
            self.run.notes.append(f"{outcome}: {name} {reason}".strip())

    def package_end(self, package: str) -> None:
        """Give the failures of the package that ends here their messages and its name."""
        for failure in self.pending:
            failure.message, failure.where = _message(self.logs.get(failure.id, []))
            self.run.failures.append(failure)
        for failure in self.pending:
            if package:
                failure.id = f"{failure.id} ({package})"
        self.pending, self.logs, self.current, self.failure = [], {}, "", None

    def package(self, found: re.Match[str]) -> None:
        state, name, rest = found.group(1), found.group(2), found.group(3) or ""
        self.counts[state] = self.counts.get(state, 0) + 1
        if state == "FAIL" and "[" in rest:
            self.run.failures.append(Failure(f"package {name} {rest}", "FAILED"))
        elif state == "FAIL":
            self.run.notes.append(f"FAIL {name} {rest}")

    def close_panic(self, package: str) -> None:
        if self.panic is None:
            return
        panic, lines = self.panic, self.panic_lines
        self.panic, self.panic_lines = None, []
        panic.message = [
            line for line in lines[:20] if line.startswith(("panic:", "\tpanic:", "fatal error:", "[signal"))
        ]
        at = next(
            (n for n, line in enumerate(lines) if line.startswith(("running tests:", "\trunning tests:"))), -1
        )
        if at >= 0:
            panic.message.extend(line.strip() for line in lines[at : at + 4] if line.strip())
        frames = [found.group(1) for found in map(FRAME.match, lines) if found]
        panic.where = [place for place in frames if not is_library(place) and "/Go/src/" not in place][:3][
            ::-1
        ]
        named = next((found.group(1) for found in map(TEST_FRAME.match, lines) if found), "")
        if named and panic.id == "(package)":
            panic.id = named
        if package:
            panic.id = f"(package {package})" if panic.id == "(package)" else f"{panic.id} ({package})"
        self.run.failures.append(panic)


def _parents(name: str) -> Iterator[str]:
    test, _, package = name.partition(" (")
    while "/" in test:
        test = test.rpartition("/")[0]
        yield f"{test} ({package}" if package else test


def _message(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """A test's log lines as message and places; testify's blocks keep values and trace."""
    message: list[str] = []
    where: list[str] = []
    for line in lines:
        trace = TRACE.match(line)
        located = LOCATED.match(line)
        if trace:
            where.append(trace.group(1))
        elif located:
            where.append(located.group(1))
            if located.group(2):
                message.append(located.group(2))
        elif line.strip() and not re.match(r"^\s+Test:\s", line):
            message.append(line)
    return dedent(
        [re.sub(r"^\s+(?:Error|Messages):\s+", "", line).replace("\t", " ") for line in message]
    ), where


def _from_json(lines: Sequence[str]) -> Iterator[str]:
    """The plain output inside `go test -json` events, test by test."""
    held: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        try:
            event = json.loads(line) if line.startswith("{") else None
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict) or "Action" not in event:
            yield line
            continue
        key = (str(event.get("Package", "")), str(event.get("Test", "")))
        if event["Action"] in ("output", "build-output"):
            held.setdefault(key, []).append(str(event.get("Output", "")).rstrip("\n"))
        if event["Action"] in ("pass", "fail", "skip"):
            yield from held.pop(key, [])
    for rest in held.values():
        yield from rest


def parse_go(lines: Sequence[str]) -> SuiteRun:
    """Read the output of `go test`, plain, -v or -json."""
    if any(line.startswith("{") and '"Action"' in line for line in lines[:50]):
        lines = [part for line in _from_json(lines) for part in line.split("\n")]
    return _Reader().read(lines)
