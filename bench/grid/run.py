"""Replay every recorded session under every variant and budget, and keep the figures as one small file.

    python -m bench.grid.run [SESSION...] [--variant NAME,...] [--parallel N] [--list]

A finished cell is kept, with a hash of what it depends on: code, settings, session, budget, versions. It is
not run again as long as that is the same, so that an interrupted run goes on where it was. Cells of the full
grid stand in bench/results/grid.json, others under build/bench/cells. Without sessions those under
recorded_sessions are taken. Then the plots and the tables of docs/benchmark.md are made anew.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from aider_gardener.errors import GardenerError
from aider_gardener.replay.play.jobs import replay_job
from aider_gardener.replay.play.report import find_paths
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.history import load_session
from bench.chain import chained
from bench.grid import plots
from bench.grid.asked import Asked, asked_of
from bench.grid.cells import MODEL, Cell, cells, chained_cells, small_window_cells
from bench.grid.rows import RESULTS, collected, provenance, row_of, written
from bench.variants import IMPORTS, VECTORS

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "bench" / "cells"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sessions", nargs="*", type=Path, help="folders of recorded sessions")
    parser.add_argument("--variant", default="", metavar="NAME,...", help="only these, or others by name")
    parser.add_argument("--parallel", type=int, default=os.cpu_count() or 1, help="replays at a time")
    parser.add_argument("--list", action="store_true", help="say what would be run")
    options = parser.parse_args(argv)
    return ended("make bench", lambda: work(options))


def work(options: argparse.Namespace) -> int:
    """Run what was asked for, and keep the results; returns how many cells failed."""
    everything, wanted = chosen(options)
    todo = [cell for cell in wanted if kept(cell) is None]
    done = len(wanted) - len(todo)
    print(f"{len(wanted)} cells, {done} of them done, {len(todo)} to run")
    if options.list:
        print("\n".join(cell.name for cell in todo) or "up to date")
        return 0
    failed = run_all(todo, options.parallel)
    keep_results(everything)
    return failed


def ended(name: str, work: Callable[[], int]) -> int:
    """The exit code of a command whose replays are kept: 1 if any failed, or in a line why it stopped."""
    try:
        return 1 if work() else 0
    except GardenerError as problem:
        print(f"{name}: {problem}", file=sys.stderr)
    except KeyboardInterrupt:
        print("stopped; what was finished is kept, the same command goes on from there", file=sys.stderr)
    return 1


def chosen(options: argparse.Namespace) -> tuple[list[Cell], list[Cell]]:
    """The cells of the full grid over all recorded sessions, and those that were asked for."""
    known = [(path, load_session(path)) for path in find_paths([ROOT / "recorded_sessions"])]
    asked = find_paths(options.sessions) if options.sessions else [path for path, _ in known]
    sessions = [(path, load_session(path)) for path in asked]
    variants = [name for name in options.variant.split(",") if name]
    wanted = list(cells(sessions, only_variants=variants))
    wanted += small_window_cells(sessions, variants) + chained_cells(sessions, variants)
    full = [*cells(known), *small_window_cells(known), *chained_cells(known)]
    return full, wanted


def place(cell: Cell) -> Path:
    """Where a cell's result is kept."""
    safe = cell.variant.replace("=", "-").replace("+", "_")
    if cell.model != MODEL:
        safe += f"@{cell.model.replace('/', '-')}"
    return KEPT / cell.session / f"{safe}@{cell.budget or 'default'}.json"


def kept(cell: Cell) -> Mapping[str, Any] | None:
    """The result of a cell if it is still what a run would give."""
    for value in (read(place(cell)), committed().get(cell.name)):
        if value is not None and value.get("key") == cell.key:
            return value
    return None


def read(path: Path) -> Mapping[str, Any] | None:
    try:
        value: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return value


def committed() -> Mapping[str, Mapping[str, Any]]:
    """The cells of the results file by name, each as it is kept."""
    try:
        return cells_in(RESULTS, RESULTS.stat().st_mtime_ns)
    except OSError:
        return {}


@lru_cache(maxsize=1)
def cells_in(path: Path, _changed_at: int) -> Mapping[str, Mapping[str, Any]]:
    value = read(path) or {}
    return {one["name"]: {**one, "provenance": value["provenance"]} for one in value.get("cells", ())}


def run_all(todo: Sequence[Cell], parallel: int) -> int:
    """Run the cells, a progress bar on standard error; returns how many failed, each named in a line."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("turns"),
        TimeRemainingColumn(),
    )  # fmt: skip
    console, failed = Console(stderr=True), 0
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("replaying", total=sum(cell.turns for cell in todo))
        pool = ThreadPoolExecutor(max(1, parallel))
        try:
            futures = {pool.submit(run_cell, cell, lambda: bar.advance(task)): cell for cell in todo}
            for done, future in enumerate(as_completed(futures), 1):
                cell = futures[future]
                problem = future.exception()
                if problem is not None and not isinstance(problem, GardenerError):
                    raise problem
                failed += problem is not None
                said = f"failed: {problem}" if problem else f"{future.result():.0f} s"
                console.print(f"{done} of {len(todo)}: {cell.name}, {said}", highlight=False)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    return failed


def run_cell(cell: Cell, advance: Any) -> float:
    """Replay one cell and keep its row at once; returns the seconds it took."""
    key, began = cell.key, time.perf_counter()
    first, *rest = (load_session(path) for path in (cell.path, *cell.then))
    session = chained([first, *rest])
    asked = Asked(session.probes) if rest else asked_of(cell.path, first)
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault(VECTORS, str(KEPT.parent / "vectors.sqlite"))
    job = Job(
        replace(session, probes=asked.probes),
        cell.variant,
        model=cell.model,
        history_tokens=cell.budget,
        imports=(*IMPORTS, "bench.chain"),
    )
    result = replay_job(job, advance)
    seconds = time.perf_counter() - began
    value = {
        "name": cell.name,
        "key": key,
        "seconds": round(seconds, 1),
        "provenance": provenance([result]),
        "notices": list(result.notices),
        "row": row_of(cell, result, asked),
    }
    path = place(cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    part.replace(path)
    return seconds


def keep_results(everything: Sequence[Cell]) -> None:
    """Write the results file of all finished cells, and the plots."""
    found = [(cell.name, kept(cell)) for cell in everything]
    there = {name: value for name, value in found if value}
    if not there:
        print("no cell of the full grid is finished: the results file stays as it is")
        return
    missing = [name for name, value in found if not value]
    load = os.getloadavg()[2] if hasattr(os, "getloadavg") else 0.0
    value = collected(there, missing, load)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(written(value), encoding="utf-8")
    plots.write([one["row"] for one in there.values()], ROOT / "docs" / "images")
    print(f"{len(there)} cells in {RESULTS.name}, {len(missing)} of the full grid missing")


if __name__ == "__main__":
    sys.exit(main())
