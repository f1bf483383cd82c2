"""What a test run says: its totals, its failures and what was unusual; and what one failure's block of lines
says, whatever the runner: message, places, failing line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from aider_gardener.compress.places import frame_place, is_library

PARENT_ONLY = re.compile(r"^'?\d+ subtests? failed'?$|^subtestsFailed$")

CODE_FRAME = re.compile(r"^\s*(?:>\s*)?\d+ ?[|│] ?.*$|^\s*[|│]?\s*[\^~]+\s*$")
MARKED_CODE = re.compile(r"^\s*>\s*\d+ ?[|│] ?(.*)$")
CARET = re.compile(r"^[\s|]*[\^~]+[\s\^~]*$")
PLACE = re.compile(r"((?<![^\s:()'\"])(?:[A-Za-z]:)?[^\s:()'\"]+\.\w{1,5}:\d+(?::\d+)?)")
NOISE = re.compile(
    r"^\s*(?:generatedMessage: |(?:signal|status|killed|errno|pid): |code: 'ERR_|operator: |"
    r"diff: 'simple|\}\s*$|---\s*$|\.\.\.\s*$|duration_ms: |type: 'test'|"
    r"failureType: |\.\.\. \d+ more$|note: run with `RUST_BACKTRACE|stack backtrace:|\[ERROR\]\s*$|"
    r"Traceback \(most)"
)


@dataclass
class Failure:
    """One failing or erroring test.

    `id` as the runner names it; `message` the assertion, panic or exception text, line by line;
    `where` file:line from the test to the place of the failure; `source` the failing line of code.
    """

    id: str
    outcome: str = "FAILED"
    message: list[str] = field(default_factory=list)
    where: list[str] = field(default_factory=list)
    source: str = ""
    output: list[str] = field(default_factory=list)

    def cause(self) -> tuple[str, ...]:
        """What failures of the same cause have in common: message and the place it was raised."""
        last = self.where[-1] if self.where else ""
        if not self.message:
            return ("", self.id)
        return (self.outcome, last, *self.message[:12])


@dataclass
class SuiteRun:
    """A parsed test run. `outside` are lines that are no part of it (programs' output around
    it); `build` says that they are a compiler's.
    """

    failures: list[Failure] = field(default_factory=list)
    totals: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    passed: int = 0
    build: bool = False


Parser = Callable[[Sequence[str]], SuiteRun]
"""Reads the plain lines of one runner's output; never raises."""


@dataclass
class RunDigest:
    """What a block of lines says: message lines, project places (outermost last), failing line."""

    message: list[str] = field(default_factory=list)
    where: list[str] = field(default_factory=list)
    source: str = ""


def digest(block: Iterable[str]) -> RunDigest:
    """Split a failure's lines into message and places; frames of libraries and code frames go."""
    result, library = RunDigest(), ""
    for line in block:
        place = frame_place(line)
        if place is not None:
            if place and not is_library(place):
                result.where.append(short_place(place))
            else:
                library = library or place
            continue
        marked = MARKED_CODE.match(line)
        if marked:
            result.source = result.source or marked.group(1).strip()
            continue
        if line.strip() and not CODE_FRAME.match(line) and not NOISE.match(line):
            result.message.append(line.rstrip())
    if not result.where and library:
        result.where.append(short_place(library))
    result.message = dedent(result.message)
    return result


def short_place(place: str) -> str:
    """A place without `file://` and, where it is under a usual test or source folder, made relative."""
    return place.removeprefix("file://")


def dedent(lines: Sequence[str]) -> list[str]:
    """The lines without their common indentation."""
    depths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    cut = min(depths, default=0)
    return [line[cut:] for line in lines]


def unique(items: Iterable[str]) -> list[str]:
    """The items without repeats, in order."""
    return list(dict.fromkeys(items))
