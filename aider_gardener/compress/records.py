"""Records of trouble as compilers, linters, type checkers, builds and searches write them.

A record begins with a head: a place, a severity, a code and a message, of which some may be missing. The lines
that belong to it follow: where it is, the code it points at, labels, notes, help. They need their head and are
worth less; the first record of a form shows more of them than the next. What a tool says of all its records is
how it ended. Lines that only tell that work goes on are noise.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from math import log2
from typing import NamedTuple

from aider_gardener.compress.outline import CAUSE, CONTEXT, DETAIL, FAILURE, NOISE, OUTCOME, WARNING, Note
from aider_gardener.compress.quoting import COMPARES, form_of
from aider_gardener.reading.alarms import alarm, tells_outcome
from aider_gardener.reading.severities import ANY_SEVERITY, SEVERITY

LINE_CHARS = 600
"""So much of a line is looked at."""

MESSAGE_LINES = 8
"""Of a message that stands under its head so many lines are explained; of what else follows as many."""

MATCH = 4.0
"""What a line is worth that a search found."""

_WORDS = rf"{ANY_SEVERITY}|(?i:fatal(?: error)?|severe|critical|warn|err)"
_FRAME = re.compile(r"[│┃╷╵] ?|#\d+ \d+\.\d+ |\d+\.\d\d+ (?=\S)|\[(?:error|warn)\](?= {2,})")
"""What some tools write before each line: a box, a step and its time, a level before what belongs to a record."""

_PATH = r"(?P<path>(?:[A-Za-z]:(?=[\\/]))?[^\s:()|\"'`=<>*]{1,200}?)"
_PLACED = re.compile(
    r"\s*(?:(?P<tag>[ewiEWF]|(?:[✘▲×!] )?\[(?i:error|warn(?:ing)?|fatal|err|info)\]|\*\* \(\w+\)|"
    r"%?(?i:fatal error|error|warning|syntaxerror)(?:-\w+)?|vet|\S*\bld(?:\.\w+)?):?\s+)?(?:file://)?"
    + _PATH
    + r"(?P<at>:\[\d+,\d+\]|:\d+(?:[:.]\d+)?(?:-\d+(?:[:.]\d+)?)?|\(\d+(?:[,:]\d+)*\)|:\(\.[\w.$]+\+0x[0-9a-f]+\)|"
    r": \(\d+, \d+\)|: line \d+(?:, col \d+,)?)(?=[\s:：,]|$)(?P<rest>.*)$"
)
_PLACE = re.compile(r"(?:File \")?" + _PATH + r"(?::\d+(?::\d+)?:?|\", line \d+(?:, characters \d+-\d+)?:?)$")
"""A place alone; the record that it belongs to stands below."""

_OBJECT = re.compile(
    r"(?P<path>[^\s:()][^:()]{0,200}?) : (?P<rest>(?:fatal )?(?:error|warning) [A-Z]+\d+: .*)$"
)
_FRAMED = re.compile(r": ?in [\w<`']|.*\+0x[0-9a-f]+$")
"""What stands behind the place of a stack's frame."""

_CONTEXT = re.compile(r"(.{1,200}?)-\d+-")
_FILE = re.compile(
    r"(?:.*[\w)\]+-]\.[A-Za-z]\w{0,7}|.*[\\/][\w.+-]+|Makefile|Dockerfile|BUILD|configuration)$"
)
_SEVERE = re.compile(
    rf"[\s:：–-]*(?P<severity>{_WORDS})(?:\[(?P<code>[\w./-]+)\])?"
    rf"(?:[ \u00a0\u202f]?[:：]|(?=\s+[A-Z]+\d)|\s\s+|\s[•-]\s|$)\s*(?P<message>.*)$"
)
_CODED = re.compile(
    r"[\s:–-]*(?P<code>[A-Z]{1,8}-?\d{2,6}(?:/[\w-]+)?|\(\w+(?:\.\w+)?\d+\)|lint/\S+)"
    rf"[:\s]\s*(?:\[\*\] )?(?:(?P<severity>{_WORDS}): )?(?P<message>.*)$"
)
_ENDED = re.compile(r"(?:^|\s)[\[(](?P<code>[A-Za-z@-][\w@./+=,-]*)[\])](?: \[\d\])?(?: \[[^\[\]]*\])?$")
_LETTERED = re.compile(
    r"[\s:]*(?P<severity>[CWEFRI]): (?:\[\w+\] )*(?P<code>[A-Z]\w+/[\w/]+): (?P<message>.*)$"
)
_BARE = re.compile(
    rf"\s*(?:[✘▲×!➤✖⨯] ?)?(?:[\w./+-]+: )?\[?(?P<severity>{_WORDS})\]?(?:\[(?P<code>[\w./:-]+)\])?"
    r"(?:[ \u00a0\u202f]?[:：!]|\s[•-]|(?<=\])|(?<=ERROR)|(?<=WARN)|(?<=WARNING))(?:\s+(?P<message>.*)|$)"
)
_NAMED = tuple(map(re.compile, (
    r"➤ (?P<code>[A-Z]{2}\d{4}): (?P<message>.+)$", r" ?(?P<code>ERR_\w+|[EW](?=: )|E[A-Z]{3,}(?=: ))[:\s]+(?P<message>.+)$",
    r"\S+: \((?P<code>\w+\.[EWCI]\d+)\) (?P<message>.*)$", r">> Issue: \[(?P<code>[\w:]+)\] (?P<message>.*)$",
)))  # fmt: skip
_ABOVE_PLACE = re.compile(
    r"\s*(?:[×⚠✖✘] )?(?P<code>\[?[A-Z]{1,4}\d{3,4}\]?|\[?[A-Z]{2,}_[A-Z_]+\]?|\w*[a-z](?:Error|Exception)|"
    r"[\w@/-]+\([\w/-]+\))[:\s]+(?:\[\*\] )?(?P<message>.+)$"
)
"""A head of a code and a message, known by the place on the next line."""

_CARET = re.compile(
    r"[\s|│\d]*\^[-~^]*\s*(?:-- )?(?P<code>[A-Z]+\d+) \((?P<severity>\w+)\): (?P<message>.*)$"
)
_ROW = re.compile(
    r"\s*(?:L:)?\s*(?P<at>\d+(?::\d+)?)(?:\s*\|\s*P:\s*\d+)?(?::|\s*[|│]|(?=\s\s))\s*"
    rf"(?:\[?(?P<severity>{_WORDS}|[✖⚠×ℹ])\]?(?:\s*\||\s)\s*)?(?P<message>\S.*)$"
)
_HEADING = re.compile(
    r"(?:FILE: |== \[|In | *Line {2,})?(?P<path>[^\s:()|\"'=<>]{1,200}?)(?:\] FAIL| line \d+:|:)?$"
)
_RULE = re.compile(r"[\s=─━*+-]*$")
_ARROW = re.compile(
    r"[\s│|]*(?:-->|[╭┌└╰]─+\[? ?|→|at|on|in|Location:|::: )?\s*(?:file://|\")?[^\s:(),\"]+"
    r"(?::\d+(?::\d+)?|\(\d+,\d+\)|\"?,? line \d+)\b"
)
_SNIPPET = re.compile(r"\s*(?:[>❯→]\s*)?\d*\s*[|│┆·╵]|\s*\d+: |[\s|│]*[\^~¯-]{1,}[\s^~]*$")
_POINTS = re.compile(r"[\s|│·╰─┬╭╵]*[\^~┬▲¯](?P<label>.*)$")
_LABELLED = re.compile(
    r"[\s|│=╰╭─┬>+-]*(?i:help|note|hint|expected|found|required|symbol|location|candidate|did you mean|caused by|"
    r"reason|suggestion|because|perhaps)\b|\s+[×✖✘⚠] |[\s|]*\^+ \S|[\s|]*-+ \S|>>> (?:referenced|defined)"
)
_TELLS = re.compile(r"(?i)\b(?:found|expected|actual|got|candidate|because|required|instead|available)\b")
_AROUND = re.compile(
    r"In file included from |In Datei|\s+(?:from|von|de) \S+:\d+[,:]$|\S+: [^:]{2,80}[:：]$|\S+: At top level"
)
_LINKED = re.compile(
    r"undefined (?:reference to|symbol)|multiple definition of|duplicate symbol|cannot find -l|未定义的引用|找不到 -l"
)
_BLOCK = re.compile(
    r"\* (?:What went wrong|Where):|Undefined symbols for |The following (?:build commands failed|packages have unmet)|"
    r"(?:ERROR|WARNING) in |error during build:"
)
_IDLE = re.compile(
    r"\* (?:Try|Get more help|Exception is)\b|> Run with |\[ERROR\] *(?:$|To see the full|Re-run|For more|\[Help|-> \[Help|After corr)|"
    r"npm (?:ERR!|error) *(?:$|A complete log|For a full report)|For more information about|Some errors have detailed"
)
_COUNTS = re.compile(
    r"(?i)\b\d+ (?:[\w()/.-]+ ){0,3}?(?:errors?|warnings?|problems?|issues?|offen[sc]es?|violations?|vulnerabilit\w+|hints|"
    r"fehler|warnungen|erreurs?|avertissements?|errores|advertencias)\b|\b(?:errors?|warnings?|problems|issues)(?: found)?: *\d+\b|"
    r"\b\d+ files? (?:would|will|were|was|changed|left|inspected|reformatted|scanned|with)"
)
_ENDS = re.compile(
    r"(?:\[\w+\] )?BUILD (?:SUCC|FAIL)|(?i:build|compilation|compile) (?:failed|succeeded|aborted|unsuccessful)|(?:\S )?Build failed|"
    r"error: (?:could not compile|aborting due|build failed)|warning: `.*` \(.*\) generated|(?:Your code has been rated|"
    r"All checks passed|Success: no|Failed (?:to build|with)|Failed to compile|FAILURE:|Error: .*[Ff]ailed to (?:build|compile))|"
    r".*compiled (?:with|successfully)|-- Configuring incomplete|.*\bFound \d+ (?:error|warning)"
)
_WORKS = re.compile(
    r"\s*(?:\[ *\d+%\] |\[\d+/\d+\] |\[\d+ of \d+\] )?(?:Compiling|Checking|Download(?:ed|ing)|Fresh|Locking|Adding|Building|"
    r"Generating|Collecting|Fetching|Installing|Unpacking|Preparing|Using cached|Requirement already|Linking|Consolidate|Automatic|"
    r"Get:\d+|Hit:\d+|Selecting previously|Progress:|Copying|Scanning|Updating|Resolving|Built target|Processing|Done processing)\b|"
    r"(?:\S*/)?(?:\S+-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ar|ranlib|rustc|javac|swiftc|nvcc)(?:-\d+)? .*-\w|"
    r"-- (?:Detecting|Check|The \w+ compiler|Looking)|\[INFO\] *(?:$|[-<]+|Scanning|Copying|Nothing|Compiling|Recompiling|Finished at|  from)|"
    r"#\d+ (?:DONE|CACHED|sha256|transferring|extracting|resolve|\d+\.\d+ (?:go: downl|Get:|Collecting))|"
    r"g?make(?:\[\d+\])?: (?:Entering|Leaving|Nothing)|> Task :\S+(?: UP-TO-DATE| NO-SOURCE| FROM-CACHE)?$|\s*from \S+/pom.xml"
)
_STATE = re.compile(
    r"> Task :\S+ FAILED|\[INFO\] \S.* \.{2,} FAILURE|\[ERROR\]   mvn |FAILED: | > \[[^\]]+\] \w|(?:npm|gyp) (?:ERR!|error) "
)
_BROKEN = re.compile(
    r"E$|E9|F5|F6|F7|F82|F83|F40[4-7]|PLE|[EF]\d{4}$|TS\d|CS\d|MSB|LNK|\[?[A-Z]+_[A-Z_]+|\w+(?:Error|Exception)$|PRS|S[IM]?999|\w+\.E\d"
)
_NOTED = frozenset({"note", "info", "hint", "remark", "message"})


class _Record(NamedTuple):
    """A head: `file` and `code` are empty where it names none; `found` for what only a search may have found."""

    severity: str
    code: str
    message: str
    file: str = ""
    found: bool = False


def read(lines: Sequence[str]) -> dict[int, Note]:
    """What is known of the lines of records and of the builds around them; nothing where there is no record."""
    reader = _Reader(lines)
    for row, line in enumerate(reader.lines):
        if line.strip():
            reader.line(row, line)
    if not reader.records:
        return {}
    reader.search()
    return reader.notes


class _Reader:
    """Reads line by line; `head` is the row of the record that the next lines may belong to, -1 for none."""

    def __init__(self, lines: Sequence[str]) -> None:
        heads = [_FRAME.match(line, 0, LINE_CHARS) for line in lines]
        self.boxed = {row for row, head in enumerate(heads) if head and head[0][0] in "│┃"}
        self.lines = [
            line[head.end() if head else 0 : LINE_CHARS] for line, head in zip(lines, heads, strict=True)
        ]
        self.notes: dict[int, Note] = {}
        self.records = 0
        self.matches: dict[int, tuple[str, bool]] = {}
        self.severe = False
        self.seen: Counter[Hashable] = Counter()
        self.heading = self.head = self.under = self.block = self.place = -1
        self.file = ""
        self.record = _Record("", "", "")
        self.depth = self.told = 0
        self.worth = 0.0

    def line(self, row: int, line: str) -> None:
        """Explain the line, or let it end what stood above it."""
        inner = self.head >= 0 and self.heading < 0 and _SNIPPET.match(line)
        if not inner and (self._ended(row, line) or self._idle(row, line) or self._blocked(row, line)):
            return
        if _RULE.match(line):
            return
        record = None if inner else self._record(row, line)
        if record is not None and record.severity in _NOTED and self.head >= 0:
            self._note(row, min(self.worth - 2, DETAIL), self.head)
            self.under = row
        elif record is not None:
            self._open(row, line, record)
        elif self.head >= 0 and self._belongs(row, line):
            self._tell(row, line)
        elif self._is_heading(row, line):
            self.head = -1
        elif _AROUND.match(line):
            self._say(row, CONTEXT / 2)
            self.head = -1
        else:
            self.head = -1
            self.heading = -1

    def search(self) -> None:
        """Decide on lines with a place and nothing else: records, if one space stands before their text; lines
        of a tool that names its records otherwise; else what a search found."""
        bare = [row for row, (_file, apart) in self.matches.items() if not apart]
        if self.severe or 2 * len(bare) < len(self.matches):
            for row in bare:
                self._say(row, CONTEXT, -1, row)
            return
        files = {file for file, _apart in self.matches.values()}
        for row, line in enumerate(self.lines if files else ()):
            around = _CONTEXT.match(line)
            if row in self.matches:
                folder = "folder", self.matches[row][0].rpartition("/")[0]
                self.seen[folder] += 1
                worth = MATCH - 0.2 * log2(self.seen[folder])
                self._say(row, worth, self.notes[row].above, ("in", self.matches[row][0]))
            elif line == "--":
                self._say(row, NOISE)
            elif around and around[1] in files:
                self._say(row, CONTEXT / 2, -1, row)

    def _say(self, row: int, worth: float, above: int = -1, form: Hashable = None) -> None:
        self.notes[row] = Note(worth, above, form)

    def _note(self, row: int, worth: float, above: int = -1) -> None:
        """A line below a head: worth less for each doubling of the records of this form."""
        again = self.seen["form", self._form(self.record)]
        self._say(row, worth - 1.2 * log2(max(1, again)), above if above >= 0 else self.under, row)

    def _ended(self, row: int, line: str) -> bool:
        """What the tool says of all its records, or how the build ended."""
        bare = line.strip()
        if (
            len(bare) > 240
            or line.startswith("     ")
            or not (
                tells_outcome(bare) or _ENDS.match(bare) or (_COUNTS.search(bare) and not _PLACED.match(bare))
            )
        ):
            return False
        self.records += bool(tells_outcome(bare) or _ENDS.match(bare))
        self._say(row, OUTCOME)
        self.head = self.block = -1
        return True

    def _idle(self, row: int, line: str) -> bool:
        """Lines that tell that work goes on, or where one may read on; and the steps that failed."""
        if _STATE.match(line) and not _IDLE.match(line):
            deep = re.search(r"(?:ERR!|error) {2,}|node_modules", line)
            self._say(row, DETAIL if deep else FAILURE)
            self.records += 1
            return True
        if not (_IDLE.match(line) or (_WORKS.match(line) and alarm(line) != "error")):
            return False
        self._say(row, NOISE)
        self.block = -1
        if not line[0].isspace():
            self.head = -1
        return True

    def _blocked(self, row: int, line: str) -> bool:
        """A heading that says what the next lines up to a blank one are: why something failed."""
        if _BLOCK.match(line):
            self.block, self.head, self.depth = row, -1, 0
            self.records += 1
            self._say(row, WARNING if line.startswith("WARN") else FAILURE)
            return True
        if self.block < 0:
            return False
        blank = not self.lines[row - 1].strip()
        if blank and not line[0].isspace():
            self.block = -1
            return False
        worth = self.notes[self.block].worth + (not line[0].isspace()) - 0.1 * (row - self.block)
        framed = line.lstrip().startswith("at ") or (_SNIPPET.match(line) and not _ARROW.match(line))
        self._say(row, CONTEXT / 2 if framed else worth, self.block, row)
        return True

    def _row(self, line: str) -> re.Match[str] | None:
        return _ROW.match(line) if self.heading >= 0 else None

    def _record(self, row: int, line: str) -> _Record | None:
        """The head that the line is, if it is one."""
        found = self._row(line)
        if found:
            record = _coded(found["severity"] or "", found["message"], self.file)
            if record.severity or record.code or "Line " in self.lines[self.heading]:
                return record
            return record._replace(found=True) if re.match(r"\d+:", line) else None
        found = _CARET.match(line)
        if found:
            return _Record(_severity(found["severity"]), found["code"], found["message"], self.file)
        found = _PLACED.match(line) or _OBJECT.match(line)
        if found:
            record = self._placed(found)
            if record is not None:
                return record
        if _LINKED.search(line):
            return _Record("error", "", line)
        found = _BARE.match(line)
        if found and (found["message"] or self.head < 0):
            record = _coded(found["severity"], found["message"] or "", code=found["code"] or "")
            return record if record.severity != "note" or self.head >= 0 else None
        for pattern in _NAMED:
            found = pattern.match(line)
            if found:
                return _Record(_rank(found["code"]), found["code"], found["message"])
        found = _ABOVE_PLACE.match(line)
        if found and self._next_is_place(row):
            return _Record(_rank(found["code"]), found["code"].strip("[]"), found["message"])
        return None

    def _next_is_place(self, row: int) -> bool:
        return row + 1 < len(self.lines) and bool(re.match(r"\s*(?:-->|[╭┌])", self.lines[row + 1]))

    def _placed(self, found: re.Match[str]) -> _Record | None:
        """A head with a place; without a severity and a code it may be what a search found."""
        path, rest = found["path"], found["rest"]
        parts = {"tag": "", "at": "", **found.groupdict()}
        tag = parts["tag"] or ""
        spaced = rest[:1] in "： " or rest[1:2] in " \t" or not rest.strip(":")
        record = _coded(tag, rest, path) if spaced else None
        if record is not None and (record.severity or record.code):
            return record if not path.isdigit() else None
        if found.start("path") or not _FILE.match(path) or not rest.strip(":： ") or _FRAMED.match(rest):
            return None
        return _Record("error", "", rest, path, not tag and parts["at"][:1] == ":")

    def _form(self, record: _Record) -> Hashable:
        return record.severity, record.code, form_of(record.message)

    def _open(self, row: int, line: str, record: _Record) -> None:
        """A new head: worth less if its place's file, its code or its very line were seen before."""
        if record.found:
            self.matches[row] = record.file, bool(re.match(r":? \S", record.message))
        self.severe = self.severe or not record.found
        form = self._form(record)
        in_file, same = ("file", form, record.file), ("line", line.strip())
        severity = record.severity or _rank(record.code)
        worth = {"error": CAUSE, "warning": WARNING, "note": DETAIL}[severity]
        self.worth = worth
        for key, less in ((in_file, 0.5), (same, 3.0), (("code", record.code), 0.2)):
            self.seen[key] += 1
            if self.seen[key] > 1 and key[1]:
                worth -= less * log2(self.seen[key])
        self.seen["form", form] += 1
        self.records += 1
        above = self.heading
        if not record.file and 0 <= self.place < row <= self.place + 6:
            above = self.place
            self._say(above, CONTEXT)
        self.head = self.under = row
        self.record, self.told = record, 0
        self.depth = len(line) - len(line.lstrip())
        if self.heading >= 0:
            self.notes.setdefault(self.heading, Note(CONTEXT))
        self._say(row, worth, above, form)

    def _belongs(self, row: int, line: str) -> bool:
        """True for a line that belongs to the head above."""
        if len(line) - len(line.lstrip()) > self.depth or _SNIPPET.match(line) or _LABELLED.match(line):
            return True
        if row in self.boxed and self.head in self.boxed:
            return True
        near = row - self.head <= 1 + self.told
        return self._pointed(row) or (near and (self.record.message.endswith(":") or not self.record.message))

    def _pointed(self, row: int) -> bool:
        """True for a line that the next one points into."""
        return row + 1 < len(self.lines) and bool(_POINTS.match(self.lines[row + 1]))

    def _tell(self, row: int, line: str) -> None:
        """A line below a head: where it is, its message, what it labels or shows."""
        self.told += 1
        points = _POINTS.match(line)
        if not self.record.file and _ARROW.match(line) and self.told <= 10:
            self._note(row, self.worth - 0.5)
            self.record = self.record._replace(file=line.strip())
        elif points:
            shown = self.notes.get(row - 1)
            label = any(char.isalpha() for char in points["label"]) and self.under == self.head
            above = row - 1 if shown is not None and shown.above == self.under else -1
            self._note(row, self.worth / 2 if label else CONTEXT / 2, above)
        elif _SNIPPET.match(line) or self._pointed(row):
            marked = self._pointed(row) and self.under == self.head
            self._note(row, self.worth / 3 if marked or ">" in line[:8] else CONTEXT / 2)
        elif _ENDED.search(line) and not self.record.code:
            self._note(row, self.worth - 1.5)
        elif alarm(line) == "error" or _LABELLED.match(line) or COMPARES.search(line) or _TELLS.search(line):
            self._note(row, max(self.worth - 2 - 0.3 * self.told, CONTEXT))
        elif self.told <= MESSAGE_LINES:
            full = self.record.message.strip(" :")
            self._note(row, max((self.worth / 2 if full else self.worth - 0.5) - 0.3 * self.told, CONTEXT))

    def _is_heading(self, row: int, line: str) -> bool:
        """True for a line that names a file whose records are the next lines."""
        if _PLACE.match(line):
            self.place = row
            return True
        found = _HEADING.match(line)
        if not found or not _FILE.match(found["path"]):
            return False
        self.heading, self.file = row, found["path"]
        return True


def _severity(word: str) -> str:
    """ "error", "warning" or "note": what a tool's word or sign stands for."""
    bare = word.strip("[]%: ✘▲×!").split("-")[0]
    known = SEVERITY.get(bare) or SEVERITY.get(bare.lower())
    if known:
        return known
    small = bare.lower()
    return "warning" if small[:1] in ("w", "c", "r", "⚠") else "note" if small[:1] in ("i", "ℹ") else "error"


def _rank(code: str) -> str:
    """ "error" for a code that stands for what cannot work, "warning" for one of style."""
    return "error" if not code or _BROKEN.match(code) else "warning"


def _coded(tag: str, rest: str, file: str = "", code: str = "") -> _Record:
    """The record that stands behind a place or a tag."""
    severity = _severity(tag) if tag.strip() else ""
    found = _LETTERED.match(rest) or _SEVERE.match(rest)
    if found:
        severity, code, rest = _severity(found["severity"]), found["code"] or code, found["message"]
    found = None if code else _CODED.match(rest)
    if found:
        code, rest = found["code"], found["message"]
        severity = _severity(found["severity"]) if found["severity"] else severity
    found = None if code else _ENDED.search(rest)
    if found:
        code, rest = found["code"], rest[: found.start()]
    return _Record(severity or (_rank(code) if code else ""), code, rest.strip(" :-"), file)
