"""Helm: what failed in which template, the release and its state, what a chart's lint found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.pieces import Reading
from aider_gardener.reading.alarms import alarming

STATE = re.compile(
    r"^(?:NAME|LAST DEPLOYED|NAMESPACE|STATUS|REVISION|DESCRIPTION|TEST SUITE|Phase|Last Started|"
    r"Last Completed|"
    r"CHART|VERSION|APP_VERSION)(?:: |:$)"
)
SAYS = re.compile(
    r"^(?:Error: |Release \"|==> Linting|\[(?:ERROR|WARNING|INFO)\]|WARNING: |\d+ chart\(s\) linted|"
    r"Rollback was|"
    r"helm\.go:\d+|coalesce\.go:\d+|W\d{4} |release \"|Pulled: |Digest: |Hang tight|Update Complete|"
    r"upgrade\.go)"
)
BULK = re.compile(r"^(?:MANIFEST|HOOKS|USER-SUPPLIED VALUES|COMPUTED VALUES):")
SOURCE = re.compile(r"^# Source: ")
FRAME = re.compile(r"^\t?\S+\.go:\d+\b|^[\w.-]+\.\w+/\S+$|^runtime\.")
FEW_NOTES, MOST_FRAMES = 6, 3


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Errors with the lines that belong to them, state, findings, and the first lines of the notes."""
    reading = Reading()
    known = notes = frames = 0
    bulk = inside = False
    for at, line in enumerate(lines):
        if not line.strip():
            continue
        if STATE.match(line) or SAYS.match(line):
            bulk, notes, inside = False, 0, line.startswith("Error: ")
            known += 1
            reading.add(at, line)
        elif line.startswith("NOTES:"):
            bulk, notes, inside = False, 1, False
            reading.add(at, line)
        elif BULK.match(line):
            bulk, inside = True, False
            reading.add(at, line, 2.0)
        elif bulk:
            reading.add(at, line, 1.0 if SOURCE.match(line) else 0.2)
        elif notes:
            notes += 1
            reading.add(at, line, *(() if notes <= FEW_NOTES else (2.0,)))
        elif FRAME.match(line):
            frames += 1
            reading.add(at, line, 3.0 if frames <= MOST_FRAMES else 0.5)
        elif inside or alarming(line):
            reading.add(at, line)
        else:
            reading.add(at, line, 2.0)
    if not known:
        return None
    reading.summary = "release" if any(STATE.match(line) for line in lines) else "chart"
    return reading
