"""Terraform's plans and runs: what happens to which resource, what of it changes and why, totals and errors.

Of a resource that is created or destroyed its address stays, of one that is replaced or updated each changed
value too. Instances of one resource that change alike are told together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from aider_gardener.compress.base import Context
from aider_gardener.compress.pieces import Reading
from aider_gardener.compress.tools.packing import packed
from aider_gardener.reading.alarms import alarming

ACTION = re.compile(
    r"^ {2}# (?P<address>\S.*?) (?P<action>will be .*|must be .*|is tainted.*|has changed.*|has been .*|"
    r"has moved to .*|"
    r"will no longer be .*)$"
)
REASON = re.compile(r"^ {2}# \(")
CHANGE = re.compile(r"^\s+(?:~|-/\+|\+/-|[+-]) (?P<rest>.*)$")
UNKNOWN = re.compile(r"^\s*[}\])]+ -> \(known after apply\)$")
"""The end of values that all go: what comes is not known yet."""

MARK = re.compile(r"^\s*(?:(?:~|-/\+|\+/-|[+-]) )?")
OPENS = re.compile(r"[{\[(]$|<<-?\w+$")
INSTANCE = re.compile(r"^(?P<base>.*?)(?P<key>\[(?:\"[^\"]*\"|\d+)\])$")
TOTAL = re.compile(
    r"^(?:Plan: |No changes\.|Apply complete|Destroy complete|Apply cancelled|Destroy cancelled|Success! |"
    r"Interrupt received|Stopping operation|Terraform planned the following actions, but|"
    r"Note: Objects have changed|"
    r"Terraform detected the following changes|Terraform has been successfully initialized|"
    r"OpenTofu has been succ|"
    r"Saved the plan to|Error: |Warning: |Planning failed|Operation failed|Only 'yes' will|"
    r"Importing from ID|"
    r"Import successful|.* to import, )"
)
STEP = re.compile(
    r"^(?P<address>\S.*?): (?P<verb>Creating|Destroying|Modifying|Reading|Provisioning|"
    r"Importing)(?: with '.*')?\.\.\."
)
STILL = re.compile(r"^\S.*?: Still \w+\.\.\.")
DONE = re.compile(
    r"^(?P<address>\S.*?): (?:Creation|Destruction|Modifications|Read|Import) (?:complete|prepared)\b.*"
)
PROVISIONED = re.compile(r"^(?P<address>\S+) \((?:local|remote)-exec\): (?P<said>.*)$")
REFRESH = re.compile(r": (?:Refreshing|Preparing|Reading\.\.\.|Read complete)")
SECTION = re.compile(r"^(?:Changes to Outputs:|Outputs:)$")
FEW_ALIKE = 3
"""Up to so many instances of one resource are told one by one."""

MOST_LINES = 60
"""So many lines of one resource's changes, and of the outputs, are told."""


@dataclass
class ResourceChange:
    """One resource of a plan: its address, what happens, and its changed lines."""

    at: int
    address: str
    action: str
    reasons: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """All actions, changed values, totals, outputs, warnings and errors; of a run what was not finished."""
    reading = Reading()
    changes: list[ResourceChange] = []
    begun: dict[str, int] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        action = ACTION.match(line)
        step = STEP.match(line)
        if action:
            change, at = _change(lines, at, action)
            changes.append(change)
            continue
        if line.startswith("╷"):
            at = _box(reading, lines, at)
            continue
        if SECTION.match(line):
            at = _outputs(reading, lines, at)
            continue
        if line.startswith("Error: "):
            at = _bare_error(reading, lines, at)
            continue
        finished = DONE.match(line)
        if finished:
            begun.pop(finished["address"], None)
            reading.add(at, line, 2.0)
        elif step:
            begun[step["address"]] = at
        elif TOTAL.match(line):
            reading.add(at, line)
        elif PROVISIONED.match(line):
            reading.add(at, line, *(() if alarming(line) else (1.5,)))
        elif (
            not REFRESH.search(line)
            and not STILL.match(line)
            and not line.startswith("Note: You")
            and alarming(line)
        ):
            reading.add(at, line)
        at += 1
    for row in begun.values():
        reading.add(row, lines[row] + " (not finished)")
    _add_changes(reading, changes)
    if not reading.pieces:
        return None
    reading.summary = "plan" if changes else "run"
    reading.kept = {"resources": len(changes)}
    return reading


def _change(lines: Sequence[str], at: int, head: re.Match[str]) -> tuple[ResourceChange, int]:
    """The resource that begins at a row, and the row behind it."""
    change = ResourceChange(at, head["address"], head["action"])
    told = not change.action.startswith(("will be created", "will be destroyed", "will be read"))
    at += 1
    while at < len(lines) and REASON.match(lines[at]):
        change.reasons.append(lines[at])
        at += 1
    openers: list[tuple[int, str, bool, int]] = []
    while at < len(lines) and lines[at][:1] in ("", *" -+~<") and not ACTION.match(lines[at]):
        line = lines[at]
        depth = len(line) - len(MARK.sub("", line))
        at += 1
        if line.startswith("    }"):
            break
        while openers and openers[-1][0] >= depth:
            closed = openers.pop()
            if closed[0] == depth and UNKNOWN.search(line):
                del change.lines[closed[3] :]
        forced = "# forces replacement" in line
        moved = (
            bool(CHANGE.match(line)) and (" -> " in line or told) and not line.endswith("(known after apply)")
        )
        if OPENS.search(line) and not forced:
            openers.append((depth, line, False, len(change.lines)))
        elif ((told and moved) or forced) and " resource " not in line and len(change.lines) < MOST_LINES:
            for level, (deep, opener, shown, since) in enumerate(openers):
                if not shown and " resource " not in opener and " data " not in opener:
                    change.lines.append(opener[2:])
                    openers[level] = (deep, opener, True, since)
            change.lines.append(line[2:])
            if OPENS.search(line):
                openers.append((depth, line, True, len(change.lines)))
    return change, at


def _add_changes(reading: Reading, changes: Sequence[ResourceChange]) -> None:
    """Each resource by itself, instances of one that have the same happen to them together."""
    alike: dict[tuple[str, str], list[ResourceChange]] = {}
    for change in changes:
        instance = INSTANCE.match(change.address)
        alike.setdefault((instance["base"] if instance else change.address, change.action), []).append(change)
    for (base, action), group in alike.items():
        if len(group) <= FEW_ALIKE:
            for one in group:
                reading.add(
                    one.at, [f"# {one.address} {action}", *(line[2:] for line in one.reasons), *one.lines]
                )
            continue
        first = group[0]
        keys = [one.address[len(base) :] for one in group]
        shared = [line for line in first.lines if all(line in one.lines for one in group)]
        told = [f"# {first.address} {action}", *(line[2:] for line in first.reasons)]
        told += packed(keys[1:], lead="# the same happens to ")
        told += shared
        own = []
        for key, one in zip(keys, group, strict=True):
            differing = [line.strip() for line in one.lines if line not in shared and not OPENS.search(line)]
            if differing:
                own.append(f"  {key} " + "; ".join(re.sub(r" {2,}", " ", line) for line in differing[:8]))
        reading.add(first.at, [*told, *own])


def _box(reading: Reading, lines: Sequence[str], at: int) -> int:
    """A framed error, whole, or a warning, its first lines; the row behind it."""
    end = at + 1
    while end < len(lines) and lines[end].startswith("│"):
        end += 1
    inner = [line.removeprefix("│").rstrip() for line in lines[at + 1 : end]]
    said = [line[1:] if line.startswith(" ") else line for line in inner if line.strip()]
    most = 8 if said and said[0].startswith("Warning") else MOST_LINES
    reading.add(at, said[:most])
    return end + (end < len(lines) and lines[end].startswith("╵"))


def _bare_error(reading: Reading, lines: Sequence[str], at: int) -> int:
    """An error without its frame: up to three blank lines further, at most 20 lines."""
    end, blank = at, 0
    while end < len(lines) and end < at + 20 and blank < 4 and not (end > at and TOTAL.match(lines[end])):
        blank += not lines[end].strip()
        end += 1
    reading.add(at, [line for line in lines[at:end] if line.strip()])
    return end


def _outputs(reading: Reading, lines: Sequence[str], at: int) -> int:
    """The outputs and how they change, up to MOST_LINES; the row behind them."""
    end = at + 1
    while end < len(lines) and not lines[end].startswith(
        ("─", "╷", "Note:", "Plan:", "Do you want", "Error:")
    ):
        end += 1
    told = [line for line in lines[at:end] if line.strip() and "unchanged" not in line]
    reading.add(at, told[:MOST_LINES])
    return end
