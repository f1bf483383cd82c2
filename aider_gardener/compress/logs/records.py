"""Joining the lines of one log record: a stamped line and what follows it, or a whole traceback."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from aider_gardener.compress.errors.library import is_library
from aider_gardener.compress.errors.places import frame_place
from aider_gardener.compress.frame import clip
from aider_gardener.compress.logs.detector import LEVEL, TIME

TRACE_HEAD = re.compile(
    r"^\s*(?:Exception Group )?Traceback \(most recent call last\):|^Exception in thread "
)
TRACE_LINE = re.compile(r"^(?:\s+\S|$|During handling|The above exception|Traceback|Caused by: |\t)")
EXCEPTION = re.compile(
    r"^\s*[\w.]*(?:Error|Exception|Warning|Exit|Interrupt|Failure|Timeout)\b.*|^Caused by: .*"
)


@dataclass
class Record:
    """A log record: its first line, and the lines that belong to it."""

    line: str
    rest: list[str] = field(default_factory=list)


def records(lines: Sequence[str]) -> list[Record]:
    """Group lines into records. In a log without stamps only tracebacks are joined."""
    head = [line for line in lines[:400] if line.strip()]
    stamped = sum(1 for line in head if TIME.match(line) or LEVEL.match(line)) >= 0.5 * max(1, len(head))
    found: list[Record] = []
    tracing = False
    for line in lines:
        if not line.strip():
            continue
        starts = bool(TIME.match(line) or LEVEL.match(line)) if stamped else False
        if starts:
            tracing = False
        elif found and stamped and (line[0] in " \t" or tracing or TRACE_HEAD.match(line)):
            tracing = tracing or bool(TRACE_HEAD.match(line))
            found[-1].rest.append(line)
            continue
        elif tracing and found:
            if TRACE_LINE.match(line) or EXCEPTION.match(line):
                found[-1].rest.append(line)
                tracing = not (EXCEPTION.match(line) and line[0] not in " \t")
                continue
            tracing = False
        elif TRACE_HEAD.match(line):
            tracing = True
        found.append(Record(line))
    return found


def rest_digest(record: Record, most: int) -> list[str]:
    """What the further lines of a record say: exception lines, the last project frames, else the first."""
    exceptions = [line.strip() for line in record.rest if EXCEPTION.match(line)]
    places = [place for line in record.rest if (place := frame_place(line)) and not is_library(place)]
    if exceptions or places:
        told = [clip(line, 300) for line in exceptions[-most:]]
        if places:
            told.append("at " + " > ".join(dict.fromkeys([places[0], *places[-2:]])))
        return told
    told = [clip(line.strip(), 200) for line in record.rest[:most]]
    if len(record.rest) > most:
        told.append(f"… {len(record.rest) - most} more lines")
    return told
