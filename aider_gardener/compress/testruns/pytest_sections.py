"""The sections of a pytest run beside its failures: header, warnings, durations, skips, coverage."""

from __future__ import annotations

import re
from collections.abc import Sequence

ROUTINE = re.compile(
    r"^(?:platform |cachedir:|rootdir:|configfile:|plugins:|collecting |collected |testpaths:|"
    r"timeout|asyncio:|"
    r"metadata:|"
    r"gw\d+ \[|bringing up|scheduling tests|created: |\d+ workers|hypothesis profile|benchmark:|django: |"
    r"shell: |codspeed:|inifile:|run-last-failure:|asyncio_mode)"
)
HEADER = re.compile(r"^[\w -]{3,40}: \S|seed", re.IGNORECASE)
WARNING = re.compile(r"^\s*(\S.*?):(\d+): (\w*Warning)(?:: (.*))?$")
DURATION = re.compile(r"^\d+\.\d+s (?:call|setup|teardown) +\S")
SKIP = re.compile(r"^SKIPPED \[\d+\] ")
DURATIONS_KEPT = 5


def header_notes(body: Sequence[str]) -> tuple[list[str], list[str]]:
    """Unusual lines of the header (seeds, custom settings), and the lines that are no part of it."""
    notes: list[str] = []
    rest: list[str] = []
    header = True
    for line in body:
        if ROUTINE.match(line) or not line.strip():
            header = header and not line.startswith(("collected ", "collecting "))
        elif header and HEADER.search(line) and len(notes) < 4:
            notes.append(line.strip())
        else:
            rest.append(line)
    return notes, rest


def warning_notes(body: Sequence[str]) -> list[str]:
    """Each distinct warning once: place, category, message, and how often it stands there."""
    seen: dict[tuple[str, str], list[str]] = {}
    for line in body:
        found = WARNING.match(line)
        if found:
            seen.setdefault((found.group(3), found.group(4) or ""), []).append(
                f"{found.group(1)}:{found.group(2)}"
            )
    notes = []
    for (category, message), places in seen.items():
        more = f" (and {len(places) - 1} more places)" if len(places) > 1 else ""
        notes.append(f"warning {places[0]}: {category}: {message}{more}")
    return notes


def duration_notes(body: Sequence[str]) -> list[str]:
    """The slowest tests, as many as DURATIONS_KEPT."""
    slowest = [line.strip() for line in body if DURATION.match(line)]
    return (
        ["slowest: " + "; ".join(" ".join(line.split()) for line in slowest[:DURATIONS_KEPT])]
        if slowest
        else []
    )


def skip_notes(body: Sequence[str]) -> list[str]:
    """The skip lines of the short summary, as they stand."""
    return [line.strip() for line in body if SKIP.match(line)]


def coverage_notes(body: Sequence[str]) -> list[str]:
    """The coverage total and any failed threshold."""
    return [line.strip() for line in body if line.startswith(("TOTAL", "FAIL", "Required test coverage"))]
