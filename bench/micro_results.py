"""Keep the times of a run of bench/micro: least, median and 95th percentile in milliseconds, and by how much
more the tenfold text takes.

    python -m bench.micro_results build/bench/micro.json

A run is held against another by pytest-benchmark itself (`--benchmark-autosave`, `--benchmark-compare`).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aider_gardener.replay.measure.summary import percentile
from bench.provenance import made_on

RESULTS = Path(__file__).resolve().parent / "results" / "micro.json"
FORMAT = 1
TENFOLD = re.compile(r"\b(\d+)MB\b")

Times = Mapping[str, Any]


def main(argv: Sequence[str] | None = None) -> int:
    """Exit 1 for a run that cannot be used."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path, help="what pytest --benchmark-json wrote")
    options = parser.parse_args(argv)
    try:
        found = compact(json.loads(options.run.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError) as problem:
        print(f"{options.run}: {problem}; make it with: make bench-micro", file=sys.stderr)
        return 1
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"kept as {RESULTS.name}")
    return 0


def compact(report: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a pytest-benchmark report. ValueError for one of another suite, of small
    sizes or without times."""
    sizes = report.get("gardener")
    if sizes is None or not report["benchmarks"]:
        raise ValueError("not a report of bench/micro")
    if sizes["quick"]:
        raise ValueError("a quick run says nothing of the full one")
    names = [one["name"].removeprefix("test_") for one in report["benchmarks"]]
    times = {
        name: times_of(one["stats"]["data"]) for name, one in zip(names, report["benchmarks"], strict=True)
    }
    return {
        "format": FORMAT,
        "kind": "micro",
        "provenance": made_on(),
        "quick": sizes["quick"],
        "load": sizes["load"],
        "unit": "ms",
        "times": dict(sorted(times.items())),
        "growth": dict(growth(times)),
    }


def times_of(seconds: Sequence[float]) -> dict[str, float | int]:
    """Least, median and 95th percentile in milliseconds, by nearest rank."""
    milliseconds = [1000 * each for each in seconds]
    return {
        "least": round(min(milliseconds), 3),
        "median": round(percentile(milliseconds, 0.5), 3),
        "p95": round(percentile(milliseconds, 0.95), 3),
        "rounds": len(milliseconds),
    }


def growth(times: Mapping[str, Times]) -> Iterator[tuple[str, float]]:
    """For each benchmark with a text of 1 and of 10 MB: the ratio of the least times; 10 is linear.

    Other work on the machine adds to a time and never takes from it, so the least says most here.
    """
    for name, found in sorted(times.items()):
        size = TENFOLD.search(name)
        tenfold = TENFOLD.sub(f"{10 * int(size.group(1))}MB", name) if size else ""
        if tenfold in times:
            label = re.sub(r"\[\]|-(?=\])|(?<=\[)-", "", name.replace(size.group(0), "") if size else name)
            yield label, round(times[tenfold]["least"] / found["least"], 2)


if __name__ == "__main__":
    sys.exit(main())
