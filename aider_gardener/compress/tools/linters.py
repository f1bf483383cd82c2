"""Linters that write a finding over several lines: each finding on one line, floods by kind with places.

Findings of high severity stay each by itself; the others too while they are few, else each kind once with
the places of all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import plural
from aider_gardener.compress.pieces import Reading
from aider_gardener.compress.tools.packing import packed
from aider_gardener.reading.alarms import alarming

FEW, FEW_SEVERE = 12, 60
"""Up to so many findings of a kind stand each by itself, of lesser and of high severity."""

ISSUE = re.compile(r"^>> Issue: \[(?P<code>[\w.:-]+)\] (?P<message>.*)$")
SEVERITY = re.compile(r"^\s+Severity: (?P<severity>\w+)\s+Confidence: (?P<confidence>\w+)")
LOCATION = re.compile(r"^\s+Location: (?P<place>\S+)")
BANDIT_TOTAL = re.compile(
    r"^\s*(?:Total |Undefined: |Low: |Medium: |High: |Files skipped|No issues identified|\S+ \(.*\)$)|"
    r"^\[main\]\s+(?!INFO)|^\[\w+\]\s+(?:ERROR|WARNING)"
)

SHELL_AT = re.compile(r"^In (?P<file>.+) line (?P<line>\d+):$")
SHELL_FINDING = re.compile(r"^\s*\^-*\^? (?P<code>SC\d+)(?: \((?P<severity>\w+)\))?: (?P<message>.*)$")

SQL_FILE = re.compile(r"^== \[(?P<file>.+)\] (?P<result>FAIL|PASS)")
SQL_FINDING = re.compile(r"^L: +(?P<line>\d+) \| P: +(?P<column>\d+) \| +(?P<code>\w+) \| ?(?P<message>.*)$")
SQL_MORE = re.compile(r"^ +\| (?P<message>.*)$")


@dataclass
class LintFinding:
    """One finding: its row, place, code, severity as the tool names it, and message."""

    at: int
    place: str
    code: str
    severity: str
    message: str
    severe: bool = False

    def line(self) -> str:
        severity = f"{self.severity}: " if self.severity else ""
        return f"{self.place}: {self.code}: {severity}{self.message}"


def add_findings(reading: Reading, found: Sequence[LintFinding]) -> None:
    """Findings by code: each by itself while they are few, else one and the places of the others."""
    kinds: dict[tuple[str, str], list[LintFinding]] = {}
    for one in found:
        kinds.setdefault((one.code, one.severity), []).append(one)
    for group in kinds.values():
        if len(group) <= (FEW_SEVERE if group[0].severe else FEW):
            for one in group:
                reading.add(one.at, one.line())
            continue
        files: dict[str, list[str]] = {}
        for one in group:
            path, _, position = one.place.partition(":")
            files.setdefault(path, []).append(position)
        places = (f"{path}:{','.join(positions)}" for path, positions in files.items())
        reading.add(group[0].at, [f"{group[0].line()} [{len(group)} of this kind]", *packed(places)])
    reading.kept = {"findings": len(found)}


def bandit(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Bandit's issues with severity, confidence and place, and its totals."""
    reading = Reading()
    found: list[LintFinding] = []
    metrics = False
    for at, line in enumerate(lines):
        issue, severity, location = ISSUE.match(line), SEVERITY.match(line), LOCATION.match(line)
        if issue:
            found.append(LintFinding(at, "", issue["code"], "", issue["message"]))
        elif severity and found:
            found[-1].severity = f"Severity: {severity['severity']} Confidence: {severity['confidence']}"
            found[-1].severe = severity["severity"].lower() == "high"
        elif location and found:
            found[-1].place = location["place"]
        elif line.startswith(("Run metrics:", "Code scanned:")):
            metrics = True
        elif ((metrics or not found) and BANDIT_TOTAL.match(line)) or line.startswith(
            ("[main]\tERROR", "[tester]", "[manager]")
        ):
            reading.add(at, line)
    if not (found or metrics):
        return None
    add_findings(reading, found)
    reading.summary = plural(len(found), "issue")
    return reading


def shellcheck(lines: Sequence[str], ctx: Context) -> Reading | None:
    """ShellCheck's findings with the line of the script that they are about."""
    reading = Reading()
    found: list[LintFinding] = []
    place = ""
    codes: dict[int, str] = {}
    for at, line in enumerate(lines):
        where, finding = SHELL_AT.match(line), SHELL_FINDING.match(line)
        if where:
            place = f"{where['file']}:{where['line']}"
            codes[at] = lines[at + 1].strip() if at + 1 < len(lines) else ""
        elif finding:
            severe = finding["severity"] in (None, "error")
            found.append(
                LintFinding(at, place, finding["code"], finding["severity"] or "", finding["message"], severe)
            )
        elif alarming(line) and ": " in line and not place:
            reading.add(at, line)
    if not found:
        return None
    add_findings(reading, found)
    for at, code in codes.items():
        reading.add(at, "    " + code, 3.0)
    reading.summary = plural(len(found), "finding")
    return reading


def sqlfluff(lines: Sequence[str], ctx: Context) -> Reading | None:
    """SQLFluff's violations by file, and what it could not parse."""
    reading = Reading()
    found: list[LintFinding] = []
    path = ""
    for at, line in enumerate(lines):
        head, finding, more = SQL_FILE.match(line), SQL_FINDING.match(line), SQL_MORE.match(line)
        if head:
            path = head["file"]
            reading.add(at, line, 1.0)
        elif finding:
            place = f"{path}:{finding['line']}:{finding['column']}"
            severe = finding["code"] in ("PRS", "TMP", "LXR")
            found.append(LintFinding(at, place, finding["code"], "", finding["message"].strip(), severe))
        elif more and found:
            found[-1].message += " " + more["message"].strip()
        elif line.strip():
            reading.add(at, line)
    if not found:
        return None
    add_findings(reading, found)
    reading.summary = plural(len(found), "violation")
    return reading
