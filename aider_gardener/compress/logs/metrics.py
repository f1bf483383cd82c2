"""Compressing metric dumps: one line a metric with its range, and the series that stand out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import framed, plural, touches
from aider_gardener.messages import Compressed, ContentClass

SERIES = re.compile(r"^([a-zA-Z_:][\w:.]*)(?:\{([^}]*)\})? +([-+]?[\d.eE+-]+|NaN|[+-]Inf)(?: \d+)?$")
TROUBLE = re.compile(
    r"error|fail|drop|reject|timeout|retr|dead|lost|panic|exceed|5xx|oom|evict", re.IGNORECASE
)


def compress_metrics(text: str, lines: Sequence[str], budget: int, ctx: Context) -> Compressed:
    """A metric dump: troubled counters that are not zero first, then each metric with its range."""
    metrics: dict[str, list[tuple[str, float, str]]] = {}
    other: list[str] = []
    for line in lines:
        found = SERIES.match(line)
        if found:
            value = _number(found.group(3))
            metrics.setdefault(found.group(1), []).append((found.group(2) or "", value, line))
        elif not line.startswith("#"):
            other.append(line)
    items: list[tuple[float, int, str]] = [(1.0, at, line) for at, line in enumerate(other[:20])]
    for at, (name, series) in enumerate(metrics.items()):
        items.extend(_items(name, series, at, ctx))
    kept: list[tuple[int, str]] = []
    for _, at, line in sorted(items, key=lambda item: (-item[0], item[1])):
        budget -= ctx.count(line) + 1
        if budget < 0:
            break
        kept.append((at, line))
    body = list(dict.fromkeys(line for _, line in sorted(kept, key=lambda pair: pair[0])))
    total = sum(map(len, metrics.values()))
    summary = f"metrics: {plural(len(metrics), 'metric')}, {total} series"
    return framed(text, summary, body, ctx, ContentClass.LOG, "metrics", {"metrics": len(metrics)})


def _items(
    name: str, series: Sequence[tuple[str, float, str]], at: int, ctx: Context
) -> list[tuple[float, int, str]]:
    values = [value for _, value, _ in series]
    lift = 3.0 if touches(name, ctx.focus) else 0.0
    if len(series) == 1:
        trouble = bool(TROUBLE.search(name)) and values[0] != 0
        routine = name.endswith(("_created", "_bucket"))
        return [((6.0 if trouble else 1.0 if routine else 3.0) + lift, at, series[0][2])]
    found: list[tuple[float, int, str]] = []
    highest = max(series, key=lambda one: one[1])
    if name.endswith("_bucket") or name.endswith("_created"):
        return [(0.5 + lift, at, f"{name}: {len(series)} series, {min(values):g}..{max(values):g}")]
    if TROUBLE.search(name) or "error" in highest[2]:
        found.extend((6.0 + lift, at, line) for _, value, line in series if value and TROUBLE.search(line))
    spread = f"{min(values):g}..{max(values):g}, sum {sum(values):g}"
    line = f"{name}: {len(series)} series, {spread}; highest {highest[2]}"
    found.append((3.5 + lift, at, line))
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
