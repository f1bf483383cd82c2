"""Sanitizers of addresses, leaks, threads, memory and undefined behaviour, and Go's of races: what happened,
and the frames of the project in every stack.

The stacks of a report name who touched the memory, who freed it and who made it: of each its heading and
the frames with a source line stay, library frames without one go, and so do the shadow bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import plural
from aider_gardener.compress.pieces import Reading

REPORT = re.compile(
    r"^(?:==\d+==)?(?:ERROR|WARNING): (\w+Sanitizer): |: runtime error: |^WARNING: DATA RACE$"
)
FRAME = re.compile(r"^\s+#(\d+) (?:0x[0-9a-f]+ )?(?:in )?(?P<rest>.*)$")
SOURCED = re.compile(r"\S+\.\w+:\d+")
SYSTEM = re.compile(r"/(?:usr|lib\w*|sysdeps|nptl|csu|build)/|\.\./sysdeps|/sanitizer_common/|/asan_|/tsan_")
NOISE = re.compile(
    r"^(?:\s*(?:=>)?0x[0-9a-f]+: *(?:[\[ ]?[0-9a-f]{2}[\] ]?)+|Shadow byte|"
    r"  [A-Z][\w ]+: +(?:[0-9a-f]{2} ?)+$|"
    r"={10,}|==\d+==(?:ABORTING|HINT)|\s*$)"
)
ENDED = re.compile(r"^SUMMARY: |^==\d+==ABORTING|^={10,}$|^Found \d+ data race")
MOST_FRAMES = 5


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Every heading, message and summary; of each stack up to MOST_FRAMES frames with a source line."""
    reading = Reading()
    reports = frames = 0
    within = False
    for at, line in enumerate(lines):
        frame = FRAME.match(line)
        if frame:
            frames = 0 if frame[1] == "0" else frames
            own = bool(SOURCED.search(line)) and not SYSTEM.search(line)
            frames += own
            if frame[1] == "0" and not own:
                reading.add(at, "    " + frame["rest"], 5)
            elif own:
                must = frames <= MOST_FRAMES
                reading.add(at, "    " + frame["rest"], *(() if must else (2.0,)))
            continue
        if NOISE.match(line):
            continue
        begins = bool(REPORT.search(line))
        reports += begins
        within = begins or (within and not ENDED.match(line))
        if within or ENDED.match(line):
            reading.add(at, line)
        else:
            reading.other(at, line)
    if not reports:
        return None
    reading.summary, reading.kept = plural(reports, "report"), {"reports": reports}
    return reading
