"""CMake's configuration: errors and warnings with their place and call stack, what is missing, how it ended.

Where a build follows in the same output, its findings are told behind by the reader of builds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.builds.compressor import build_lines
from aider_gardener.compress.builds.diagnostics import report
from aider_gardener.compress.frame import allowance, plural
from aider_gardener.compress.pieces import Reading
from aider_gardener.reading.alarms import alarming, tells_outcome

HEAD = re.compile(
    r"^CMake (?P<severity>Error|(?:Deprecation )?Warning)(?: \(dev\))?(?: at (?P<place>\S+:\d+).*|: .*|"
    r":| in .*)$"
)
MISSING = re.compile(r"Could (?:NOT|not) find|[Uu]nsuitable|NOTFOUND|NOT FOUND")
ENDS = re.compile(
    r"^-- (?:Configuring |Generating |Build files |Installing: )|^See also|^CMake (?:Generate|"
    r"Configure) step failed|"
    r"^The following (?:variables|features|\w+ packages)|^Please set them|^make: |^gmake: |^Preset |"
    r"^Could not "
)
FOUND = re.compile(r"^-- (?:Found |Using |Enabled|Version|Build type|CMAKE_)")
IDLE = re.compile(
    r"^-- (?:Detecting|Check for working|Looking for|Performing Test|Checking)(?!.*(?:- not found|Failed$))"
)
BUILDS = re.compile(r"^(?:\[ *\d+%\]|\[\d+/\d+\]|Scanning dependencies|Consolidate compiler)")
MOST_ROWS = 40
"""So many lines of one error stay."""


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Every error whole, each warning by its head and message, what was missing, and the end."""
    reading = Reading()
    errors = warnings = known = 0
    build = next((at for at, line in enumerate(lines) if BUILDS.match(line)), len(lines))
    at = 0
    while at < build:
        line = lines[at]
        head = HEAD.match(line)
        if head:
            end = _end(lines, at + 1, build)
            error = head["severity"] == "Error"
            errors, warnings = errors + error, warnings + (not error)
            told = [line, *(row for row in lines[at + 1 : end] if row.strip())]
            reading.add(
                at, told[:MOST_ROWS] if error else told[:6], *(() if error or warnings <= 8 else (4.0,))
            )
            at = end
            continue
        known += line.startswith("-- ")
        if MISSING.search(line) or ENDS.match(line):
            reading.add(at, line)
        elif line.startswith("-- "):
            reading.add(
                at,
                line,
                2.5 if "not found" in line or "Failed" in line else 1.0 if FOUND.match(line) else 0.1,
            )
        elif line.strip() and not IDLE.match(line):
            reading.add(
                at, line, *(() if alarming(line) or tells_outcome(line) or line.startswith("  ") else (2.0,))
            )
        at += 1
    if not (errors or warnings or known):
        return None
    counts = [plural(number, word) for number, word in ((errors, "error"), (warnings, "warning")) if number]
    reading.summary = ", ".join(["configuration", *counts])
    reading.kept = {"errors": errors}
    if build < len(lines):
        rest = report(lines[build:])
        room = allowance(ctx.count("\n".join(lines[build:])), 0.05, 0.25)
        reading.add(build, build_lines(rest, room, ctx, 2 * room)[0])
        reading.add(len(lines), list(dict.fromkeys([*rest.outcome, *rest.totals])))
    return reading


def _end(lines: Sequence[str], at: int, limit: int) -> int:
    """The row behind a message: indented lines, blank ones between them, and its call stack."""
    end = at
    while at < limit and (
        not lines[at].strip() or lines[at][:1] == " " or lines[at].startswith(("Call Stack", "This warning"))
    ):
        end = at + 1 if lines[at].strip() else end
        at += 1
    return end
