"""Whether the default does harm: the gardener beside stock-fixed and stock, session by session.

    python -m bench.dominance [--parallel N] [--list]

Each recorded session is replayed with the limits of the model that its meta line names, then all of them in
one chat, then each as a plain chat. Finished replays are kept with those of `make bench`, and each row of the
results with a hash of what it depends on: nothing is run again as long as that is the same. The rows are
stored in bench/results, as a report: a missed goal does not change
the exit status.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aider_gardener.errors import GardenerError
from aider_gardener.replay.play.report import find_paths
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Session
from bench.goals import CHAIN, GARDENER, PLAIN, RIVAL, SESSION, VARIANTS, figures, halves
from bench.grid import run
from bench.grid.cells import Cell, chained_cells
from bench.grid.rows import written
from bench.plain import model_of, plain_chat

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "recorded_sessions"
RESULTS = Path(__file__).with_name("results") / "dominance.json"
CHATS = ROOT / "build" / "bench" / "plain"
FORMAT = 1

OF_THE_MODEL = ("model", "weak_model", "window_tokens")
"""What rows of one table may differ in; each names its own model."""


@dataclass(frozen=True)
class Compared:
    """What one row of the table compares: the same replay under each of VARIANTS."""

    kind: str
    session: str
    half: str
    cells: tuple[Cell, ...]

    @property
    def keys(self) -> dict[str, str]:
        """Of each variant's replay, what it depends on."""
        return {cell.variant: cell.key for cell in self.cells}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--parallel", type=int, default=os.cpu_count() or 1, help="replays at a time")
    parser.add_argument("--list", action="store_true", help="say what would be run")
    options = parser.parse_args(argv)
    return run.ended("bench.dominance", lambda: work(options))


def work(options: argparse.Namespace) -> int:
    found = list(compared(find_paths([RECORDED]), options.parallel))
    before = committed()
    todo = [
        cell for one in found if known(one, before) is None for cell in one.cells if run.kept(cell) is None
    ]
    print(f"{len(todo)} of {len(found) * len(VARIANTS)} replays to run", file=sys.stderr)
    if options.list:
        print("\n".join(cell.name for cell in todo) or "up to date")
        return 0
    run.run_all(todo, options.parallel)
    value = collected(found, before)
    if value["rows"]:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(written(value), encoding="utf-8")
    print("python tools/benchmark_tables.py puts it into docs/benchmark.md")
    return 0


def halves_of(paths: Sequence[Path]) -> dict[str, str]:
    """The half of each session, by its name."""
    return halves(load_session(path).name for path in paths)


def compared(paths: Sequence[Path], parallel: int) -> Iterator[Compared]:
    """Everything that is compared; makes the plain chats first."""
    sessions, half = [(path, load_session(path)) for path in paths], halves_of(paths)
    with ThreadPoolExecutor(max(1, parallel)) as pool:
        chats = list(pool.map(lambda one: cells_of_chat(*one), sessions))
    for path, session in sessions:
        yield Compared(SESSION, session.name, half[session.name], cells_of(path, session))
    chain = chained_cells(sessions, VARIANTS)
    if chain:
        ordered = sorted(chain, key=lambda cell: VARIANTS.index(cell.variant))
        yield Compared(CHAIN, f"{len(sessions)} sessions", "", tuple(ordered))
    for (_, session), cells in zip(sessions, chats, strict=True):
        yield Compared(PLAIN, session.name, half[session.name], cells)


def cells_of(path: Path, session: Session) -> tuple[Cell, ...]:
    """A cell for each variant, with the limits of the session's own model."""
    model = model_of(session)
    return tuple(
        Cell(path, session.name, session.sha256, session.turn_count, variant, None, model=model)
        for variant in VARIANTS
    )


def cells_of_chat(path: Path, session: Session) -> tuple[Cell, ...]:
    """The cells of a session's plain chat; none, and a word on it, where that cannot be made."""
    try:
        chat = plain_chat(path, session, CHATS)
    except GardenerError as problem:
        print(f"{session.name} as a plain chat: {problem}", file=sys.stderr)
        return ()
    return cells_of(chat, load_session(chat))


def committed() -> Mapping[str, Any]:
    """The results file as it is; without rows where there is none."""
    return run.read(RESULTS) or {"rows": (), "provenance": {}}


def known(one: Compared, before: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The row of a comparison in former results, if it is still what its replays would give."""
    of = (one.kind, one.session)
    rows = (row for row in before["rows"] if (row["kind"], row["session"]) == of and one.cells)
    return next((row for row in rows if row.get("keys") == one.keys), None)


def collected(found: Sequence[Compared], before: Mapping[str, Any]) -> dict[str, Any]:
    """The value of the results file: a row for each comparison all of whose replays are there."""
    rows, missing = [], []
    common: dict[str, Any] = {}
    for one in found:
        former = known(one, before)
        if former is not None:
            rows.append(former)
            continue
        kept = {cell.variant: run.kept(cell) for cell in one.cells}
        there = {variant: value for variant, value in kept.items() if value is not None}
        name = f"{one.session} as a {one.kind} chat" if one.kind == PLAIN else one.session
        if len(there) < len(VARIANTS):
            missing.append(name)
            continue
        rows.append({
            "kind": one.kind, "session": one.session, "half": one.half, "model": one.cells[0].model,
            "turns": one.cells[0].turns, "keys": one.keys,
            "notes": [
                f"{name}, {RIVAL}: {said}" for said in there[RIVAL]["notices"] if "summary answer" in said
            ],
            "variants": {variant: figures(there[variant]["row"]) for variant in VARIANTS},
        })  # fmt: skip
        common = common or {
            name: value for name, value in there[GARDENER]["provenance"].items() if name not in OF_THE_MODEL
        }
    return {
        "format": FORMAT,
        "kind": "dominance",
        "provenance": common or before["provenance"],
        "missing": missing,
        "rows": rows,
    }


if __name__ == "__main__":
    sys.exit(main())
