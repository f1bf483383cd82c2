"""Image builds and compositions of containers: the step that failed, its command, what it said, and where.

Reads the plain and the framed form of BuildKit, the numbered steps of the older builder, and what the
composition of containers says while they start.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import plural
from aider_gardener.compress.pieces import MUST, Reading
from aider_gardener.compress.tools.packing import both_ends
from aider_gardener.reading.alarms import alarming, warns

VERTEX = re.compile(r"^#(?P<id>\d+) (?P<rest>.*)$")
STAMPED = re.compile(r"^(?P<time>\d+\.\d+) (?P<said>.*)$")
ENDED = re.compile(r"^(?:DONE|CACHED|CANCELED|ERROR|WARN)\b")
STEP = re.compile(r"^Step (?P<number>\d+)/\d+ ?: ")
LEGACY_IDLE = re.compile(
    r"^ ---> |^Removing intermediate container |^Sending build context|"
    r"^[0-9a-f]{12}: "
)
LEGACY_FAILED = re.compile(r"^The command '|^(?:COPY|ADD) failed|^executor failed|^failed to ")
FRAMED = re.compile(r"^ ?(?:=>|\[\+\])")
OUTCOME = re.compile(
    r"^(?:ERROR: |ERROR\[|failed to |error: failed|The command '|Successfully (?:built|tagged)|"
    r"Error response from daemon|"
    r"Error: |dependency failed|service \"|unable to |\S+ exited with code|Aborting on container exit|"
    r"target \S+: |"
    r"executor failed|COPY failed|ADD failed|no configuration file|validating |yaml: |invalid |"
    r"Gracefully|manifest )"
)
SHOWN = re.compile(
    r"^(?:exporting to|naming to|writing image|pushing manifest|unpacking to|ERROR|WARN|CANCELED)"
)
EXCERPT = re.compile(r"^-{6,}$")
SOURCE = re.compile(r"^[\w./-]*(?:Dockerfile|Containerfile)[\w.-]*:\d+$|^\S+\.[Dd]ockerfile:\d+$")
POINTED = re.compile(r"^ *\d+ \| *(?:>>>)?")
STATE = re.compile(
    r"^ *(?:\S )?(?P<what>Container|Network|Volume|Image|"
    r"Service) (?P<name>\S+) +(?P<state>\w+.*?)(?: +[\d.]+s *)?$"
)
LOGGED = re.compile(r"^(?P<service>[\w.-]+) +\| (?P<said>.*)$")
LAST_ROWS, FIRST_ALARMS, LAST_ALARMS = 8, 30, 20
"""What stays of the output of a failed step: its last rows, and so many alarming ones from both ends."""

CALM_STATES = {
    "Created",
    "Started",
    "Running",
    "Healthy",
    "Creating",
    "Starting",
    "Waiting",
    "Pulled",
    "Built",
    "Removed",
}


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """The failed steps with their output's errors and end, the excerpt of the file, and how it all ended."""
    reading = Reading()
    steps: dict[str, list[int]] = {}
    current = ""
    excerpt = pointed = 0
    failed: list[str] = []
    for at, line in enumerate(lines):
        vertex = VERTEX.match(line)
        if vertex:
            current = "#" + vertex["id"]
            steps.setdefault(current, []).append(at)
        elif EXCERPT.match(line) and not POINTED.match(line):
            excerpt, pointed = at + 1, 0
        elif SOURCE.match(line):
            reading.add(at, line)
            pointed, excerpt, current = 1, 0, ""
        elif pointed and POINTED.match(line):
            reading.add(at, line)
        elif excerpt and line.strip() and not OUTCOME.match(line):
            reading.add(at, line, *(() if at - excerpt < 2 or alarming(line) else (3.0,)))
        elif STEP.match(line):
            current = line
            steps.setdefault(current, []).append(at)
        elif OUTCOME.match(line) or STATE.match(line) or LOGGED.match(line) or FRAMED.match(line):
            excerpt = 0
            if current and LEGACY_FAILED.match(line):
                failed.append(current)
            _single(reading, at, line)
        elif current.startswith("Step "):
            steps[current].append(at)
        elif alarming(line) or warns(line) or line.startswith(" - "):
            reading.add(at, line)
        excerpt = 0 if excerpt and at - excerpt > 40 else excerpt
    if not (steps or reading.pieces):
        return None
    failed += [
        name for name, rows in steps.items() if any(lines[at].startswith(f"{name} ERROR") for at in rows)
    ]
    for name, rows in steps.items():
        _step(reading, rows, lines, failed=name in failed)
    reading.summary = (
        ", ".join(
            part
            for part in (
                plural(len(steps), "step") if steps else "",
                f"{len(failed)} failed" if failed else "",
            )
            if part
        )
        or "containers"
    )
    reading.kept = {"failed steps": len(failed)}
    return reading


def _single(reading: Reading, at: int, line: str) -> None:
    """A line by itself: how it ended, the state of a container, what a service logged."""
    state, logged = STATE.match(line), LOGGED.match(line)
    if OUTCOME.match(line):
        reading.add(at, line)
    elif state:
        calm = state["state"].split()[0] in CALM_STATES
        reading.add(at, line, *((1.0,) if calm else ()))
    elif logged:
        loud = alarming(logged["said"])
        reading.add(at, line, MUST if loud else 1.0 - 1 / (at + 2))
    elif (
        " ERROR " in line[:12]
        or alarming(line)
        or re.match(r"^ ?=> (?:=> )?(?:naming to|writing image|exporting to)", line)
    ):
        reading.add(at, line)
    else:
        reading.add(at, line, 1.0)


def _step(reading: Reading, rows: Sequence[int], lines: Sequence[str], *, failed: bool) -> None:
    """The head of a step; of one that failed the errors and the end of its output."""
    head = rows[0]
    internal = "[internal]" in lines[head] or "building with" in lines[head]
    reading.add(head, lines[head], *(() if failed else (0.5,) if internal else (3.0,)))
    said = [row for row in rows[1:] if not LEGACY_IDLE.match(lines[row])]
    bodies = {row: _body(lines[row]) for row in said}
    loud = [row for row in said if alarming(bodies[row])]
    if not failed:
        for row in said:
            if SHOWN.match(bodies[row]) and not bodies[row].startswith("DONE"):
                reading.add(row, lines[row])
            elif warns(bodies[row]) or row in set(loud[:20]):
                reading.add(row, lines[row], 4.0)
        return
    shown = dict.fromkeys(both_ends(loud, FIRST_ALARMS, LAST_ALARMS))
    shown.update(dict.fromkeys(said[-LAST_ROWS - 1 :]))
    for row in loud[:3]:
        shown.update(dict.fromkeys(one for one in (row - 2, row - 1, row + 1) if one in bodies))
    for row in (row for row in shown if lines[row].strip()):
        reading.add(row, lines[row] if ENDED.match(bodies[row]) else "    " + bodies[row])


def _body(line: str) -> str:
    """What a step said, without its number and time."""
    vertex = VERTEX.match(line)
    rest = vertex["rest"] if vertex else line
    stamped = STAMPED.match(rest)
    return stamped["said"] if stamped else rest
