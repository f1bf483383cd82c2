"""Diffs: files, hunk headers with their symbols, +/− counts and the first changed lines of each hunk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import (
    allowance,
    cut,
    estimate,
    fitting,
    framed,
    plural,
    touches,
    untouched,
)
from aider_gardener.messages import Compressed, ContentClass, Focus
from aider_gardener.reading.output import clip, lines_of

LARGE_SHARE, SMALL_SHARE = 0.10, 0.20
HUNK_START = re.compile(r"^@@+ -\d+(?:,\d+)? (?:-\d+(?:,\d+)? )?\+\d+(?:,\d+)? @@+ ?(.*)$")
GIT = re.compile(r"^diff --(?:git a/(.*?) b/(.*)|cc (.*)|combined (.*))$")
COMMIT = re.compile(r"^commit [0-9a-f]{40}\b")
COMMIT_LINES = 8
META = re.compile(
    r"^(?:index [0-9a-f]|similarity index|dissimilarity|copy from|copy to|old mode|Index: |={60,})"
)
TOLD = re.compile(
    r"^(?:new file mode|deleted file mode|rename (?:from|to) |Binary files |GIT binary patch|new mode)"
)
DEFINES = re.compile(
    r"^[-+]\s*(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|"
    r"pub(?:\(\w+\))?|override|"
    r"virtual|sealed|partial|unsafe|extern|inline|constexpr|open|data)\s+)*(?:def|class|function|"
    r"func|fn|struct|enum|trait|"
    r"interface|type|impl|module|namespace|record|object|protocol|extension|macro_rules!|CREATE TABLE)\s+"
    r"(?:\([^)]*\)\s*)?([\w$:.!]+)"
)


@dataclass
class _Hunk:
    head: str
    changed: list[str] = field(default_factory=list)

    def counts(self) -> tuple[int, int]:
        added = sum(1 for line in self.changed if line[0] == "+")
        return added, len(self.changed) - added


@dataclass
class _File:
    name: str
    told: list[str] = field(default_factory=list)
    hunks: list[_Hunk] = field(default_factory=list)
    commit: bool = False
    """True for a commit's own lines between the files of a history."""

    @cached_property
    def counts(self) -> tuple[int, int]:
        pairs = [hunk.counts() for hunk in self.hunks]
        return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)

    @cached_property
    def symbols(self) -> list[str]:
        lines = (line for hunk in self.hunks for line in hunk.changed)
        return list(dict.fromkeys(found.group(1) for found in map(DEFINES.match, lines) if found))


def compress(text: str, ctx: Context) -> Compressed:
    """A diff as its files with counts and symbols, hunk headers, and changed lines as the budget allows."""
    kind = ctx.kind or "unified-diff"
    whole = untouched(text, ctx, ContentClass.DIFF, kind)
    if whole:
        return whole
    lines = lines_of(text)
    before, files = _read(lines)
    added = sum(one.counts[0] for one in files)
    removed = sum(one.counts[1] for one in files)
    changed = [one for one in files if not one.commit]
    summary = f"diff: {plural(len(changed), 'file')}, +{added} −{removed}"
    budget = allowance(estimate(text, ctx.count), LARGE_SHARE, SMALL_SHARE)

    def variant(each: int, width: int) -> list[str]:
        return [*_intro(before), *_files(files, each, width, ctx.focus)]

    hunks = sum(len(one.hunks) for one in files)
    if len(changed) < len(files):
        body = _histories(files)
        if ctx.count("\n".join(body)) > budget // 2:
            body = cut([*_intro(before), *body], 2 * budget, ctx.count)
            return framed(text, summary, body, ctx, ContentClass.DIFF, kind, {"files": len(changed)})
    sizes = [size for size in SIZES if size[0] < 0 or hunks * (size[0] // 2 + 1) * 8 <= budget]
    body = fitting([partial(variant, *size) for size in sizes], budget - 24, ctx.count)
    body = cut(body, budget + budget // 2, ctx.count)
    kept = {"files": len(changed), "hunks": hunks}
    return framed(text, summary, body, ctx, ContentClass.DIFF, kind, kept)


SIZES = ((8, 200), (5, 160), (3, 140), (2, 120), (1, 100), (0, 100), (-1, 80))
"""Changed lines shown of each hunk and their width; −1 leaves out the hunks too."""


def _read(lines: Sequence[str]) -> tuple[list[str], list[_File]]:
    before: list[str] = []
    files: list[_File] = []
    hunk: _Hunk | None = None
    for at, line in enumerate(lines):
        git = GIT.match(line)
        following = lines[at + 1] if at + 1 < len(lines) else ""
        if git or (line.startswith("--- ") and following.startswith("+++ ") and not _has_name(files)):
            name = _name(git, line, following)
            files.append(_File(name))
            hunk = None
            continue
        if files and COMMIT.match(line):
            files.append(_File(_commit(lines[at : at + COMMIT_LINES]), commit=True))
            hunk = None
            continue
        start = HUNK_START.match(line)
        if start:
            if not files:
                files.append(_File("(file not named)"))
            hunk = _Hunk(line)
            files[-1].hunks.append(hunk)
        elif hunk is not None and line[:1] in ("+", "-"):
            hunk.changed.append(line)
        elif (hunk is not None and (line[:1] in (" ", "\\") or not line)) or (
            files and hunk is None and (META.match(line) or line.startswith(("--- ", "+++ ")))
        ):
            continue
        elif files and hunk is None and TOLD.match(line):
            files[-1].told.append(line)
        elif line[:1] in ("+", "-") and not files:
            files.append(_File("(cut off above)", hunks=[hunk := _Hunk("", [line])]))
        elif line.strip() and not files:
            before.append(line)
    return before, files


def _commit(lines: Sequence[str]) -> str:
    """A commit of a history on a line: its hash, who, when, and its subject."""
    who = next((line[7:].partition("<")[0].strip() for line in lines if line.startswith("Author:")), "")
    when = next((" ".join(line[5:].split()[1:3]) for line in lines if line.startswith("Date:")), "")
    subject = next((line.strip() for line in lines if line.startswith("    ") and line.strip()), "")
    return f"commit {lines[0].split()[1][:9]} {who}, {when}: {subject}"


def _has_name(files: Sequence[_File]) -> bool:
    return bool(files) and not files[-1].hunks and files[-1].name != "(cut off above)"


def _name(git: re.Match[str] | None, line: str, following: str) -> str:
    if git:
        one, two = git.group(1), git.group(2)
        return f"{one} → {two}" if one and one != two else two or git.group(3) or git.group(4) or ""
    new = following[4:].split("\t")[0].removeprefix("b/")
    return new if new != "/dev/null" else line[4:].split("\t")[0].removeprefix("a/")


def _intro(before: Sequence[str]) -> Iterator[str]:
    for line in before[:12]:
        yield clip(line.rstrip(), 200)


def _files(files: Sequence[_File], each: int, width: int, focus: Focus) -> Iterator[str]:
    for one in files:
        if one.commit:
            yield clip(one.name, max(width, 120))
            continue
        added, removed = one.counts
        near = touches(one.name, focus)
        symbols = one.symbols
        named = f" ({', '.join(symbols[:8])}{', …' if len(symbols) > 8 else ''})" if symbols else ""
        told = "".join(f", {line}" for line in one.told[:2])
        yield f"{one.name} +{added} −{removed}{told}{named}"
        if each < 0 and not near:
            continue
        for hunk in one.hunks:
            yield from _hunk(hunk, max(each, 0) + (6 if near else 0), width)


def _histories(files: Sequence[_File]) -> list[str]:
    """Commits on a line each, with the names of the files behind it."""
    lines: list[str] = []
    for one in files:
        added, removed = one.counts
        if one.commit or not lines:
            lines.append(clip(one.name, 140))
        else:
            lines[-1] += f"; {one.name} +{added} −{removed}"
    return [clip(line, 260) for line in lines]


def _hunk(hunk: _Hunk, each: int, width: int) -> Iterator[str]:
    if hunk.head:
        yield clip(hunk.head, width)
    solid = [line for line in hunk.changed if line[1:].strip()]
    shown = solid[:each]
    if each > 1 and len(solid) > each and shown[-1][0] == shown[0][0]:
        shown[-1] = next((line for line in solid if line[0] != shown[0][0]), shown[-1])
    yield from (clip(line, width) for line in shown)
    if each and len(solid) > each:
        added = sum(1 for line in solid if line[0] == "+") - sum(1 for line in shown if line[0] == "+")
        yield f" … +{added} −{len(solid) - each - added} more"
