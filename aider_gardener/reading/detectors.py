"""What a program printed, by its lines: a run of tests or a build, a log, a listing, a diff, a traceback."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from aider_gardener.reading.lineshape import STAMP
from aider_gardener.reading.output import FENCE, sample

RUN = re.compile(
    r"^(?:=+ .*(?: in [\d.]+s\b| starts | info ).*=$|Ran \d+ tests? in |test result: |Tests?:? +\d+ \w+|"
    r"BUILD [A-Z]+\b|(?:FAIL(?:ED|URE)?|ERROR|PASS(?:ED)?|ok|not ok|---) ?:? +\S+(?:[.:/(]\S|  | \d)|"
    r"(?:error|warning)(?:\[\w+\])?: \S|Found \d+ \w+|"
    r"\d+ (?:passed|failed|passing|tests?|examples?|problems?)\b)|"
    r"^.{0,200}(?:Tests run: *\d|:\d+(?::\d+)?: [A-Z]{1,4}\d{2,5}\b|"
    r"[:)] ?-? ?(?:fatal )?(?:error|warning)(?: [A-Z]+\d+)?: |"
    r" (?:PASSED|FAILED|OK)$|\.\.\. (?:ok|FAILED|ERROR)$)",
    re.MULTILINE,
)
"""Lines of test runs and of compilers, whichever."""

RUN_SHARE = 0.3
"""Of a run's lines so many have the shape of a test's, a build's or a diagnostic's line."""

FRAME = re.compile(
    r"^(?:[ \t|+-]*File \"[^\"\n]+\", line \d+,? in |\s+at (?:.+ \()?(?:\S+:\d+:\d+|<anonymous>|native)\)?|"
    r"\s*at [\w$.<>/@-]+\((?:[\w$]+\.\w+:\d+|Native Method|Unknown Source)\)|"
    r"\s+at [\w.`<>\[\],+]+\(.*\)(?: in \S.*:line \d+)?$|\t\S+\.(?:go|s):\d+(?: \+0x[0-9a-f]+)?$|"
    r"\s+\d+: (?:0x[0-9a-f]+ - )?\S+|\s+at \S+\.rs:\d+(?::\d+)?$|"
    r"#\d+ (?:\S+\.php\(\d+\): |\{main\}|0x[0-9a-f]+ )|"
    r"\s*(?:from |\d+: from )?\S+\.rb:\d+:in )",
    re.MULTILINE,
)
"""A frame of a stack, in any language."""

CODE_BELOW = re.compile(r"^[ \t|+-]*File \"|^\t\S+\.go:\d|^\s+\d+: ", re.MULTILINE)
"""Frames that have a second line each: of code, or with the place."""

HEAD = re.compile(
    r"^(?:[ \t|+-]*(?:Exception Group )?Traceback \(most recent call last\):|"
    r"(?:PHP )?(?:Fatal|Parse|Catchable fatal) error: +\S|panic: |goroutine \d+ \[|fatal error: |"
    r"thread '.*' (?:\(\d+\) )?panicked at |stack backtrace:|"
    r"Exception in thread \"|Caused by: [\w.$]+(?::|$)|"
    r"\s*\[?(?:Uncaught )?\w*Error: .*\n(?:.*\n){0,12}\s+at |"
    r"(?:node:internal|/|\w:\\|file:)\S*:\d+\n.*\n\s*\^+$|(?:==\d+==)?(?:ERROR|WARNING): \w+Sanitizer: |"
    r"Thread \d+ .*received signal )",
    re.MULTILINE,
)
"""What stands above the frames."""

WORD = re.compile(r"[^\W\d_]{3,}")
"""A record has two such words at least; stamped rows of fewer are a table of values."""

TRACEBACK = re.compile(r"Traceback \(most recent|Caused by: |\w+(?:\.\w+)*(?:Error|Exception)\b")
"""Lines that belong to the record before, though they are not indented."""

ACCESS = re.compile(r'^\S+ \S+ \S+ \[\d\d/\w{3}/\d{4}:[^\]]+\] "')
LEVEL = re.compile(
    r"^\W{0,2}(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|ALERT|SEVERE|FINE|"
    r"[DIWEF]\d{4} \d\d:)\b",
    re.IGNORECASE,
)
CONTAINER = re.compile(r"^[\w.-]+ +\| \S")
STRACE = re.compile(
    r"^(?:\[pid +\d+\] |\d+ +)?(?:\d[\d:.]* )?(?:\w+\(.*(?:\) += \S+|<unfinished \.\.\.>)|"
    r"<\.\.\. \w+ resumed>|[+-]{3} \w+)"
)
METRIC = re.compile(r"^(?:# (?:HELP|TYPE) \w|[a-zA-Z_:][\w:.]*(?:\{[^}]*\})? +[-+]?[\d.eE+-]+(?: \d+)?$)")
JSON_LINE = re.compile(r'^\{.*"(?:level|severity|lvl|msg|message|time|timestamp|ts|@timestamp)"\s*:')
LOGFMT = re.compile(r"^(?:\w+=(?:\"[^\"]*\"|\S+) ){2,}")

GREP = re.compile(
    r"^(?!\W{0,2}\d[\d:. -]*:|"
    r"\W?\d{4}-\d\d-)(?:[A-Za-z]:[\\/])?(?:[\w.-]+:)?[\w@~+./\\()\[\] #-]*[\w)\]]:\d+[:-]|^--$|"
    r"^Binary file "
)
GREP_CONTEXT = re.compile(r"^(?!\d)[\w@~+./\\()\[\] #-]+-\d+-")
GREP_PLAIN = re.compile(r"^[\w@~+.\\-]*[/.][\w@~+./\\-]*\.\w{1,6}:\s*\S")
HEADING = re.compile(r"^\d+[:-].*|^--$")
FILE_HEADING = re.compile(r"^(?!\d+[:-])(?:\x1b\S*)?[\w@~+./\\() -]+\.\w{1,8}$")
COUNTS = re.compile(r"^(?:[A-Za-z]:)?[\w@~+./\\() -]+:\d+$")
COUNTED = re.compile(r"^ +(\d{1,12}) \S")
NAMES_FILE = re.compile(r"^(?:\w+:)?[^:\s]*[./\\][^:]*[:-]|^[\w-]+file\b|^Binary file ")
TIMED = re.compile(r"^\S{0,80}\d{4}-\d\d-\d\d[T_]\d\d:\d\d:\d\d")
SIZED = re.compile(r"^\s*\d[\d.,]*[KMGTB]?\s+(?:\S+ ){0,6}\S*[/.]\S*$")
LS = re.compile(r"^(?:[-dlbcps][-rwxsStT]{9}[.+@]?\s+\d+ |total \d+)")
TREE = re.compile(r"^(?:│|\|| )*(?:├|└|\|--|`--|\+--)")
NPM_LS = re.compile(r"^(?:[│ ]*[├└]─[─┬] (?:UNMET |deduped )?@?[\w./-]+@)")
COMMIT = re.compile(r"^[*|\\/_ ]{0,40}commit [0-9a-f]{7,40}\b", re.MULTILINE)
ONELINE = re.compile(r"^[*|\\/ ]*[0-9a-f]{7,40} \S")
PATH = re.compile(
    r"^(?:\./|/|[A-Za-z]:\\)?[\w@.()\[\]{}~+$ -]+(?:[/\\][\w@.()\[\]{}~+$ #-]*)+$|"
    r"^[\w@-]+\.\w{1,8}$|^\.[\w.-]+$"
)
UNBROKEN = re.compile(r"^\s*\S+\s*$")
PROFILE = re.compile(
    r"^\s*ncalls\s+tottime|^\s*%\s+cumulative\s+self|^\s*flat\s+flat%|^# Overhead|Total samples|"
    r"^ *ticks +(?:parent|total)|^Line #\s+Hits",
    re.MULTILINE,
)
GAP = re.compile(r"\S {2,}\S|\S\t+\S")
RULE_CHARS = frozenset(" \t|+:=─━┼-")

HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
FILE = re.compile(r"^(?:diff --git |diff -\w+ |--- (?![Ee]xpected$)\S.*\n\+\+\+ \S)", re.MULTILINE)


def is_run(text: str, counts: Counter[str]) -> bool:
    """True for what a test runner, a compiler or another builder prints; `counts` are those of its shapes."""
    told = counts["test"] + counts["build"]
    shaped = told >= 2 and told >= RUN_SHARE * sum(counts.values())
    return shaped or len(RUN.findall(text)) >= 2


def is_traceback(text: str) -> bool:
    """True for a text that is mainly stack traces."""
    seen = sample(text)
    lines = sum(1 for line in seen.split("\n") if line.strip())
    frames = len(FRAME.findall(seen)) + 1.5 * len(CODE_BELOW.findall(seen))
    has_head = bool(HEAD.search(seen))
    share = (frames + 2 * has_head) / max(1, lines)
    return (has_head and share >= 0.3) or (frames >= 2 and share >= 0.6)


def is_log(text: str) -> bool:
    """True for the records of a program, of a server, of calls or of measures."""
    lines = [line for line in sample(text).split("\n") if line.strip() and not FENCE.match(line)]
    if len(lines) < 3:
        return False
    if any(share(lines, sign) >= 0.6 for sign in (STRACE, JSON_LINE, ACCESS, METRIC, LOGFMT)):
        return True
    records = [line for line in lines if STAMP.match(line) or LEVEL.match(line) or CONTAINER.match(line)]
    stamped = len(records)
    if sum(1 for line in records if len(WORD.findall(line, 0, 200)) >= 2) < 0.5 * stamped:
        return False
    further = sum(1 for line in lines if line[0] in " \t" or TRACEBACK.match(line))
    return stamped >= 0.35 * (len(lines) - further) and stamped >= max(3, 0.1 * len(lines))


def share(lines: list[str], *shapes: re.Pattern[str]) -> float:
    """The part of the lines that match one of the shapes."""
    found: set[int] = set()
    for shape in shapes:
        found.update(row for row, line in enumerate(lines) if shape.match(line))
    return len(found) / max(1, len(lines))


def is_dependency_tree(text: str) -> bool:
    """True when most lines are branches of packages with versions, whatever npm says of them below."""
    return share([line for line in text.split("\n") if line.strip()], NPM_LS) >= 0.5


def is_listing(text: str) -> bool:
    """True for matches of a search, files, commits, a tree, a profile or another table."""
    seen = sample(text)
    lines = [line for line in seen.split("\n") if line.strip() and not FENCE.match(line)]
    if len(lines) < 3:
        return False
    commits = len(COMMIT.findall(seen))
    if PROFILE.search(seen) or (commits and COMMIT.match(lines[0]) and (commits >= 2 or "Author:" in seen)):
        return True
    headings = sum(1 for one, two in pairwise(lines) if HEADING.match(two) and FILE_HEADING.match(one))
    if headings >= 2 and share(lines, HEADING, FILE_HEADING) >= 0.9:
        return True
    rows = ((TREE, 0.5), (LS, 0.5), (ONELINE, 0.8), (COUNTS, 0.95), (SIZED, 0.9))
    if any(share(lines, shape) >= least for shape, least in rows):
        return True
    found = (
        share(lines, GREP) >= 0.6
        or share(lines, GREP, GREP_CONTEXT) >= 0.7
        or share(lines, GREP_PLAIN) >= 0.8
    )
    return (found and _names_files(lines)) or _are_paths(lines) or _is_counted(lines) or is_table(lines)


def _are_paths(lines: list[str]) -> bool:
    """True for a list of paths, not for columns."""
    columns = sum(1 for line in lines if len(GAP.findall(line)) >= 2)
    return share(lines, PATH) >= 0.85 and columns < 0.3 * len(lines) and share(lines, UNBROKEN) >= 0.5


def _names_files(lines: list[str]) -> bool:
    """True when what stands before the colons looks like paths, and is no part of a time."""
    named = sum(1 for line in lines if NAMES_FILE.match(line) and not TIMED.match(line))
    return named >= 0.5 * sum(1 for line in lines if line != "--")


def _is_counted(lines: list[str]) -> bool:
    """True for lines behind numbers that are no line numbers, as `uniq -c` writes them."""
    numbers = [int(found[1]) for line in lines if (found := COUNTED.match(line))]
    rising = sum(1 for one, two in pairwise(numbers) if two == one + 1)
    return len(numbers) >= max(5, 0.95 * len(lines)) and rising < 0.5 * len(numbers)


def is_rule(line: str) -> bool:
    """True for a line that only draws a rule, as under a table's head."""
    return RULE_CHARS.issuperset(line) and any(part in line for part in ("---", "===", "───", "━━━"))


def is_table(lines: list[str]) -> bool:
    """True when most lines have the same columns: markdown bars, a rule line, or aligned gaps."""
    if share(lines, re.compile(r"^\s*\|.*\|\s*$")) >= 0.7:
        return True
    if len(lines) < 5:
        return False
    bars = [line.count("|") for line in lines]
    if max(bars) >= 2 and bars.count(max(bars)) >= 0.95 * len(lines):
        return True
    gaps = [len(GAP.findall(line)) for line in lines]
    ruled = any(is_rule(line) for line in lines[:4])
    if sum(1 for gap in gaps if gap >= 2) < (0.6 if ruled else 0.8) * len(lines):
        return False
    words = [len(line.split()) for line in lines]
    usual = max(set(words), key=words.count)
    if not ruled and words.count(usual) < 0.35 * len(lines):
        return False
    indented = sum(1 for line in lines if re.match(r"^\s*(?:def|if|for|return|[{}#/*<]|\w+\()", line))
    return indented < 0.1 * len(lines)


def is_diff(text: str) -> bool:
    """True when the text is mainly a diff (hunks with or without file headers)."""
    seen = sample(text)
    hunks = len(HUNK.findall(seen))
    if hunks and (FILE.search(seen) or seen.lstrip().startswith("@@")):
        return True
    lines = [line for line in seen.split("\n") if line]
    marked = sum(1 for line in lines if line[0] in "+- ")
    return bool(hunks) and marked >= 0.6 * len(lines)
