"""Write the measured tables and sentences of the documentation from the JSON in bench/results, or with
`--check` compare the two.

Each stands between two marker lines of its page and is made of nothing but its file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import agents_tables
import proposal_tables
import scale_tables
from dominance_table import dominance
from grid_tables import grid
from pages import ROOT, Section, main, results, table
from readme_table import measured
from rest_table import rest
from session_tables import public, retrieval, several

RESULTS = ROOT / "bench" / "results"
DOCS = ROOT / "docs"
PAGE = DOCS / "benchmark.md"
TOOL = "benchmark_tables"
FORMAT = 1

Value = Mapping[str, Any]


@dataclass(frozen=True)
class Shown:
    """What is shown of some files. `command` makes them and is told below, with on what it ran; `part` is the
    part of a file that has a provenance of its own."""

    files: tuple[str, ...]
    show: Callable[..., Iterator[str]]
    command: str = ""
    part: str = ""

    def text(self) -> str:
        found = [results(RESULTS / f"{name}.json", name.partition("-")[0], FORMAT) for name in self.files]
        lines = list(self.show(*found))
        if self.command:
            at = found[0].get(self.part, found[0])["provenance"]
            commit = at["commit"] or "unknown"
            lines.append(
                f"`{self.command}`, commit {commit}, Python {at['python']}, {at['cpu']}, {at['cores']} cores."
            )
        return "\n".join(lines) + "\n"


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


SIZED = re.compile(r"(?P<what>\w+)\[(?P<size>1|10|10000|100000)(?:MB|-entries)-?(?P<kind>[\w-]*)\]")
"""The name of a benchmark of a text's or an archive's size."""
LARGER = ("10", "100000")


def micro(value: Value) -> Iterator[str]:
    """A row a benchmark: median and 95th percentile at two sizes, and how times grow with the text."""
    rows: dict[str, dict[bool, str]] = {}
    for name, times in value["times"].items():
        sized = SIZED.fullmatch(name)
        bare = f"{sized['what']}[{sized['kind']}]".replace("[]", "") if sized else name
        shown = f"{milliseconds(times['median'])} / {milliseconds(times['p95'])}"
        rows.setdefault(bare, {})[bool(sized and sized["size"] in LARGER)] = shown
    growth = {name: f"{tenfold:.1f}" for name, tenfold in value["growth"].items()}
    head = ["benchmark", "1 MB, or 10,000 entries", "10 MB, or 100,000 entries", "10 MB : 1 MB"]
    shown_rows = [
        [f"`{name}`", sizes.get(False, ""), sizes.get(True, ""), growth.get(name, "")]
        for name, sizes in sorted(rows.items())
    ]
    yield from table(head, shown_rows)
    yield from ("", "Median / 95th percentile in ms.")
    yield f"The machine's load over the last 15 minutes was {value['load']:.1f}, its own work included."


def milliseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.3f}"


POOLED = (
    "python -m bench.public longmemeval --data longmemeval_oracle.json --pool 20"
    " --json bench/results/public-longmemeval.json"
)
SHOWN = {
    PAGE: {
        "grid": Shown(("grid",), grid),
        "dominance": Shown(("dominance",), dominance, "python -m bench.dominance"),
        "rest": Shown(("rest",), rest, "python -m bench.rest"),
        "retrieval": Shown(("retrieval",), retrieval, "python -m bench.retrieval"),
        "several": Shown(("retrieval",), several, "python -m bench.retrieval", "several"),
        "public": Shown(("public-longmemeval",), public, POOLED),
        "facts": Shown(("facts",), facts, "python -m bench.facts --json bench/results/facts.json"),
        "micro": Shown(("micro",), micro, "make bench-micro"),
        "measured": Shown(("rest",), partial(measured, link="#what-rests")),
    },
    ROOT / "README.md": {"measured": Shown(("rest",), partial(measured, link="docs/benchmark.md"))},
    DOCS / "hosts.md": {
        "agents-recall": Shown(("agents",), agents_tables.recall, "python -m bench.agents recall", "recall"),
        "agents-times": Shown(("agents",), agents_tables.times, "python -m bench.agents times", "times"),
    },
    DOCS / "shared.md": {
        "scale-searches": Shown(("shared-search-100k", "shared-search-1m"), scale_tables.searches),
        "scale-kills": Shown(("shared-kills",), scale_tables.kills),
    },
    DOCS / "upstream-proposal.md": {
        "discarded": Shown(("grid",), proposal_tables.discarded),
        "evidence": Shown(("grid",), proposal_tables.evidence),
        "sure": Shown(("grid",), proposal_tables.sure),
        "parts": Shown(("grid",), proposal_tables.without),
    },
}
"""By page and by the name of the section."""
SECTIONS = [Section(page, name, of.text) for page, shown in SHOWN.items() for name, of in shown.items()]


if __name__ == "__main__":
    sys.exit(main(SECTIONS, TOOL))
