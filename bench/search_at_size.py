"""How long a recall takes in an archive of a hundred thousand passages, and how much memory the process.

    python -m bench.search_at_size [--entries N] [--rounds N] [--folder FOLDER] [--json FILE]

The archive is that of bench/micro, each entry one passage with its vector; it is built once in FOLDER
(130 MB and a minute). A process that has read all vectors is asked for the passages nearest in meaning of
them all, for the places of a question's words, and for what a recall over all chats finds.

Vectors are compared with a byte a number: the vectors as the embedder makes them say how many of the ten
nearest are found, and how near those that are found are beside them.
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

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store, search
from aider_gardener.archive.store.words import query_words
from aider_gardener.plan.chat import Chat
from aider_gardener.reading.output import without_codes
from aider_gardener.recall.backlog import Backlog
from aider_gardener.recall.recall import recall
from aider_gardener.recall.request import Request
from bench.micro.archives import WordVectors, archive_of, question
from bench.micro_results import times_of
from bench.provenance import made_on

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

RESULTS = Path(__file__).resolve().parent / "results" / "search-at-size.json"
FORMAT = 1
ENTRIES, ROUNDS, PASSES = 100_000, 60, 2
NEAREST, CHECKED, COMPARED = 10, 20, 100
"""Recall@10 is taken of so many of the questions."""
SLICE_ROWS = 20_000


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--entries", type=int, default=ENTRIES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--folder", type=Path, default=Path("build/bench"), help="where the archive is kept")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the figures go")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    folder = archive_of(options.entries, options.folder)
    if options.measure:
        print(json.dumps(measured(folder, options.entries, options.rounds)))
        return 0
    found = in_a_process(options)
    best, nearest = exact(folder, asked(options.entries, options.rounds)[:CHECKED], found.pop("nearest"))
    results = {
        "format": FORMAT,
        "kind": "at-size",
        "provenance": made_on(),
        "entries": options.entries,
        "bytes": sum(path.stat().st_size for path in folder.glob("gardener.db*")),
        "unit": "ms",
        **found,
        "recall_at_10": recall_at_10(nearest, best),
        "nearness": round(sum(map(sum, nearest)) / sum(map(sum, best)), 3),
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(results, indent=1))
    return 0


def in_a_process(options: argparse.Namespace) -> dict[str, Any]:
    """The figures of a process that does nothing else."""
    command = [sys.executable, "-m", "bench.search_at_size", "--measure", "--entries", str(options.entries)]
    command += ["--rounds", str(options.rounds), "--folder", str(options.folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measured(folder: Path, entries: int, rounds: int) -> dict[str, Any]:
    """Times in milliseconds, the first search of each kind apart, and the most memory the process took."""
    import numpy as np

    questions = asked(entries, rounds)
    vectors = WordVectors().embed(questions)
    store = open_store(folder)
    archive = Archive.reading(store)
    archive.backlog = Backlog(store, load=lambda: (WordVectors(), ""), background=False)
    archive.backlog.drain(0)
    before = peak_megabytes()
    began = time.process_time()
    store.warm_vectors(WordVectors.name)
    reading = time.process_time() - began
    chunks = np.array(store.database.read(numbers_of_chunks), dtype=np.int64)
    nearest: list[list[int]] = []

    def by_meaning(at: int) -> None:
        found = store.similarities(vectors[at], embedder=WordVectors.name, chunks=chunks)
        best = np.argpartition(-found, min(COMPARED, len(found) - 1))[:COMPARED]
        best = best[np.argsort(-found[best], kind="stable")]
        if at < CHECKED and len(nearest) == at:
            nearest.append(chunks[best[:NEAREST]].tolist())

    def by_words(at: int) -> None:
        store.evidence(query_words(questions[at]))

    def recalled(at: int) -> None:
        recall(archive, Chat(), Request(questions[at]), count=archive.count)

    kinds: dict[str, Callable[[int], None]] = {"meaning": by_meaning, "words": by_words, "recall": recalled}
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


def numbers_of_chunks(db: apsw.Connection) -> list[int]:
    return [row[0] for row in db.execute("SELECT number FROM chunks ORDER BY number")]


def exact(
    folder: Path, questions: Sequence[str], found: Sequence[Sequence[int]]
) -> tuple[list[list[float]], list[list[float]]]:
    """The similarity of the nearest of all passages to each question, and of those that were found, by
    embedding every one."""
    import numpy as np

    wanted = WordVectors().embed(questions)
    best = np.full((len(questions), NEAREST), -1.0, dtype=np.float32)
    own = [dict.fromkeys(each, 0.0) for each in found]
    for numbers, rows in slices(folder):
        similarity = wanted @ rows.T
        best = -np.sort(-np.concatenate([best, similarity], axis=1), axis=1)[:, :NEAREST]
        places = {number: at for at, number in enumerate(numbers)}
        for asked_at, each in enumerate(own):
            each.update({n: float(similarity[asked_at, places[n]]) for n in each if n in places})
    nearest: list[list[float]] = best.tolist()
    return nearest, [list(each.values()) for each in own]


def slices(folder: Path) -> Iterator[tuple[list[int], Floats]]:
    """All passages of an archive, some at a time: the numbers of their chunks and their vectors."""
    store = open_store(folder)
    embedder, last = WordVectors(), 0
    while rows := store.database.read(partial(read_slice, after=last)):
        last = rows[-1][0]
        texts = [without_codes(search.decode(body)[start:end]) for _number, body, start, end in rows]
        yield [row[0] for row in rows], embedder.embed(texts)
    store.close()


def read_slice(db: apsw.Connection, after: int) -> list[Any]:
    """The numbers, bodies and spans of the chunks behind a number."""
    sql = """SELECT c.number, b.body, c.start, c."end" FROM chunks c JOIN bodies b ON b.original = c.original
             WHERE c.number > ? ORDER BY c.number LIMIT ?"""
    return db.execute(sql, (after, SLICE_ROWS)).fetchall()


def recall_at_10(found: Sequence[Sequence[float]], best: Sequence[Sequence[float]]) -> float:
    """The share of the ten nearest that were found; of equally near ones any counts."""
    hit = wanted = 0
    for near, true in zip(found, best, strict=True):
        least = min(true) - 1e-6
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


if __name__ == "__main__":
    sys.exit(main())
