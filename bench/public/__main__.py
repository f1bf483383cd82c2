"""What recall finds of the evidence in published benchmarks of long-term memory.

    python -m bench.public locomo|longmemeval --data PATH [--conversations N] [--pool N] [--json FILE]

The data sets are not part of this repository: docs/benchmark.md says where they are to be had. Nothing is
written beside them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from aider_gardener.errors import GardenerError
from bench.provenance import made_on
from bench.public import locomo, longmemeval
from bench.public.conversation import Conversation
from bench.public.measure import BUDGETS, KS, LEAST_SHARE, Measured, measured, record

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "bench"
VECTORS = FOLDER / "public-vectors.sqlite"
FORMAT = 1
READ: dict[str, Callable[[Path, int | None], Iterator[Conversation]]] = {
    "locomo": locomo.conversations,
    "longmemeval": longmemeval.conversations,
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench.public", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("benchmark", choices=READ)
    parser.add_argument(
        "--data", type=Path, required=True, metavar="PATH", help="the file or folder as published"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="where the results go (default: build/bench)"
    )
    parser.add_argument(
        "--conversations", type=at_least_one, metavar="N", help="only so many, evenly from the whole file"
    )
    parser.add_argument(
        "--pool", type=at_least_one, metavar="N", help="of LongMemEval: make N pasts of all that are given"
    )
    parser.add_argument("--embedder", default="use", help="as the setting of this name; none: words alone")
    options = parser.parse_args(argv)
    results = options.json or FOLDER / f"public-{options.benchmark}.json"
    try:
        if not options.data.exists():
            raise GardenerError(f"{options.data}: not there; docs/benchmark.md says where to get it")
        if inside(results, options.data):
            raise GardenerError(f"{results}: inside the data set; name another file with --json")
        if options.pool and options.benchmark != "longmemeval":
            raise GardenerError("--pool is for longmemeval, whose questions have a past each")
        VECTORS.parent.mkdir(parents=True, exist_ok=True)
        given = READ[options.benchmark](options.data, options.conversations)
        given = longmemeval.pooled(given, options.pool) if options.pool else given
        counted = measured(given, VECTORS, options.embedder)
        if not counted.judged:
            raise GardenerError(
                f"{options.data}: no question with evidence that can be judged: {reasons(counted)}"
            )
    except GardenerError as problem:
        print(f"bench.public: {problem}", file=sys.stderr)
        return 1
    value = {
        "format": FORMAT,
        "kind": "public",
        "benchmark": options.benchmark,
        "data": options.data.name,
        "pool": options.pool,
        "embedder": options.embedder,
        "provenance": {**made_on(), "tokenizer": "cl100k_base"},
        "ks": list(KS),
        "budgets": list(BUDGETS),
        "least_share": LEAST_SHARE,
        **record(counted),
    }
    results.parent.mkdir(parents=True, exist_ok=True)
    results.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    sys.path.insert(0, str(ROOT / "tools"))
    from session_tables import public

    print("\n".join(public(value)))
    print(f"left out: {reasons(counted)}")
    print(f"written to {results.name}")
    return 0


def reasons(counted: Measured) -> str:
    """Why questions were left out, and how many."""
    return ", ".join(f"{number:,} {why}" for why, number in counted.left_out.most_common()) or "none asked"


def at_least_one(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def inside(file: Path, data: Path) -> bool:
    """Whether a file is the data set, or lies in its folder."""
    where, whole = file.resolve(), data.resolve()
    return where == whole or (data.is_dir() and whole in where.parents)


if __name__ == "__main__":
    sys.exit(main())
