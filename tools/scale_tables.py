"""The tables of a shared server: how long it takes to load and to find, and what became of killed writers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pages import table

WAYS = ("words", "meaning", "both")
Value = Mapping[str, Any]


def searches(*found: Value) -> Iterator[str]:
    """Loading, size and time to find, by the number of rows."""
    head = ["rows with a vector each", "load, s", "index of vectors, s", "on disk, MB"]
    rows = [
        [f"{value['rows']:,}", f"{value['load_seconds']:,.0f}", f"{value['index_seconds']:,.0f}"]
        + [f"{value['database_mb']:,}"]
        + [f"{value[way]['p50_ms']:.0f} / {value[way]['p95_ms']:.0f}" for way in WAYS]
        for value in found
    ]
    return table([*head, *(f"{way}, p50 / p95 ms" for way in WAYS)], rows)


def kills(value: Value) -> Iterator[str]:
    """What became of the messages of killed writers."""
    killed = value["killed"]
    head = ["writers", "messages of each, at least", "killed", "the server killed", "acknowledged"]
    head += ["lost", "doubled", "altered", "fetched byte for byte", "s"]
    numbers = [value["writers"], value["entries"], killed["writer"], killed["server"]]
    numbers += [value[name] for name in ("acknowledged", "lost", "doubled", "altered", "fetched")]
    return table(head, [[*(f"{number:,}" for number in numbers), f"{value['seconds']:,.0f}"]])
