"""Query plans with what really happened: where the time went, which estimates were far off, what was read and
thrown away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import plural
from aider_gardener.compress.pieces import MUST, Reading

NODE = re.compile(
    r"^(?P<indent>[\s|]*)(?:-> +)?(?P<name>[^(]{1,300}?)\s*"
    r"\(cost=(?P<cost>[\d.]+)(?:\.\.[\d.]+)? rows=(?P<rows>[\d.e+]+)"
)
ACTUAL = re.compile(
    r"\(actual (?:time=(?P<first>[\d.]+)\.\.(?P<time>[\d.]+) )?rows=(?P<rows>[\d.e+]+) loops=(?P<loops>\d+)\)"
)
TELLING = re.compile(
    r"Rows Removed|external|Disk|Batches: (?:[2-9]|\d\d)|lossy|never executed|Heap Fetches: [1-9]|"
    r"Workers|JIT|Sort Method|Temp|Buffers: .*(?:read|temp)|Filter: |Cond: |Order By"
)
CLOSING = re.compile(
    r"^\s*(?:(?:Planning|Execution|Total runtime|Total Query)\b.*[\d.]+|\(\d+ rows?\)|Trigger )", re.I
)
OFF_BY = 10
SLOWEST = 4
MOST_LINES = 150


@dataclass
class _Node:
    at: int
    line: str
    depth: int
    name: str
    expected: float
    rows: float | None = None
    time: float | None = None
    inner: float = 0.0
    details: list[tuple[int, str]] = field(default_factory=list)

    @property
    def own(self) -> float:
        return max(0.0, (self.time or 0.0) - self.inner)

    @property
    def off(self) -> float:
        """How many times the estimate of rows was too high or too low."""
        if self.rows is None:
            return 1.0
        return max(self.rows, 1.0) / max(self.expected, 1.0) if self.rows > self.expected else max(
            self.expected, 1.0
        ) / max(self.rows, 1.0)  # fmt: skip


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """A plan as PostgreSQL or MySQL prints it."""
    reading = Reading(room=1.6)
    nodes = tell([(at, line) for at, line in enumerate(lines) if line.strip()], reading)
    if not nodes:
        return None
    reading.summary, reading.kept = plural(nodes, "plan node"), {"nodes": nodes}
    return reading


def tell(lines: Sequence[tuple[int, str]], reading: Reading) -> int:
    """Put the lines of a plan into a reading; the number of its nodes."""
    nodes: list[_Node] = []
    for at, line in lines:
        node = _node(at, line)
        if node:
            nodes.append(node)
        elif nodes and not CLOSING.match(line):
            nodes[-1].details.append((at, line))
        else:
            reading.add(at, line.strip())
    _own_times(nodes)
    slow = sorted((node for node in nodes if node.time), key=lambda node: -node.own)[:SLOWEST]
    few = len(lines) <= MOST_LINES
    for node in nodes:
        wrong = node.off >= OFF_BY and (node.rows or 0) + node.expected >= 100
        must = node in slow or wrong or node is nodes[0]
        reading.add(node.at, node.line.rstrip(), MUST if must or few else 4.0)
        for at, line in node.details:
            telling = bool(TELLING.search(line))
            reading.add(at, line.rstrip(), MUST if telling and must else 3.0 if telling else 1.0)
    if slow and lines:
        whole = max(node.time or 0.0 for node in nodes)
        told = ", ".join(f"{node.name} {node.own:.3f} ms" for node in slow if node.own > 0.02 * whole)
        wrong_told = ", ".join(
            f"{node.name} {node.expected:.0f} for {node.rows:.0f}"
            for node in nodes
            if node.off >= OFF_BY and node.rows is not None and (node.rows or 0) + node.expected >= 100
        )
        reading.add(lines[-1][0] + 0.2, f"… most own time (loops counted): {told}") if told else None
        reading.add(
            lines[-1][0] + 0.3, f"… rows estimated far off: {wrong_told}"[:400]
        ) if wrong_told else None
    return len(nodes)


def _node(at: int, line: str) -> _Node | None:
    found = NODE.match(line[:2_000])
    if not found:
        return None
    node = _Node(
        at, line, len(found["indent"]), found["name"].removeprefix("->").strip(), float(found["rows"])
    )
    actual = ACTUAL.search(line, 0, 2_000)
    if actual:
        loops = int(actual["loops"][:9])
        node.rows = float(actual["rows"])
        node.time = float(actual["time"]) * loops if actual["time"] else None
    return node


def _own_times(nodes: Sequence[_Node]) -> None:
    stack: list[_Node] = []
    for node in nodes:
        while stack and stack[-1].depth >= node.depth:
            stack.pop()
        if stack:
            stack[-1].inner += node.time or 0.0
        stack.append(node)
