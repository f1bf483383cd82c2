"""What a single line says in the output of a test runner, whichever it is: of a test, of the run, or nothing.

A verdict stands at either end of its line, as a word in capitals, a sign or in a frame of the runner's own.
"""

from __future__ import annotations

import re

_KINDS = (
    "tests?|passed|passing|failed|failing|failures?|errors?|errored|examples?|runs|assertions?|skipped|pending|success|"
    "subtests|specs?|scenarios?|steps|suites?|todo|ignored|expectations?|broken|crashed|xfailed|flaky|succeeded"
)
COUNT = re.compile(rf"\b\d+ (?:\w+ )?(?:{_KINDS})\b|\b(?:{_KINDS}|total|run|pass|fail|skip) ?[:=]? *\d+\b")
OF_TESTS = "test pass example assertion spec scenario suite xfail expectation failing succe executed".split()
BEGINS = re.compile(r"\b(?:running|starting|collecting|executing)\b")
"""Counts of tests, in small letters; what begins is none."""

BUILT = re.compile(r"(?:\[\w+\] )?BUILD [A-Z]+(?: in .*)?$")
SUMS_UP = re.compile(
    r"\W{0,80}(?=\S)(?:Ran \d+ tests?\b|OK \(|OK$|FAILED \((?:failures|errors|unexpected)|"
    r"\d+ (?:passing|failing|pending)\b|\d+ (?:passed|failed|skipped|flaky|did not run)(?: \(.*\))?$|"
    r"Result: (?:FAIL|PASS)|[\d.]+% (?:tests )?passed|(?:[\d:]+ \+\d.*: )?(?:All|Some) tests (?:pass|fail)ed|"
    r"TOTAL:? +\d|no tests ran|\d+ \w+ in [\d.]+ ?s|Files=\d|(?:FAILURES|ERRORS|WARNINGS)!$|"
    r"Test run with \d+ tests|(?:pass|fail|tests|skipped|todo) \d+$|test result: |"
    r"Looks like you (?:failed|planned)|\d+ (?:FAILED TESTS?|TESTS? FAILED)|(?:Failed|Passed)!  - |"
    r"Test Run [FSA]|FAIL(?:ED)? Required|"
    r"stopping after \d+ fail|Interrupted: |(?:error: )?(?:test (?:run )?failed|\d+ targets? f)|"
    r"\[  (?:PASSED|FAILED)  \] \d+ tests?|(?:ERROR: +)?[\w.-]+: (?:commands (?:succ|fail)|could not|OK|"
    r"FAIL)\b|FAIL(?:\s+\S+\s+(?:[\d.]+s|\[.*\]))?$)"
)
SUM_WORDS = tuple(
    "fail|pass|ok|pending|skip|flaky|did not|ran |total|test| in |files=|errors!|warnings!|todo|target|planned|"
    "interrupted|commands|could not|executed".split("|")
)
"""Without one of these, in small letters, a line sums up nothing in a runner's words."""

EXECUTED = re.compile(r"Executed \d+ of \d+ \(")
_REMARK = r"[\s|\]*]*(?:[\d.]+ ?m?s(?:ec)?|\[[^\[\]]*\]|\([^()]*\))?$"
OK = re.compile(
    r"\s*(?:[✓✔√\u2705]|(?:PASS|ok|1\.\.\d+)$|(?:PASS|PASSED|OK|Passed|ok)\b(?! \(| in:)[:\s]|\[ *(?:PASS|"
    r"PASSED|OK) *\] |ok \d+\b|--- PASS: |=== PAUSE\b|platform \w+ -- Python|rootdir: |plugins: |"
    r"\d+ workers \[|collected \d+ items?$|Test Case .* passed\b|Test Suite .* (?:passed|started)\b|"
    r"\d\d:\d\d \+\d+(?: ~\d+)?(?: -\d+)?: (?!.*\[E\]$))|(?:\S+\.py )?[.sFExX]+ +\[ *\d+%\]$|"
    r"(?:\S+ )?[.sFExXRSWDNPUuI*?●◼]{4,}(?: *\[ *\d+%\]| +\d+ / \d+ \( *\d+%\))?$"
)
OK_WORD = re.compile(r"ok|OK|PASS|assed|✔|✓|SUCCESS")
OK_BEHIND = re.compile(
    rf"(?:\.\.\. ?|…|\s\| |[\[(] ?)(?:ok|OK|PASS|Passed|passed|✔|✓)(?!\w){_REMARK}|"
    r"\sPASSED(?: +\[ *\d+%\])?$|Executed \d+ of \d+ SUCCESS"
)
SKIP_WORD = re.compile(r"skip|SKIP|Skip|ignored|IGNORED|XFAIL|expected failure|PENDING|TODO|○|◌|⊘|↓|-  ?\d")
SKIPPED = re.compile(
    r"^\s*(?:[○◌⊘↓] \S|- .*\(skipped|-  ?\d+ \[|SKIP(?:PED)?\b[:\s]|\[ *SKIPPED *\] |--- SKIP: |"
    r"Skipped \S.* \[|(?:not )?ok \d+ .*# ?(?:skip|SKIP|TODO))|\.\.\. ?(?:skipped|ignored|SKIP|"
    r"expected failure)|: Test skipped -|\s(?:SKIPPED|XFAIL|IGNORED)(?: .*)?$|skipped \([\d.]+ seconds\)|"
    r"\(PENDING\b[^()]*\)$"
)
START = re.compile(
    r"^\s*(?:=== (?:RUN|NAME|CONT) +|\[ RUN +\] |# Subtest: |Start +\d+: |Test Case '|"
    r"◇ Test (?!run))(?P<name>[^']*?)(?:' started\.?.*| started\.)?$"
)
COMMENT = re.compile(
    r"^# (?!Subtest|Looks|Failed|tests? |pass |fail |skip|todo|dur|canc|suites|\d)(?P<name>\S.*)$"
)
_BAD = r"(?:FAIL(?:ED|URE)?|SUB ?FAIL(?:ED)?|XPASS|TIMEOUT|SIG[A-Z]{3,4}|BROKEN|CRASHED)"
_TEST = (
    r"(?:\S+::|\S*tests?/|\S+\.(?:py|rb|js|ts)\b|\w+ \([\w.]+\)|test\w*|at (?:setup|teardown) of |"
    r"collecting |\S+#\S+)"
)
BAD_WORD = re.compile(
    r"FAIL|Fail|fail|ERROR|Error|TIMEOUT|XPASS|SIG|BROKEN|CRASHED|not ok |___|--- |STD|\) | => |\*\*\*|\[E\]|"
    r"●|✗|✘|✕|✖|×|❌|☒|⨯"
)
"""Words without which a line says nothing of the kind: they are looked for first, which takes a tenth of the
time."""
HEADING = re.compile(
    r"^_{3,} ?(?P<ruled>(?!summary |coverage:)\S.*?) ?_{3,}$|^-{3,} (?P<stdout>\S.*) std(?:out|err) -{3,}$|"
    r"^[-─]{3,} STD(?:OUT|ERR): +(?P<stderr>\S.*?) [-─]{3,}$|^\s*--- FAIL: (?P<go>\S+)|"
    r"^\s*not ok \d+(?: -)? ?(?P<tap>.*)|^\s*\[ {0,2}(?:FAILED|TIMEOUT|"
    r"FAIL) *\] (?!\d+ tests?)(?P<framed>[^,]*)|^ *● (?P<dot>(?!Console$)\S.*)$|^\s*(?:\d+\) +(?!at )|"
    r"[✗✘✕✖×❌☒⨯] *)(?P<mark>\S.*)$|"
    rf"^\s*\W{{0,4}}{_BAD}\b(?! \()[\]\s:]+(?:\[ *[\d.]+m?s\] )?(?P<word>[\w\"'/.].*)$|"
    rf"^\W{{0,3}}ERROR(?:ED)?[\]:\s]+(?P<error>{_TEST}.*)$|^(?:Failure|Error)(?:: (?=\w+\()| → |"
    rf" \(')(?P<unit>\S.*)$|"
    r"^\s+Failed (?P<net>\S.*) \[<? ?[\d.,]+ ?\w+\]$|^\s*Test Case '(?P<xcode>[^']*)' failed|"
    r"^(?:\[ERROR\] +)?(?P<surefire>\S.*?)(?: -- .*| +Time elapsed.*)? <<< (?:FAILURE|ERROR)!|"
    r"^(?P<ctest>\s*\d+/\d+ Test +#\d+: \S+) [ .]*\*\*\*|^(?P<julia>\S.*?): (?:Test Failed|"
    r"Error During Test) at |^(?P<arrow>\S.*?) => \S+:\d+(?::\d+)?$|"
    r"^(?!> )(?P<trailing>\s*\S.*?)(?:(?: \.\.\. ?|(?<!\.)\.{3,} ?|\s\| |\*{3} )"
    rf"(?:{_BAD}|ERROR|failed|Failed)\b|\s(?:FAILED|ERROR)(?=$| +\[)|: FAILED:|\s\[(?:FAIL|E|✘|✗)\]|"
    rf"\s\(FAILED - \d+\)){_REMARK}"
)
BARE = re.compile(r"^\s*\d+\) (?:Failure|Error|Skipped|Pending):?$")
SECTION = re.compile(
    r"^(?:=+ [^=].* =+|-{2,} ?(?:coverage:|generated ).*|(?:[Ff]ailures|Failed examples):|"
    r"[=⎯-]{3,}(?: (?!Captured).* |\[.*\])?[=⎯-]+|[─━]{4,}.*|--|(?:The following tests|Failing|There (?:was|"
    r"were) \d+) .*:|Summary of all failing.*|Test Summary Report|Test Suite '.*' failed.*| ?(?:ERRORS|"
    r"FAILURES))$"
)
LESSER = re.compile(
    r"^(?:There (?:was|were) \d+ (?:\w+ )*(?:risky|skipped|incomplete|warning|deprecation|notice)|"
    r"\d+ tests? triggered \d|Pending:|Skipped(?: tests)?:|.*warnings? summary)"
)


def kind_of(line: str, tap: bool) -> tuple[str, str]:
    """What a line is in the output of a test runner, and the name in it; `tap` where comments name tests.

    "count" sums up tests, "built" a build; "bad" says that a test failed, "ok" passed, "skip" neither;
    "start" that it begins; a "section" begins another part of the output; "" is anything else.
    """
    if not line.strip():
        return "", ""
    if sums_up(line):
        return "count", ""
    if SKIP_WORD.search(line) and SKIPPED.search(line):
        return "skip", ""
    if OK.match(line) or (OK_WORD.search(line) and OK_BEHIND.search(line)):
        return "ok", ""
    if found := starts(line, tap):
        return "start", found["name"]
    if BUILT.match(line):
        return "built", ""
    if BARE.match(line):
        return "bad", ""
    if BAD_WORD.search(line) and (found := HEADING.match(line)) and found.lastgroup:
        return "bad", found[found.lastgroup]
    return ("section" if SECTION.match(line) or LESSER.match(line) else ""), ""


def starts(line: str, tap: bool) -> re.Match[str] | None:
    """The name of the test that begins with a line."""
    return START.match(line) or (COMMENT.match(line) if tap else None)


def sums_up(line: str) -> bool:
    """True for a line that sums up tests: in a runner's words, or with more than one number of them."""
    small = line.lower()
    if any(map(small.__contains__, SUM_WORDS)) and (SUMS_UP.match(line) or EXECUTED.search(line)):
        return True
    return any(map(small.__contains__, OF_TESTS)) and len(COUNT.findall(small)) > 1 and not BEGINS.search(small)
