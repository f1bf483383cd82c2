"""Lists of files: folders with counts by extension, and the first names of each; and search results grouped
by file: counts, first matches, and the line numbers of the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import fitting, plural, touches
from aider_gardener.reading.output import clip

LS = re.compile(
    r"^([-dlbcps])[-rwxsStT]{9}[.+@]?\s+\d+\s+\S+\s+\S+\s+([\d.,]+[KMGTkmgt]?)\s+"
    r"(\w{3}\s+\d+\s+[\d:]+|\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::[\d.]+)?(?: [+-]\d{4})?)?|\S+ \d+ [\d:]+) (.+)$"
)
BRANCH = re.compile(r"^((?:│|\||[ \u00a0])*)(?:├|└|\|--|`--|\+--|\\--)[─\-]*[ \u00a0]?(.*)$")
SIZES = ((9, 12), (9, 6), (9, 3), (6, 3), (5, 3), (4, 3), (3, 3), (3, 2), (2, 3), (2, 2), (2, 0), (1, 0))
"""Depth of the folders told apart, and how many names of each are shown."""

MANY_PATHS, MOST_UNLIKE = 40, 12
UNITS = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

MATCH = re.compile(r"^((?:[A-Za-z]:[\\/])?[^:\n]*?(?::[^:\n]+?)??):(\d+):(?:\d+:)?(.*)$")
CONTEXT = re.compile(r"^((?:[A-Za-z]:[\\/])?[\w@~+./\\()\[\] #]+[\w.-]*?)-(\d+)-(.*)$")
PLAIN = re.compile(r"^([\w@~+.\\/-]+\.\w{1,6}):(.*)$")
HEADED = re.compile(r"^(\d+)[:-](.*)$")
CHANGING = re.compile(r"\d+")
MATCH_SIZES = (
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


@dataclass
class _Folder:
    names: list[str] = field(default_factory=list)
    below: int = 0

    def extensions(self) -> str:
        counts: dict[str, int] = {}
        for name in self.names:
            ending = "." + name.rpartition(".")[2] if "." in name[1:] else "no ending"
            counts[ending] = counts.get(ending, 0) + 1
        ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return ", ".join(f"{count} {ending}" for ending, count in ranked[:4])


def write_paths(lines: Sequence[str], budget: int, ctx: Context) -> tuple[str, list[str], dict[str, int]]:
    """A flat list of paths, grouped by folder; deeper folders are folded as the budget gets tighter."""
    paths = [line.strip().replace("\\", "/") for line in lines]
    near = [path for path in paths if touches(path, ctx.focus)][:10]
    by_folder = _by_folder(paths)

    odd = _unlike(paths)
    first = [f"(asked about) {path}" for path in near]
    first += [f"endings that are rare: {', '.join(odd)}"] if odd else []

    def variant(depth: int, names: int) -> list[str]:
        return [*first, *_folder_lines(by_folder, depth, names)]

    body = fitting([partial(variant, *size) for size in SIZES], budget, ctx.count)
    return (
        f"{plural(len(paths), 'path')} in {plural(len(by_folder), 'folder')}",
        body,
        {"paths": len(paths), "folders": len(by_folder)},
    )


def _unlike(paths: Sequence[str]) -> list[str]:
    """The paths with an ending that hardly any other has, where there are many."""
    if len(paths) < MANY_PATHS:
        return []
    endings = [path.rpartition("/")[2].rpartition(".")[2] for path in paths]
    counts = Counter(endings)
    rare = [path for path, ending in zip(paths, endings, strict=True) if counts[ending] == 1]
    return rare if len(rare) <= MOST_UNLIKE else []


def _by_folder(paths: Sequence[str]) -> dict[str, list[str]]:
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rstrip("/").rpartition("/")
        folders.setdefault(folder, []).append(name)
    return folders


def _folder_lines(by_folder: Mapping[str, list[str]], depth: int, names: int) -> list[str]:
    folders: dict[str, _Folder] = {}
    for folder, own in by_folder.items():
        kept = "/".join(folder.split("/")[:depth])
        one = folders.setdefault(kept, _Folder())
        one.names.extend(own)
        one.below += len(own) if kept != folder else 0
    lines = []
    for folder, one in folders.items():
        title = (folder or ".") + "/"
        if len(one.names) <= names and not one.below:
            lines.append(f"{title} {', '.join(one.names)}")
            continue
        first = f": {', '.join(one.names[:names])}, …" if names and not one.below else ""
        lines.append(f"{title} {plural(len(one.names), 'file')} ({one.extensions()}){first}")
    return lines


def write_ls(lines: Sequence[str], budget: int, ctx: Context) -> tuple[str, list[str], dict[str, int]]:
    """`ls -l`: names with sizes, folders apart; the largest and the newest where not all fit."""
    headings = [line for line in lines if line.endswith(":") and not LS.match(line)]
    if len(headings) > 1:
        return _write_recursive(lines, budget, ctx)
    entries, other = [], []
    for line in lines:
        found = LS.match(line)
        if found:
            entries.append((found.group(1), found.group(2), found.group(3), found.group(4)))
        elif not line.startswith("total "):
            other.append(clip(line, 160))
    files = [entry for entry in entries if entry[0] != "d"]
    folders = [entry[3] + "/" for entry in entries if entry[0] == "d" and entry[3] not in (".", "..")]
    sized = [f"{name} {size}" for _, size, _, name in files]
    biggest = [
        f"{name} {size} {date}" for _, size, date, name in sorted(files, key=lambda one: -_size(one[1]))
    ]
    near = [f"{size} {date} {name}" for _, size, date, name in entries if touches(name, ctx.focus)][:8]

    def every() -> list[str]:
        return [*other, *near, "folders: " + ", ".join(folders), "files: " + ", ".join(sized)]

    def some(most: int) -> list[str]:
        names = ", ".join(name for *_, name in files[:most])
        told = [f"folders ({len(folders)}): " + ", ".join(folders[:most]), f"files ({len(files)}): {names}"]
        return [*other[:8], *near, *told, "largest: " + "; ".join(biggest[:4])]

    variants: list[Callable[[], list[str]]] = [
        every,
        *(partial(some, most) for most in (400, 200, 120, 60, 30, 15, 8)),
    ]
    body = [line for line in fitting(variants, budget, ctx.count) if not line.endswith(": ")]
    return f"{plural(len(files), 'file')}, {plural(len(folders), 'folder')}", body, {"entries": len(entries)}


def _write_recursive(
    lines: Sequence[str], budget: int, ctx: Context
) -> tuple[str, list[str], dict[str, int]]:
    """`ls -lR`: the files by folder, the largest and the links, and lines that are neither."""
    folder = ""
    paths: list[str] = []
    sized: list[tuple[float, str]] = []
    told: list[str] = []
    for line in lines:
        found = LS.match(line)
        if found and found.group(1) != "d":
            path = f"{folder}/{found.group(4)}" if folder else found.group(4)
            paths.append(path)
            sized.append((_size(found.group(2)), f"{path} {found.group(2)} {found.group(3)}"))
            told += [f"link {path}"] if found.group(1) == "l" and len(told) < 12 else []
        elif not found and line.endswith(":"):
            folder = line[:-1].rstrip("/")
        elif not found and not line.startswith("total ") and len(told) < 24:
            told.append(clip(line, 160))
    largest = [text for size, text in sorted(sized, key=lambda one: -one[0])[:5] if size]
    summary, body, kept = write_paths(paths, budget, ctx)
    return summary, [*told, *body, *(["largest: " + "; ".join(largest)] if largest else [])], kept


def write_counts(lines: Sequence[str], budget: int, ctx: Context) -> tuple[str, list[str], dict[str, int]]:
    """Numbers by file, as `grep -c` prints them: the largest, and how many have none."""
    pairs: list[tuple[str, int]] = []
    other: list[str] = []
    for line in lines:
        path, _, number = line.rpartition(":")
        if number.isdecimal():
            pairs.append((path, int(number[:15])))
        else:
            other.append(clip(line, 160))
    order = sorted(pairs, key=lambda one: -one[1])
    near = [pair for pair in pairs if touches(pair[0], ctx.focus)][:10]
    none = sum(1 for _, number in pairs if not number)

    def variant(most: int) -> list[str]:
        shown = list(dict.fromkeys([*near, *(pair for pair in order[:most] if pair[1])]))
        left = len(pairs) - none - sum(1 for pair in shown if pair[1])
        tail = [f"… {plural(left, 'file')} with less"] if left > 0 else []
        tail += [f"… {plural(none, 'file')} with 0"] if none else []
        return [*other[:8], *(f"{path}:{number}" for path, number in shown), *tail]

    body = fitting([partial(variant, most) for most in (400, 100, 50, 25, 12, 6)], budget, ctx.count)
    total = sum(number for _, number in pairs)
    return f"{total} in {plural(len(pairs), 'file')}", body, {"files": len(pairs)}


def _size(text: str) -> float:
    found = re.match(r"^([\d.]+)", text.replace(",", ""))
    return float(found.group(1).rstrip(".") or 0) * UNITS.get(text[-1:].upper(), 1.0) if found else 0.0


def write_tree(lines: Sequence[str], budget: int, ctx: Context) -> tuple[str, list[str], dict[str, int]]:
    """A drawn tree, turned into paths and grouped by folder."""
    stack: list[tuple[int, str]] = []
    nodes: list[tuple[int, str]] = []
    other: list[str] = []
    for line in lines:
        found = BRANCH.match(line)
        if not found:
            other.append(clip(line, 160))
            continue
        depth = len(found.group(1).replace("\u00a0", " "))
        while stack and stack[-1][0] >= depth:
            stack.pop()
        stack.append((depth, found.group(2).strip()))
        nodes.append((depth, "/".join(name for _, name in stack)))
    leaves = [
        path for at, (depth, path) in enumerate(nodes) if at + 1 == len(nodes) or nodes[at + 1][0] <= depth
    ]
    summary, body, kept = write_paths(leaves, budget - ctx.count("\n".join(other[:3] + other[-1:])), ctx)
    return summary, [*other[:3], *body, *(line for line in other[3:][-1:])], kept


def write_grep(lines: Sequence[str], budget: int, ctx: Context) -> tuple[str, list[str], dict[str, int]]:
    """Group matches by file; fewer lines of each file as the budget gets tighter."""
    files, other = _read(lines)
    total = sum(map(len, files.values()))
    variants = [*(partial(_lines, files, *size, ctx) for size in MATCH_SIZES), partial(_folders, files)]
    body = fitting(variants, budget, ctx.count)
    odd = [line for line in _odd(files, total) if line not in body]
    if files and not odd:
        path, matches = next(iter(files.items()))
        first = clip(matches[0][1].strip(), 120)
        odd = [] if any(first in line for line in body) else [f"first: {path}:{matches[0][0]}: {first}"]
    body = [*odd, *body]
    summary = f"{plural(total, 'match').replace('matchs', 'matches')} in {plural(len(files), 'file')}"
    return summary, [*(clip(line, 160) for line in other[:6]), *body], {"matches": total, "files": len(files)}


def _odd(files: dict[str, list[tuple[str, str]]], total: int) -> list[str]:
    """Matches in lines that are like no other, where most are like others: those are seen first."""
    shapes: dict[str, list[tuple[str, str, str]]] = {}
    for path, matches in files.items():
        for number, text in matches:
            shapes.setdefault(CHANGING.sub("0", text.strip()[:160]), []).append((path, number, text.strip()))
    single = [found[0] for found in shapes.values() if len(found) == 1]
    if not single or len(single) > max(2, total // 12):
        return []
    return [f"(unlike the others) {path}:{number}: {clip(text, 120)}" for path, number, text in single[:8]]


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
        if len(matches) == 1 and matches[0][0]:
            written.append(f"{path}:{matches[0][0]}")
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
