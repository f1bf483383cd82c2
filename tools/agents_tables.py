"""The tables of what other agents get: what comes back after a compaction, and how long it takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pages import table

WAYS = {"alone": "the context alone", "words": "with the hooks"}
HOW = {"process": "a process", "tool": "a tool, over stdio"}
Value = Mapping[str, Any]


def recall(value: Value) -> Iterator[str]:
    """Probes whose answers stand in the context, by session, without and with what the hooks add."""
    rows = value["recall"]["rows"]
    by = {(row["session"], row["way"]): row for row in rows}
    lines = [
        [by[name, "alone"]["probes"], by[name, "alone"]["compactions"]]
        + [by[name, way]["supported"] for way in WAYS]
        for name in dict.fromkeys(row["session"] for row in rows)
    ]
    names = [*dict.fromkeys(row["session"] for row in rows), "together"]
    counts = [*lines, [sum(column) for column in zip(*lines, strict=True)]]
    shown = [[name, *map(str, row)] for name, row in zip(names, counts, strict=True)]
    yield from table(["session", "probes", "compactions", *WAYS.values()], shown)
    yield ""


def times(value: Value) -> Iterator[str]:
    """Milliseconds of each hook and tool, median and 95th percentile, by the size of the archive."""
    rows = value["times"]["rows"]
    sizes = list(dict.fromkeys(row["entries"] for row in rows))
    by = {(row["what"], row["way"], row["entries"]): row for row in rows}
    lines = [
        [f"`{what}`", HOW[way], *(cell(by[what, way, size]) for size in sizes)]
        for what, way in dict.fromkeys((row["what"], row["way"]) for row in rows)
    ]
    yield from table(["what", "how", *(f"{size:,} entries" for size in sizes)], lines)
    yield ""
    yield "Median / 95th percentile in ms."
    yield f"The list of all tools takes {value['listing_tokens']} tokens."


def cell(row: Value) -> str:
    return f"{row['p50_ms']:.0f} / {row['p95_ms']:.0f}"
