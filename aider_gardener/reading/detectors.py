"""Which tool wrote a text, by the shapes of its lines: a test runner, a build, a log, a listing, a diff, or
which language's traceback it mainly is.
"""

from __future__ import annotations

import re
from itertools import pairwise

from aider_gardener.reading.lineshape import STAMP
from aider_gardener.reading.output import FENCE, sample
from aider_gardener.reading.severities import TRANSLATED

TEST_SIGNS: tuple[tuple[str, int, re.Pattern[str]], ...] = tuple(
    (kind, weight, re.compile(pattern, re.MULTILINE))
    for kind, weight, pattern in (
        ("pytest", 3, r"^=+ test session starts =+|^=+ short test summary info =+"),
        (
            "pytest",
            3,
            r"^=* ?\d+ (?:passed|failed|errors?|skipped|deselected|x(?:failed|passed))\b.* in \d[\d.]*s",
        ),
        ("pytest", 2, r"^=+ (?:FAILURES|ERRORS|warnings summary) =+"),
        ("pytest", 2, r"^(?:FAILED|ERROR) \S+\.py(?:::\S+)?"),
        ("pytest", 2, r"^(?:\[gw\d+\] .*)?\S+\.py::\S.* ?(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL)"),
        ("pytest", 2, r"^(?:\S+\.py )?[.FEsxX]{5,} *\[ *\d+%\]"),
        ("pytest", 3, r"^ImportError while loading conftest '"),
        ("pytest", 1, r"^E   +\S"),
        ("pytest", 1, r"^(?:_ ){20}_?|^\S+\.py:\d+: \w*(?:Error|Exception|Failed|Exit)$"),
        ("unittest", 3, r"^Ran \d+ tests? in [\d.]+s"),
        ("unittest", 2, r"^(?:FAIL|ERROR): \w+ \([\w.]+\)"),
        ("node-test", 3, r"^ℹ (?:tests|pass|fail) \d+"),
        ("node-test", 1, r"^ *[▶✔✖] .*\(\d[\d.]*ms\)"),
        ("node-test", 2, r"^✖ failing tests:"),
        ("tap", 3, r"^TAP version \d+"),
        ("tap", 1, r"^ *(?:not )?ok \d+(?: -)? "),
        ("tap", 1, r"^ *1\.\.\d+$"),
        ("jest", 3, r"^Tests?: +(?:\d+ \w+, )*\d+ total|^ *Test Files +\d+ (?:passed|failed)"),
        ("jest", 3, r"^bun test v\d|^ *\d+ passing \([\d.]+m?s\)|^Ran \d+ tests across \d+ files?"),
        ("jest", 2, r"^ *(?:PASS|FAIL) +\S+\.(?:test|spec)\.\w+|^ *Tests +\d+ (?:passed|failed)"),
        ("jest", 2, r"^ *● .+ › .+|^ \d+ pass$|^ FAIL  \S+ > "),
        ("jest", 1, r"^[✓✗✕×] .+ > .+"),
        ("cargo-test", 3, r"^test result: (?:ok|FAILED)\. \d+ passed"),
        (
            "cargo-test",
            2,
            r"^error: could not compile .*\btest\b|^ *Running (?:unittests|tests/)|^ *Doc-tests \w",
        ),
        ("cargo-test", 2, r"^running \d+ tests?$|^---- \S+.* stdout ----$"),
        ("cargo-test", 2, r"^test \S+.* \.\.\. (?:ok|FAILED|ignored)"),
        ("cargo-test", 5, r"^ +Summary \[ *[\d.]+s\] +\d+ tests? run: |^ +Nextest run(?: ID)? "),
        ("go-test", 3, r"^ *--- (?:FAIL|PASS|SKIP): \S+ \([\d.]+s\)"),
        ("go-test", 3, r"^(?:ok|FAIL)\s+\S+\s+(?:[\d.]+s|\(cached\)|\[build failed\])"),
        (
            "go-test",
            2,
            r'^=== (?:RUN|PAUSE|CONT) +\S+|^\{"(?:Time|ImportPath)":.*"Action":"(?:run|pass|fail|output|'
            r'start|skip|build-output|build-fail)"',
        ),
        ("junit", 3, r"Tests run: *\d+, +Failures: *\d+"),
        ("junit", 3, r"^(?:Failed|Passed)! +- Failed: +\d+|^Total tests: \d+"),
        ("junit", 3, r"^\d+ tests completed, \d+ failed"),
        ("junit", 2, r"^\S+ > .+ (?:PASSED|FAILED|SKIPPED)$"),
        ("junit", 2, r"^\s+(?:Passed|Failed|Skipped) \S+.* \[(?:< )?\d+ m?s\]"),
        ("rspec", 3, r"^\d+ examples?, \d+ failures?|^\d+ (?:runs|tests), \d+ assertions, \d+ failures"),
        ("phpunit", 3, r"^PHPUnit \d|^Tests: \d+, Assertions: \d+|^OK \(\d+ tests?, \d+ assertions?\)"),
        ("exunit", 4, r"^Running ExUnit with seed: |^ {4,}test/\S+_test\.exs:\d+: \(test\)"),
        ("exunit", 2, r"^ {1,4}\d+\) (?:test|doctest|property) .+ \([A-Z][\w.]*\)$"),
        ("ruby-test", 4, r"^(?:Failure|Error):\n\S+#\S.*:$|^bin/rails test \S+:\d+$"),
        ("ruby-test", 4, r"^Loaded suite \S|^(?:Failure|Error): \w+\([\w:]+\)"),
        ("ruby-test", 1, r"^\d+ (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors"),
        ("pest", 4, r"^ {2,4}FAILED  \S.* > |^ {2}(?:✓|⨯) .+ {2,}\d+\.\d\ds *$"),
        ("pest", 3, r"^ {2}Tests: +(?:\d+ \w+, )*\d+ \w+ \(\d+ assertions\)$"),
        ("playwright", 4, r"^ {2}\d+\) (?:\[[^\]\n]+\] › )?\S+:\d+:\d+ › "),
        ("playwright", 4, r"^Running \d+ tests? using \d+ workers?$"),
        ("dart-test", 5, r"^\d\d:\d\d \+\d+(?: ~\d+)?(?: -\d+)?: "),
        ("xctest", 5, r"^Test Case '.+' (?:passed|failed|started)|^\s+Executed \d+ tests?, with "),
        ("xctest", 5, r"^\S Test run (?:started\.$|with \d+ tests? )"),
        ("bats", 4, r"^ {3}\(?(?:from function `.*\n? {4})?in test file \S+, line \d+[,)]"),
        ("prove", 6, r"^Files=\d+, Tests=\d+|^Test Summary Report$"),
        ("ctest", 3, r"^\d+% tests passed, \d+ tests failed out of \d+"),
        ("ctest", 3, r"^\[ +(?:RUN|OK|FAILED|PASSED) +\] \S+"),
    )
)

BUILD_SIGNS: tuple[tuple[str, int, re.Pattern[str]], ...] = tuple(
    (kind, weight, re.compile(pattern, re.MULTILINE))
    for kind, weight, pattern in (
        ("tsc", 4, r"(?:\(\d+,\d+\): |:\d+:\d+ - )error TS\d+:"),
        ("rustc", 3, r"^(?:error(?:\[E\d+\])?|warning): .+\n *--> \S+:\d+:\d+"),
        ("rustc", 2, r"^ *(?:Compiling|Checking|Finished|Downloaded) (?:\S+ v\d|`?\w+`? (?:profile|\[))"),
        ("eslint", 3, r"^ +\d+:\d+ +(?:error|warning) +\S.*"),
        ("eslint", 3, r"^✖ \d+ problems?"),
        ("eslint", 4, r"^\S.*?:\d+:\d+: .* \[(?:Error|Warning)/\S+\]$"),
        ("eslint", 4, r": line \d+, col \d+, (?:Error|Warning) - "),
        ("pylint", 4, r"^\*{9,} Module |^Your code has been rated|^\S+\.py:\d+:\d+: [CRWEF]\d{4}: "),
        (
            "compiler",
            3,
            r"^[^\s:]+\.(?:swift|hs|lhs|zig|d|nim|ml|dart|proto|scala|kt|cr|f|f90|adb|vala|metal|asm|vhd|sv|pas)"
            r"(?::\d+){1,2}: (?:fatal )?(?:error|warning)\b",
        ),
        ("hadolint", 4, r"^\S+:\d+ (?:DL|SC)\d{4} (?:error|warning|info|style): "),
        ("msvc", 4, r"\(\d+\) ?: (?:fatal )?(?:error|warning) C\d{4}:| : (?:fatal )?error LNK\d+: "),
        ("rubocop", 4, r"^[^\s:]+:\d+:\d+: [CRWEFI]: |^\d+ files? inspected, "),
        ("mypy", 4, r"^\S+\.pyi?:\d+(?::\d+)?: (?:error|note): "),
        ("mypy", 4, r"^Found \d+ errors? in \d+ files?"),
        ("flake8", 3, r"^\S+\.pyi?:\d+:\d+: [A-Z]{1,4}\d{2,4}:? "),
        ("flake8", 3, r"^[A-Z]{1,4}\d{3} (?:\[\*\] )?.+\n *--> \S+:\d+:\d+"),
        ("javac", 3, r"^(?:\[\w+\] )?\S+\.java:(?:\d+|\[\d+,\d+\]):? (?:error|warning)?"),
        ("maven", 3, r"^\[(?:INFO|ERROR|WARNING)\] (?:BUILD |Building |Scanning|-{5,})"),
        ("gradle", 3, r"^> Task :\S+|^BUILD (?:SUCCESSFUL|FAILED) in"),
        ("dotnet", 4, r"\(\d+,\d+\): (?:error|warning) (?!TS)[A-Z]+\d+:"),
        ("go", 3, r"^(?:vet: )?\.?/?\S+\.go:\d+:\d+: \S"),
        (
            "gcc",
            3,
            r"^(?:[A-Za-z]:)?[^\s:]+\.(?:c|cc|cpp|cxx|h|hpp|hh|m|mm|S|f90|cu)(?::\d+){1,2}: "
            r"(?:fatal )?(?:error|warning|note): ",
        ),
        (
            "gcc",
            3,
            r"^(?:[A-Za-z]:)?[^\s:]+\.(?:c|cc|cpp|cxx|h|hpp|hh|m|mm|S|f90|cu)(?::\d+){1,2}: ?(?:"
            + TRANSLATED
            + r")[ \u00a0\u202f]?[:：]",
        ),
        ("javac", 3, r"^(?:\[\w+\] )?\S+\.java:\d+: ?(?:" + TRANSLATED + r")[:：]"),
        (
            "gcc",
            2,
            r"^\[ *\d+%\] (?:Building|Linking|Built)|^\[\d+/\d+\] \S|^(?:gcc|g\+\+|cc|c\+\+|clang\S*) -",
        ),
        (
            "gcc",
            2,
            r"^Undefined symbols for arch|^collect2: |^make(?:\[\d+\])?: (?:\*\*\*|Entering)",
        ),
        (
            "npm",
            3,
            r"^npm (?:ERR!|WARN|error|warn|notice|verb)|^(?:added|up to date|removed|"
            r"changed) .*\d+ packages?",
        ),
        (
            "npm",
            3,
            r"^(?:yarn install v|➤ YN\d+|Progress: resolved \d+|.*bun install v|Lockfile is up to date)",
        ),
        (
            "pip",
            3,
            r"^(?:Requirement already satisfied: |Collecting \S+|Successfully installed |Obtaining file:)",
        ),
        (
            "pip",
            2,
            r"^ *(?:Downloading|Using cached) \S+(?:\.whl|\.tar\.gz|\.metadata)|^(?:Resolved|"
            r"Installed) \d+ packages",
        ),
        ("docker", 3, r"^#\d+ (?:\[|DONE|CACHED|\d+\.\d+ )|^Step \d+/\d+ : |^ => \["),
        (
            "webpack",
            3,
            r"^(?:ERROR|WARNING) in \S+|^Module not found: Error|^webpack \d.* compiled|^✘ \[ERROR\]",
        ),
    )
)
COUNTED_CHARS = 40_000
"""Signs of a build are counted in so much of the sample."""
BUILD_WORDS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    (
        "gcc",
        2,
        (
            "undefined reference to",
            "ld: cannot find -l",
            "ld.lld: error: ",
            "fatal error LNK",
            ": error LNK",
            "(.text+0x",
            "ld returned 1 exit status",
        ),
    ),
)
"""Signs that stand anywhere in a line: counted as they are, for a search of that kind is slow."""
PRECEDENCE = (
    "dotnet",
    "tsc",
    "mypy",
    "rustc",
    "javac",
    "eslint",
    "pylint",
    "flake8",
    "webpack",
    "maven",
    "gradle",
    "go",
)

FRAMES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("traceback-python", re.compile(r'^[ \t|+-]*File "[^"\n]+", line \d+(?:,)? in ', re.MULTILINE)),
    ("stack-js", re.compile(r"^\s+at (?:.+ \()?(?:\S+:\d+:\d+|<anonymous>|native)\)?", re.MULTILINE)),
    (
        "stack-java",
        re.compile(
            r"^\s*at [\w$.<>/@-]+\((?:[\w$]+\.(?:java|kt|scala|groovy):\d+|Native Method|Unknown Source)\)",
            re.MULTILINE,
        ),
    ),
    ("stack-dotnet", re.compile(r"^\s+at [\w.`<>\[\],+]+\(.*\)(?: in \S.*:line \d+)?$", re.MULTILINE)),
    ("stack-go", re.compile(r"^\t\S+\.(?:go|s):\d+(?: \+0x[0-9a-f]+)?$", re.MULTILINE)),
    (
        "stack-rust",
        re.compile(
            r"^\s+\d+: (?:0x[0-9a-f]+ - )?\S+|"
            r"^\s+at \S+\.rs:\d+(?::\d+)?$",
            re.MULTILINE,
        ),
    ),
    ("stack-php", re.compile(r"^#\d+ (?:\S+\.php\(\d+\): |\{main\})", re.MULTILINE)),
    ("stack-ruby", re.compile(r"^\s*(?:from |\d+: from )?\S+\.rb:\d+:in ", re.MULTILINE)),
)
HEADS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "traceback-python",
        re.compile(r"^[ \t|+-]*(?:Exception Group )?Traceback \(most recent call last\):", re.MULTILINE),
    ),
    ("stack-php", re.compile(r"^(?:PHP )?(?:Fatal|Parse|Catchable fatal) error: +\S", re.MULTILINE)),
    ("stack-go", re.compile(r"^panic: |^goroutine \d+ \[|^fatal error: ", re.MULTILINE)),
    ("stack-rust", re.compile(r"^thread '.*' (?:\(\d+\) )?panicked at |^stack backtrace:", re.MULTILINE)),
    ("stack-java", re.compile(r'^Exception in thread "|^Caused by: [\w.$]+(?::|$)', re.MULTILINE)),
    (
        "stack-js",
        re.compile(
            r"^\s*\[?(?:Uncaught )?(?:\w*Error|AssertionError[^:\n]*): .*\n(?:.*\n){0,12}\s+at |"
            r"^(?:node:internal|/|\w:\\|file:)\S*:\d+\n.*\n\s*\^+$",
            re.MULTILINE,
        ),
    ),
)

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


def detect_test_run(text: str) -> str:
    """The runner ("pytest", "unittest", "jest", "node-test", "tap", "cargo-test", …) or ""."""
    seen = sample(text)
    scores: dict[str, int] = {}
    for kind, weight, sign in TEST_SIGNS:
        if sign.search(seen):
            scores[kind] = scores.get(kind, 0) + weight
    if not scores:
        return ""
    kind = max(scores, key=lambda name: scores[name])
    return kind if scores[kind] >= 2 else ""


def detect_build(text: str) -> str:
    """The tool ("gcc", "rustc", "tsc", "eslint", "flake8", "mypy", "javac", "npm", "pip", …) or ""."""
    seen = sample(text)
    scores: dict[str, int] = {}
    for kind, weight, sign in BUILD_SIGNS:
        found = len(sign.findall(seen, 0, COUNTED_CHARS))
        if found:
            scores[kind] = scores.get(kind, 0) + weight + min(found, 10)
    for kind, weight, words in BUILD_WORDS:
        found = sum(seen.count(word, 0, COUNTED_CHARS) for word in words)
        if found:
            scores[kind] = scores.get(kind, 0) + weight + min(found, 10)
    if not scores:
        return ""
    best = max(scores.values())
    for kind in PRECEDENCE:
        if scores.get(kind, 0) >= max(5, best - 4):
            return kind
    kind = max(scores, key=lambda name: scores[name])
    return kind if scores[kind] >= 4 else ""


def detect_traceback(text: str) -> str:
    """The kind ("traceback-python", "stack-js", …) of a text that is mainly a traceback, else ""."""
    seen = sample(text)
    lines = sum(1 for line in seen.split("\n") if line.strip())
    if not lines:
        return ""
    best, frames = "", 0
    for kind, frame in FRAMES:
        found = len(frame.findall(seen))
        if found > frames:
            best, frames = kind, found
    heads = [kind for kind, head in HEADS if head.search(seen)]
    if (
        heads
        and heads[0] != best
        and (best == "" or heads[0] in ("stack-rust", "stack-go", "traceback-python"))
    ):
        best = heads[0]
    per_frame = 1.0 if best in ("stack-js", "stack-java", "stack-dotnet", "stack-ruby") else 2.5
    share = (frames * per_frame + 2 * len(heads)) / lines
    return best if (heads and share >= 0.3) or (frames >= 2 and share >= 0.6) else ""


def detect_log(text: str) -> str:
    """The kind ("app-log", "strace", "metrics", "json-log", "access-log") of a log, or ""."""
    lines = [line for line in sample(text).split("\n") if line.strip() and not FENCE.match(line)]
    if len(lines) < 3:
        return ""
    signs = (
        ("strace", STRACE),
        ("json-log", JSON_LINE),
        ("access-log", ACCESS),
        ("metrics", METRIC),
        ("app-log", LOGFMT),
    )
    for kind, sign in signs:
        if sum(1 for line in lines if sign.match(line)) >= 0.6 * len(lines):
            return kind
    records = [line for line in lines if STAMP.match(line) or LEVEL.match(line) or CONTAINER.match(line)]
    stamped = len(records)
    if sum(1 for line in records if len(WORD.findall(line, 0, 200)) >= 2) < 0.5 * stamped:
        return ""
    further = sum(1 for line in lines if line[0] in " \t" or TRACEBACK.match(line))
    return (
        "app-log" if stamped >= 0.35 * (len(lines) - further) and stamped >= max(3, 0.1 * len(lines)) else ""
    )


def share(lines: list[str], *shapes: re.Pattern[str]) -> float:
    """The part of the lines that match one of the shapes."""
    return sum(1 for line in lines if any(shape.match(line) for shape in shapes)) / max(1, len(lines))


def is_dependency_tree(text: str) -> bool:
    """True when most lines are branches of packages with versions, whatever npm says of them below."""
    return share([line for line in text.split("\n") if line.strip()], NPM_LS) >= 0.5


def detect_listing(text: str) -> str:
    """The kind ("grep", "counts", "ls", "paths", "tree", "npm-ls", "git-log", "profile", "table") or ""."""
    seen = sample(text)
    lines = [line for line in seen.split("\n") if line.strip() and not FENCE.match(line)]
    if len(lines) < 3:
        return ""
    if PROFILE.search(seen):
        return "profile"
    if is_dependency_tree(seen):
        return "npm-ls"
    commits = len(COMMIT.findall(seen))
    if commits and COMMIT.match(lines[0]) and (commits >= 2 or "Author:" in seen):
        return "git-log"
    headings = sum(1 for one, two in pairwise(lines) if HEADING.match(two) and FILE_HEADING.match(one))
    if headings >= 2 and share(lines, HEADING, FILE_HEADING) >= 0.9:
        return "grep"
    for kind, least, shapes in (
        ("tree", 0.5, (TREE,)),
        ("ls", 0.5, (LS,)),
        ("git-log", 0.8, (ONELINE,)),
        ("grep", 0.6, (GREP,)),
        ("grep", 0.7, (GREP, GREP_CONTEXT)),
        ("counts", 0.95, (COUNTS,)),
        ("grep", 0.8, (GREP_PLAIN,)),
        ("table", 0.9, (SIZED,)),
        ("paths", 0.85, (PATH,)),
    ):
        if share(lines, *shapes) >= least and _may_be(kind, lines):
            return kind
    if _is_counted(lines):
        return "table"
    return "table" if is_table(lines) else ""


def _may_be(kind: str, lines: list[str]) -> bool:
    """False where the shape of a search's or a list's lines is another's: times, columns."""
    if kind == "paths":
        columns = sum(1 for line in lines if len(GAP.findall(line)) >= 2)
        return columns < 0.3 * len(lines) and share(lines, UNBROKEN) >= 0.5
    return kind != "grep" or _names_files(lines)


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


def detect_diff(text: str) -> str:
    """ "unified-diff" when the text is mainly a diff (hunks with or without file headers), else ""."""
    seen = sample(text)
    hunks = len(HUNK.findall(seen))
    if hunks and (FILE.search(seen) or seen.lstrip().startswith("@@")):
        return "unified-diff"
    lines = [line for line in seen.split("\n") if line]
    marked = sum(1 for line in lines if line[0] in "+-")
    context = sum(1 for line in lines if line[0] == " ")
    if hunks and marked + context >= 0.6 * len(lines):
        return "unified-diff"
    return ""
