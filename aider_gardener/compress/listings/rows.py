"""Profiles, dependency trees and histories.

Git logs become a line a commit, newest first, as many as fit; what was reverted, breaks, is tagged or mends
an incident stays, of the rest kinds, authors and span.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import fitting, plural, touches
from aider_gardener.compress.logs.excerpt import fitted
from aider_gardener.reading.output import clip

DEPENDENCY = re.compile(r"^((?:[│|] ?|  )*)(?:[├└+`\\]─*[┬─]*-* ?)(.*)$")
TROUBLE = re.compile(r"UNMET|invalid|missing|extraneous|deprecated|ERR!|conflict", re.IGNORECASE)
PROFILE_HEAD = re.compile(
    r"function calls|Ordered by|ncalls|cumulative|flat|Overhead|ticks|Total|Duration|Showing|seconds", re.I
)


COST = re.compile(r"^(\d{1,15}(?:\.\d{1,9})?)(?:/\d+)?(?:%|s|ms|us)?$")
COSTLIEST = 3
PRINTED_TOKENS = 300
"""What the profiled program printed before its profile may take so many tokens, or a quarter of the room."""
PROFILE_ROW = re.compile(r"^\s*[\d.]+[%\w./]*\s")

COMMIT = re.compile(r"^[*|\\/ ]*commit ([0-9a-f]{7,40})(?: \((.*)\))?")
ONELINE = re.compile(r"^[*|\\/_ ]*([0-9a-f]{7,40}) (?:\(([^)]*)\) )?(.*)$")
STAT = re.compile(r"^[*|\\/ ]*(\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?")
STAT_FILE = re.compile(r"^[*|\\/ ]* (\S.*?) +\| +(?:\d+|Bin)")
KIND = re.compile(r"^(\w+)(?:\([^)]*\))?!?: ")
GRAVE = re.compile(
    r"^(?:Revert|revert|Reapply|rollback|Rollback|Roll back)\b|^\w+(?:\([^)]*\))?!: |BREAKING[ -]CHANGE|"
    r"\bCVE-\d{4}-\d+|\b(?:INC|SEV|SECURITY|SEC|GHSA|HOTFIX|INCIDENT)-?\d+|"
    r"\b(?:security|vulnerab\w+|hotfix|incident|outage|data loss|regression|emergency|credentials?|"
    r"secrets?|leak(?:s|ed)?|"
    r"injection|XSS|CSRF|exploit)\b|This reverts commit",
    re.IGNORECASE,
)
"""What somebody who looks for the cause of something must see."""

ISSUE = re.compile(r"(?<![\w&])#\d+\b|\b[A-Z]{2,10}-\d+\b")
TOLD_BODY = re.compile(
    r"^(?:BREAKING|This reverts|Fixes|Closes|Refs?|Resolves|Security|Incident|See)\b|CVE-|INC-", re.I
)
BODY_CHARS = 160
MOST_GRAVE = 60


def write_profile(lines: Sequence[str], budget: int, ctx: Context) -> tuple[str, list[str], dict[str, int]]:
    """A profile: its heads, and the first rows of each table (they are sorted by cost)."""

    begin = next((at for at, line in enumerate(lines) if PROFILE_HEAD.search(line, 0, 200)), 0)
    printed = fitted(lines[:begin], max(PRINTED_TOKENS, budget // 4), ctx) if begin else []
    lines = lines[begin:]
    heads = [bool(PROFILE_HEAD.search(line, 0, 200)) or not PROFILE_ROW.match(line) for line in lines]

    costly = _costly(lines, heads)

    def variant(most: int) -> list[str]:
        return list(_profile(lines, heads, costly, most, ctx))

    body = fitting([partial(variant, most) for most in (30, 20, 14, 10, 7, 5, 3)], budget, ctx.count)
    return plural(len(lines), "line"), [*printed, *body], {"rows": len(body)}


def _costly(lines: Sequence[str], heads: Sequence[bool]) -> set[int]:
    """The rows with the largest numbers of each column, by whatever the table is sorted."""
    columns: dict[int, list[tuple[float, int]]] = {}
    for at, (line, head) in enumerate(zip(lines, heads, strict=True)):
        for column, cell in enumerate(() if head else line[:200].split()[:6]):
            found = COST.match(cell)
            if found:
                columns.setdefault(column, []).append((float(found[1]), at))
    return {
        at for values in columns.values() for _, at in sorted(values, key=lambda one: -one[0])[:COSTLIEST]
    }


def _profile(
    lines: Sequence[str], heads: Sequence[bool], costly: set[int], most: int, ctx: Context
) -> Iterator[str]:
    rows = skipped = 0
    for at, (line, head) in enumerate(zip(lines, heads, strict=True)):
        if head:
            if skipped:
                yield f"… {plural(skipped, 'row')}"
            rows = skipped = 0
            yield clip(line, 160)
        elif rows < most or at in costly or touches(line, ctx.focus):
            rows += 1
            yield clip(" ".join(line.split()), 160)
        else:
            skipped += 1
    if skipped:
        yield f"… {plural(skipped, 'row')}"


def write_dependencies(
    lines: Sequence[str], budget: int, ctx: Context
) -> tuple[str, list[str], dict[str, int]]:
    """A dependency tree: direct ones with how many hang below them, and every one in trouble."""
    variants = [partial(_dependencies, lines, depth, ctx) for depth in (3, 2, 1)]
    packages = len({found.group(2) for found in map(DEPENDENCY.match, lines) if found})
    return plural(packages, "package"), fitting(variants, budget, ctx.count), {"packages": packages}


def _dependencies(lines: Sequence[str], most: int, ctx: Context) -> list[str]:
    written: list[str] = []
    below = 0
    for line in lines:
        found = DEPENDENCY.match(line)
        depth = len(found.group(1)) // 2 + 1 if found else 0
        if depth <= most or TROUBLE.search(line) or touches(line, ctx.focus):
            if below and written:
                written[-1] += f" (+{below} below)"
            below = 0
            written.append(clip(line, 160))
        else:
            below += 1
    if below and written:
        written[-1] += f" (+{below} below)"
    return written


@dataclass
class _Commit:
    hash: str
    refs: str = ""
    author: str = ""
    date: str = ""
    subject: str = ""
    body: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    stat: str = ""

    def line(self, full: bool) -> str:
        parts = [
            self.hash[:9],
            f"({self.refs})" if self.refs else "",
            self.date,
            self.author,
            clip(self.subject, 120),
        ]
        if full and self.stat:
            shown = ", ".join(self.files[:3]) + (", …" if len(self.files) > 3 else "")
            parts.append(f"[{self.stat}: {shown}]" if shown else f"[{self.stat}]")
        told = [line.strip() for line in self.body if full and TOLD_BODY.search(line.strip())]
        parts += [f"— {clip(line, BODY_CHARS)}" for line in told[:3]]
        return " ".join(part for part in parts if part)

    def is_grave(self) -> bool:
        return bool(GRAVE.search(self.subject)) or any(GRAVE.search(line) for line in self.body)


def write_git_log(lines: Sequence[str], budget: int, ctx: Context) -> tuple[str, list[str], dict[str, int]]:
    """Commits as lines: the grave ones, the newest and the last, then as many as fit; what the rest was."""
    commits = _read(lines)
    spare = max(60, budget // 8)
    wanted: dict[int, str] = {}
    must = {*range(min(3, len(commits))), *_grave(commits)}
    for at in [*sorted(must), *_ranked(commits, ctx)]:
        if at in wanted:
            continue
        line = commits[at].line(True)
        cost = ctx.count(line) + 1
        if budget - cost < spare and at not in must:
            break
        budget -= cost
        wanted[at] = line
    body = [wanted[at] for at in sorted(wanted)]
    rest = [one for at, one in enumerate(commits) if at not in wanted]
    if rest:
        body.append(_rest(rest))
    authors = {one.author for one in commits if one.author}
    span = f", {commits[-1].date}..{commits[0].date}" if commits and commits[0].date else ""
    who = f" by {plural(len(authors), 'author')}" if authors else ""
    return f"{plural(len(commits), 'commit')}{who}{span}", body, {"commits": len(wanted)}


def _grave(commits: Sequence[_Commit]) -> list[int]:
    """Tagged commits, those that revert, break or mend something, and those that name an issue if few do."""
    grave = [at for at, one in enumerate(commits) if "tag:" in one.refs or one.is_grave()]
    issues = [
        at
        for at, one in enumerate(commits)
        if ISSUE.search(one.subject) or any(ISSUE.search(line) for line in one.body if "-by:" not in line)
    ]
    if len(issues) <= max(3, len(commits) // 12):
        grave += issues
    if len(commits) > 20:
        grave += [at for at in _seldom(commits) if at not in grave][:6]
    return grave[:MOST_GRAVE]


def _seldom(commits: Sequence[_Commit]) -> list[int]:
    """The first commit of authors, and of kinds, that have next to none."""
    found: list[int] = []
    for names in ([one.author for one in commits], [_kind(one) for one in commits]):
        counts = Counter(names)
        if len(counts) > len(commits) // 5:
            continue
        seldom = {name for name, number in counts.items() if name and number <= max(1, len(commits) // 50)}
        found += [names.index(name) for name in sorted(seldom)[:6]]
    return found


def _ranked(commits: Sequence[_Commit], ctx: Context) -> list[int]:
    """The order in which further commits are shown: those asked about, merges, the newest."""
    near = [
        at
        for at, one in enumerate(commits)
        if touches(one.subject, ctx.focus) or any(touches(file, ctx.focus) for file in one.files)
    ]
    merges = [at for at, one in enumerate(commits) if one.subject.startswith("Merge ")][:8]
    return [*near, *range(min(12, len(commits))), *merges, *range(len(commits))]


def _kind(commit: _Commit) -> str:
    found = KIND.match(commit.subject)
    return found.group(1) if found else commit.subject.split(" ")[0].lower()[:16]


def _rest(rest: Sequence[_Commit]) -> str:
    kinds: dict[str, int] = {}
    authors: dict[str, int] = {}
    for one in rest:
        kind = _kind(one)
        kinds[kind] = kinds.get(kind, 0) + 1
        if one.author:
            authors[one.author] = authors.get(one.author, 0) + 1
    told = ", ".join(
        f"{count} {kind}" for kind, count in sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))[:8]
    )
    by = ", ".join(
        f"{name} ×{count}"
        for name, count in sorted(authors.items(), key=lambda pair: (-pair[1], pair[0]))[:4]
    )
    who = f"; by {by}" if by else ""
    return f"… {plural(len(rest), 'more commit')} ({told}){who}; last {rest[-1].line(False)}"


def _read(lines: Sequence[str]) -> list[_Commit]:
    commits: list[_Commit] = []
    full = any(COMMIT.match(line) for line in lines[:20])
    for line in lines:
        found = COMMIT.match(line) if full else None
        if found:
            commits.append(_Commit(found.group(1), found.group(2) or ""))
        elif not full:
            one = ONELINE.match(line)
            if one:
                commits.append(_Commit(one.group(1), one.group(2) or "", subject=one.group(3)))
        elif commits:
            _field(commits[-1], line)
    return commits


def _field(commit: _Commit, line: str) -> None:
    bare = line.lstrip("*|\\/ ")
    stat = STAT.match(line)
    if bare.startswith("Author:"):
        commit.author = bare[7:].partition("<")[0].strip()
    elif bare.startswith(("Date:", "AuthorDate:")):
        commit.date = " ".join(_short_date(bare.partition(":")[2].strip()))
    elif stat:
        commit.stat = f"{plural(int(stat.group(1)), 'file')} +{stat.group(2) or 0} −{stat.group(3) or 0}"
    elif STAT_FILE.match(line) and line.startswith(" ") and not line.startswith("    "):
        found = STAT_FILE.match(line)
        commit.files.append(found.group(1) if found else "")
    elif line.startswith("    ") and not commit.subject:
        commit.subject = bare.strip()
    elif not bare.startswith(("Merge:", "Commit:", "CommitDate:")):
        commit.body.append(line)


def _short_date(text: str) -> list[str]:
    words = text.split()
    if len(words) >= 5 and re.match(r"^\d\d:\d\d:\d\d$", words[3]):
        return [words[4], words[1], words[2]]
    return words[:1]
