"""Reading diagnostics: place, severity, code and message of each error and warning, whatever the tool."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from aider_gardener.reading.alarms import tells_outcome
from aider_gardener.reading.severities import ANY_SEVERITY, SEVERITY


@dataclass
class Diagnostic:
    """One finding. `detail` are its further lines (labels, help, the code it points at).

    `raw` is the line of a finding that is only known by its words: it counts as no error of the tool's.
    """

    severity: str
    message: str
    place: str = ""
    code: str = ""
    detail: list[str] = field(default_factory=list)
    at: int = 0
    raw: str = ""
    folded: bool = False

    def line(self) -> str:
        """The finding on one line, near to how the tool wrote it; as written where no parser knew it."""
        if self.raw:
            return self.raw
        code = f" {self.code}" if self.code else ""
        place = f"{self.place}: " if self.place else ""
        return f"{place}{self.severity}{code}: {self.message}"


@dataclass
class BuildReport:
    """What a build says: findings in order, totals, how it ended, and the lines that are none of these."""

    found: list[Diagnostic] = field(default_factory=list)
    totals: list[str] = field(default_factory=list)
    outcome: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)


GNU = re.compile(
    r"^(?P<place>(?:[A-Za-z]:)?[^\s:()][^:()\n]*?:\d+(?::\d+)?)(?:-\d+)?: ?(?P<severity>"
    + ANY_SEVERITY
    + r")"
    r"(?:\[(?P<code>[\w/-]+)\])?[ \u00a0\u202f]?(?:: ?|：)(?P<message>.*)$"
)
PAREN = re.compile(
    r"^(?P<place>\s*\S[^()\n]*?\(\d+(?:,\d+)*\)) ?: (?P<severity>(?:fatal )?error|warning|info|"
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
KOTLIN = re.compile(
    r"^(?P<severity>[ew]): (?:file://)?(?P<place>[^\s:]\S*?(?::\d+:\d+|: \(\d+, \d+\))):? (?P<message>.*)$"
)
HADOLINT = re.compile(
    r"^(?P<place>\S+:\d+) (?P<code>(?:DL|SC)\d{4}) (?P<severity>error|warning|info|style): (?P<message>.*)$"
)
RUBOCOP = re.compile(
    r"^(?P<place>[^\s:]+:\d+:\d+): (?P<severity>[CRWEFI]): "
    r"(?:\[\w+\] )*(?P<code>\w+/[\w/]+): (?P<message>.*)$"
)
SBT = re.compile(r"^\[(?P<severity>error|warn)\] (?P<place>\S+?\.\w+:\d+(?::\d+)?): (?P<message>.*)$")
OBJECT = re.compile(
    r"^(?P<place>[^\s:()][^:()\n]*?(?:\.obj|\.lib|\.exe|\.dll|"
    r"LINK)(?:\([^()]*\))?) : (?P<severity>(?:fatal )?error|warning)"
    r" (?P<code>[A-Z]+\d+): (?P<message>.*)$"
)
SECTION = re.compile(
    r"^(?:\S*\bld(?:\.\w+)?: )?(?P<place>[^\s:()][^:()\n]*(?::[^\s:()]+)?):"
    r"(?:\(\.[\w.$]+\+0x[0-9a-f]+\)|\d+): ?(?P<message>.+)$"
)
"""What a linker says of a place in an object file, in any language."""

UNDEFINED = re.compile(r"undefined reference to|multiple definition of|first defined here|undefined symbol")
SHAPES = (PAREN, TSC, UNIX, GNU, LINT, MAVEN, GO, CMAKE, KOTLIN, HADOLINT, RUBOCOP, SBT, OBJECT)
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
    r"\[ERROR\] (?!-> |\[Help|Re-run|To see|For more information|After correcting).+|"
    r"(?:fatal|Fatal|FATAL)(?: error)?: .*|"
    r"E: .*|make(?:\[\d+\])?: \*\*\* .*|.*: undefined reference to .*|.*undefined symbol.*|.*(?:ld|"
    r"collect2|clang\S*|gcc|g\+\+)(?:\.\w+)?: (?:fatal )?error: .*|\S*\bld(?:\.\w+|"
    r"64\.lld)?: (?!warning|skipping|note).*|"
    r"cc1(?:plus)?: .*|rust-lld: error: .*|LINK : .*|"
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
    r"^(?:Found \d+ .*|\d+ issues?[:.].*|\d+ files? inspected, .*|"
    r"✖ \d+ problems?.*|\[?(?:INFO|ERROR)?\]? ?BUILD (?:SUCCESS|FAIL)\w*.*|"
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
    r"\bld(?:\.\w+)?: |^cc1|^LINK|[Ee]rr|ERR|warn|WARN|Warn|[Ff]atal|FATAL|FAIL|[Ff]ail|undefined|"
    r"[Dd]eprecat|"
    r"DEPREC|\*\*\*|^[EWew]: |×|not found|▲|✘|wrong:"
)
BARE = re.compile(r"^(?:\[[\w-]+\])?$")
SOURCE = re.compile(r"^ *\d* \|")
"""A message that stands on the next lines, and what shows the code behind it."""

COUNTED = re.compile(r"^\s+\d+ (?:Warning|Error)\(s\)$")
POSITION = re.compile(r":\d|\(\d+,|\(\d+\) ?:|\[\d+,| : (?:fatal )?(?:error|warning) [A-Z]")
BLOCK = re.compile(
    r"^\* (?:Where|What went wrong):$|^Undefined symbols for architecture |"
    r"^The following build commands failed:$"
)
BLOCK_END = re.compile(
    r"^\(\d+ failures?\)|^\* (?:Try|Exception is|Get more help)|^(?:BUILD|FAILURE|Undefined|clang|ld\b|"
    r"Deprecated)|^={10,}$"
)
BLOCK_LINES = 60
"""What stands whole: why Gradle failed, which symbols a linker did not find; up to so many lines."""

FRAME = re.compile(r"^\s+(?:at |\.\.\. \d+ more)")
REACTOR = re.compile(r"^\[INFO\] \S.* \.{2,} (?:FAILURE|SKIPPED)|^\[ERROR\]   mvn |^\* \w+: \d+$")
REQUIRED = re.compile(r"^(\S+:\d+:\d+):   \S.*[^:]$")
"""From where a compiler came to what it complains of in a header."""

NOTE = re.compile(r"^(?!/usr/|[A-Z]:\\Program)\S+: note: \S")
FEW_NOTES = 3
"""So many notes about places of the project belong to an error."""

CARET = re.compile(r"^\s*[\^~]+\s*$")
IDLE = re.compile(
    r"^(?:For more information about|\S+: In (?:function|member|constructor|destructor|instantiation)|"
    r"\S+: At (?:top level|global scope)|In file included from |\s+from \S+:\d+|"
    r"\S+\.\w+: (?:In |At |在|Dans |En |À |V |W |В |На |関数|함수|Nella |Na |No |İşlev).*[:：]$|"
    r"(?:\S*/)?(?:\S+-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ar|ranlib)(?:-\d+)? .*-[co] |"
    r"\[ *\d+%\] (?:Building|Built|Generating|Automatic|Consolidat)|\[\d+/\d+\] (?:Building|Compiling|"
    r"CXX|CC|Generating) |"
    r"(?:CompileSwift|CompileC|SwiftCompile|Ld|CpResource|ProcessInfoPlist\w*|PhaseScriptExecution|"
    r"CodeSign) \S| +cd /|"
    r" +(?:Compiling|Checking|Downloaded|Downloading|Fresh|Locking|Adding) \S+ v|\[\d[\d,]* / [\d,]+\] |"
    r"\[INFO\] ?(?:$|-{5,}|Scanning for|Reactor (?:Build|Summary)|Finished at|Copying \d+|"
    r"Nothing to compile)|"
    r"\[ERROR\] *(?:$|To see the full|Re-run |For more info|\[Help|-> \[Help|After correcting)|"
    r"[^:]*\S:\d+(?::\d+)?[,:：]$|\S*\bld: \S+: in function |\S+: In Funktion|Some errors have detailed|"
    r"Errors  Files|> |\$ |\s*\d+  \S+:\d+$)"
)
DETAIL = re.compile(r"^(?:\s|\d* ?\||[\^~]|\.\.\.|>>> |$)")
MESSAGE_CHARS = 700
"""A message over several lines is read up to about this length."""

LABEL = re.compile(
    r"^required from |^>>> (?:referenced|defined)|^  [^\W\d]\w{0,11} *[:：] +\S|\^+ \S|-+ \S|"
    r"^\s*= (?:help|note)|^help: |expected|found|"
    r"^\s+(?:symbol|location|required|found) *: "
)


def report(lines: Sequence[str]) -> BuildReport:
    """Read a build's or linter's lines."""
    reader = _Reader()
    for at, line in enumerate(lines):
        reader.line(at, line)
    return reader.report


class _Reader:
    def __init__(self) -> None:
        self.report = BuildReport()
        self.last: Diagnostic | None = None
        self.file = self.held = self.wanted_by = ""
        self.block = 0

    def line(self, at: int, line: str) -> None:
        first = line[:1]
        if self.last is not None and self.last.at == at - 1 and self.wrapped(line):
            return
        if self.block and self.in_block(line):
            return
        if first in " \t|" or not line:
            if COUNTED.match(line):
                self.report.totals.append(line.strip())
                return
            if self.stylish(at, line) or self.arrow(line) or self.detail(line):
                return
        elif TOTAL.match(line):
            self.last = None
            self.report.totals.append(line.strip())
            return
        elif BLOCK.match(line):
            self.block, self.last = BLOCK_LINES, None
            self.report.outcome.append(line)
            return
        elif line.startswith(("help: ", "note: ")) and self.last is not None:
            self.last.detail.append(line)
            return
        elif self.diagnostic(at, line) or self.linked(at, line) or self.loose(at, line):
            return
        elif FILE_LINE.match(line) and not line.startswith("--") and not IDLE.match(line):
            self.file, self.last = line.rstrip(":"), None
            self.report.other.append(line)
            return
        if line.strip() and not IDLE.match(line):
            self.remaining(line)

    def remaining(self, line: str) -> None:
        """A line that is no finding: a total, how it ended, more of the last finding, or anything else."""
        if TOTAL.match(line):
            self.report.totals.append(line.strip())
        elif tells_outcome(line) or REACTOR.match(line):
            self.report.outcome.append(line)
        elif not (self.last is not None and self.detail(line)):
            self.report.other.append(line)
            self.held = line if self.last is not None else ""

    def in_block(self, line: str) -> bool:
        """True for a line of a block that stays as it was written, up to its end."""
        if BLOCK_END.match(line):
            self.block = 0
            return line.startswith("*")
        self.block -= 1
        if line.strip() and not FRAME.match(line):
            self.report.outcome.append(line)
        return True

    def linked(self, at: int, line: str) -> bool:
        """A linker's word about a place in an object file."""
        if ":(." not in line and not UNDEFINED.search(line, 0, 1_000):
            return False
        found = SECTION.match(line)
        if not found or found["message"].endswith((":", "：")):
            return False
        self.add(at, "error", found["message"], found["place"])
        return True

    def wrapped(self, line: str) -> bool:
        """True for the rest of a message that the tool broke at its width, with the code at the end."""
        found = WRAPPED.match(line) if self.last is not None and self.last.place else None
        if found and self.last is not None and not self.last.code:
            self.last.message = f"{self.last.message} {found.group(1)}".strip()
            self.last.code = found.group(2)
            return True
        return False

    def diagnostic(self, at: int, line: str) -> bool:
        required = REQUIRED.match(line)
        if required:
            self.wanted_by = required[1]
            return True
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
                if self.last is not None:
                    self.last.folded = shape is CMAKE or bool(BARE.match(self.last.message))
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
        if self.last.folded and not SOURCE.match(line):
            if line.strip() and len(self.last.message) < MESSAGE_CHARS:
                self.last.message = f"{self.last.message} {line.strip()}".strip()
            return True
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
            self.known_by_words(line)
        elif LOOSE_ERROR.match(line):
            self.add(at, "error", re.sub(r"^(?:\[?ERROR\]?:?|error:|Error:) ", "", line))
            self.known_by_words(line)
        else:
            return False
        return True

    def known_by_words(self, line: str) -> None:
        if self.last is not None:
            self.last.raw = line.removesuffix(" -> [Help 1]")

    def add(self, at: int, severity: str, message: str, place: str = "", code: str = "") -> None:
        severity = SEVERITY.get(severity) or SEVERITY.get(severity.lower(), severity.lower())
        severity = {"e": "error", "f": "error", "w": "warning", "warn": "warning"}.get(severity, severity)
        tail = re.search(r" \[((?:-W)?[\w.+=/-]+(?:,[\w-]+)*)\]$", message)
        if tail and not code:
            code, message = tail.group(1), message[: tail.start()]
        head = re.match(r"\[([a-z][\w-]+)\] ", message)
        if head and not code:
            code, message = head.group(1), message[head.end() :]
        if severity in ("note", "info", "hint", "remark", "message"):
            if self.last is not None:
                self.last.detail.append(f"{place}: {severity}: {message}")
            return
        if severity.endswith("error"):
            severity = "error"
        elif severity != "warning":
            severity = "warning"
        self.last = Diagnostic(severity, message.strip(), place, code, at=at)
        if self.wanted_by and self.wanted_by != place:
            self.last.detail.append(f"required from {self.wanted_by}")
        self.wanted_by = ""
        self.report.found.append(self.last)


def lint_severity(code: str) -> str:
    """ "error" for a linter's code that stands for code that cannot work, "warning" for one of style."""
    return "error" if SEVERE.match(code) else "warning"


def labels(found: Diagnostic) -> list[str]:
    """The detail lines that say more than the message: labels, help, expected and found types."""
    notes = [line for line in found.detail if NOTE.match(line)][:FEW_NOTES]
    told = [line.strip(" |") for line in found.detail if LABEL.search(line) or line in notes]
    return [line for line in told if any(char.isalpha() for char in line)]
