"""Write the tables of docs/benchmark.md from the JSON in bench/results, or with `--check` compare the two.

Each table stands between two marker lines and is made of nothing but its file. Without the file the
section says which command makes it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dominance_table import dominance
from grid_tables import grid
from pages import BadResults, parts, results, table, write_or_check
from rest_table import rest
from session_tables import public, retrieval, several

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "benchmark.md"
FORMAT = 1

Value = Mapping[str, Any]


@dataclass(frozen=True)
class Section:
    """A part of the page: its file in bench/results, the command that makes that, and what is shown."""

    file: str
    command: str
    show: Callable[[Value], Iterator[str]]


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite the sections, or only compare them; exit 1 when one differs or cannot be made."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 on a difference")
    return write_or_check(parser.parse_args(argv).check, faults, write)


def faults() -> Iterator[str]:
    """What is wrong with the page, a line each."""
    text = PAGE.read_text("utf-8")
    for name in SECTIONS:
        try:
            if parts(text, name, "docs/benchmark.md")[1] != section(name):
                yield f"docs/benchmark.md: section {name} is not what tools/benchmark_tables.py makes; run it"
        except BadResults as problem:
            yield str(problem)


def write() -> str:
    """Put every section into the page. Raises BadResults without markers or with unusable results."""
    text = PAGE.read_text("utf-8")
    for name in SECTIONS:
        before, _between, after = parts(text, name, "docs/benchmark.md")
        text = before + section(name) + after
    PAGE.write_text(text, "utf-8", newline="\n")
    return f"{PAGE.name}: the tables are those of bench/results"


def section(name: str) -> str:
    """The text between the markers, with a line end last."""
    made = SECTIONS[name]
    path = RESULTS / made.file
    if not path.exists():
        return f"Not measured yet: `{made.command}`.\n"
    return "\n".join(made.show(results(path, name, FORMAT))) + "\n"


def made_on(value: Value, command: str) -> str:
    """The line that says on what the figures depend."""
    at = value["provenance"]
    return (
        f"`{command}`, commit {at['commit'] or 'unknown'}, Python {at['python']}, {at['cpu']},"
        f" {at['cores']} cores."
    )


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
    yield made_on(value, SECTIONS["facts"].command)


def by_command(show: Callable[[Value], Iterator[str]], command: str) -> Callable[[Value], Iterator[str]]:
    """The same tables with the line that says how they were made."""

    def shown(value: Value) -> Iterator[str]:
        yield from show(value)
        yield made_on(value, command)

    return shown


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
    yield made_on(value, SECTIONS["micro"].command)
    yield f"The machine's load over the last 15 minutes was {value['load']:.1f}, its own work included."


def at_size(value: Value) -> Iterator[str]:
    """A row for what is asked for, then the memory and what is found."""
    rows = []
    for kind, times in value["times"].items():
        shown = [milliseconds(each) for each in (times["first"], times["median"], times["p95"])]
        rows.append([kind, *shown, milliseconds(times["clock"]["p95"])])
    yield from table(["search by", "first ms", "median ms", "p95 ms", "p95 ms, clock"], rows)
    yield ""
    memory = f"{value['megabytes_before']} → {value['megabytes']}"
    found = [f"{value['recall_at_10']:.1%}", f"{value['nearness']:.1%}"]
    yield from table(
        ["MB", "s to read", "of the ten nearest", "as near"],
        [[memory, f"{value['reading_seconds']:.1f}", *found]],
    )
    yield ""
    yield made_on(value, SECTIONS["at-size"].command)


def milliseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.3f}"


POOLED = (
    "python -m bench.public longmemeval --data longmemeval_oracle.json --pool 20"
    " --json bench/results/public-longmemeval.json"
)
SECTIONS: dict[str, Section] = {
    "grid": Section("grid.json", "make bench", grid),
    "dominance": Section("dominance.json", "make bench", by_command(dominance, "python -m bench.dominance")),
    "rest": Section("rest.json", "python -m bench.rest", by_command(rest, "python -m bench.rest")),
    "retrieval": Section(
        "retrieval.json", "python -m bench.retrieval", by_command(retrieval, "python -m bench.retrieval")
    ),
    "several": Section(
        "several.json", "python -m bench.several", by_command(several, "python -m bench.several")
    ),
    "public": Section("public-longmemeval.json", POOLED, by_command(public, POOLED)),
    "facts": Section("facts.json", "python -m bench.facts --json bench/results/facts.json", facts),
    "micro": Section("micro.json", "make bench-micro", micro),
    "at-size": Section("search-at-size.json", "python -m bench.search_at_size", at_size),
}


if __name__ == "__main__":
    sys.exit(main())
