"""What the tools share that put measured tables into pages: results read, tables made, their places found."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

NOTHING = "–"
"""Stands in a cell where nothing was measured."""


class BadResults(Exception):
    """Results that cannot be shown, or have no place; the message says why and what to do."""


def told(faults: Iterable[str]) -> int:
    """Print each fault on standard error; returns the exit code, 1 if there was any."""
    found = list(faults)
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


def write_or_check(check: bool, faults: Callable[[], Iterable[str]], write: Callable[[], str]) -> int:
    """What a tool does: `write` rewrites its page and says so, or only `faults` are told; the exit code."""
    try:
        if check:
            return told(faults())
        print(write())
    except BadResults as problem:
        return told([str(problem)])
    return 0


def command(
    doc: str | None, argv: Sequence[str] | None, faults: Callable[[], Iterator[str]], write: Callable[[], str]
) -> int:
    """A tool's command line: it writes its page, or with `--check` only compares; the exit code."""
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 on a difference")
    return write_or_check(parser.parse_args(argv).check, faults, write)


def section_faults(page: Path, name: str, section: Callable[[], str], tool: str) -> Iterator[str]:
    """What is wrong with a section of a page, which `tool` makes, a line each."""
    try:
        if parts(page.read_text("utf-8"), name, page.name)[1] != section():
            yield f"{page.name}: section {name} is not what tools/{tool} makes; run it"
    except BadResults as problem:
        yield str(problem)


def put_section(page: Path, name: str, section: Callable[[], str]) -> None:
    """Put a section into its page. Raises BadResults without markers or with unusable results."""
    before, _between, after = parts(page.read_text("utf-8"), name, page.name)
    page.write_text(before + section() + after, "utf-8", newline="\n")


def results(path: Path, kind: str, form: int) -> Mapping[str, Any]:
    """The JSON of a results file. Raises BadResults if it is not of this kind and format."""
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as problem:
        raise BadResults(f"{path.name}: cannot be read as JSON ({problem}); make it again") from problem
    if not isinstance(value, dict) or (value.get("kind"), value.get("format")) != (kind, form):
        raise BadResults(f"{path.name}: not results of kind {kind} in format {form}; make it again")
    return value


def parts(text: str, name: str, page: str) -> tuple[str, str, str]:
    """A page before, between and behind the marker lines of a section, which belong to the outer parts.

    Raises BadResults where they are missing; `page` names it.
    """
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, found, rest = text.partition(begin)
    between, closed, after = rest.partition(end)
    if not found or not closed:
        raise BadResults(f"{page}: the lines {begin.strip()} and {end} are missing")
    return before + begin, between, end + after


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Markdown, the first column to the left, the others to the right, padded to read as a table too."""
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    for row in [head, rule, *rows]:
        cells = [row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]
        yield "| " + " | ".join(cells) + " |"
