"""Reading pytest: verbose, quiet, dots, xdist, all traceback styles, with or without a summary.

First the run as a whole, then the FAILURES and ERRORS sections, one block a test, then the sections
beside them: header, warnings, durations, skips, coverage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice

from aider_gardener.compress.places import PY_FRAME, is_library
from aider_gardener.compress.testruns.run import Failure, SuiteRun, dedent

SECTION = re.compile(
    r"^={2,} (\S.*?) ={2,}$|^=+ (test session starts|FAILURES|ERRORS|short test summary info) =+$"
)
TOTALS = re.compile(
    r"^=* ?(?:no tests ran|(?:\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|"
    r"warnings?|rerun|"
    r"subtests passed|subtests failed)(?:, )?)+) in \d[\d.]*s.*$"
)
STATUS = re.compile(
    r"^(?:\[gw\d+\] (?:\[ *\d+%\] )?)?"
    r"(?:(?P<before>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN) )?"
    r"(?P<id>\S+\.py::.*?)"
    r"(?: (?P<after>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN|SUBPASS|SUBFAIL(?:ED)?|"
    r"SUBSKIP)(?: \(.*\))?)?"
    r"\s*(?:\[ *\d+%\])?$"
)
SUMMARY = re.compile(
    r"^(?P<outcome>FAILED|ERROR|SUBFAIL(?:ED)?\S*|XPASS|XFAIL) (?P<id>\S+?\.py::\S*?\[.*?\](?= - |$)|.+?)"
    r"(?: - (?P<message>.*))?$"
)
DOTS = re.compile(r"^(?:\S+\.py )?[.FEsxXRu,-]+(?: *\[ *\d+%\])?$|^\s+\[ *\d+%\]$")
COVERAGE_HEAD = re.compile(r"^-{5,} coverage: .* -{5,}$")
UNSTARTED = "ImportError while loading conftest"
STOPPED = re.compile(r"^!{3,} (.*) !{3,}$")

HEAD = re.compile(r"^_+ (?=[_ ]*[^_ ])(.*?) _+$")
ERROR_HEAD = re.compile(r"^ERROR (?:at (setup|teardown) of|collecting) (.+)$")
LOCATION = re.compile(r"^(\S[^:\n]*(?::[\\/][^:\n]*)?):(\d+): ?(.*)$")
CAPTURED = re.compile(r"^-{2,} (?:Captured|live|generated|benchmark|Hypothesis)\b.* -{2,}$")
NOTABLE = re.compile(r"error|exception|warn|fail|traceback|critical|falsifying|timeout", re.IGNORECASE)
LINE_STYLE = re.compile(
    r"^(\S+?\.py):(\d+): (\w[\w.]*(?:Error|Exception|Failed|Exit|Warning|Interrupt)\b.*)$"
)
CHAIN = ("During handling of the above", "The above exception was the direct cause")

ROUTINE = re.compile(
    r"^(?:platform |cachedir:|rootdir:|configfile:|plugins:|collecting |collected |testpaths:|"
    r"timeout|asyncio:|"
    r"metadata:|"
    r"gw\d+ \[|bringing up|scheduling tests|created: |\d+ workers|hypothesis profile|benchmark:|django: |"
    r"shell: |codspeed:|inifile:|run-last-failure:|asyncio_mode)"
)
HEADER = re.compile(r"^[\w -]{3,40}: \S|seed", re.IGNORECASE)
WARNING = re.compile(r"^\s*(\S.*?):(\d+): (\w*Warning)(?:: (.*))?$")
DURATION = re.compile(r"^\d+\.\d+s (?:call|setup|teardown) +\S")
SKIP = re.compile(r"^SKIPPED \[\d+\] ")
REQUIRED = re.compile(r"^FAIL Required test coverage of ([\d.]+)%").match
COVERED = re.compile(r"^(\S+) +\d+ +\d+ .*?(\d+)%")
FILES_BELOW = 8
DURATIONS_KEPT = 5
MISSING_FIXTURE = re.compile(r"^E\s+fixture '(\w+)' not found")
FIXTURES = re.compile(r"^>\s+available fixtures: (.*)$")
ASKED_AT = re.compile(r"^file (.+), line (\d+)$")
OF_CODE = re.compile(r"^(?:\s|>|E\b|Traceback|Hint: |file \S+, line|\[gw\d+\] |_ _)|^(?:self|cls) = ")
FIXTURES_KEPT = 6
MESSAGE_LINES = 12
CANDIDATES = 400
"""So many reports are looked through for the one that belongs to a failure."""


class _Reader:
    """The state of one pass over pytest's lines."""

    def __init__(self) -> None:
        self.run = SuiteRun()
        self.section = ""
        self.body: list[str] = []
        self.named: dict[str, str] = {}
        self.reported: list[Failure] = []
        self.started = False

    def read(self, lines: Sequence[str]) -> SuiteRun:
        for line in lines:
            self.line(line)
        self.close()
        self.finish()
        return self.run

    def line(self, line: str) -> None:
        first = line[:1]
        if first == "=" or (first.isdigit() and TOTALS.match(line)) or line.startswith("no tests ran"):
            if TOTALS.match(line):
                self.close()
                self.run.totals.append(line)
                self.section = "after"
                return
            found = SECTION.match(line)
            if found and (
                found.group(2) or self.section not in ("", "after") or known_section(found.group(1))
            ):
                self.close()
                self.section = (found.group(1) or found.group(2)).lower()
                return
        if first == "-" and COVERAGE_HEAD.match(line):
            self.close()
            self.section = "coverage"
            return
        if line.startswith(UNSTARTED):
            self.close()
            self.section = "unstarted"
        if first == "!" and STOPPED.match(line):
            self.run.notes.append(line.strip("! "))
            return
        if self.section in ("", "after", "test session starts"):
            self.progress(line)
        else:
            self.body.append(line)

    def progress(self, line: str) -> None:
        if (self.section != "test session starts" and ".py" not in line) or not self.status(line):
            if DOTS.match(line) and len(line) > 4:
                self.run.passed += line.count(".")
            elif self.section == "test session starts":
                self.body.append(line)
            elif self.tb_line(line):
                return
            else:
                self.run.outside.append(line)

    def tb_line(self, line: str) -> bool:
        found = (
            SUMMARY.match(line)
            if line.startswith(("FAILED ", "ERROR ", "SUBFAIL")) and ".py" in line
            else None
        )
        if found:
            self.report(found)
        return bool(found)

    def status(self, line: str) -> bool:
        if "::" not in line:
            return bool(line and DOTS.match(line)) and self.count(line)
        found = STATUS.match(line)
        if not found:
            return False
        if not found.group("after") and not found.group("before"):
            return " " not in line.strip()
        outcome = found.group("after") or found.group("before")
        if outcome == "PASSED":
            self.run.passed += 1
        elif outcome.startswith(("FAILED", "ERROR", "SUBFAIL")):
            self.named.setdefault(found.group("id"), outcome)
        return True

    def count(self, line: str) -> bool:
        self.run.passed += line.count(".") - (1 if ".py" in line else 0)
        return True

    def report(self, found: re.Match[str]) -> None:
        outcome = found.group("outcome")
        if outcome.startswith("X"):
            self.run.notes.append(found.group(0))
            return
        message = found.group("message")
        self.reported.append(Failure(found.group("id"), outcome, [message] if message else []))

    def close(self) -> None:
        """Digest the section that ends here."""
        body, section = self.body, self.section
        self.body = []
        if section == "test session starts":
            kept, rest = header_notes(body)
            self.run.notes.extend(kept)
            self.run.outside.extend(rest)
        elif section in ("failures", "errors"):
            for failure in block_failures(body):
                self.run.failures.append(failure)
        elif section == "unstarted":
            path = body[0].removeprefix(UNSTARTED).strip(" '.")
            self.run.failures.append(block_failure(f"ERROR collecting {path}", body[1:]))
            self.run.failures[-1].message.insert(0, body[0])
            self.run.totals.append("did not start")
        elif section.startswith("short test summary"):
            self.run.notes.extend(skip_notes(body))
            for line in body:
                found = SUMMARY.match(line)
                if found:
                    self.report(found)
        elif section.startswith("warnings summary"):
            self.run.notes.extend(warning_notes(body))
        elif section.startswith("slowest"):
            self.run.notes.extend(duration_notes(body))
        elif "coverage" in section:
            self.run.notes.extend(coverage_notes(body))
        elif section and section != "after":
            self.run.outside.extend(body)

    def finish(self) -> None:
        """Give each failure its full id and add those that were only reported."""
        waiting: dict[str, list[Failure]] = {}
        for reported in self.reported:
            waiting.setdefault(reported.id.partition("::")[2].replace("::", ".") or reported.id, []).append(
                reported
            )
        seen_ids = {reported.id for reported in self.reported}
        for name in self.named:
            if name not in seen_ids:
                key = name.partition("::")[2].replace("::", ".")
                waiting.setdefault(key, []).append(Failure(name, self.named[name]))
        for failure in self.run.failures:
            title, suffix = _title(failure.id)
            candidates = waiting.get(failure.id.replace("::", "."), []) or waiting.get(title, [])
            if failure.where == [failure.id]:
                candidates = _reported_as(failure, waiting)
            chosen = next((one for one in candidates[:CANDIDATES] if _same_file(one, failure)), None)
            chosen = chosen or (candidates[0] if candidates else None)
            if chosen:
                candidates.remove(chosen)
                failure.message = failure.message or chosen.message
                failure.id = chosen.id + (suffix if chosen.outcome.startswith("SUBFAIL") else "")
            elif failure.where and ".py" not in failure.id:
                path = next((place for place in failure.where if "test" in place), failure.where[0])
                failure.id = (
                    f"{path.rpartition(':')[0]}::{failure.id.replace('.', '::', failure.id.count('.') and 1)}"
                )
        for left in waiting.values():
            self.run.failures.extend(left)


def _title(name: str) -> tuple[str, str]:
    """A block's title without the parameters of a subtest, and those parameters."""
    found = re.match(r"^(.*?)( (?:\[.*\] ?)?(?:\(.*\))?)$", name)
    return (found.group(1).replace("::", "."), found.group(2)) if found else (name, "")


def _reported_as(failure: Failure, waiting: Mapping[str, list[Failure]]) -> list[Failure]:
    """The reports that a line of `--tb=line` may belong to, told by the beginning of its message."""
    first = failure.message[0] if failure.message else ""
    for reports in islice(waiting.values(), CANDIDATES):
        told = reports[0].message[0].removesuffix("...") if reports and reports[0].message else ""
        if told and first.startswith(told):
            return reports
    return []


def _same_file(reported: Failure, failure: Failure) -> bool:
    path = reported.id.partition("::")[0]
    return any(place.rpartition(":")[0].endswith(path) for place in failure.where)


def known_section(title: str) -> bool:
    """True for a section that pytest or a usual plugin writes."""
    return title.lower().startswith(
        (
            "test session",
            "failures",
            "errors",
            "short test",
            "warnings summary",
            "slowest",
            "passes",
            "tests coverage",
            "coverage",
            "xfailures",
            "xpasses",
            "rerun",
        )
    )


def parse_pytest(lines: Sequence[str]) -> SuiteRun:
    """Read the output of pytest."""
    return _Reader().read(lines)


def block_failures(body: Sequence[str]) -> Iterator[Failure]:
    """The failures of one section, in order."""
    title = ""
    block: list[str] = []
    for line in body:
        head = HEAD.match(line) if line[:1] == "_" else None
        if head:
            yield from _finished(title, block)
            title, block = head.group(1), []
        else:
            block.append(line)
    yield from _finished(title, block)


def _finished(title: str, block: Sequence[str]) -> Iterator[Failure]:
    if title:
        yield block_failure(title, block)
        return
    for line in block:
        found = LINE_STYLE.match(line)
        if found:
            place = f"{found.group(1)}:{found.group(2)}"
            yield Failure(place, "FAILED", [found.group(3)], [place])


def block_failure(title: str, block: Sequence[str]) -> Failure:
    """One test's block: its last exception in full, earlier ones of the chain by their first line."""
    error = ERROR_HEAD.match(title)
    outcome = "ERROR" if error else "FAILED"
    name = re.sub(r"^\[gw\d+\] \w+ -- .*$", "", error.group(2) if error else title) or title
    failure = Failure(name, outcome)
    groups, output = _scan(block, failure)
    messages = [dedent(group) for group in groups if any(line.strip() for line in group)]
    if messages:
        chain = [group[0] for group in messages[:-1]]
        failure.message = [*messages[-1], *(f"(after: {line.strip()})" for line in chain)]
    elif not failure.message:
        failure.message = _native_message(block) or _said(block)
    fixtures = next((found[1] for found in map(FIXTURES.match, block) if found), "")
    if fixtures:
        _missing_fixture(failure, block, fixtures)
    failure.output = [line for line in output if NOTABLE.search(line)]
    return failure


def _scan(block: Sequence[str], failure: Failure) -> tuple[list[list[str]], list[str]]:
    groups: list[list[str]] = []
    output: list[str] = []
    library, captured, in_message = "", False, False
    for line in block:
        first = line[:1]
        if first == "-" and CAPTURED.match(line):
            captured = True
            continue
        if captured:
            if line.strip() and len(output) < 400:
                output.append(line)
            continue
        if first == "E" and (line.startswith("E  ") or line == "E"):
            if not in_message:
                groups.append([])
            groups[-1].append(line[1:])
            in_message = True
            found = PY_FRAME.match(line[1:])
            if found and not is_library(found.group(1)):
                failure.where.append(f"{found.group(1)}:{found.group(2)}")
            continue
        in_message = False
        if first == ">" and line.startswith(">  "):
            failure.source = line[1:].strip()
        place = _place(line, first)
        if place and is_library(place):
            library = place
        elif place:
            failure.where.append(place)
            library = ""
    if library:
        failure.where.append(library)
    return groups, output


def _place(line: str, first: str) -> str:
    if first == " " and line.lstrip()[:5] == "File ":
        found = PY_FRAME.match(line)
        return f"{found.group(1)}:{found.group(2)}" if found else ""
    if first in ("", " ", "_", "E", ">", "(") or ":" not in line:
        return ""
    found = LOCATION.match(line)
    if found and (found.group(3) == "" or re.match(r"in |\w[\w.]*$|\w[\w.]*: ", found.group(3))):
        return f"{found.group(1)}:{found.group(2)}"
    return ""


def _said(block: Sequence[str]) -> list[str]:
    """What a block says without any exception: an unfit signature, a crashed worker, a strict xpass."""
    said: list[str] = []
    for line in block:
        if CAPTURED.match(line) or len(said) == MESSAGE_LINES:
            break
        if line.strip() and not (_place(line, line[:1]) or (OF_CODE.match(line) and not said)):
            said.append(line)
    return said


def _missing_fixture(failure: Failure, block: Sequence[str], fixtures: str) -> None:
    """Where the fixture was asked for, and of those that there are the ones with a similar name."""
    wanted = next((found[1] for found in map(MISSING_FIXTURE.match, block) if found), "")
    names = fixtures.split(", ")[:400]
    like = [name for name in names if name and (name in wanted or wanted in name)]
    like = list(dict.fromkeys([*like, *get_close_matches(wanted, names, FIXTURES_KEPT, 0.5)]))[:FIXTURES_KEPT]
    shown = [*like, *(name for name in names if name not in like)][:FIXTURES_KEPT]
    more = f", … {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    failure.message.append(f"available fixtures: {', '.join(shown)}{more}")
    failure.source = ""
    asked = next((f"{found[1]}:{found[2]}" for found in map(ASKED_AT.match, block) if found), "")
    failure.where = [asked] if asked else failure.where


def _native_message(block: Sequence[str]) -> list[str]:
    """The exception's lines at the end of a native traceback."""
    last: list[str] = []
    for line in block:
        if CAPTURED.match(line):
            break
        if re.match(r"^\w[\w.]*(?:Error|Exception|Failed|Exit|Interrupt|Warning|Timeout)\b", line):
            last = [line]
        elif last and line.strip() and not line.startswith(('  File "', "Traceback", *CHAIN)):
            last.append(line)
    return last[:40]


def header_notes(body: Sequence[str]) -> tuple[list[str], list[str]]:
    """Unusual lines of the header (seeds, custom settings), and the lines that are no part of it."""
    notes: list[str] = []
    rest: list[str] = []
    header = True
    for line in body:
        if ROUTINE.match(line) or not line.strip():
            header = header and not line.startswith(("collected ", "collecting "))
        elif header and HEADER.search(line) and len(notes) < 4:
            notes.append(line.strip())
        else:
            rest.append(line)
    return notes, rest


def warning_notes(body: Sequence[str]) -> list[str]:
    """Each distinct warning once: place, category, message, and how often it stands there."""
    seen: dict[tuple[str, str], list[str]] = {}
    for line in body:
        found = WARNING.match(line)
        if found:
            seen.setdefault((found.group(3), found.group(4) or ""), []).append(
                f"{found.group(1)}:{found.group(2)}"
            )
    notes = []
    for (category, message), places in seen.items():
        more = f" (and {len(places) - 1} more places)" if len(places) > 1 else ""
        notes.append(f"warning {places[0]}: {category}: {message}{more}")
    return notes


def duration_notes(body: Sequence[str]) -> list[str]:
    """The slowest tests, as many as DURATIONS_KEPT."""
    slowest = [line.strip() for line in body if DURATION.match(line)]
    return (
        ["slowest: " + "; ".join(" ".join(line.split()) for line in slowest[:DURATIONS_KEPT])]
        if slowest
        else []
    )


def skip_notes(body: Sequence[str]) -> list[str]:
    """The skip lines of the short summary, as they stand."""
    return [line.strip() for line in body if SKIP.match(line)]


def coverage_notes(body: Sequence[str]) -> list[str]:
    """The files below the required coverage, those that are covered least first."""
    required = next((found[1] for found in map(REQUIRED, body) if found), "")
    if not required:
        return []
    files = [(int(found[2]), found[1]) for found in map(COVERED.match, body) if found]
    below = sorted(file for file in files if file[0] < float(required) and file[1] != "TOTAL")
    shown = ", ".join(f"{path} {share}%" for share, path in below[:FILES_BELOW])
    more = f", {len(below) - FILES_BELOW} more" if len(below) > FILES_BELOW else ""
    return [f"below {required}%: {shown}{more}"] if below else []
