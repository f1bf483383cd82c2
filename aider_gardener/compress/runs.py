"""Test runs of any runner: which tests failed, what each compared, where, and how the run ended.

A runner names each failing test in a line (its heading) and tells below it what was wrong. Passing tests are
noise. What names a test once more adds nothing.

What a single line says, of a test, of the run or nothing, is told by a verdict at either end of it: a word in
capitals, a sign or a frame of the runner's own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2

from aider_gardener.compress.outline import (
    CAUSE,
    CONTEXT,
    DETAIL,
    FAILURE,
    NOISE,
    OUTCOME,
    REPEAT,
    WARNING,
    Note,
)
from aider_gardener.compress.quoting import form_of
from aider_gardener.compress.traces import LIBRARY
from aider_gardener.compress.traces import read as read_traces
from aider_gardener.reading.alarms import alarm
from aider_gardener.reading.late import late

_KINDS = (
    "tests?|pass(?:ed|ing)?|fail(?:ed|ing|ures?)?|errors?|examples?|runs?|assertions?|skip(?:ped)?|pending|"
    "success|specs?|scenarios?|steps|suites?|todo|ignored"
)
COUNT = late(rf"\b\d+ (?:\w+ )?(?:{_KINDS})\b|\b(?:{_KINDS}|total) ?[:=]? *\d+\b")
OF_TESTS = "test pass example assertion spec scenario suite failing succe executed".split()
SUMS_UP = late(
    r"\W{0,80}(?:Ran \d+ tests?\b|OK(?: \(|$)|FAILED \(|\d+ (?:passing|failing|pending)\b|"
    r"\d+ (?:passed|failed|skipped|flaky)(?: \(.*\))?$|(?:PASSED|FAILED)  \] \d+ tests?|\d+ \w+ in [\d.]+ ?s|"
    r"[\d.]+% (?:tests )?passed|(?:[\d:]+ \+\d.*: )?(?:All|Some) tests (?:pass|fail)ed|Result: (?:FAIL|PASS)|"
    r"Test run with \d+ tests|(?:pass|fail|tests|skipped|todo) \d+$|stopping after \d+ fail|"
    r"[\w.-]+: (?:commands (?:succ|fail)|OK|FAIL)\b|FAIL(?:\s+\S+\s+(?:[\d.]+s|\[.*\]))?$)"
)

_REMARK = r"[\s|\]*]*(?:[\d.]+ ?m?s(?:ec)?|[\[(][^()\[\]]*[\])])?$"
PASSED = late(
    r"\s*(?:[✓✔√\u2705]|\W{0,12}(?:PASS|PASSED|OK|Passed|ok)\b(?! \(| in:)(?:[\]:\s]|$)|1\.\.\d+$|"
    r"=== (?:RUN|NAME|CONT|PAUSE)\b|\[ RUN +\] |# Subtest: |Start +\d+: |◇ Test (?!run)|"
    r"platform \w+ -- Python|rootdir: |plugins: |\d+ workers \[|collected \d+ items?$|"
    r"Test (?:Case|Suite) .* (?:passed|started)\b|\d\d:\d\d \+\d+(?: ~\d+)?(?: -\d+)?: (?!.*\[E\]$))|"
    r"(?:\S+ )?(?:[.sFExX]+ +\[ *\d+%\]|[.sFExXRSWDNPUuI*?●◼]{4,}(?: .*%[)\]])?)$|"
    r"[=⎯─━]{3,}.*[=⎯─━]{2}$|.*Executed \d+ of \d+ SUCCESS|"
    rf".*(?:\.\.\.|[…\s\[(])(?:ok|OK|PASS|PASSED|Passed|passed|✔|✓)(?!\w){_REMARK}"
)
SKIPPED = late(
    r"\s*(?:[○◌⊘↓] \S|\W{0,12}(?:SKIP(?:PED)?|Skipped)\b[\]:\s]|(?:not )?ok \d+ .*# ?(?:skip|SKIP|TODO))|"
    r".*(?:\.\.\. ?(?:skipped|ignored|SKIP|expected failure)|\s(?:SKIPPED|XFAIL|IGNORED)(?: .*)?$|"
    r"\bskipped \(|\(PENDING\b)"
)
_BAD = r"(?:(?:SUB ?)?FAIL(?:ED|URE)?|XPASS|TIMEOUT|SIG[A-Z]{3,4})"
FAILED = late(
    r"_{3,} ?(?=\S.* ?_{3,}$)|-{3,} (?=\S.* std(?:out|err) -{3,}$)|\s*not ok \d+(?: -)? ?|"
    r"\s*(?:● (?!Console$)|\d+\) +(?!at |(?:Failure|Error|Skipped|Pending):?$)|[✗✘✕✖×❌☒⨯] *)(?=\S)|"
    rf"\s*\W{{0,4}}{_BAD}\b(?! \()[\]\s:]+(?=\S)|\W{{0,3}}ERROR(?:ED)?[\]:\s]+(?!\s|\S+:\d+ )"
    r"(?=.*(?:::|/|[Tt]est))|(?:Failure|Error)(?: → | \(')(?=\S)|"
    r"\s+Failed (?=\S.* \[<? ?[\d.,]+ ?\w+\]$)|\s*Test Case '(?=[^']*' failed)|(?=\S+#\S+ \[\S+:\d+\]:$)"
)
FAILED_BEHIND = late(
    r"(?: -- .*| +Time elapsed.*)? <<< (?:FAILURE|ERROR)!|[ .]*\*{3} ?(?=[A-Z])| => \S+:\d+(?::\d+)?$|"
    rf": (?:Test Failed|Error During Test) at |(?:(?:\.\.\. ?|\s\| )(?:{_BAD}|ERROR|[fF]ailed)\b|"
    rf"\s(?:FAILED|ERROR)(?=$| +\[)|\s[\[(](?:FAIL|FAILED - \d+|E|✘|✗)[\])]){_REMARK}"
)


def kind_of(line: str) -> tuple[str, str]:
    """What a line is in the output of a test runner, and the name in it.

    "count" sums up tests; "bad" says that a test failed, "skip" that it was not run, "noise" that it passed
    or begins, or draws a rule; "" is anything else.
    """
    if not line.strip():
        return "", ""
    if sums_up(line):
        return "count", ""
    if SKIPPED.match(line):
        return "skip", ""
    if PASSED.match(line):
        return "noise", ""
    if found := FAILED.match(line):
        return "bad", line[found.end() :]
    found = FAILED_BEHIND.search(line, 1)
    return ("bad", line[: found.start()]) if found else ("", "")


def sums_up(line: str) -> bool:
    """True for a line that sums up tests: in a runner's words, or with more than one number of them."""
    small = line.lower()
    of_tests = any(map(small.__contains__, OF_TESTS)) and len(COUNT.findall(small)) > 1
    return of_tests or bool(SUMS_UP.match(line))


LINE_CHARS = 400
BODY_LINES = 400
"""So many lines below a heading may be its own."""

SERIES = 4
"""Of more tests that fail for one cause the last is told like the second: it shows what they run over."""

COMPARED = late(
    r"(?i)(?:E )?\W*(?:expected|actual|received|got|want(?:ed)?|left|right|found|but was|which is|was)\b"
    r".{0,40}?[:=]|(?:E )?\s*[-+](?![-+ ]*$)\s*\S|.*\b(?:but (?:was|got|none)|expected\b.*\b(?:to|but|got|"
    r"found)|not equal|d(?:oes|id) ?n[o']t (?:match|equal))\b|.* (?:[!=]==?|<=|>=|not in|is not) |\s*<.*>\.?$"
)
IDLE = late(
    r"(?i)\W*$|\s*(?:duration_ms: |failureType: |--- |\+\+\+ |@@ |[-+] (?:Expected|Received|actual)\b|"
    r"E +Use -v|\[gw\d+\] |Traceback \(most)"
)
PLACE = late(
    r"(?<![\w@./~\\-])[\w./~\\-]*\.[A-Za-z]\w{0,5}(?::\d+|\(\d+(?:,\d+)?\)|:line \d+|(?:\"?,)? line \d+)"
)
AROUND_NAME = late(
    r"\s*[(\[][<\s]*[\d.,]+ ?[a-zµ]+[)\]]\s*$|(?: std(?:out|err))?[\s|─_-]+$|"
    r"^(?:ERROR )?(?:at \w+ of|collecting) "
)
PARTS = late(r"::| › | > |: |#|\.(?=[A-Za-z_]\w*$)")


@dataclass
class Case:
    """A failing test: the row that names it, and those that tell of it.

    said: the first line of what it says of its failure.
    again: another line names it, and below that stands all that stands below this.
    """

    row: int
    name: str
    body: list[int] = field(default_factory=list)
    reason: str = ""
    again: bool = False

    def key(self) -> str:
        """What is left of its name when where it stands is taken off."""
        return PARTS.split(AROUND_NAME.sub("", self.name.partition(" - ")[0]))[-1].strip()


def read(lines: Sequence[str]) -> dict[int, Note]:
    """What the lines of a test run are worth."""
    whole, lines = lines, [line[:LINE_CHARS].rstrip() for line in lines]
    if not any(map(sums_up, reversed(lines))):
        return {}
    kinds = list(map(kind_of, lines))
    if {kind for kind, _name in kinds} <= {"", "count"}:
        return {}
    notes: dict[int, Note] = {}
    failing: list[Case] = []
    counts: dict[str, int] = {}
    case: Case | None = None
    for row, (kind, name) in enumerate(kinds):
        if kind == "" and case and _belongs(lines, row, case):
            case.body += [row] * bool(lines[row])
            continue
        case = Case(row, name) if kind == "bad" else None
        if case:
            failing.append(case)
        elif kind == "count":
            counts[form_of(lines[row])] = row
            notes[row] = Note(DETAIL)
        elif kind:
            notes[row] = Note(WARNING if kind == "skip" else NOISE, -1, (kind, form_of(lines[row])))
    traces = read_traces(whole)
    _compare(lines, failing, traces)
    causes = Counter(form_of(case.reason) for case in failing if not case.again)
    nth: Counter[str] = Counter()
    for case in failing:
        cause = form_of(case.reason)
        nth[cause] += not case.again
        last = nth[cause] == causes[cause] > SERIES
        notes.update(_notes(lines, case, 1 if last else nth[cause], (cause, last), traces))
    for back, row in enumerate(sorted(counts.values(), reverse=True), 1):
        notes[row] = Note(OUTCOME - REPEAT * log2(back), -1, ("last", row))
    return notes


def _belongs(lines: Sequence[str], row: int, case: Case) -> bool:
    """True for a line below a heading that still tells of its test."""
    line, heading, body = lines[row], lines[case.row], case.body
    is_near = (
        not line
        or _depth(line) > _depth(heading)
        or bool(lines[row - 1])
        or heading[0] in ("_" if body else "_-─")
    )
    return len(body) < BODY_LINES and (is_near or bool(body and not _depth(lines[body[0]])))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _compare(lines: Sequence[str], failing: Sequence[Case], traces: Mapping[int, Note]) -> None:
    """Finds what each test says, and which lines name a test again that another line tells more of."""
    by_key: defaultdict[str, list[Case]] = defaultdict(list)
    for case in failing:
        case.reason = _reason_line(lines, case, traces)
        by_key[case.key()].append(case)
    for cases in by_key.values():
        fullest = max(cases, key=lambda case: len(case.body))
        body_lines = {lines[row].strip() for row in fullest.body}
        for case in cases:
            is_less = {lines[row].strip() for row in case.body} <= body_lines
            case.again = bool(body_lines) and case is not fullest and is_less


def _reason_line(lines: Sequence[str], case: Case, traces: Mapping[int, Note]) -> str:
    """The line that says best why a test failed: the first that tells of an error."""
    rows = [row for row in case.body if not IDLE.match(lines[row])]
    marked = [row for row in rows if lines[row].startswith("E  ")]
    marked = marked or [row for row in rows if row in traces and traces[row].worth > CAUSE]
    others = (row for row in rows if not PLACE.search(lines[row]))
    reason_rows = marked or sorted(others, key=lambda row: alarm(lines[row]) != "error")
    return lines[reason_rows[0]].removeprefix("E").strip() if reason_rows else case.name.partition(" - ")[2]


def _notes(
    lines: Sequence[str], case: Case, nth: int, cause: tuple[str, bool], traces: Mapping[int, Note]
) -> dict[int, Note]:
    """Notes for the lines of a failing test, the `nth` of its cause."""
    notes = {case.row: Note(NOISE if case.again else CAUSE, -1, ("test", cause), not case.again)}
    drop = log2(max(1, nth))
    marked = any(lines[row].startswith("E  ") for row in case.body)
    for row in case.body:
        line = lines[row]
        is_place = PLACE.search(line) and not LIBRARY.search(line)
        value = 0.0
        form: Hashable = (cause, form_of(line))
        if case.again or IDLE.match(line):
            pass
        elif line.removeprefix("E").strip() == case.reason:
            value = CAUSE
        elif marked and not line.startswith("E"):
            value = FAILURE if is_place else CONTEXT / 2
        elif COMPARED.match(line):
            value = CAUSE - 1.5
            form = (case.row if nth < SERIES else 0, form)
        elif row in traces:
            value = traces[row].worth
        elif is_place:
            value = FAILURE
        else:
            value = WARNING
        notes[row] = Note(value - drop, case.row, form)
    return notes
