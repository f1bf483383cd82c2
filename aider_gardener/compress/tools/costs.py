"""Where the time of a start went: the imports of `python -X importtime`, the slowest by themselves and with
what they import.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aider_gardener.compress.base import Context
from aider_gardener.compress.pieces import MUST, Reading

IMPORT = re.compile(r"^import time: +(?P<own>\d+) \| +(?P<all>\d+) \| (?P<indent> *)(?P<name>\S+)$")
MOST_OWN, MOST_WITH, MOST_OTHERS = 12, 14, 40


@dataclass(frozen=True)
class _Import:
    at: int
    own: int
    whole: int
    depth: int
    name: str

    def line(self) -> str:
        return f"import time: {self.own} | {self.whole} | {' ' * self.depth}{self.name}"


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """The slowest imports by both times, and everything else that was printed."""
    reading = Reading(room=1.2)
    imports: list[_Import] = []
    others = 0
    for at, line in enumerate(lines):
        found = IMPORT.match(line[:400])
        if found:
            imports.append(
                _Import(at, int(found["own"]), int(found["all"]), len(found["indent"]) // 2, found["name"])
            )
        elif line.strip():
            others += 1
            reading.add(at, line, MUST if others <= MOST_OTHERS else 3.0)
    if not imports:
        return None
    own = sorted(imports, key=lambda one: -one.own)
    whole = sorted(imports, key=lambda one: -one.whole)
    must = {*own[:MOST_OWN], *whole[:MOST_WITH], imports[-1]}
    for number, one in enumerate(own):
        reading.add(one.at, one.line(), MUST if one in must else 3.0 - number / len(own))
    total = sum(one.own for one in imports)
    reading.add(-1, f"slowest by themselves: {', '.join(f'{one.name} {one.own}' for one in own[:5])} µs")
    reading.add(
        -1, f"slowest with what they import: {', '.join(f'{one.name} {one.whole}' for one in whole[:5])} µs"
    )
    reading.summary = f"{len(imports)} imports, {total} µs in all by themselves"
    reading.kept = {"imports": len(imports)}
    return reading
