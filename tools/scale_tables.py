"""Put the figures of `python -m bench.shared` into docs/shared.md.

python tools/scale_tables.py [--check]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pages import BadResults, Section, main, table

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "shared.md"
RESULTS = ROOT / "bench" / "results"
TOOL = "scale_tables"
SEARCHES = ("shared-search-100k.json", "shared-search-1m.json")
KILLS = "shared-kills.json"
WAYS = ("words", "meaning", "both")
Value = Mapping[str, Any]


def searches() -> str:
    """Loading, size and time to find, by the number of rows."""
    found = [held(name) for name in SEARCHES]
    head = ["rows with a vector each", "load, s", "index of vectors, s", "on disk, MB"]
    head += [f"{way}, p50 / p95 ms" for way in WAYS]
    rows = [
        [f"{value['rows']:,}", f"{value['load_seconds']:,.0f}", f"{value['index_seconds']:,.0f}"]
        + [f"{value['database_mb']:,}"]
        + [f"{value[way]['p50_ms']:.0f} / {value[way]['p95_ms']:.0f}" for way in WAYS]
        for value in found
    ]
    return "\n".join([*table(head, rows), ""])


def kills() -> str:
    """What became of the messages of killed writers."""
    value = held(KILLS)
    killed = value["killed"]
    head = ["writers", "messages of each, at least", "killed", "the server killed", "acknowledged"]
    head += ["lost", "doubled", "altered", "fetched byte for byte", "s"]
    numbers = [value["writers"], value["entries"], killed["writer"], killed["server"]]
    numbers += [value[name] for name in ("acknowledged", "lost", "doubled", "altered", "fetched")]
    row = [*(f"{number:,}" for number in numbers), f"{value['seconds']:,.0f}"]
    return "\n".join([*table(head, [row]), ""])


SECTIONS = [
    Section(PAGE, "scale-searches", searches),
    Section(PAGE, "scale-kills", kills),
]


def held(name: str) -> Value:
    """The figures of a results file. Raises BadResults if it cannot be read."""
    try:
        value: Value = json.loads((RESULTS / name).read_text("utf-8"))
        return value
    except (OSError, ValueError) as problem:
        raise BadResults(f"{name}: cannot be read as JSON ({problem}); make it again") from problem


if __name__ == "__main__":
    sys.exit(main(SECTIONS, TOOL))
