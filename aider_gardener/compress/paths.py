"""Lists of paths written as directories with several names a line, so that a line says what is where.

The paths of `find` or `git ls-files` stand behind their directory or below it. Names that end alike stand
together. The set of paths is the same.
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


def relaid(text: str) -> list[str] | None:
    """The lines of a list of paths by directory; None for a text that is no such list."""
    if len(text) > MOST_CHARS:
        return None
    lines = [line.rstrip() for line in plain(text).split("\n")]
    filled = [line for line in lines if line]
    if len(filled) < LEAST_PATHS:
        return None
    paths, others = list[str](), list[str]()
    for line in filled:
        (paths if PATH.fullmatch(line) else others).append(line)
    inside = sum("/" in path[:-1] for path in paths)
    if len(others) * MOST_OTHERS > len(filled) or inside * 2 < len(paths):
        return None
    by_directory = _by_directory(paths)
    return None if by_directory is None else by_directory + others


def _by_directory(paths: Sequence[str]) -> list[str] | None:
    """A heading for each directory and its names, which may end with a slash; None where
    directories have hardly more names than one."""
    inside: dict[str, list[str]] = {}
    for path in paths:
        at = path.rfind("/", 0, len(path) - 1)
        directory = (path[:at] or "/") if at >= 0 else ""
        inside.setdefault(directory, []).append(path[at + 1 :])
    if len(paths) < 1.5 * len(inside):
        return None
    lines = list(_packed("", inside.pop("", [])))
    for directory, names in inside.items():
        packed = list(_packed("  ", names))
        head = f"{directory.rstrip('/')}/:"
        lines += [head + packed[0][1:]] if len(packed) == 1 else [head, *packed]
    return lines


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
