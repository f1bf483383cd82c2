"""Write the tables of docs/benchmark.md from the JSON in bench/results, or with `--check` compare the two.

Each table stands between two marker lines and is made of nothing but its file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from dominance_table import dominance
from grid_tables import grid
from pages import Section, main, results, table
from rest_table import rest
from session_tables import public, retrieval, several

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "benchmark.md"
TOOL = "benchmark_tables"
FORMAT = 1

Value = Mapping[str, Any]


def made(name: str, file: str, command: str, show: Callable[[Value], Iterator[str]]) -> str:
    """The text of a section: what is shown of a file (or of its part of that name), and by what command on
    what it was made."""
    value = results(RESULTS / file, file.removesuffix(".json").partition("-")[0], FORMAT)
    at = value.get(name, value)["provenance"]
    commit = at["commit"] or "unknown"
    by = f"`{command}`, commit {commit}, Python {at['python']}, {at['cpu']}, {at['cores']} cores."
    return "\n".join([*show(value), *([by] if show is not grid else [])]) + "\n"


def facts(value: Value) -> Iterator[str]:
    """A row a set of outputs: facts kept, by halves, beside lines quoted alone; falsehoods; tokens left."""
    rows = []
    for name, found in value["sets"].items():
        asked, halves = found["facts"], (found["half a"], found["half b"])
        rows.append([
            name, f"{found['outputs']}", f"{found['kept']:,} of {asked:,}",
            *(f"{one['kept']:,} of {one['facts']:,}" for one in halves),
            f"{found['kept by quoting']:,}", f"{found['outputs with falsehoods']}",
            f"{100 * found['share above 2500']:.1f} %", f"{100 * found['share below 2500']:.1f} %",
        ])  # fmt: skip
    head = ["outputs", "number", "facts kept", "half a", "half b", "quoting alone", "with falsehoods",
            "left above 2,500", "left below"]  # fmt: skip
    yield from table(head, rows)
    yield ""


def micro(value: Value) -> Iterator[str]:
    """A row a benchmark: median and 95th percentile; then how times grow with the text."""
    growth = value["growth"]
    rows = []
    for name, times in value["times"].items():
        tenfold = growth.get(name.replace("-10MB", "").replace("10MB-", ""), "") if "10MB" in name else ""
        figures = [milliseconds(times[key]) for key in ("least", "median", "p95")]
        rows.append([f"`{name}`", *figures, str(times["rounds"]), f"{tenfold:.1f}" if tenfold else ""])
    yield from table(["benchmark", "least ms", "median ms", "p95 ms", "rounds", "10 MB : 1 MB"], rows)
    yield ""
    yield f"The machine's load over the last 15 minutes was {value['load']:.1f}, its own work included."


def milliseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.3f}"


POOLED = (
    "python -m bench.public longmemeval --data longmemeval_oracle.json --pool 20"
    " --json bench/results/public-longmemeval.json"
)
SHOWN: dict[str, tuple[str, str, Callable[[Value], Iterator[str]]]] = {
    "grid": ("grid.json", "make bench", grid),
    "dominance": ("dominance.json", "python -m bench.dominance", dominance),
    "rest": ("rest.json", "python -m bench.rest", rest),
    "retrieval": ("retrieval.json", "python -m bench.retrieval", retrieval),
    "several": ("retrieval.json", "python -m bench.retrieval", several),
    "public": ("public-longmemeval.json", POOLED, public),
    "facts": ("facts.json", "python -m bench.facts --json bench/results/facts.json", facts),
    "micro": ("micro.json", "make bench-micro", micro),
}
"""By the name of a section its file, the command that makes that, and what is shown."""
SECTIONS = [Section(PAGE, name, partial(made, name, *of)) for name, of in SHOWN.items()]


if __name__ == "__main__":
    sys.exit(main(SECTIONS, TOOL))
