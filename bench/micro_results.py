"""Compare the times of a run of bench/micro with the committed ones, and keep them if asked to.

    python -m bench.micro_results build/bench/micro.json [--take]

Prints for each benchmark median and 95th percentile in milliseconds and the ratio of the medians, new
by old; besides, how much longer the tenfold text takes. Runs of other sizes refuse to be compared.
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


class BadRun(Exception):
    """The run cannot be used; the message says why and what to do."""


def main(argv: Sequence[str] | None = None) -> int:
    """Exit 1 for a run that cannot be used."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path, help="what pytest --benchmark-json wrote")
    parser.add_argument("--take", action="store_true", help="keep these figures as the committed ones")
    options = parser.parse_args(argv)
    try:
        new = compact(json.loads(options.run.read_text(encoding="utf-8")))
        old = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else None
        print("\n".join(comparison(new, old)))
    except (OSError, ValueError, KeyError, BadRun) as problem:
        print(f"{options.run}: {problem}; make it with: make bench-micro", file=sys.stderr)
        return 1
    if options.take:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(json.dumps(new, indent=1) + "\n", encoding="utf-8")
        print(f"kept as {RESULTS.name}")
    return 0


def compact(report: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a pytest-benchmark report. BadRun for one of another suite or without times."""
    sizes = report.get("gardener")
    if sizes is None or not report["benchmarks"]:
        raise BadRun("not a report of bench/micro")
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


def ratios(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> Iterator[tuple[str, float]]:
    """The medians of the benchmarks that both have, new by old."""
    for name, found in new["times"].items():
        before = (old or {"times": {}})["times"].get(name)
        if before:
            yield name, found["median"] / before["median"]


def comparison(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> Iterator[str]:
    """The lines to print. BadRun if the two are of other sizes."""
    if old is not None and old["quick"] != new["quick"]:
        raise BadRun("a quick run and a full one do not compare")
    if old is not None and old["provenance"]["cpu"] != new["provenance"]["cpu"]:
        yield f"The committed figures are of another machine ({old['provenance']['cpu']}): ratios say little."
    ratio = dict(ratios(new, old))
    width = max(map(len, new["times"]))
    yield f"{'':{width}}  {'least ms':>10}  {'median ms':>10}  {'p95 ms':>10}  new/old"
    for name, found in new["times"].items():
        beside = f"{ratio[name]:7.2f}" if name in ratio else "      –"
        figures = "  ".join(f"{found[key]:10.3f}" for key in ("least", "median", "p95"))
        yield f"{name:{width}}  {figures}  {beside}"
    if new["growth"]:
        yield "ten times the text takes so many times as long:"
        yield from (f"{name:{width}}  {times:10.2f}" for name, times in new["growth"].items())


if __name__ == "__main__":
    sys.exit(main())
