"""Reading diagnostics: place, severity, code and message of each error and warning, whatever the tool."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Diagnostic:
    """One finding. `detail` are its further lines (labels, help, the code it points at)."""

    severity: str
    message: str
    place: str = ""
    code: str = ""
    detail: list[str] = field(default_factory=list)
    at: int = 0

    def line(self) -> str:
        """The finding on one line, near to how the tool wrote it."""
        code = f" {self.code}" if self.code else ""
        place = f"{self.place}: " if self.place else ""
        return f"{place}{self.severity}{code}: {self.message}"


@dataclass
class Report:
    """What a build says: findings in order, totals, and the lines that are neither."""

    found: list[Diagnostic] = field(default_factory=list)
    totals: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)


GNU = re.compile(
    r"^(?P<place>(?:[A-Za-z]:)?[^\s:()][^:()\n]*?:\d+(?::\d+)?)(?:-\d+)?: (?P<severity>(?:fatal |"
    r"syntax )?error|warning|note|info|remark|"
    r"hint|style|performance|portability|information)(?:\[(?P<code>[\w/-]+)\])?: (?P<message>.*)$"
)
PAREN = re.compile(
    r"^(?P<place>\s*\S[^()\n]*?\(\d+(?:,\d+)*\)) ?: (?P<severity>error|warning|info|"
    r"message) (?P<code>[A-Z]+\d+): (?P<message>.*)$"
)
TSC = re.compile(
    r"^(?P<place>\S.*?:\d+:\d+) - (?P<severity>error|warning|message) (?P<code>TS\d+): (?P<message>.*)$"
)
LINT = re.compile(r"^(?P<place>\S[^:\n]*?:\d+(?::\d+)?): (?P<code>[A-Z]{1,4}\d{2,5}):? (?P<message>.*)$")
MAVEN = re.compile(
    r"^\[(?P<severity>ERROR|WARNING)\] (?P<place>\S.*?\.\w+:\[\d+,\d+\]|\S.*?\.\w+:\d+) ?(?:error: |"
    r"warning: )?(?P<message>.*)$"
)
GO = re.compile(r"^(?:vet: )?(?P<place>\.?/?[^\s:]+\.go:\d+:\d+): (?P<message>.*)$")
CMAKE = re.compile(
    r"^CMake (?P<severity>Error|Warning)(?: \(dev\))? at (?P<place>\S+:\d+)(?: \(.*\))?:(?P<message>.*)$"
)
UNIX = re.compile(
    r"^(?P<place>\S.*?:\d+:\d+): (?P<message>.*) \[(?P<severity>Error|Warning)/(?P<code>[\w@/.-]+)\]$"
)
COMPACT = re.compile(
    r"^(?P<file>\S.*?): line (?P<row>\d+), col (?P<column>\d+), (?P<severity>Error|Warning) - "
    r"(?P<message>.*?)(?: \((?P<code>[\w@/.-]+)\))?$"
)
SHAPES = (PAREN, TSC, UNIX, GNU, LINT, MAVEN, GO, CMAKE)
SEVERE = re.compile(r"E9|F5|F6|F7|F82|F83|F40[4-7]|PLE|[EF]\d{4}$|SIM?999|TS\d|CS\d|MSB\d|C\d{4}$|LNK|E999")
"""Codes of linters that stand for code that cannot work; the others are about style."""

WRAPPED = re.compile(r"^((?!\S+:\d+:)\S.*?|) *\[([a-z][\w-]+)\]$")
HEAD = re.compile(r"^(?P<severity>error|warning)(?:\[(?P<code>\w+)\])?: (?P<message>.+)$")
RUFF_HEAD = re.compile(r"^(?P<code>[A-Z]{1,4}\d{3,4}) (?:\[\*\] )?(?P<message>.+)$")
ARROW = re.compile(r"^ *(?:-->|╭─\[|┌─) ?(\S+?(?::\d+:\d+)?)\]?$")
STYLISH = re.compile(r"^ +(\d+:\d+) +(error|warning|✖|⚠) +(.*?)(?:  +(\S+))?$")
FILE_LINE = re.compile(r"^(?:/|[A-Za-z]:\\|\.{0,2}/)?[\w@.()\[\]#~ +\\/-]*\.\w{1,6}:?$")
LOOSE_ERROR = re.compile(
    r"^(?:npm (?:ERR!|error) (?!A complete log|code|errno|syscall|at |\s*$).*|ERROR: .*|"
    r"\[ERROR\] (?!.*(?:\[Help|Re-run|To see|-> )).+|"
    r"(?:fatal|Fatal|FATAL)(?: error)?: .*|"
    r"E: .*|make(?:\[\d+\])?: \*\*\* .*|.*: undefined reference to .*|.*undefined symbol.*|.*(?:ld|"
    r"collect2|clang\S*|gcc|g\+\+)(?:\.\w+)?: (?:fatal )?error: .*|"
    r"error(?: \w+)?: .*|Error: .*|✘ \[ERROR\] .*|ERROR in .*|Module not found: .*|FAILED: .*|\w*Error: .*|"
    r"gyp ERR! .*|> Task :\S+ FAILED|FAILURE: .*|Execution failed for .*|e: .*|What went wrong:.*|"
    r".*: command not found|"
    r"subprocess-exited-with-error.*|× .*|ModuleNotFoundError.*)$"
)
LOOSE_WARNING = re.compile(
    r"^(?:npm (?:WARN|warn) .*|WARNING: .*|\[WARNING\] .+|warning: .*|Warning: .*|w: .*|"
    r"DEPRECATION: .*|WARN(?:ING)? .*|"
    r"(?:.*: )?\w*DeprecationWarning: .*|W: .*|CMake Warning.*|ld: warning: .*|▲ \[WARNING\] .*|"
    r".*SetuptoolsDeprecationWarning.*)$"
)
TOTAL = re.compile(
    r"^(?:Found \d+ .*|✖ \d+ problems?.*|\[?(?:INFO|ERROR)?\]? ?BUILD (?:SUCCESS|FAIL)\w*.*|"
    r"Success: no issues.*|All checks passed!.*|"
    r"(?:error|warning): (?:could not compile|aborting due|\d+ warnings? emitted|"
    r"`.*` \(.*\) generated|build failed).*|"
    r" *Finished .*|\d+ (?:errors?|warnings?)(?: generated| and \d+ .*)?\.?$|(?:added|removed|"
    r"changed|up to date|audited).*|"
    r"\d+ (?:vulnerabilit|(?:low|moderate|high|critical) severity).*|found \d+ vulnerabilities|"
    r"(?:Successfully|Would) (?:installed|uninstalled|built|install) .*|"
    r"Build (?:succeeded|FAILED).*|\s+\d+ (?:Warning|Error)\(s\)|Total time: .*|Time Elapsed .*|"
    r"webpack .* compiled .*|"
    r"(?:Resolved|Installed|Prepared|Audited|Uninstalled) \d+ packages?.*|"
    r"Your code has been rated.*|\[100%\] Built .*|"
    r"✨.*Done in.*|Done in .*|Installing collected packages: .*)"
)
TROUBLE = re.compile(
    r"[Ee]rr|ERR|warn|WARN|Warn|[Ff]atal|FATAL|FAIL|[Ff]ail|undefined|[Dd]eprecat|"
    r"DEPREC|\*\*\*|^[EWew]: |×|not found|▲|✘|wrong:"
)
POSITION = re.compile(r":\d|\(\d+,|\[\d+,")
CARET = re.compile(r"^\s*[\^~]+\s*$")
IDLE = re.compile(
    r"^(?:For more information about|\S+: In (?:function|member|constructor|destructor|instantiation)|"
    r"\S+: At (?:top level|global scope)|In file included from |\s+from \S+:\d+|"
    r"\S+:\d+:\d+:   required (?:from|by)|Some errors have detailed|Errors  Files|> |\$ |\s*\d+  \S+:\d+$)"
)
DETAIL = re.compile(r"^(?:\s|\d* ?\||[\^~]|\.\.\.|$)")
LABEL = re.compile(
    r"\^+ \S|-+ \S|^\s*= (?:help|note)|^help: |expected|found|^\s+(?:symbol|location|required|found) *: "
)


def report(lines: Sequence[str]) -> Report:
    """Read a build's or linter's lines."""
    reader = _Reader()
    for at, line in enumerate(lines):
        reader.line(at, line)
    return reader.report


class _Reader:
    def __init__(self) -> None:
        self.report = Report()
        self.last: Diagnostic | None = None
        self.file = self.held = ""

    def line(self, at: int, line: str) -> None:
        first = line[:1]
        if self.last is not None and self.last.at == at - 1 and self.wrapped(line):
            return
        if first in " \t|" or not line:
            if self.stylish(at, line) or self.arrow(line) or self.detail(line):
                return
        elif TOTAL.match(line):
            self.last = None
            self.report.totals.append(line.strip())
            return
        elif line.startswith(("help: ", "note: ")) and self.last is not None:
            self.last.detail.append(line)
            return
        elif self.diagnostic(at, line) or self.loose(at, line):
            return
        elif FILE_LINE.match(line) and not line.startswith("--"):
            self.file, self.last = line.rstrip(":"), None
            self.report.other.append(line)
            return
        if line.strip() and not IDLE.match(line):
            if TOTAL.match(line):
                self.report.totals.append(line.strip())
            elif not (self.last is not None and self.detail(line)):
                self.report.other.append(line)
                self.held = line if self.last is not None else ""

    def wrapped(self, line: str) -> bool:
        """True for the rest of a message that the tool broke at its width, with the code at the end."""
        found = WRAPPED.match(line) if self.last is not None and self.last.place else None
        if found and self.last is not None and not self.last.code:
            self.last.message = f"{self.last.message} {found.group(1)}".strip()
            self.last.code = found.group(2)
            return True
        return False

    def diagnostic(self, at: int, line: str) -> bool:
        for shape in SHAPES if POSITION.search(line, 0, 400) else ():
            found = shape.match(line)
            if found:
                parts = found.groupdict()
                self.add(
                    at,
                    parts.get("severity") or (lint_severity(parts["code"]) if parts.get("code") else "error"),
                    parts["message"],
                    parts["place"].strip(),
                    parts.get("code") or "",
                )
                return True
        compact = COMPACT.match(line) if ", col " in line else None
        if compact:
            place = f"{compact['file']}:{compact['row']}:{compact['column']}"
            self.add(at, compact["severity"], compact["message"], place, compact["code"] or "")
            return True
        return self.ruff(at, line) or self.head(at, line)

    def head(self, at: int, line: str) -> bool:
        found = HEAD.match(line)
        if found:
            self.add(at, found.group("severity"), found.group("message"), "", found.group("code") or "")
        return bool(found)

    def ruff(self, at: int, line: str) -> bool:
        found = RUFF_HEAD.match(line)
        if found:
            code = found.group("code")
            self.add(at, lint_severity(code), found.group("message"), "", code)
        return bool(found)

    def stylish(self, at: int, line: str) -> bool:
        found = STYLISH.match(line) if ":" in line[:12] else None
        if found:
            severity = "error" if found.group(2) in ("error", "✖") else "warning"
            place = f"{self.file}:{found.group(1)}" if self.file else found.group(1)
            self.add(at, severity, found.group(3).strip(), place, found.group(4) or "")
        return bool(found)

    def arrow(self, line: str) -> bool:
        found = ARROW.match(line) if self.last is not None and not self.last.place else None
        if found and self.last is not None:
            self.last.place = found.group(1)
        return bool(found)

    def detail(self, line: str) -> bool:
        if self.last is None or not DETAIL.match(line):
            return False
        if CARET.match(line) and self.held:
            self.last.detail.append(self.held)
            if self.report.other[-1:] == [self.held]:
                self.report.other.pop()
            self.held = ""
        if line.strip() and len(self.last.detail) < 12:
            self.last.detail.append(line)
        return True

    def loose(self, at: int, line: str) -> bool:
        if not TROUBLE.search(line, 0, 1_000):
            return False
        if LOOSE_WARNING.match(line):
            self.add(at, "warning", re.sub(r"^(?:\[?WARN(?:ING)?\]?:?|warning:|Warning:) ", "", line))
        elif LOOSE_ERROR.match(line):
            self.add(at, "error", re.sub(r"^(?:\[?ERROR\]?:?|error:|Error:) ", "", line))
        else:
            return False
        return True

    def add(self, at: int, severity: str, message: str, place: str = "", code: str = "") -> None:
        severity = severity.lower()
        tail = re.search(r" \[((?:-W)?[\w.+=/-]+(?:,[\w-]+)*)\]$", message)
        if tail and not code:
            code, message = tail.group(1), message[: tail.start()]
        head = re.match(r"\[([a-z][\w-]+)\] ", message)
        if head and not code:
            code, message = head.group(1), message[head.end() :]
        if severity in ("note", "info", "hint", "remark", "information", "message"):
            if self.last is not None:
                self.last.detail.append(f"{place}: {severity}: {message}")
            return
        if severity.endswith("error"):
            severity = "error"
        elif severity != "warning":
            severity = "warning"
        self.last = Diagnostic(severity, message.strip(), place, code, at=at)
        self.report.found.append(self.last)


def lint_severity(code: str) -> str:
    """ "error" for a linter's code that stands for code that cannot work, "warning" for one of style."""
    return "error" if SEVERE.match(code) else "warning"


def labels(found: Diagnostic) -> list[str]:
    """The detail lines that say more than the message: labels, help, expected and found types."""
    return [line.strip(" |") for line in found.detail if LABEL.search(line)]
