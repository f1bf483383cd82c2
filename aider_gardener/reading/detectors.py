"""What a program printed, by its lines: a run of tests or a build, a traceback, a log, a listing, a diff."""

from __future__ import annotations

import re
from collections import Counter

from aider_gardener.reading.late import late
from aider_gardener.reading.output import FENCE

RUN = late(
    r"^(?:=+ .*(?: in [\d.]+s\b| starts | info ).*=$|Ran \d+ tests? in |test result: |Tests?:? +\d+ \w+"
    r"|BUILD [A-Z]+\b|(?:FAIL(?:ED|URE)?|ERROR|PASS(?:ED)?|ok|not ok|---) ?:? +\S+(?:[.:/(]\S| \(\w|  | \d)"
    r"|(?:error|warning)(?:\[\w+\])?: \S|Found \d+ \w+|\d+ (?:passed|failed|passing|tests?|examples?"
    r"|problems?)\b)|^.{0,200}(?:Tests run: *\d|:\d+(?::\d+)?: [A-Z]{1,4}\d{2,5}\b"
    r"|[:)] ?-? ?(?:fatal )?(?:error|warning)(?: [A-Z]+\d+)?: | (?:PASSED|FAILED|OK)$|\.\.\. (?:ok|FAILED"
    r"|ERROR)$)",
    re.MULTILINE,
)
"""Lines of test runs and of compilers, whichever."""

RUN_SHARE, TRACE_SHARE, LOG_SHARE, ROW_SHARE = 0.3, 0.25, 0.35, 0.6
"""Such a part of the lines has the shape of a test's, a build's or a diagnostic's line; of frames below a
head, and twice as many without; of records, frames aside; of rows."""

HEAD = late(
    r"^(?:[ \t|+-]*(?:Exception Group )?Traceback \(most recent call last\):|(?:PHP )?(?:Fatal|Parse"
    r"|Catchable fatal) error: +\S|panic: |goroutine \d+ \[|fatal error: |thread '.*' (?:\(\d+\) )?panicked "
    r"at |stack backtrace:|Exception in thread \"|Caused by: [\w.$]+(?::|$)|[ \t]*\[?(?:Uncaught )?\w*Error: "
    r".*\n(?:.*\n){0,12}\s+at |(?:node:internal|/|\w:\\|file:)\S*:\d+\n.*\n\s*\^+$|(?:==\d+==)?(?:ERROR"
    r"|WARNING): \w+Sanitizer: |Thread \d+ .*received signal )",
    re.MULTILINE,
)
"""What stands above the frames of a stack."""

ROW = late(
    r"(?:│|\|| )*(?:├|└|\|--|`--|\+--)|\d+[:-]|--$| +\d{1,12} \S|[\w@~+./\\() -]+:\d+$|Binary file |"
    r"[\w@~+./\\()\[\] #-]+-\d+-|[\w@~+.\\-]*[/.][\w@~+./\\-]*\.\w{1,6}:\s*\S|"
    r"\s*\d[\d.,]*[KMGTB%]?\s+(?:\S+ ){0,6}\S*[/.]\S*$"
)
"""Rows of lists besides those whose shapes say so: trees, matches of a search, what is counted or sized."""

GAP = late(r"\S {2,}\S|\S\t+\S")
STATEMENT = late(r"\s*(?:def|if|for|return|[{}#/*<]|\w+\()")
RULE_CHARS = frozenset(" \t|+:=─━┼-")

HUNK = late(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
FILE = late(r"^(?:diff --git |diff -\w+ |--- (?![Ee]xpected$)\S.*\n\+\+\+ \S)", re.MULTILINE)


def is_run(text: str, counts: Counter[str]) -> bool:
    """True for what a test runner, a compiler or another builder prints; `counts` are those of its shapes."""
    run_count = counts["test"] + counts["build"]
    return (run_count >= 2 and run_count >= RUN_SHARE * sum(counts.values())) or len(RUN.findall(text)) >= 2


def is_traceback(text: str, counts: Counter[str]) -> bool:
    """True for a text that is mainly stack traces."""
    least = TRACE_SHARE * sum(counts.values())
    frames = counts["trace"]
    return frames >= max(2, 2 * least) or (frames >= least and bool(HEAD.search(text)))


def is_log(counts: Counter[str]) -> bool:
    """True for the records of a program or of a server."""
    return counts["log"] >= max(3, LOG_SHARE * (sum(counts.values()) - counts["trace"]))


def is_listing(text: str, counts: Counter[str]) -> bool:
    """True for matches of a search, files, commits, a tree or another table."""
    lines = _filled(text)
    rows = counts["location"] + counts["gitlog"] + counts["listing"] + counts["table"]
    return rows >= ROW_SHARE * sum(counts.values()) or _share(lines, ROW) >= ROW_SHARE or _is_table(lines)


def _filled(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip() and not FENCE.match(line)]


def _share(lines: list[str], shape: re.Pattern[str]) -> float:
    """The part of the lines that match a shape, 0 of less than three."""
    return sum(map(bool, map(shape.match, lines))) / len(lines) if len(lines) > 2 else 0.0


def _is_table(lines: list[str]) -> bool:
    """True when most lines have the same columns: markdown bars, a rule line, or aligned gaps."""
    if len(lines) < 5:
        return False
    bars = [line.count("|") for line in lines]
    if max(bars) >= 2 and bars.count(max(bars)) >= 0.95 * len(lines):
        return True
    gaps = [len(GAP.findall(line)) for line in lines]
    ruled = any(RULE_CHARS.issuperset(line) and re.search("-{3}|={3}|─{3}|━{3}", line) for line in lines[:4])
    if sum(1 for gap in gaps if gap >= 2) < (0.6 if ruled else 0.8) * len(lines):
        return False
    ((_width, rows),) = Counter(len(line.split()) for line in lines).most_common(1)
    return (ruled or rows >= 0.35 * len(lines)) and _share(lines, STATEMENT) < 0.1


def is_diff(text: str) -> bool:
    """True when the text is mainly a diff (hunks with or without file headers)."""
    hunks = len(HUNK.findall(text))
    if hunks and (FILE.search(text) or text.lstrip().startswith("@@")):
        return True
    lines = [line for line in text.split("\n") if line]
    return bool(hunks) and sum(1 for line in lines if line[0] in "+- ") >= 0.6 * len(lines)
