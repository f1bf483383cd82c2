"""Put the figures of `python -m bench.agents` into docs/hosts.md: what comes back, and how long it takes.

python tools/agents_tables.py [--check]
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import BadResults, Section, main, results, table

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "hosts.md"
RESULTS = ROOT / "bench" / "results" / "agents.json"
TOOL = "agents_tables"
WAYS = (("alone", "the context alone"), ("words", "with the hooks"))
HOW = {"process": "a process", "tool": "a tool, over stdio"}
Row = Mapping[str, Any]


def recall_section() -> str:
    """Probes whose answers stand in the context, by session, without and with what the hooks add."""
    found = results(RESULTS, "agents", 1)
    rows = part(found, "recall")
    names = list(dict.fromkeys(row["session"] for row in rows))
    by = {(row["session"], row["way"]): row for row in rows}
    head = ["session", "probes", "compactions", *(title for _way, title in WAYS)]
    lines = [
        [name, str(by[name, "alone"]["probes"]), str(by[name, "alone"]["compactions"])]
        + [str(by[name, way]["supported"]) for way, _title in WAYS]
        for name in names
    ]
    sums = [sum(int(line[at]) for line in lines) for at in range(1, len(head))]
    return "\n".join([*table(head, [*lines, ["together", *map(str, sums)]]), "", made(found, "recall"), ""])


def times_section() -> str:
    """Milliseconds of each hook and tool, median and 95th percentile, by the size of the archive."""
    found = results(RESULTS, "agents", 1)
    rows = part(found, "times")
    sizes = list(dict.fromkeys(row["entries"] for row in rows))
    by = {(row["what"], row["way"], row["entries"]): row for row in rows}
    head = ["what", "how", *(f"{size:,} entries" for size in sizes)]
    lines = [
        [f"`{what}`", HOW[way], *(cell(by[what, way, size]) for size in sizes)]
        for what, way in dict.fromkeys((row["what"], row["way"]) for row in rows)
    ]
    said = f"Median / 95th percentile in ms. {made(found, 'times')}"
    cost = f"The list of all tools takes {found['listing_tokens']} tokens."
    return "\n".join([*table(head, lines), "", said, cost, ""])


def cell(row: Row) -> str:
    return f"{row['p50_ms']:.0f} / {row['p95_ms']:.0f}"


def part(found: Row, name: str) -> Sequence[Row]:
    """The rows of a part of the results. Raises BadResults where it was not measured."""
    try:
        rows: Sequence[Row] = found[name]["rows"]
    except (KeyError, TypeError):
        raise BadResults(f"{RESULTS.name}: {name} is missing; run python -m bench.agents {name}") from None
    return rows


def made(found: Row, name: str) -> str:
    """The command that makes a part, and on what it was made."""
    on = found[name]["provenance"]
    return (
        f"`python -m bench.agents {name}`, commit {on['commit']}, Python {on['python']}, {on['cores']} cores."
    )


SECTIONS = [Section(PAGE, "agents-recall", recall_section), Section(PAGE, "agents-times", times_section)]


if __name__ == "__main__":
    sys.exit(main(SECTIONS, TOOL))
