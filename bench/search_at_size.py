"""How long a search takes in an archive of a million passages, and how much memory the process.

    python -m bench.search_at_size [--entries N] [--rounds N] [--folder FOLDER] [--json FILE]

The archive is that of bench/micro, each entry one passage with its vector; it is built once in FOLDER
(1.5 GB and some seven minutes for a million). Each way to search it has a process of its own: one that has
read no vectors and answers from the file, and one that has read them all. Each is asked the same questions
for the passages nearest in meaning, those that share words, and both, as a recall asks for them.

Exact search among all vectors says how many of the ten nearest are found, and how near those that are found
are beside them. The vectors here are made of word counts, and all passages share most words: thousands are
about as near as the nearest, which is hard on a search by one bit a number. Those of a model lie in clusters.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from aider_gardener.archive.store import open_store
from aider_gardener.archive.store.sqlite import SqliteStore
from aider_gardener.recall.candidates import TEXT_CANDIDATES, VECTOR_CANDIDATES
from bench.micro.archives import WordVectors, archive_of, question
from bench.micro_results import times_of
from bench.provenance import made_on

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

RESULTS = Path(__file__).resolve().parent / "results" / "search-at-size.json"
FORMAT = 1
ENTRIES, ROUNDS, PASSES = 1_000_000, 60, 2
WAYS = ("from the file", "in memory")
NEAREST, CHECKED = 10, 20
"""Recall@10 is taken of so many of the questions."""
SLICE_ROWS = 20_000
PROJECT = "bench"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--entries", type=int, default=ENTRIES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--folder", type=Path, default=Path("build/bench"), help="where the archive is kept")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the figures go")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    folder = archive_of(options.entries, options.folder)
    if options.way:
        print(json.dumps(measured(folder, options.entries, options.rounds, options.way)))
        return 0
    found = {way: in_a_process(way, options) for way in WAYS}
    best = exact(folder, asked(options.entries, options.rounds)[:CHECKED])
    for figures in found.values():
        nearest = figures.pop("nearest")
        figures["recall_at_10"] = recall_at_10(nearest, best)
        figures["nearness"] = round(sum(map(sum, nearest)) / sum(map(sum, best)), 3)
    results = {
        "format": FORMAT,
        "kind": "at-size",
        "provenance": made_on(),
        "entries": options.entries,
        "bytes": sum(path.stat().st_size for path in folder.glob("gardener.db*")),
        "unit": "ms",
        "ways": found,
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print("\n".join(table(results)))
    return 0


def in_a_process(way: str, options: argparse.Namespace) -> dict[str, Any]:
    """The figures of one way, of a process that does nothing else."""
    command = [sys.executable, "-m", "bench.search_at_size", "--way", way, "--entries", str(options.entries)]
    command += ["--rounds", str(options.rounds), "--folder", str(options.folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measured(folder: Path, entries: int, rounds: int, way: str) -> dict[str, Any]:
    """Times in milliseconds, the first search of each kind apart, and the most memory the process took."""
    questions = asked(entries, rounds)
    vectors = WordVectors().embed(questions)
    store = open_store(folder)
    before = peak_megabytes()
    began = time.process_time()
    if way == "in memory":
        store.warm_vectors(WordVectors.name)
    reading = time.process_time() - began
    nearest: list[list[float]] = []

    def by_meaning(at: int) -> None:
        hits = store.search_vectors(
            vectors[at], embedder=WordVectors.name, limit=VECTOR_CANDIDATES, project=PROJECT
        )
        if at < CHECKED and len(nearest) == at:
            nearest.append([hit.similarity for hit in hits[:NEAREST]])

    def by_words(at: int) -> None:
        store.search_text(questions[at], limit=TEXT_CANDIDATES, project=PROJECT)

    def by_both(at: int) -> None:
        by_meaning(at)
        by_words(at)

    kinds: dict[str, Callable[[int], None]] = {"meaning": by_meaning, "words": by_words, "both": by_both}
    times = {kind: of_rounds(search, rounds) for kind, search in kinds.items()}
    store.close()
    return {
        "times": times,
        "reading_seconds": round(reading, 2),
        "megabytes_before": before,
        "megabytes": peak_megabytes(),
        "nearest": nearest,
    }


def of_rounds(search: Callable[[int], None], rounds: int) -> dict[str, Any]:
    """The first search, and least, median and 95th percentile of all: processor time, and by the clock.

    All questions are asked again after the last, and the shorter time of each counts: other work on the
    machine adds to a time and never takes from it.
    """
    taken: list[list[tuple[float, float]]] = [[] for _round in range(rounds)]
    for _pass in range(PASSES):
        for at in range(rounds):
            processor, clock = time.process_time(), time.perf_counter()
            search(at)
            taken[at].append((time.process_time() - processor, time.perf_counter() - clock))
    return {
        "first": round(1000 * taken[0][0][0], 3),
        **times_of([min(each[0] for each in times) for times in taken]),
        "clock": times_of([min(each[1] for each in times) for times in taken]),
    }


def asked(entries: int, rounds: int) -> list[str]:
    rng = random.Random(5)
    return [question(rng, entries) for _round in range(rounds)]


def exact(folder: Path, questions: Sequence[str]) -> list[list[float]]:
    """The similarity of the nearest of all vectors to each question, by reading every one."""
    import numpy as np

    wanted = WordVectors().embed(questions)
    best = np.full((len(questions), NEAREST), -1.0, dtype=np.float32)
    for rows in slices(folder):
        found = np.concatenate([best, wanted @ rows.T], axis=1)
        best = -np.sort(-found, axis=1)[:, :NEAREST]
    nearest: list[list[float]] = best.tolist()
    return nearest


def slices(folder: Path) -> Iterator[Floats]:
    """All vectors of an archive, some at a time."""
    import numpy as np

    store = open_store(folder)
    assert isinstance(store, SqliteStore)
    last = 0
    while rows := store._db.read(partial(read_slice, after=last)):
        last = rows[-1][0]
        yield np.frombuffer(b"".join(row[1] for row in rows), dtype="<f2").reshape(len(rows), -1).astype("f4")
    store.close()


def read_slice(db: apsw.Connection, after: int) -> list[Any]:
    """The numbers and vectors behind a number."""
    sql = "SELECT number, vector FROM vectors WHERE number > ? ORDER BY number LIMIT ?"
    return db.execute(sql, (after, SLICE_ROWS)).fetchall()


def recall_at_10(found: Sequence[Sequence[float]], best: Sequence[Sequence[float]]) -> float:
    """The share of the ten nearest that were found; of equally near ones any counts."""
    hit = wanted = 0
    for near, true in zip(found, best, strict=True):
        least = min(true) - 2e-5  # what is found is rounded
        hit += sum(similarity >= least for similarity in near)
        wanted += len(true)
    return round(hit / wanted, 3)


def peak_megabytes() -> int:
    """The most memory that this process has taken, in MB."""
    if sys.platform == "win32":
        import psutil

        return round(psutil.Process().memory_info().peak_wset / 1e6)
    status = Path("/proc/self/status")
    if status.is_file():  # getrusage would count what the process was before it ran this program too
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return round(int(line.split()[1]) * 1_024 / 1e6)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak * (1 if sys.platform == "darwin" else 1_024) / 1e6)


def table(results: dict[str, Any]) -> Iterator[str]:
    """The lines to print."""
    yield f"{results['entries']:,} passages, {results['bytes'] / 1e9:.1f} GB; processor time in ms"
    yield f"{'':24}{'first':>8}{'median':>8}{'p95':>8}{'p95, clock':>12}"
    for way, figures in results["ways"].items():
        for kind, of in figures["times"].items():
            row = f"{of['first']:8.0f}{of['median']:8.0f}{of['p95']:8.0f}{of['clock']['p95']:12.0f}"
            yield f"{way + ', ' + kind:24}{row}"
        memory = f"{figures['megabytes_before']} MB before, {figures['megabytes']} MB at most"
        found = f"{figures['recall_at_10']:.0%} of the ten nearest, {figures['nearness']:.0%} as near"
        yield f"{way}: {memory}; {found}; read in {figures['reading_seconds']} s"


if __name__ == "__main__":
    sys.exit(main())
