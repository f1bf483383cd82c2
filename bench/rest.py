"""How much of a prompt rests: net cost beside the limit, and maps, by the order of a prompt's parts.

    python -m bench.rest [SESSION ...] [--map-tokens N ...] [--json FILE]

Each recorded session under aider with its summaries applied, a plain tail, the gardener in aider's order and
by rest, with repository maps of two sizes (on these repositories the model's own budget shows nearly all).
Net tokens count what the cache reads as a tenth; the limit is that of the gardener's prompts, see
docs/replay.md. A map is another one when its files or lines are.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aider_gardener.replay.measure.result import MAIN, ReplayResult
from aider_gardener.replay.measure.summary import Summary, summarize, with_one_limit
from aider_gardener.replay.play.jobs import Job, find_paths, replay_all
from aider_gardener.replay.session.history import load_session
from bench.dominance import RECORDED, halves_of
from bench.provenance import made_on

RESULTS = Path(__file__).with_name("results") / "rest.json"
VARIANTS = ("stock-fixed", "tail", "gardener", "gardener-stable")
BUDGETS = (1024, 4096)
MAP_HEADS = ("Here are summaries of some files", "I am working with you on code in a git repository")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sessions", nargs="*", type=Path, help="folders; by default all recorded sessions")
    parser.add_argument("--map-tokens", nargs="+", type=int, default=BUDGETS, metavar="N")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the figures go")
    options = parser.parse_args(argv)
    paths = find_paths(options.sessions or [RECORDED])
    with TemporaryDirectory() as folder:
        rows = [
            row
            for path in paths
            for tokens in options.map_tokens
            for row in rows_of(path, tokens, Path(folder, "vectors"))
        ]
    half = halves_of(find_paths([RECORDED]))
    value = {
        "format": 1,
        "kind": "rest",
        "provenance": made_on(),
        "rows": [{**row, "half": half.get(row["session"], "")} for row in rows],
    }
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    print(f"{len(rows)} replays in {options.json.name}")
    return 0


def rows_of(path: Path, map_tokens: int, vectors: Path) -> list[dict[str, Any]]:
    """The figures of one session under every variant with a map of this size. `vectors` is a file that keeps
    the vectors of passages from one replay to the next."""
    session = load_session(path)
    results = replay_all([Job(path, name, map_tokens=map_tokens, vectors=vectors) for name in VARIANTS])
    summaries = with_one_limit([summarize(result, session) for result in results])
    return [
        {
            "session": session.name,
            "map_tokens": map_tokens,
            "variant": result.variant,
            **figures(result, summary),
        }
        for result, summary in zip(results, summaries, strict=True)
    ]


def figures(result: ReplayResult, summary: Summary) -> dict[str, Any]:
    shown = maps(result)
    return {
        "net_tokens": summary.net_tokens,
        "limit_net_tokens": summary.limit_net_tokens,
        "supported": summary.recall.supported,
        "asked": summary.recall.asked,
        "maps": len(set(shown)),
        "prompts_with_map": len(shown),
        "costs": [
            {
                "provider": cost.provider,
                "usd": round(cost.cached.usd, 4),
                "over_limit": round(cost.over_limit, 3),
            }
            for cost in summary.costs
        ],
    }


def maps(result: ReplayResult) -> list[str]:
    """The map of each prompt that has one, without the words above it."""
    found = []
    for call in result.calls:
        texts = (result.texts.get(sha, "") for sha, _, _ in call.prompt)
        shown = next((text for text in texts if text.startswith(MAP_HEADS)), "") if call.kind == MAIN else ""
        if shown:
            found.append(shown.partition("\n\n")[2])
    return found


if __name__ == "__main__":
    sys.exit(main())
