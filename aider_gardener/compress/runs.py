"""Test runs of any runner: which tests failed, what each compared, where, and how the run ended.

A runner names each failing test in a line (its heading) and tells below it, or above where the test started,
what was wrong. Passing tests are noise. What names a test once more adds nothing.

What a single line says, of a test, of the run or nothing, is told by a verdict at either end of it: a word in
capitals, a sign or a frame of the runner's own.
"""

from __future__ import annotations

import re
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
    "tests?|passed|passing|failed|failing|failures?|errors?|errored|examples?|runs|assertions?|skipped|pending|success|"
    "subtests|specs?|scenarios?|steps|suites?|todo|ignored|expectations?|broken|crashed|xfailed|flaky|succeeded"
)
COUNT = late(rf"\b\d+ (?:\w+ )?(?:{_KINDS})\b|\b(?:{_KINDS}|total|run|pass|fail|skip) ?[:=]? *\d+\b")
OF_TESTS = "test pass example assertion spec scenario suite xfail expectation failing succe executed".split()

SUMS_UP = late(
    r"\W{0,80}(?=\S)(?:Ran \d+ tests?\b|OK \(|OK$|FAILED \((?:failures|errors|unexpected)|\d+ (?:passing"
    r"|failing|pending)\b|\d+ (?:passed|failed|skipped|flaky|did not run)(?: \(.*\))?$|Result: (?:FAIL|PASS)"
    r"|[\d.]+% (?:tests )?passed|(?:[\d:]+ \+\d.*: )?(?:All|Some) tests (?:pass|fail)ed|TOTAL:? +\d"
    r"|no tests ran|\d+ \w+ in [\d.]+ ?s|Files=\d|(?:FAILURES|ERRORS|WARNINGS)!$|Test run with \d+ tests"
    r"|(?:pass|fail|tests|skipped|todo) \d+$|test result: |Looks like you (?:failed|planned)"
    r"|\d+ (?:FAILED TESTS?|TESTS? FAILED)|(?:Failed|Passed)!  - |Test Run [FSA]|FAIL(?:ED)? Required"
    r"|stopping after \d+ fail|Interrupted: |(?:error: )?(?:test (?:run )?failed|\d+ targets? f)"
    r"|\[  (?:PASSED|FAILED)  \] \d+ tests?|(?:ERROR: +)?[\w.-]+: (?:commands (?:succ|fail)|could not|OK"
    r"|FAIL)\b|FAIL(?:\s+\S+\s+(?:[\d.]+s|\[.*\]))?$)"
)

_REMARK = r"[\s|\]*]*(?:[\d.]+ ?m?s(?:ec)?|\[[^\[\]]*\]|\([^()]*\))?$"
OK = late(
    r"\s*(?:[✓✔√\u2705]|(?:PASS|ok|1\.\.\d+)$|(?:PASS|PASSED|OK|Passed|ok)\b(?! \(| in:)[:\s]|\[ *(?:PASS|"
    r"PASSED|OK) *\] |ok \d+\b|--- PASS: |=== PAUSE\b|platform \w+ -- Python|rootdir: |plugins: |"
    r"\d+ workers \[|collected \d+ items?$|Test Case .* passed\b|Test Suite .* (?:passed|started)\b|"
    r"\d\d:\d\d \+\d+(?: ~\d+)?(?: -\d+)?: (?!.*\[E\]$))|(?:\S+\.py )?[.sFExX]+ +\[ *\d+%\]$|"
    r"(?:\S+ )?[.sFExXRSWDNPUuI*?●◼]{4,}(?: *\[ *\d+%\]| +\d+ / \d+ \( *\d+%\))?$"
)
OK_BEHIND = late(
    rf"(?:\.\.\. ?|…|\s\| |[\[(] ?)(?:ok|OK|PASS|Passed|passed|✔|✓)(?!\w){_REMARK}|"
    r"\sPASSED(?: +\[ *\d+%\])?$|Executed \d+ of \d+ SUCCESS"
)
SKIPPED = late(
    r"^\s*(?:[○◌⊘↓] \S|- .*\(skipped|-  ?\d+ \[|SKIP(?:PED)?\b[:\s]|\[ *SKIPPED *\] |--- SKIP: |"
    r"Skipped \S.* \[|(?:not )?ok \d+ .*# ?(?:skip|SKIP|TODO))|\.\.\. ?(?:skipped|ignored|SKIP|"
    r"expected failure)|: Test skipped -|\s(?:SKIPPED|XFAIL|IGNORED)(?: .*)?$|skipped \([\d.]+ seconds\)|"
    r"\(PENDING\b[^()]*\)$"
)
START = late(
    r"^\s*(?:=== (?:RUN|NAME|CONT) +|\[ RUN +\] |# Subtest: |Start +\d+: |Test Case '|"
    r"◇ Test (?!run))(?P<name>[^']*?)(?:' started\.?.*| started\.)?$"
)
_BAD = r"(?:FAIL(?:ED|URE)?|SUB ?FAIL(?:ED)?|XPASS|TIMEOUT|SIG[A-Z]{3,4}|BROKEN|CRASHED)"
_TEST = (
    r"(?:\S+::|\S*tests?/|\S+\.(?:py|rb|js|ts)\b|\w+ \([\w.]+\)|test\w*|at (?:setup|teardown) of |"
    r"collecting |\S+#\S+)"
)
BAD_WORD = late(
    r"FAIL|Fail|fail|ERROR|Error|TIMEOUT|XPASS|SIG|BROKEN|CRASHED|not ok |___|--- |STD|\) | => |\*\*\*|\[E\]|"
    r"●|✗|✘|✕|✖|×|❌|☒|⨯"
)
"""Words without which a line says nothing of the kind: they are looked for first, which takes a tenth of the
time."""
HEADING = late(
    r"^_{3,} ?(?P<ruled>(?!summary |coverage:)\S.*?) ?_{3,}$|^-{3,} (?P<stdout>\S.*) std(?:out|err) -{3,}$|"
    r"^[-─]{3,} STD(?:OUT|ERR): +(?P<stderr>\S.*?) [-─]{3,}$|^\s*--- FAIL: (?P<go>\S+)|"
    r"^\s*not ok \d+(?: -)? ?(?P<tap>.*)|^\s*\[ {0,2}(?:FAILED|TIMEOUT|"
    r"FAIL) *\] (?!\d+ tests?)(?P<framed>[^,]*)|^ *● (?P<dot>(?!Console$)\S.*)$|^\s*(?:\d+\) +(?!at )|"
    r"[✗✘✕✖×❌☒⨯] *)(?P<mark>\S.*)$|"
    rf"^\s*\W{{0,4}}{_BAD}\b(?! \()[\]\s:]+(?:\[ *[\d.]+m?s\] )?(?P<word>[\w\"'/.].*)$|"
    rf"^\W{{0,3}}ERROR(?:ED)?[\]:\s]+(?!\S+:\d+ )(?P<error>{_TEST}.*)$|^(?:Failure|Error)(?:: (?=\w+\()| → |"
    rf" \(')(?P<unit>\S.*)$|"
    r"^\s+Failed (?P<net>\S.*) \[<? ?[\d.,]+ ?\w+\]$|^\s*Test Case '(?P<xcode>[^']*)' failed|"
    r"^(?:\[ERROR\] +)?(?P<surefire>\S.*?)(?: -- .*| +Time elapsed.*)? <<< (?:FAILURE|ERROR)!|"
    r"^(?P<ctest>\s*\d+/\d+ Test +#\d+: \S+) [ .]*\*\*\*|^(?P<julia>\S.*?): (?:Test Failed|"
    r"Error During Test) at |^(?P<arrow>\S.*?) => \S+:\d+(?::\d+)?$|"
    r"^(?!> )(?P<trailing>\s*\S.*?)(?:(?: \.\.\. ?|(?<!\.)\.{3,} ?|\s\| |\*{3} )"
    rf"(?:{_BAD}|ERROR|failed|Failed)\b|\s(?:FAILED|ERROR)(?=$| +\[)|: FAILED:|\s\[(?:FAIL|E|✘|✗)\]|"
    rf"\s\(FAILED - \d+\)){_REMARK}"
)
BARE = late(r"^\s*\d+\) (?:Failure|Error|Skipped|Pending):?$")
SECTION = late(
    r"^(?:=+ [^=].* =+|-{2,} ?(?:coverage:|generated ).*|(?:[Ff]ailures|Failed examples):|"
    r"[=⎯-]{3,}(?: (?!Captured).* |\[.*\])?[=⎯-]+|[─━]{4,}.*|--|(?:The following tests|Failing|There (?:was|"
    r"were) \d+) .*:|Summary of all failing.*|Test Summary Report|Test Suite '.*' failed.*| ?(?:ERRORS|"
    r"FAILURES))$"
)
LESSER = late(
    r"^(?:There (?:was|were) \d+ (?:\w+ )*(?:risky|skipped|incomplete|warning|deprecation|notice)|"
    r"\d+ tests? triggered \d|Pending:|Skipped(?: tests)?:|.*warnings? summary)"
)


def kind_of(line: str) -> tuple[str, str]:
    """What a line is in the output of a test runner, and the name in it.

    "count" sums up tests; "bad" says that a test failed, "ok" passed, "skip" neither;
    "start" that it begins; a "section" begins another part of the output; "" is anything else.
    """
    if not line.strip():
        return "", ""
    if sums_up(line):
        return "count", ""
    if SKIPPED.search(line):
        return "skip", ""
    if OK.match(line) or OK_BEHIND.search(line):
        return "ok", ""
    if found := START.match(line):
        return "start", found["name"]
    if BARE.match(line):
        return "bad", ""
    if BAD_WORD.search(line) and (found := HEADING.match(line)) and found.lastgroup:
        return "bad", found[found.lastgroup]
    return ("section" if SECTION.match(line) or LESSER.match(line) else ""), ""


def sums_up(line: str) -> bool:
    """True for a line that sums up tests: in a runner's words, or with more than one number of them."""
    small = line.lower()
    return bool(SUMS_UP.match(line)) or (
        any(map(small.__contains__, OF_TESTS)) and len(COUNT.findall(small)) > 1
    )


LINE_CHARS = 400
BODY_LINES, LEAST_SHARE = 400, 0.015
"""So many lines below a heading are its own; of a run's lines at least so many tell of a test or sum up."""

SERIES = 4
"""Of more tests that fail for one cause the last is told like the second: it shows what they run over."""

COMPARED = late(
    r"(?i)^(?:E )?\W*(?:expected|actual|received|got|want(?:ed)?|left|right|obtained|evaluated|found|but was|"
    r"which is|was)\b.{0,40}?[:=]|\b(?:but (?:was|got|none)|expected\b.*\b(?:to|but|got|found)|not equal|"
    r"d(?:oes|id) ?n[o']t (?:match|equal)|failed assert|asserting that)\b| (?:[!=]==?|<=|>=|not in|is not) |"
    r"^\s*<.*>\.?$|\bwant \S|\bassert\w* "
)
KEYED = late(r"\s+(?:error|message): \S")
"""Why a test failed, in a report whose lines have keys."""
CHANGED = late(r"^(?:E )?\s*[-+](?![-+ ]*$)\s*\S")
POINTED = late(r"^(?:>|=>|\s*=> |\s*[>➜] *\d+ ?[|▕│])")
IDLE = late(
    r"(?i)^\W*$|^\s*(?:duration_ms: |failureType: |--- |\+\+\+ |@@ |"
    r"[-+] (?:Expected|Received|actual)\b|\+ expected - actual|note: run with|E +Use -v|E? *\.\.\.$|"
    r"E +(?:Full diff|Omitting|comparison failed)|stack ?trace:?$|Error Message:$|"
    r"\[gw\d+\] \w+ -- |\(compared|Traceback \(most)"
)
PLACE = late(
    r"(?<![\w@./~\\-])[\w./~\\-]*\.[A-Za-z]\w{0,5}(?::\d+|\(\d+(?:,\d+)?\)|:line \d+|\"?, line \d+)|"
    r"\bat \S+ line \d"
)
CRASHED = late(r"^(?:panic: |fatal error: |Segmentation fault|SIG[A-Z]{3,4}\b)")
WARNS = late(r"^\s*\S+:\d+: \w*Warning: |^SKIPPED \[\d+\] |\bseed\b:? +\d+")
LOOSE = late(r"FAIL|Fail|\d+/\d")
AROUND_NAME = late(
    r"\s*[(\[][<\s]*[\d.,]+ ?[a-zµ]+[)\]]\s*$|\s[\d.]+ ?m?s$|[\s|─]+$|^(?:ERROR at \w+ of|at \w+ of|"
    r"ERROR collecting) "
)
PARTS = late(r"::| › | > |: |#|(?<=\w)\.(?=[A-Za-z_])(?!(?:py|[jt]sx?|rb|php|go|exs?|java|cs|dart)$)")


@dataclass
class Case:
    """A test: the row that names it, more rows with its name, and those that tell of it.

    said: the first line of what it says of its failure.
    told: a line elsewhere that names it says that too.
    again: another line names it and tells more.
    lesser: it did not fail, it was skipped, or warned.
    """

    row: int
    name: str
    started: bool = False
    lesser: bool = False
    named: list[int] = field(default_factory=list)
    body: list[int] = field(default_factory=list)
    said: str = ""
    told: bool = False
    again: bool = False

    def key(self) -> str:
        """What is left of its name when where it stands is taken off."""
        name = AROUND_NAME.sub("", self.name.split(" - ")[0].strip(" :"))
        base, values = re.fullmatch(r"(.*?)((?<=\w)\[.*\])?", name, re.DOTALL).groups("")  # type: ignore[union-attr]
        return PARTS.split(base)[-1].strip() + values

    def cause(self) -> str:
        """What tests that fail alike have in common; of a test that is told of elsewhere it is apart."""
        return f"{form_of(self.said.removeprefix('E'))}{' told' * self.told}"


def read(lines: Sequence[str]) -> dict[int, Note]:
    """What the lines of a test run are worth."""
    lines = [line[:LINE_CHARS].rstrip() for line in lines]
    if not any(sums_up(line) or START.match(line) for line in reversed(lines)):
        return {}
    kinds = list(map(kind_of, lines))
    of_kind = Counter(kind for kind, _name in kinds)
    verdicts = of_kind["bad"] + of_kind["ok"] + of_kind["skip"]
    known = of_kind["count"] + of_kind["start"]
    if known + verdicts < LEAST_SHARE * len(lines) or not known or verdicts < 1 + (not of_kind["count"]):
        return {}
    failing, notes = _cases(lines, kinds)
    _compare(lines, failing)
    traces = read_traces(lines)
    causes = Counter(case.cause() for case in failing if not case.again)
    nth: Counter[str] = Counter()
    said: set[str] = set()
    for case in failing:
        cause = case.cause()
        nth[cause] += not case.again
        last = nth[cause] == causes[cause] > SERIES
        same = case.said in said and not last
        said.add(case.said)
        notes.update(_notes(lines, case, 1 if last else nth[cause], (cause, last), same, traces))
    notes.update(_sums(lines, [row for row, (kind, _name) in enumerate(kinds) if kind == "count"]))
    return notes


def _cases(lines: Sequence[str], kinds: Sequence[tuple[str, str]]) -> tuple[list[Case], dict[int, Note]]:
    """The failing tests in their order, and notes for what is none of theirs."""
    failing: list[Case] = []
    started: dict[str, Case] = {}
    notes: dict[int, Note] = {}
    case: Case | None = None
    lesser = False
    for row, (kind, name) in enumerate(kinds):
        line = lines[row]
        if kind == "" and case and _belongs(lines, row, case):
            _add(lines, row, case)
        elif kind == "":
            case = None
            if WARNS.search(line):
                notes[row] = Note(WARNING + 1, -1, ("warns", form_of(line)))
        elif kind == "bad":
            case = Case(row, name, lesser=lesser)
            before = started.pop(case.key(), None)
            if not before and line.lstrip().startswith("not ok") and started:
                before = started.popitem()[1]
            if before and (before.body or before.key() != case.key()):
                case = Case(before.row, before.name, named=[row], body=before.body)
            failing.append(case)
        elif kind == "start":
            case = Case(row, name, started=True)
            before = started.get(case.key())
            if before and "RUN" in line:
                notes.update({at: Note(CONTEXT / 2, before.row) for at in before.body})
            elif before:
                case = before
            started[case.key()] = case
            notes[row] = Note(NOISE)
        elif kind in ("ok", "skip"):
            notes[row] = Note(NOISE if kind == "ok" else WARNING, -1, (kind, form_of(line)))
            if case and case.started and kind == "skip":
                notes.update({at: Note(DETAIL, case.row) for at in case.body})
            case = None
        elif kind != "section" or not case or not (case.started or row == case.row + 1):
            lesser = kind == "section" and bool(LESSER.match(line))
            notes[row] = Note(NOISE)
            case = None
    for case in started.values():
        if any(CRASHED.match(lines[at]) for at in case.body):
            failing.append(case)
        else:
            notes.update({at: Note(CONTEXT / 2, case.row) for at in case.body if at not in notes})
    return sorted(failing, key=lambda case: case.row), notes


def _belongs(lines: Sequence[str], row: int, case: Case) -> bool:
    """True for a line below a heading that still tells of its test."""
    line, heading = lines[row], lines[case.row].lstrip()
    told = [at for at in case.body[:20] if lines[at].strip()]
    if len(case.body) >= BODY_LINES:
        return False
    if not line.strip() or BARE.match(heading) or ((told or case.named) and lines[row - 1].strip()):
        return True
    depth, least = (len(one) - len(one.lstrip()) for one in (line, lines[case.row]))
    if depth > least - (least > 0 and bool(told)) or heading[0] == "_" or (told and COMPARED.search(line)):
        return True
    if line.startswith(("[INFO]", "> ")) or (least and not LOOSE.match(heading)):
        return False
    if told:
        return not lines[told[0]][0].isspace() or line[0].isspace()
    return bool(lines[row - 1].strip()) or heading[0] in "-─=●" or line[0] == "#"


def _add(lines: Sequence[str], row: int, case: Case) -> None:
    """Adds a line to what tells of a test, or to its name: a bare heading is named in the line below."""
    line = lines[row]
    numbered = lines[case.row].lstrip()[:1].isdigit()
    if numbered and not case.body and line.endswith(":") and row == case.row + len(case.named) + 1:
        case.named.append(row)
        case.name = re.sub(r" \[\S+:\d+\]:$", "", line.strip())
    else:
        case.body.append(row)


def _compare(lines: Sequence[str], failing: Sequence[Case]) -> None:
    """Finds what each test says, and which lines name a test again that another line tells more of."""
    by_key: defaultdict[str, list[Case]] = defaultdict(list)
    for case in failing:
        case.said = _said(lines, case)
        by_key[case.key()].append(case)
    for cases in by_key.values():
        cases.sort(key=lambda case: -len(case.body))
        fullest, said = cases[0], _bare(cases[0].said)
        for case in cases[1:]:
            if "::" in case.name and said and said in _bare(case.name):
                fullest.told = True
            elif said and (not case.body or _bare(case.said) in said):
                case.again = True


def _compares(line: str) -> bool:
    """True for a line with a value that was compared."""
    return bool(COMPARED.search(line) or CHANGED.match(line))


def _bare(text: str) -> str:
    return re.sub(r"^E? *(?:[\w.]+(?:Error|Exception): )?|\W", "", text)


def _said(lines: Sequence[str], case: Case) -> str:
    """The line that says best why a test failed."""
    rows = [row for row in case.body if lines[row].strip() and not IDLE.match(lines[row])]
    marked = [row for row in rows if lines[row].startswith("E  ") or KEYED.match(lines[row])]
    for row in marked or rows:
        line = lines[row]
        if marked or not (PLACE.match(line.strip()) or POINTED.match(line)) or COMPARED.search(line):
            return line.strip()
    return case.name.partition(" - ")[2] if "::" in case.name else ""


def _notes(
    lines: Sequence[str],
    case: Case,
    nth: int,
    cause: tuple[str, bool],
    same: bool,
    traces: Mapping[int, Note],
) -> dict[int, Note]:
    """Notes for the lines of a failing test, the `nth` of its cause; `same` if one before said the same."""
    worth = NOISE if case.again or case.told else FAILURE + 1.5 - 5 * case.lesser
    notes = {row: Note(worth, case.row, ("name", cause), worth >= 0) for row in case.named}
    notes[case.row] = Note(min(worth, CONTEXT) if case.named else worth, -1, ("test", cause), worth >= 0)
    drop = log2(max(1, nth)) + 5 * case.lesser + 4 * same
    rows = [row for row in case.body if lines[row].strip()]
    head = max(row for row in (case.row, *case.named) if row == case.row or row < min(rows, default=0))
    marked = any(lines[row].startswith("E  ") for row in rows)
    own = {row for row in rows if not LIBRARY.search(lines[row])}
    places = [row for row in rows if row in own and PLACE.search(lines[row])]
    compared = others = 0
    for row in rows:
        line = lines[row]
        value = 0.0
        form: Hashable = (cause, form_of(line))
        if IDLE.match(line) or case.again:
            pass
        elif line.strip() == case.said:
            value = CONTEXT if case.told else CAUSE + 0.04 * max(0, min(len(line), 200) - 80)
        elif line.startswith("E  ") and not lines[row - 1].startswith("E"):  # one more of a chain
            value = CAUSE - 1
        elif marked and not line.startswith("E") and row not in places:
            value = DETAIL + 1 if POINTED.match(line) else CONTEXT / 2
        elif row in traces and not marked and not _compares(line):
            note = traces[row]
            above = note.above if rows[0] <= note.above else head
            notes[row] = note._replace(worth=note.worth - drop, above=above)
            continue
        elif _compares(line):
            compared += 1
            value = max(CAUSE - 1 - 0.5 * max(0, compared - 3), DETAIL)
            form = (case.row if nth < SERIES else 0, form)
        elif row in places:
            value = FAILURE + 0.5 if row == places[0] else FAILURE if row == places[-1] else WARNING
        elif POINTED.match(line):
            value = DETAIL + 1
        elif row in own:
            others += 1
            value = max(CONTEXT, WARNING + marked - 0.5 * others)
        notes[row] = Note(value - drop, head, form)
    return notes


def _sums(lines: Sequence[str], rows: Sequence[int]) -> dict[int, Note]:
    """Notes for a runner's counts: of those that read alike the last is worth most, of these the last."""
    last = {form_of(lines[row]): row for row in rows}
    notes = {
        row: Note(WARNING if alarm(lines[row]) else DETAIL, -1, ("sums", form_of(lines[row]))) for row in rows
    }
    for nth, row in enumerate(sorted(last.values(), reverse=True), 1):
        notes[row] = Note(OUTCOME - REPEAT * log2(nth), -1, ("last", row))
    return notes
