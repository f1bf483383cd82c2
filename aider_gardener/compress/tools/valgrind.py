"""Valgrind's tools (memcheck, helgrind, drd): every error once with the frames of the program, and the sums.

Each line begins with the process id. An error is its heading, the frames below it, and what it says of the
address; errors with the same heading and place are one. Leaks are told with their sizes, the summaries whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import plural
from aider_gardener.compress.pieces import Reading

LINE = re.compile(r"^==\d+==(?: (.*))?$")
FRAME = re.compile(r"^ +(?:at|by) 0x[0-9A-F]+: (.*)$")
SOURCED = re.compile(r"\([^()]*\.\w+:\d+\)")
BANNER = re.compile(
    r"(?:Memcheck|Helgrind|DRD|Massif|Cachegrind|Callgrind), |Copyright|Using Valgrind|Rerun with|"
    r"For (?:lists|counts) of|Use --"
)
ADDRESS = re.compile(r"0x[0-9a-f]+", re.IGNORECASE)
FRAMES = 4
"""So many frames with a source line stay of each stack."""


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Errors with their stacks, what is lost, and the summaries; the program's own lines by the way."""
    reading = Reading()
    block: list[str] = []
    seen: dict[tuple[str, ...], int] = {(): 0}
    begun, valgrind = 0, 0
    for at, line in enumerate([*lines, ""]):
        found = LINE.match(line)
        text = (found[1] or "").rstrip() if found else ""
        valgrind += found is not None
        if found and BANNER.match(text):
            continue
        if found and text.strip():
            begun = begun if block else at
            block.append(text)
            continue
        told = tuple(_short(block))
        key = tuple(ADDRESS.sub("", one) for one in told)
        if told and key not in seen:
            reading.add(begun, told)
        seen[key] = seen.get(key, 0) + bool(told)
        block = []
        if not found and line.strip():
            reading.add(at, line, 4)
    if valgrind < 3:
        return None
    errors = sum(1 for told in seen if any(line.startswith("    ") for line in told))
    reading.summary, reading.kept = f"{plural(errors, 'kind')} of error", {"errors": errors}
    return reading


def _short(block: Sequence[str]) -> list[str]:
    """A block without addresses and without frames beyond FRAMES or outside of the program."""
    told: list[str] = []
    frames = 0
    for line in block:
        frame = FRAME.match(line)
        if not frame:
            frames = 0
            told.append(line)
        elif SOURCED.search(line) and frames < FRAMES:
            frames += 1
            told.append("    " + frame[1])
        elif frames == 0 and not told[-1].startswith("    "):
            told.append("    " + frame[1])
    return told
