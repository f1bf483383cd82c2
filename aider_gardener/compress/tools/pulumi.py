"""Pulumi's previews and updates: what happens to each resource, what was said about it, and the totals."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.pieces import MUST, Reading
from aider_gardener.reading.alarms import alarming

ROW = re.compile(r"^ ?(?P<sign>\+-|-\+|\+\+|--|[+~<>=-])? +(?:[├└│] ?─? +|[├└]─ )*(?P<type>[\w-]+:[\w/:-]+) ")
SECTION = re.compile(r"^(?P<name>Diagnostics|Resources|Outputs|Duration|Policies|Policy Violations):?")
MOST_ROWS = 150


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Rows with a change or a word about them, diagnostics, outputs and totals whole."""
    reading = Reading()
    known = 0
    section = ""
    for at, line in enumerate(lines):
        head, row = SECTION.match(line), ROW.match(line)
        if not line.strip():
            continue
        if head:
            section = head["name"]
            reading.add(at, line)
        elif row and not section:
            known += 1
            told = row["sign"] or "error" in line or "warning" in line or "[diff" in line
            reading.add(at, line, MUST if told and known <= MOST_ROWS else 1.0)
        elif section or not line.startswith(" ") or alarming(line):
            reading.add(at, line)
        else:
            reading.add(at, line, 1.0)
    if not (known or section):
        return None
    reading.summary = "resources"
    reading.kept = {"resources": known}
    return reading
