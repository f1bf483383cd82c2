"""Which kind of listing a text is: the share of its lines that have the kind's shape."""

from __future__ import annotations

import re

from aider_gardener.compress.frame import FENCE, sample

GREP = re.compile(
    r"^(?!\W{0,2}\d[\d:. -]*:|"
    r"\W?\d{4}-\d\d-)(?:[A-Za-z]:[\\/])?(?:[\w.-]+:)?[\w@~+./\\()\[\] #-]*[\w)\]]:\d+[:-]|^--$|"
    r"^Binary file "
)
GREP_CONTEXT = re.compile(r"^(?!\d)[\w@~+./\\()\[\] #-]+-\d+-")
GREP_PLAIN = re.compile(r"^[\w@~+.\\-]*[/.][\w@~+./\\-]*\.\w{1,6}:\s*\S")
HEADING = re.compile(r"^\d+[:-].*")
LS = re.compile(r"^(?:[-dlbcps][-rwxsStT]{9}[.+@]?\s+\d+ |total \d+)")
TREE = re.compile(r"^(?:│|\|| )*(?:├|└|\|--|`--|\+--)")
NPM_LS = re.compile(r"^(?:[│ ]*[├└]─[─┬] (?:UNMET |deduped )?@?[\w./-]+@)")
COMMIT = re.compile(r"^commit [0-9a-f]{7,40}\b", re.MULTILINE)
ONELINE = re.compile(r"^[*|\\/ ]*[0-9a-f]{7,40} \S")
PATH = re.compile(
    r"^(?:\./|/|[A-Za-z]:\\)?[\w@.()\[\]{}~+$ -]+(?:[/\\][\w@.()\[\]{}~+$ #-]*)+$|"
    r"^[\w@-]+\.\w{1,8}$|^\.[\w.-]+$"
)
PROFILE = re.compile(
    r"^\s*ncalls\s+tottime|^\s*%\s+cumulative\s+self|^\s*flat\s+flat%|^# Overhead|Total samples|"
    r"^ *ticks +(?:parent|total)|^Line #\s+Hits",
    re.MULTILINE,
)
GAP = re.compile(r"\S {2,}\S|\S\t+\S")
RULE_CHARS = frozenset(" \t|+:=─━┼-")


def share(lines: list[str], *shapes: re.Pattern[str]) -> float:
    """The part of the lines that match one of the shapes."""
    return sum(1 for line in lines if any(shape.match(line) for shape in shapes)) / max(1, len(lines))


def detect(text: str) -> str:
    """The kind ("grep", "ls", "paths", "tree", "npm-ls", "git-log", "profile", "table") or ""."""
    seen = sample(text)
    lines = [line for line in seen.split("\n") if line.strip() and not FENCE.match(line)]
    if len(lines) < 3:
        return ""
    if PROFILE.search(seen):
        return "profile"
    if share(lines, NPM_LS) >= 0.5:
        return "npm-ls"
    commits = len(COMMIT.findall(seen))
    if commits and COMMIT.match(lines[0]) and (commits >= 2 or "\nAuthor:" in seen):
        return "git-log"
    for kind, least, shapes in (
        ("tree", 0.5, (TREE,)),
        ("ls", 0.5, (LS,)),
        ("git-log", 0.8, (ONELINE,)),
        ("grep", 0.6, (GREP,)),
        ("grep", 0.7, (GREP, GREP_CONTEXT)),
        ("grep", 0.8, (GREP_PLAIN,)),
        ("paths", 0.85, (PATH,)),
    ):
        if share(lines, *shapes) >= least:
            return kind
    return "table" if is_table(lines) else ""


def is_rule(line: str) -> bool:
    """True for a line that only draws a rule, as under a table's head."""
    return RULE_CHARS.issuperset(line) and any(part in line for part in ("---", "===", "───", "━━━"))


def is_table(lines: list[str]) -> bool:
    """True when most lines have the same columns: markdown bars, a rule line, or aligned gaps."""
    if share(lines, re.compile(r"^\s*\|.*\|\s*$")) >= 0.7:
        return True
    if len(lines) < 5:
        return False
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
