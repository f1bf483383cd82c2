"""Writing a parsed test run: failures grouped by cause, as much detail as the budget allows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aider_gardener.compress.frame import clip, touches
from aider_gardener.compress.testruns.run import Failure, Run
from aider_gardener.messages import Focus

VALUE = re.compile(
    r"!==?|==|\bbut was\b|\bgot\b|\bwant\b|\bto (?:be|equal|have)\b|expected|received|actual|left\b|"
    r"right\b|"
    r"^\s*[-+] ?\S|^\s*\+\s+where|At index|Differing|contains|\bError\b|Exception|panicked|assert|"
    r"timed? ?out",
    re.IGNORECASE,
)
OPERATOR = re.compile(r" (?:===?|!==?|<=|>=|not in|in|is not|is) (?=\S)")
FILLER = re.compile(
    r"^\s*\?[\s^+~.-]*$|^\s*(?:Full diff|Common items|Omitting \d+|Use -v|Differing (?:items|attributes)|"
    r"\.\.\.Full output|\+ actual - expected|[-+] (?:Expected|Received|Snapshot)\b|Difference:|"
    r"Comparing values:|Matching attributes|Drill down|\(Use --|\.{3} *$|[\[\]{}(),]+$|generatedMessage)"
)


@dataclass(frozen=True)
class Detail:
    """How much of each failure is written: lines of message, characters a line, places, code, output."""

    lines: int
    width: int
    places: int
    source: bool
    output: int


DETAILS = (
    Detail(14, 500, 4, True, 6),
    Detail(8, 400, 3, True, 3),
    Detail(6, 300, 2, True, 0),
    Detail(4, 240, 2, False, 0),
    Detail(3, 180, 2, False, 0),
    Detail(2, 140, 1, False, 0),
)


def failures_text(run: Run, detail: Detail, focus: Focus) -> list[str]:
    """All failures in order of their first occurrence, those of one cause together."""
    groups: dict[tuple[str, ...], list[Failure]] = {}
    for failure in run.failures:
        groups.setdefault(failure.cause(), []).append(failure)
    written: list[str] = []
    for group in groups.values():
        near = any(touches(" ".join([one.id, *one.where]), focus) for one in group)
        more = _raised(detail) if near else detail
        written.extend(_group_text(group, more))
    return written


def _raised(detail: Detail) -> Detail:
    return DETAILS[max(0, DETAILS.index(detail) - 1)] if detail in DETAILS else detail


def _group_text(group: Sequence[Failure], detail: Detail) -> list[str]:
    lines = []
    shared = group[0].where[-1:] if len(group) > 1 else []
    for failure in group:
        where = [place for place in failure.where if place not in shared]
        chosen = places(where, detail.places)
        at = f"  at {' > '.join(chosen)}" if chosen else ""
        lines.append(f"{failure.outcome} {failure.id}{at}")
    first = group[0]
    if shared:
        lines.append(f"  all {len(group)} at {shared[0]}:")
    elif len(group) > 1:
        lines.append(f"  all {len(group)}:")
    if detail.source and first.source:
        lines.append("  > " + clip(first.source.strip(), detail.width // 2))
    lines.extend("  " + line for line in essence(first.message, detail.lines, detail.width))
    lines.extend("  | " + clip(line.strip(), detail.width) for line in first.output[: detail.output])
    return lines


def places(where: Sequence[str], most: int) -> list[str]:
    """The first and last places and as many between as `most` allows, without repeats."""
    distinct = list(dict.fromkeys(where))
    if len(distinct) <= most:
        return distinct
    return (
        [*distinct[: max(0, most - 2)], distinct[-1]] if most < 3 else [distinct[0], *distinct[-(most - 1) :]]
    )


def essence(message: Sequence[str], most: int, width: int) -> list[str]:
    """The lines of a message that carry its type and values, at most `most`, in order."""
    solid = [line.rstrip() for line in message if line.strip() and not FILLER.match(line)]
    if len(solid) > most:
        ranked = sorted(range(1, len(solid)), key=lambda at: (not VALUE.search(solid[at]), at))
        solid = [solid[at] for at in sorted([0, *ranked[: most - 1]])]
    return [clip_comparison(line, width) for line in solid]


def clip_comparison(line: str, size: int) -> str:
    """A line within `size` characters; of a comparison both sides keep their beginning."""
    found = OPERATOR.search(line) if len(line) > size else None
    if found is None:
        return clip(line, size)
    left, right = line[: found.start()], line[found.end() :]
    room = max(20, (size - len(found.group())) // 2)
    spare = max(0, room - min(len(left), len(right)))
    sides = [side if len(side) <= room + spare else side[: room + spare - 2] + " …" for side in (left, right)]
    return f"{sides[0]}{found.group()}{sides[1]}"
