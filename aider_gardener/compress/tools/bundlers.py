"""Bundlers for the web: what could not be resolved or parsed, in which file, with the code that is shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.pieces import MUST, Reading
from aider_gardener.reading.alarms import alarming, tells_outcome, warns

ERROR = re.compile(
    r"^(?:error during build:|[✗x] Build failed|✘ \[ERROR\] |\[!\] |Failed to compile\.|ERROR in |"
    r"> Build error|Error: |"
    r"\w*Error: |\[vite|\[plugin|RollupError|Build failed|build failed|error: |Parse error|Build error|"
    r"\d+ (?:of \d+ )?(?:errors?|warnings?)(?: and|$| shown)|🚨 |@parcel)"
)
WARNING = re.compile(
    r"^(?:▲ \[WARNING\] |WARNING in |\(!\) |\[plugin .*\] .*warn|warn(?:ing)?\b)", re.IGNORECASE
)
FRAME = re.compile(r"^\s+at (?:async )?(?P<what>.*)$")
LIBRARY = re.compile(r"node_modules|node:|\(index \d+\)|<anonymous>")
ASSET = re.compile(
    r"^(?:\S*/)?\S+\.\w+ +[\d,.]+ ?[kKM]?i?B\b|^(?:asset|modules by path|runtime modules|"
    r"cacheable modules|orphan|  \S+ \d+ bytes)"
)
SUCCESS = re.compile(
    r"^(?:✓|√|✔) |modules transformed|built in |^(?:webpack|esbuild|vite|rollup)\b.*(?:compiled|v\d)|"
    r"Done in|⚡"
)
MOST_ROWS, MOST_WARNED = 120, 6


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """All of an error up to its stack trace, each warning's first lines, totals; assets if there is room."""
    reading = Reading()
    state = ""
    errors = rows = warned = 0
    for at, line in enumerate(lines):
        frame = FRAME.match(line)
        if not line.strip():
            continue
        if frame:
            reading.add(at, line, 0.3 if LIBRARY.search(line) else 5.0)
        elif WARNING.match(line):
            state, warned = "warning", 0
            reading.add(at, line)
        elif ERROR.match(line):
            state, errors = "error", errors + 1
            reading.add(at, line)
        elif ASSET.match(line):
            reading.add(at, line, 0.5)
        elif SUCCESS.search(line):
            reading.add(at, line, 3.0)
        elif state == "error":
            rows += 1
            reading.add(at, line, MUST if rows <= MOST_ROWS or alarming(line) else 2.0)
        elif state == "warning":
            warned += 1
            reading.add(at, line, MUST if warned <= 2 else 2.0)
        else:
            loud = alarming(line) or tells_outcome(line)
            reading.add(at, line, MUST if loud else 2.0 if warns(line) else 1.0)
    if not errors:
        return None
    last = max(at for at, line in enumerate(lines) if line.strip())
    if not FRAME.match(lines[last]):
        reading.add(last, lines[last])
    reading.summary = "build failed"
    return reading
