"""Lists of paths written as directories with several names a line, so that a line says what is where.

The paths of `find`, `git ls-files` or `ls -R` stand behind their directory or below it; the files of a drawn
tree that stand side by side share a line. Names that end alike stand together. The set of paths is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from aider_gardener.reading.output import plain

LEAST_PATHS = 12
LINE_CHARS = 110
MOST_OTHERS = 10
"""Of so many lines one may be no path: it stands behind the paths."""

MOST_CHARS = 8_000_000
PATH = re.compile(r"(?=\S*[\w.])(?:[A-Za-z]:[\\/])?[^\s:\"'`|<>*?,;=]+")
HEADING = re.compile(r"([^\s:\"'`|<>*?]+):")
DRAWN = re.compile(r"([│| \xa0]*(?:[├└]──|\|--|`--)[ \xa0])(\S+)")
FILE = re.compile(r"[^\s@]*\w\.[A-Za-z]\w{0,9}\*?|\.[\w.-]+")

Pair = tuple[str, str]
"""A directory, "" for none, and what stands in it, "" for nothing."""


def relaid(text: str) -> list[str] | None:
    """The lines of a list of paths by directory; None for a text that is no such list."""
    if len(text) > MOST_CHARS:
        return None
    lines = [line.rstrip() for line in plain(text).split("\n")]
    if sum(map(bool, lines)) < LEAST_PATHS:
        return None
    return _of_tree(lines) or _of_headings(lines) or _of_paths(lines)


def _of_paths(lines: Sequence[str]) -> list[str] | None:
    """A path a line."""
    filled = [line for line in lines if line]
    paths, others = list[str](), list[str]()
    for line in filled:
        (paths if PATH.fullmatch(line) else others).append(line)
    inside = sum("/" in path[:-1] for path in paths)
    if len(others) * MOST_OTHERS > len(filled) or inside * 2 < len(paths):
        return None
    return _written([_split(path) for path in paths], others)


def _of_headings(lines: Sequence[str]) -> list[str] | None:
    """A heading for each directory, its names below, a blank line behind."""
    pairs: list[Pair] = []
    directory, names = "", 0
    for row, line in enumerate(lines):
        heading = HEADING.fullmatch(line)
        if heading and (row == 0 or not lines[row - 1]):
            directory = heading.group(1).rstrip("/")
            pairs.append((directory, ""))
        elif line and not (directory and PATH.fullmatch(line) and "/" not in line[:-1]):
            return None
        elif line:
            pairs.append((directory, line))
            names += 1
    return _written(pairs, []) if names > 1.5 * (len(pairs) - names) > 3 else None


def _of_tree(lines: Sequence[str]) -> list[str] | None:
    """A tree drawn of names: those side by side that have nothing below them share a line."""
    drawn = [DRAWN.fullmatch(line) for line in lines]
    names = [found.group(2) for found in drawn if found]
    if len(names) < LEAST_PATHS or len(names) * 2 < sum(map(bool, lines)):
        return None
    if sum(bool(FILE.fullmatch(name)) for name in names) * 3 < len(names):
        return None
    written: list[str] = []
    lead, side_by_side = "", list[str]()
    for row, found in enumerate(drawn):
        width = len(found.group(1)) if found else -1
        below = drawn[row + 1] if row + 1 < len(drawn) else None
        if side_by_side and width != len(lead):
            written += _packed(lead, side_by_side)
            side_by_side = []
        if found is None:
            written.append(lines[row])
        elif below and len(below.group(1)) > width:
            written += [*_packed(lead, side_by_side), lines[row]]
            side_by_side = []
        else:
            lead = lead if side_by_side else found.group(1)
            side_by_side.append(found.group(2))
    return written + list(_packed(lead, side_by_side))


def _split(path: str) -> Pair:
    """The directory and the name; what ends with a slash is a name as well."""
    at = path.rfind("/", 0, len(path) - 1)
    return (path[:at] or "/", path[at + 1 :]) if at >= 0 else ("", path)


def _written(pairs: Sequence[Pair], others: list[str]) -> list[str] | None:
    """A heading for each directory and its names; None where directories have hardly more names than one."""
    inside: dict[str, list[str]] = {}
    for directory, name in pairs:
        inside.setdefault(directory, []).extend([name] if name else [])
    if len(pairs) < 1.5 * len(inside):
        return None
    lines = list(_packed("", inside.pop("", [])))
    for directory, names in inside.items():
        packed = list(_packed("  ", names))
        head = f"{directory.rstrip('/')}/:"
        lines += [head + packed[0][1:]] if len(packed) == 1 else [head, *packed]
    return lines + others


def _packed(lead: str, names: Sequence[str]) -> Iterator[str]:
    """The names on lines behind `lead`, those of one ending together."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(name.rpartition(".")[2] if "." in name[1:] else "", []).append(name)
    groups = list(alike.values())
    if names and sum(len(name) + 2 for name in names) <= LINE_CHARS:
        groups = [[name for group in groups for name in group]]
    for same in groups:
        line = lead + same[0]
        for name in same[1:]:
            if len(line) + len(name) > LINE_CHARS:
                yield line
                line = lead + name
            else:
                line += "  " + name
        yield line
