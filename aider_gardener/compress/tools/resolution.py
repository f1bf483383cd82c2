"""Packages that could not be resolved, fetched or built: who wants which version, what was found, what helps.

The package managers say this in blocks that only make sense whole, so from the first word of trouble on only
their bookkeeping goes; of a package's own build its errors and its end stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.pieces import MUST, Reading
from aider_gardener.compress.tools.packing import both_ends
from aider_gardener.reading.alarms import alarming, tells_outcome, warns

BEGINS = re.compile(
    r"^(?:npm (?:ERR!|error)|ERROR: |error: |error |Error: |\s*error: subprocess|\s*× |Because |"
    r"\s*ERR_PNPM|\s?ERR_PNPM|"
    r"E: |The following packages have unmet|Could not (?:solve|find compat)|Your requirements could not|"
    r"Bundler could not|"
    r"In Gemfile|The conflict is caused|LibMamba|UnsatisfiableError|PackagesNotFoundError|"
    r"➤ YN\d+: .*(?:✖|doesn't|can't|"
    r"No candidates|Failed)|Solving dependencies failed|  ?(?:SolverProblemError|Because )|"
    r".*version solving failed|"
    r"Unable to find a (?:compatible|matching)|Problem 1|  Problem 1)"
)
IDLE = re.compile(
    r"^\s*(?:Collecting |Downloading |Using cached |Requirement already satisfied|Looking in |"
    r"Obtaining |Preparing metadata|"
    r"Installing build dependencies|Getting requirements to build|Building wheel|Created wheel|"
    r"Stored in directory|"
    r"Installing collected|Attempting uninstall|Found existing|Uninstalling|Successfully uninstalled|"
    r"Resolving\.\.\.|"
    r"Get:\d+ |Hit:\d+ |Ign:\d+ |Fetched |Reading (?:package|state)|Building dependency tree|Fetching |"
    r"Using |"
    r"Progress: resolved|Updating dependencies|Resolving dependencies|Loading composer|Updating crates|"
    r"Locking |"
    r"Downloaded |Compiling |Adding |➤ YN0000|➤ YN0013|━|\.\.\. ?$|copying |creating |adding |"
    r"running \w+$|writing |reading )"
)
NPM_IDLE = re.compile(
    r"^npm (?:ERR!|error)(?:\s*$| A complete log of this run| {4,}/?\S*debug-\d+\.log|"
    r".*eresolve-report\.txt| For a full report see| errno -?\d+$)"
)
NPM_LOUD = re.compile(r"\b(?:code|syscall|path|command|notsup|[A-Z_]{5,})\b")
FRAME = re.compile(r"^(?:npm (?:ERR!|error))?(?:\s+at |\s+File \"|\s+\^+)")
QUIET_WARNING = re.compile(r"^npm (?:WARN|warn) deprecated |^\s?WARN\s+(?:deprecated|\d+ deprecated)")
BLOCK = re.compile(r"^\s*(?:╰─>|│)? ?\[(?P<number>\d+) lines of output\]")
BLOCK_END = re.compile(r"\[end of output\]")
COMPILES = re.compile(
    r"^\s*(?:\S*/)?(?:gcc|g\+\+|cc|clang|\S+-gcc|cl\.exe|building |creating |copying |running |adding )"
)
FIRST_ROWS, LAST_ROWS, ALARMS = 3, 12, 24
MOST_ROWS = 160
"""So many lines of trouble stay whatever they cost."""


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """The trouble whole, of a package's build log its errors and its end, other lines while there is room."""
    reading = Reading()
    begun = False
    troubles = at = 0
    warned: dict[str, int] = {}
    while at < len(lines):
        line = lines[at]
        block = BLOCK.match(line)
        if block:
            at = _block(reading, lines, at)
            begun = True
            continue
        begun = begun or bool(BEGINS.match(line))
        if not line.strip() or NPM_IDLE.match(line):
            pass
        elif QUIET_WARNING.match(line):
            kind = " ".join(line.split()[:3])
            warned[kind] = warned.get(kind, 0) + 1
            reading.add(at, line, 1.0)
        elif IDLE.match(line) and not alarming(line):
            reading.add(at, line, 0.3)
        elif begun:
            troubles += 1
            frame = bool(FRAME.match(line))
            reading.add(at, line, 0.5 if frame else MUST if troubles <= MOST_ROWS or alarming(line) else 2.0)
        elif warns(line) or alarming(line) or tells_outcome(line):
            reading.add(at, line, MUST if alarming(line) and not warns(line) else 5.0)
        else:
            reading.add(at, line, 0.8)
        at += 1
    if not begun:
        return None
    _last(reading, lines)
    reading.summary = "could not be resolved" if _unresolved(lines) else "trouble with packages"
    return reading


def _unresolved(lines: Sequence[str]) -> bool:
    words = re.compile(
        r"ERESOLVE|ResolutionImpossible|conflict|version solving failed|No solution found|unmet|unsatisf",
        re.IGNORECASE,
    )
    return any(words.search(line, 0, 500) for line in lines)


def _last(reading: Reading, lines: Sequence[str]) -> None:
    for at in range(len(lines) - 1, -1, -1):
        if lines[at].strip():
            if not NPM_IDLE.match(lines[at]):
                reading.add(at, lines[at])
            return


def _block(reading: Reading, lines: Sequence[str], at: int) -> int:
    """What a package's own build printed: its first lines, the alarming ones, its end; the row behind it."""
    end = at + 1
    while end < len(lines) and not BLOCK_END.search(lines[end]):
        end += 1
    inside = [row for row in range(at + 1, end) if lines[row].strip()]
    reading.add(at, lines[at])
    loud = [row for row in inside if alarming(lines[row]) and not FRAME.match(lines[row])]
    plain = [row for row in inside if not COMPILES.match(lines[row])]
    shown = {*plain[:FIRST_ROWS], *plain[-LAST_ROWS:], *inside[-3:], *both_ends(loud, ALARMS, ALARMS)}
    for row in inside:
        if row in shown or not COMPILES.match(lines[row]):
            reading.add(row, lines[row], MUST if row in shown else 0.4)
    return end
