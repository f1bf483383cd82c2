"""How a run ended: the lines in which a CI step, a package's script or a coverage gate says its last word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.testruns.run import unique
from aider_gardener.reading.output import clip

LAST_WORD = re.compile(
    r"##\[(?:error|warning)\]|::(?:error|warning)\b|Error: Process completed with exit code \d|"
    r"Process (?:completed|exited|finished) with (?:exit )?(?:code|status) \d|"
    r"(?:The )?[Cc]ommand .{0,200}(?:exited|failed|returned).{0,40}\d|script returned exit code \d|"
    r"ERROR: Job failed|Cleaning up project directory and file based variables$|"
    r"npm (?:ERR!|error) (?:Test failed|Lifecycle script|code |command failed|Exit status|errno)|"
    r"error Command failed|\s?ELIFECYCLE |.* ELIFECYCLE |error: (?:test|script|Recipe) .*(?:failed|exited)|"
    r"error: (?:\d+ target|doctest failed|\d+ test)|make(?:\[\d+\])?: \*\*\* |exit status \d+$|"
    r"Execution failed for task ':|\[ERROR\] Failed to execute goal|Errors while running CTest|"
    r"(?:ERROR|Error): (?:not found: |file or directory not found|usage: )|\(no match in any of |"
    r"(?:Segmentation fault|Aborted|Killed|Terminated)\b|.{0,80}\(core dumped\)|"
    r"No (?:tests? (?:files? )?(?:found|ran|executed)|test suite found)|"
    r".{0,40}(?:FATAL ERROR|out of memory|heap limit)|INTERNALERROR> \w[\w.]*(?:Error|Exception)"
)
"""A line that says with what a run ended, or that it did not come to its end."""

COVERAGE = re.compile(
    r"TOTAL\s+\d.*%|All files\s*\||(?:FAIL )?Required test coverage|ERROR: Coverage|Jest: .*threshold|"
    r"coverage: \d+(?:\.\d+)?% of statements|Total coverage: |\s*Lines:? +:? *\d+(?:\.\d+)?% |"
    r"(?:Line|Branch) coverage:? |Statements +: \d|COVERAGE: +\d|Coverage failure|Coverage for \w+ \("
)
TABLE = re.compile(r"^(?:File +\| +% Stmts|[-|]{20,}$|% Coverage report from| *% Coverage report from)")
TABLE_ROW = re.compile(r"^ *([^\s|]+) *\| +([\d.]+) \| +[\d.]+ \| +[\d.]+ \| +(\d+(?:\.\d+)?) \|")
LOW_SHARE, LOW_FILES = 80.0, 6
"""Of a table of coverage the files below this share of lines are named, so many of them."""

MOST_WORDS, MOST_COVERAGE = 12, 5
LINE_CHARS = 300


def is_table(line: str) -> bool:
    """True for a line of a table of coverage: `endings` tells its total and the files with little of it."""
    return bool(TABLE.match(line) or ("|" in line and TABLE_ROW.match(line)) or COVERAGE.match(line))


def endings(lines: Sequence[str], told: Sequence[str]) -> list[str]:
    """The coverage and the last words of a run without those that `told` says already."""
    known = " ".join(told)
    coverage, words = list[str](), list[str]()
    low: list[tuple[float, str]] = []
    for line in lines:
        row = TABLE_ROW.match(line) if "|" in line else None
        if row and row[1] != "files" and float(row[3]) < LOW_SHARE:
            low.append((float(row[3]), row[1]))
        if COVERAGE.match(line):
            coverage.append(" ".join(line.split()))
        elif LAST_WORD.match(line):
            words.append(line.strip())
    if low:
        named = ", ".join(f"{path} {share:g}%" for share, path in sorted(low)[:LOW_FILES])
        more = f", {len(low) - LOW_FILES} more" if len(low) > LOW_FILES else ""
        coverage.append(f"below {LOW_SHARE:g}% of lines: {named}{more}")
    chosen = [*unique(coverage)[-MOST_COVERAGE:], *unique(words)[-MOST_WORDS:]]
    return [clip(line, LINE_CHARS) for line in chosen if line not in known]
