"""Git logs: a line a commit, newest first, as many as fit; authors, tags and the span of the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import clip, plural, touches

COMMIT = re.compile(r"^[*|\\/ ]*commit ([0-9a-f]{7,40})(?: \((.*)\))?")
ONELINE = re.compile(r"^[*|\\/_ ]*([0-9a-f]{7,40}) (?:\(([^)]*)\) )?(.*)$")
STAT = re.compile(r"^[*|\\/ ]*(\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?")
STAT_FILE = re.compile(r"^[*|\\/ ]* (\S.*?) +\| +(?:\d+|Bin)")
KIND = re.compile(r"^(\w+)(?:\([^)]*\))?!?: ")


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
