"""How much of a prompt rests: net cost beside the limit by the layout of files, and what was still known.

    python -m bench.rest [SESSION ...] [--json FILE]

Each recorded session under aider as it is and with its summaries applied, thirty lines of a tail with a
search, and the gardener with a plan that hides the oldest, with files as aider sends them, by default, and
with prompts that only grow from the first on.
Net tokens count what the cache reads as a tenth; the limit is that of the run's own prompts, see
docs/replay.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import MAIN, ReplayResult
from aider_gardener.replay.measure.summary import Summary, summarize
from aider_gardener.replay.play.jobs import replay_all
from aider_gardener.replay.play.report import find_paths
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.history import load_session
from bench.dominance import RECORDED, halves_of
from bench.limit import limit_net_tokens, net_tokens
from bench.provenance import made_on
from bench.variants import IMPORTS, VECTORS

RESULTS = Path(__file__).with_name("results") / "rest.json"
VARIANTS = (
    "stock", "stock-fixed", "tail-search", "gardener-oldest-first", "gardener-aider-order", "gardener",
    "gardener-append",
)  # fmt: skip
MARKED_MODEL = "claude-sonnet-4-5"
MARKED_VARIANTS = ("stock-fixed", "tail-search", "gardener", "gardener-append")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sessions", nargs="*", type=Path, help="folders; by default all recorded sessions")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the figures go")
    options = parser.parse_args(argv)
    paths = find_paths(options.sessions or [RECORDED])
    with TemporaryDirectory() as folder:
        os.environ[VECTORS] = str(Path(folder, "vectors"))
        try:
            rows = [row for path in paths for row in rows_of(path)]
            marked = [row for path in paths for row in marked_rows_of(path)]
        finally:
            del os.environ[VECTORS]
    half = halves_of(find_paths([RECORDED]))
    value = {
        "format": 1,
        "kind": "rest",
        "provenance": made_on(),
        "rows": [{**row, "half": half.get(row["session"], "")} for row in rows],
        "marked_model": MARKED_MODEL,
        "marked": [{**row, "half": half.get(row["session"], "")} for row in marked],
    }
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    print(f"{len(rows) + len(marked)} replays in {options.json.name}")
    return 0


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The figures of one session under every variant."""
    session = load_session(path)
    results = replay_all([Job(session, name, texts=True, imports=IMPORTS) for name in VARIANTS])
    return [{"session": session.name, "variant": result.variant, **figures(result)} for result in results]


def marked_rows_of(path: Path) -> list[dict[str, Any]]:
    """What is known of one session and paid with a model whose cache is asked for by marks."""
    session = load_session(path)
    results = replay_all(
        [
            Job(session, name, model=MARKED_MODEL, cache_prompts=True, texts=True, imports=IMPORTS)
            for name in MARKED_VARIANTS
        ]
    )
    return [{"session": session.name, "variant": result.variant, **paid(result)} for result in results]


def paid(result: ReplayResult) -> dict[str, Any]:
    """The figures of a run with its own model's prices."""
    summary = summarize(result)
    if summary.own is None:
        raise ReplayError(f"{result.provenance.model} has no price")
    return {**kept(summary), "usd": round(summary.own.cached.usd, 4)}


def kept(summary: Summary) -> dict[str, Any]:
    """What stood in the prompts: probes that are supported, facts and lines that replies used again."""
    carried = summary.carry_over
    return {
        "supported": summary.recall.supported,
        "asked": summary.recall.asked,
        "facts": [carried.facts_present, carried.facts],
        "lines": [carried.lines_present, carried.lines],
    }


def figures(result: ReplayResult) -> dict[str, Any]:
    """`main_net_tokens` are those of the main model's calls alone; `summaries` are those of a model that were
    used, and those that were thrown away."""
    summary = summarize(result)
    return {
        "turns": summary.turns,
        "summaries": [summary.llm_compactions, summary.llm_discarded],
        "main_net_tokens": net_tokens(result.calls, MAIN),
        "net_tokens": net_tokens(result.calls),
        "limit_net_tokens": limit_net_tokens(result),
        **kept(summary),
        "costs": [{"provider": cost.provider, "usd": round(cost.cached.usd, 4)} for cost in summary.costs],
    }


if __name__ == "__main__":
    sys.exit(main())
