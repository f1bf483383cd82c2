"""The marks and budgets beside the default's, on each session as a plain chat: what decided the default.

    python -m bench.family [--parallel N]

Finished replays are kept with those of `make bench` and not run again as long as nothing that they depend on
has changed. Sums of both halves of the sessions go to bench/results.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aider_gardener.errors import GardenerError
from aider_gardener.replay.play.jobs import find_paths
from aider_gardener.replay.session.history import load_session
from bench.dominance import CHATS, OF_THE_MODEL, RECORDED, halves_of
from bench.goals import CHOSEN_ON, HELD_OUT, RIVAL, added, figures
from bench.grid import run
from bench.grid.cells import Cell
from bench.plain import model_of, plain_chat

RESULTS = Path(__file__).with_name("results") / "family.json"
FORMAT = 1

FAMILY = (
    RIVAL,
    "gardener",
    "gardener+history_tokens=4000",
    "gardener+history_tokens=8000",
    "gardener+history_tokens=16000",
    "gardener+history_tokens=32000",
    "gardener+low_mark=0.2",
    "gardener+recall_tokens=0",
    "gardener+recall_tokens=2000",
    "gardener+chat_map=0",
)
"""The variants, one change of the default each; stock-fixed is what the default is held against."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--parallel", type=int, default=os.cpu_count() or 1, help="replays at a time")
    options = parser.parse_args(argv)
    return run.ended("bench.family", lambda: work(options.parallel))


def work(parallel: int) -> int:
    paths = find_paths([RECORDED])
    half = halves_of(paths)
    cells = [(half[session], cell) for session, cell in cells_of(paths)]
    run.run_all([cell for _, cell in cells if run.kept(cell) is None], parallel)
    value = collected(cells)
    RESULTS.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(value['rows'])} variants in {RESULTS.name}")
    return 0


def cells_of(paths: Sequence[Path]) -> list[tuple[str, Cell]]:
    """The plain chat of each session under each variant, with the session's name."""
    found = []
    for path in paths:
        session = load_session(path)
        chat = load_session(plain_chat(path, session, CHATS))
        place, model = CHATS / chat.name, model_of(session)
        found += [
            (session.name, Cell(place, chat.name, chat.sha256, chat.turn_count, variant, None, model=model))
            for variant in FAMILY
        ]
    return found


def collected(cells: Sequence[tuple[str, Cell]]) -> dict[str, Any]:
    """The value of the results file: for each variant the sums of both halves; GardenerError if a replay
    is missing."""
    rows: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    provenance: Mapping[str, Any] = {}
    for half, cell in cells:
        kept = run.kept(cell)
        if kept is None:
            raise GardenerError(f"{cell.name} was not replayed; run the same command again")
        rows.setdefault(cell.variant, {}).setdefault(half, []).append(figures(kept["row"]))
        provenance = kept["provenance"]
    return {
        "format": FORMAT,
        "kind": "family",
        "provenance": {name: value for name, value in provenance.items() if name not in OF_THE_MODEL},
        "rows": [
            {"variant": variant, **{half: added(halves[half]) for half in (CHOSEN_ON, HELD_OUT)}}
            for variant, halves in rows.items()
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
