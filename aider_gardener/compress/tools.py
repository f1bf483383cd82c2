"""Tools as data: what only a tool's own lines say, where the grammar of its shape does not see it.

A row stays only while it keeps facts that its engine alone loses (`python -m bench.facts --parts` says which
do). Patterns are searched in a line of at most LINE_CHARS characters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from aider_gardener.compress.outline import CAUSE, FAILURE, NOISE, OUTCOME, WARNING, Note

LINE_CHARS = 400
ENDS = 300
"""The sign of a tool is looked for in so many lines of each end."""


class Tool(NamedTuple):
    """One tool: `sign` matches a line that only it writes, the rest say what its lines are worth."""

    name: str
    engine: str
    sign: str
    outcome: str = ""
    cause: str = ""
    failure: str = ""
    warning: str = ""
    noise: str = ""


WORTH = {"noise": NOISE, "outcome": OUTCOME, "cause": CAUSE, "failure": FAILURE, "warning": WARNING}

TOOLS: tuple[Tool, ...] = (
    Tool(
        "maven",
        "records",
        r"^\[INFO\] Scanning for projects",
        failure=r"^\[INFO\] \S.* \.{2,} FAILURE|^\[ERROR\]   mvn ",
        noise=r"^\[ERROR\] *(?:$|To see the full|Re-run|For more|\[Help|-> \[Help|After correcting)|"
        r"^\[INFO\] *(?:$|[-<]+|Scanning|Copying|Nothing|Compiling|Recompiling|Finished at|  from)",
    ),
    Tool(
        "gradle",
        "records",
        r"^> Task :|^\* What went wrong:",
        failure=r"^> Task :\S+ FAILED",
        noise=r"^\* (?:Try|Get more help|Exception is)\b|^> Run with |^> Task :\S+(?: [A-Z]+-\S+)?$",
    ),
    Tool("npm", "records", r"^npm (?:ERR!|error)", noise=r"^npm \S+ *(?:$|A complete log|For a full)"),
    Tool(
        "docker", "records", r"^#\d+ ", noise=r"^#\d+ (?:DONE|CACHED|sha256|transferring|extracting|resolve)"
    ),
    Tool(
        "cargo",
        "records",
        r"^error(?:\[E\d+\])?: ",
        noise=r"^For more information|^Some errors have detailed",
    ),
    Tool("cmake", "records", r"^-- ", noise=r"^-- (?:Detecting|Check|The \w+ compiler|Looking)"),
)


@cache
def compiled(engine: str) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    """For each tool of an engine its sign, and what finds the lines it says something of."""
    found = []
    for tool in TOOLS:
        if tool.engine == engine:
            parts = [(name, getattr(tool, name)) for name in WORTH if getattr(tool, name)]
            found.append(
                (re.compile(tool.sign), re.compile("|".join(f"(?P<{name}>{part})" for name, part in parts)))
            )
    return found


def tool_notes(lines: Sequence[str], engine: str) -> dict[int, Note]:
    """What the rows of an engine's tools say of the lines, for the tools whose sign stands in them."""
    ends = [line[:LINE_CHARS] for line in (*lines[:ENDS], *lines[ENDS:][-ENDS:])]
    notes: dict[int, Note] = {}
    for sign, worth in compiled(engine):
        if not any(sign.search(line) for line in ends):
            continue
        for row, line in enumerate(lines):
            found = worth.search(line, 0, LINE_CHARS)
            if found and found.lastgroup:
                notes[row] = Note(WORTH[found.lastgroup])
    return notes
