"""Put the figures of `python -m bench.shared` into docs/shared.md, and what is reckoned from them.

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
USERS = (10, 100, 1_000, 10_000)
MESSAGES_A_DAY, DAYS, HOURS = 300, 250, 8
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


def reckoned() -> str:
    """Load and size by the number of people, from the larger of the two searches."""
    value = held(SEARCHES[-1])
    bytes_a_row = value["database_mb"] * 1e6 / value["rows"]
    rows_a_second = value["rows"] / value["load_seconds"]
    head = ["users", "messages a second in 8 hours", "rows a year", "on disk a year"]
    rows = []
    for users in USERS:
        a_day = users * MESSAGES_A_DAY
        a_year = a_day * DAYS
        rows.append([
            f"{users:,}", f"{a_day / (HOURS * 3_600):.2f}", f"{a_year / 1e6:.2f} million",
            f"{a_year * bytes_a_row / 1e9:,.0f} GB",
        ])  # fmt: skip
    from_what = (
        f"From the {bytes_a_row / 1e3:.1f} kB a row that were measured, and {rows_a_second:,.0f} rows a"
        " second by one client:"
    )
    return "\n".join([from_what, "", *table(head, rows), ""])


SECTIONS = [
    Section(PAGE, "scale-searches", searches),
    Section(PAGE, "scale-kills", kills),
    Section(PAGE, "scale-reckoned", reckoned),
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
