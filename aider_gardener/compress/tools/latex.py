"""TeX: errors with the line that they stop at, references that are missing, what was written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import plural
from aider_gardener.compress.pieces import Reading

ERROR = re.compile(r"^! |^\S+\.\w+:\d+: ")
STOPS = re.compile(r"^l\.\d+ ")
WARNING = re.compile(r"^(?:LaTeX|Package \S+|Class \S+|pdfTeX)(?: \w+)? [Ww]arning")
BOX = re.compile(r"^(?:Over|Under)full \\[hv]box")
ENDS = re.compile(
    r"^(?:Output written|No pages of output|Transcript written|Latexmk: |Runaway argument|No file )|"
    r"Fatal error"
)
MOST_ERRORS, MOST_ROWS = 40, 8


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Every error up to the line that it stops at, warnings while there is room, boxes last, and the end."""
    reading = Reading()
    errors = open_rows = 0
    for at, line in enumerate(lines):
        if not line.strip():
            continue
        if ERROR.match(line):
            errors += 1
            open_rows = MOST_ROWS
            reading.add(at, line, *(() if errors <= MOST_ERRORS else (3.0,)))
        elif open_rows:
            open_rows = 1 if STOPS.match(line) else open_rows - 1
            reading.add(at, line, *(() if errors <= MOST_ERRORS else (2.0,)))
        elif ENDS.search(line):
            reading.add(at, line)
        elif WARNING.match(line):
            reading.add(at, line, 5.0 if "ndefined" in line else 4.0)
        elif BOX.match(line):
            reading.add(at, line, 1.0)
    if not reading.pieces:
        return None
    reading.summary = plural(errors, "error") if errors else "run"
    reading.kept = {"errors": errors}
    return reading
