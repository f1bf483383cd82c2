"""Search results grouped by file: counts, first matches, and the line numbers of the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import clip, fitting, plural, touches

MATCH = re.compile(r"^((?:[A-Za-z]:[\\/])?[^:\n]*?(?::[^:\n]+?)??):(\d+):(?:\d+:)?(.*)$")
CONTEXT = re.compile(r"^((?:[A-Za-z]:[\\/])?[\w@~+./\\()\[\] #]+[\w.-]*?)-(\d+)-(.*)$")
PLAIN = re.compile(r"^([\w@~+.\\/-]+\.\w{1,6}):(.*)$")
HEADED = re.compile(r"^(\d+)[:-](.*)$")
SIZES = (
    (6, 200, 40),
    (3, 160, 40),
    (2, 140, 40),
    (1, 120, 40),
    (1, 100, 12),
    (1, 70, 6),
    (1, 60, 0),
    (0, 0, 12),
    (0, 0, 0),
)


def write_grep(lines: Sequence[str], budget: int, ctx: Context) -> tuple[str, list[str], dict[str, int]]:
    """Group matches by file; fewer lines of each file as the budget gets tighter."""
    files, other = _read(lines)
    total = sum(map(len, files.values()))
    variants = [*(partial(_lines, files, *size, ctx) for size in SIZES), partial(_folders, files)]
    body = fitting(variants, budget, ctx.count)
    summary = f"{plural(total, 'match').replace('matchs', 'matches')} in {plural(len(files), 'file')}"
    return summary, [*(clip(line, 160) for line in other[:6]), *body], {"matches": total, "files": len(files)}


def _read(lines: Sequence[str]) -> tuple[dict[str, list[tuple[str, str]]], list[str]]:
    files: dict[str, list[tuple[str, str]]] = {}
    other: list[str] = []
    heading = ""
    for line in lines:
        if line == "--":
            continue
        found = MATCH.match(line)
        if found and not found.group(1).isdigit():
            files.setdefault(found.group(1), []).append((found.group(2), found.group(3)))
            continue
        headed = HEADED.match(line)
        if headed and heading:
            files.setdefault(heading, []).append((headed.group(1), headed.group(2)))
            continue
        if CONTEXT.match(line):
            continue
        plain = PLAIN.match(line)
        if plain:
            files.setdefault(plain.group(1), []).append(("", plain.group(2)))
        elif re.match(r"^[\w@~+./\\-]+\.\w{1,6}$", line):
            heading = line
        else:
            other.append(line)
    return files, other


def _lines(
    files: dict[str, list[tuple[str, str]]], each: int, width: int, numbered: int, ctx: Context
) -> list[str]:
    written = []
    width = max(width, 80)
    for path, matches in files.items():
        near = [match for match in matches if touches(match[1], ctx.focus)]
        most = each + (2 if touches(path, ctx.focus) else 0)
        shown = [*matches[:most], *(match for match in near[:2] if match not in matches[:most])]
        if len(matches) == 1 and shown:
            number, text = shown[0]
            written.append(f"{path}:{number + ':' if number else ''} {clip(text.strip(), width)}")
            continue
        numbers = [number for number, _ in matches if number and all(number != one for one, _ in shown)]
        tail = (
            f" also at {','.join(numbers[:numbered])}{',…' if len(numbers) > numbered else ''}"
            if numbers
            else ""
        )
        tail = tail.replace("also at", "at" if not shown else "also at") if numbered else ""
        written.append(f"{path}: {plural(len(matches), 'match').replace('matchs', 'matches')}{tail}")
        written.extend(
            f"  {number + ': ' if number else ''}{clip(text.strip(), width)}" for number, text in shown
        )
    return written


def _folders(files: dict[str, list[tuple[str, str]]]) -> list[str]:
    counts: dict[str, list[int]] = {}
    for path, matches in files.items():
        folder = path.replace("\\", "/").rpartition("/")[0] or "."
        counts.setdefault(folder, []).append(len(matches))
    ranked = sorted(counts.items(), key=lambda pair: -sum(pair[1]))
    return [f"{folder}/: {sum(each)} in {plural(len(each), 'file')}" for folder, each in ranked[:60]]
