"""Tables, profiles and dependency trees: the head, the first rows, the rows that stand out, totals.

Git logs become a line a commit, newest first, as many as fit; authors, tags and the span of the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import fitting, plural, touches
from aider_gardener.reading.detectors import is_rule
from aider_gardener.reading.output import clip

NUMBER = re.compile(r"^[-+]?[\d,]*\.?\d+(?:[eE][-+]?\d+)?%?(?:ms|s|us|KB|MB|GB|B|K|M|G)?$")
TOTAL = re.compile(
    r"^\W*(?:total|sum|all|overall|average|mean|\d+ (?:rows?|orders?|items?|records?))\b|\brows?\)$",
    re.IGNORECASE,
)
MARKED = re.compile(
    r"(?:^|\s)(?:\*+|!+|<-+|FAIL\w*|ERROR|LOST|MISS\w*|WARN\w*|NO|✗|✘|❌)\s*$|\b(?:FAIL(?:ED)?|ERROR|LOST)\b"
)
CELLS = re.compile(r"\s*\|\s*|\s{2,}|\t|(?<=\S)\s(?=[-+]?[\d.]+(?:\s|$))")
DEPENDENCY = re.compile(r"^((?:[│|] ?|  )*)(?:[├└+`\\]─*[┬─]*-* ?)(.*)$")
TROUBLE = re.compile(r"UNMET|invalid|missing|extraneous|deprecated|ERR!|conflict", re.IGNORECASE)
PROFILE_HEAD = re.compile(
    r"function calls|Ordered by|ncalls|cumulative|flat|Overhead|ticks|Total|Duration|Showing|seconds", re.I
)


PROFILE_ROW = re.compile(r"^\s*[\d.]+[%\w./]*\s")

COMMIT = re.compile(r"^[*|\\/ ]*commit ([0-9a-f]{7,40})(?: \((.*)\))?")
ONELINE = re.compile(r"^[*|\\/_ ]*([0-9a-f]{7,40}) (?:\(([^)]*)\) )?(.*)$")
STAT = re.compile(r"^[*|\\/ ]*(\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?")
STAT_FILE = re.compile(r"^[*|\\/ ]* (\S.*?) +\| +(?:\d+|Bin)")
KIND = re.compile(r"^(\w+)(?:\([^)]*\))?!?: ")


def write_table(lines: Sequence[str], budget: int, ctx: Context) -> tuple[str, list[str], dict[str, int]]:
    """Header, first rows, rows with the extremes of number columns, marked rows, totals."""
    head, rows, tail = _parts(lines)
    ranked = [*_standing_out(rows, ctx), *range(len(rows))]
    room = budget - ctx.count("\n".join([*head, *tail]))
    chosen: set[int] = set()
    for at in dict.fromkeys(ranked):
        room -= ctx.count(clip(rows[at], 300)) + 1
        if room < 8:
            break
        chosen.add(at)
    body = [*head, *_with_gaps(rows, chosen, "row"), *tail]
    return plural(len(rows), "row"), [clip(line, 300) for line in body], {"rows": len(chosen)}


def _parts(lines: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    rule = next((at for at, line in enumerate(lines[:6]) if is_rule(line)), None)
    start = (
        rule + 1 if rule is not None else (0 if any(NUMBER.match(cell) for cell in _cells(lines[0])) else 1)
    )
    if rule == 0:
        start = min(len(lines), 3)
    end = len(lines)
    while end > start and end > len(lines) - 4 and (TOTAL.search(lines[end - 1]) or is_rule(lines[end - 1])):
        end -= 1
    return list(lines[:start]), list(lines[start:end]), list(lines[end:])


def _cells(line: str) -> list[str]:
    return [cell for cell in CELLS.split(line.strip()) if cell]


def _value(cell: str) -> float | None:
    if not NUMBER.match(cell):
        return None
    try:
        return float(re.sub(r"[^\d.eE+-]|(?<=\d)[eE](?![-+\d])", "", cell.rstrip("%KMGBmsu")) or "x")
    except ValueError:
        return None


def _standing_out(rows: Sequence[str], ctx: Context) -> list[int]:
    """Indexes of rows worth keeping first: asked about, first two, marked, extremes of each column, last."""
    best = [at for at, row in enumerate(rows) if touches(row, ctx.focus)][:12]
    best.extend(at for at in (0, 1, len(rows) - 1) if 0 <= at < len(rows))
    best.extend([at for at, row in enumerate(rows) if MARKED.search(row)][:40])
    columns: dict[int, list[tuple[float, int]]] = {}
    for at, row in enumerate(rows[:20_000]):
        cells = _cells(row)
        for column, cell in enumerate(cells):
            value = _value(cell)
            if value is not None:
                columns.setdefault(column - len(cells), []).append((value, at))
    for values in columns.values():
        if len(values) >= 0.5 * len(rows):
            best.extend((max(values)[1], min(values)[1]))
    return best


def _with_gaps(rows: Sequence[str], chosen: set[int], word: str) -> Iterator[str]:
    skipped = 0
    for at, row in enumerate(rows):
        if at in chosen:
            if skipped:
                yield f"… {plural(skipped, word)}"
            skipped = 0
            yield row
        else:
            skipped += 1
    if skipped:
        yield f"… {plural(skipped, word)}"


def write_profile(lines: Sequence[str], budget: int, ctx: Context) -> tuple[str, list[str], dict[str, int]]:
    """A profile: its heads, and the first rows of each table (they are sorted by cost)."""

    heads = [bool(PROFILE_HEAD.search(line, 0, 200)) or not PROFILE_ROW.match(line) for line in lines]

    def variant(most: int) -> list[str]:
        return list(_profile(lines, heads, most, ctx))

    body = fitting([partial(variant, most) for most in (30, 20, 14, 10, 7, 5, 3)], budget, ctx.count)
    return plural(len(lines), "line"), body, {"rows": len(body)}


def _profile(lines: Sequence[str], heads: Sequence[bool], most: int, ctx: Context) -> Iterator[str]:
    rows = skipped = 0
    for line, head in zip(lines, heads, strict=True):
        if head:
            if skipped:
                yield f"… {plural(skipped, 'row')}"
            rows = skipped = 0
            yield clip(line, 160)
        elif rows < most or touches(line, ctx.focus):
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
        return " ".join(part for part in parts if part)


def write_git_log(lines: Sequence[str], budget: int, ctx: Context) -> tuple[str, list[str], dict[str, int]]:
    """Commits as lines: those touching the focus, tagged ones, the newest; then what the rest was."""
    commits = _read(lines)
    spare = max(60, budget // 8)
    wanted: dict[int, str] = {}
    special = [at for at, one in enumerate(commits) if _special(one, ctx)]
    order = [*special, *range(len(commits))]
    for at in [*range(min(3, len(commits))), *order]:
        if at in wanted:
            continue
        line = commits[at].line(True)
        cost = ctx.count(line) + 1
        if budget - cost < spare:
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


def _special(commit: _Commit, ctx: Context) -> bool:
    if not ctx.focus.words and not ctx.focus.paths:
        return "tag:" in commit.refs
    return (
        "tag:" in commit.refs
        or touches(commit.subject, ctx.focus)
        or any(touches(one, ctx.focus) for one in commit.files)
    )


def _rest(rest: Sequence[_Commit]) -> str:
    kinds: dict[str, int] = {}
    authors: dict[str, int] = {}
    for one in rest:
        found = KIND.match(one.subject)
        kind = found.group(1) if found else one.subject.split(" ")[0].lower()[:16]
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
