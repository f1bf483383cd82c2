"""What the tools share that put measured tables into pages: results read, tables made, their places found."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aider_gardener.errors import GardenerError

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the tables are made with what bench/ knows of its own figures

NOTHING = "–"
"""Stands in a cell where nothing was measured."""


class BadResults(Exception):
    """Results that cannot be shown, or have no place; the message says why and what to do."""


@dataclass(frozen=True)
class Section:
    """A part of a page between two marker lines with its name; `make` gives its text, a line end last."""

    page: Path
    name: str
    make: Callable[[], str]


def main(sections: Sequence[Section], tool: str, argv: Sequence[str] | None = None) -> int:
    """A tool's command line: it writes its sections, or with `--check` only compares them; the exit code."""
    parser = argparse.ArgumentParser(description=f"Write the sections that tools/{tool}.py makes.")
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 on a difference")
    if parser.parse_args(argv).check:
        return told(faults(sections, tool))
    try:
        write(sections)
    except (BadResults, GardenerError) as problem:
        return told([str(problem)])
    return 0


def write(sections: Sequence[Section]) -> None:
    """Put each section into its page. Raises BadResults without markers or with unusable results."""
    for section in sections:
        before, _, after = parts(section.page.read_text("utf-8"), section.name, section.page.name)
        section.page.write_text(before + section.make() + after, "utf-8", newline="\n")
        print(f"{section.page.name}: {section.name}")


def faults(sections: Sequence[Section], tool: str) -> Iterator[str]:
    """What differs between the pages and what `tool` makes, a line each."""
    for section in sections:
        page, name = section.page, section.name
        try:
            if parts(page.read_text("utf-8"), name, page.name)[1] != section.make():
                yield f"{page.name}: section {name} is not what tools/{tool}.py makes; run it"
        except (BadResults, GardenerError) as problem:
            yield str(problem)


def told(problems: Iterable[str]) -> int:
    """Print each on standard error; returns the exit code, 1 if there was any."""
    found = list(problems)
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


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
