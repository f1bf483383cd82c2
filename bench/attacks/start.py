"""How long a chat takes to begin over a large archive, and what its first turns cost.

    python -m bench.attacks.start [--entries N] [--gigabytes N] [--folder FOLDER] [--json FILE]

Two archives are made: one of 100,000 indexed entries of 400 characters in 500 sessions, one of 2 GB of texts
that do not compress (1 MB each, their middle not indexed yet, as after a day of long outputs). Then a process
of its own opens it, plays three turns and closes.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from aider_gardener.archive.store import Store, open_store, records
from aider_gardener.archive.store.redact import Redactor
from aider_gardener.messages import ContentClass, Entry, Source, entry_id
from bench.provenance import made_on

RESULTS = Path(__file__).resolve().parent.parent / "results" / "attacks" / "start.json"
A_SESSION, AT_ONCE = 200, 2_000
TEXT_CHARS, LARGE_CHARS = 400, 1_000_000
WORDS = [f"{stem}{ending}" for stem in ("cache", "ledger", "order", "price", "queue", "retry") for ending in
         ("", "_key", "_id", "Error", "s", "_map", ".py", "_total")]  # fmt: skip


def small(number: int) -> str:
    chance = random.Random(number)
    words = [
        chance.choice(WORDS) if chance.random() < 0.7 else f"n{chance.randrange(10**6)}" for _ in range(55)
    ]
    return f"entry {number}: {' '.join(words)}"[:TEXT_CHARS]


def large(number: int) -> str:
    return f"output {number}\n" + random.Random(number).randbytes(LARGE_CHARS * 2 // 3).decode("latin-1")


def entries(count: int, *, is_large: bool) -> Iterator[Entry]:
    for number in range(count):
        text, session = (large if is_large else small)(number), f"s{number // A_SESSION}"
        yield Entry(
            entry_id("user", text), session, number % A_SESSION, number % A_SESSION, "user", text, Source(),
            ContentClass.LOG, (), len(text) // 4, created_at=1.7e9 + number,
        )  # fmt: skip


def made(directory: Path, count: int, *, is_large: bool) -> int:
    """Fill an archive, many entries to a transaction; returns its bytes."""
    store = open_store(directory)
    for session in range(count // A_SESSION + 1):
        store.open_session(f"s{session}", project="p", started_at=1.7e9 + session)
    waiting: list[Entry] = []
    for entry in entries(count, is_large=is_large):
        waiting.append(entry)
        if len(waiting) >= (AT_ONCE if not is_large else 50):
            write(store, waiting, is_large=is_large)
    write(store, waiting, is_large=is_large)
    store.close()
    return sum(path.stat().st_size for path in directory.iterdir())


def write(store: Store, waiting: list[Entry], *, is_large: bool) -> None:
    def step(db: Any) -> None:
        for entry in waiting:
            size = 200 if is_large else len(entry.content)
            records.apply(db, records.said(entry, Redactor(), [(0, size)], ()))

    store.database.write(step)
    waiting.clear()


def measured(directory: Path) -> dict[str, float]:
    """Open the archive in this process and play three turns."""
    from bench.attacks.chat import Played

    process = psutil.Process()
    before = process.memory_info().rss
    began = time.perf_counter()
    chat = Played(directory, name="now")
    opened = time.perf_counter()
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        chat.turn()
        seconds.append(time.perf_counter() - start)
    start = time.perf_counter()
    chat.close()
    return {
        "open_ms": round(1000 * (opened - began), 1),
        **{f"turn_{at + 1}_ms": round(1000 * value, 1) for at, value in enumerate(seconds)},
        "close_ms": round(1000 * (time.perf_counter() - start), 1),
        "grown_mb": round((process.memory_info().rss - before) / 1e6, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measured(options.child)))
        return
    runs: dict[str, Any] = {}
    texts = int(options.gigabytes * 1e9 / LARGE_CHARS)
    wanted = (
        (f"{options.entries} entries", options.entries, False),
        (f"{options.gigabytes:g} GB", texts, True),
    )
    for name, count, is_large in ((("an empty archive", 0, False)), *wanted):
        with tempfile.TemporaryDirectory(dir=options.folder) as root:
            directory = Path(root) / "archive"
            size = made(directory, count, is_large=is_large)
            command = [sys.executable, "-m", "bench.attacks.start", "--child", str(directory)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            runs[name] = {"file_mb": round(size / 1e6, 1), **json.loads(done.stdout)}
        print(name, runs[name], flush=True)
    value = {
        "command": f"python -m bench.attacks.start --entries {options.entries}"
        f" --gigabytes {options.gigabytes:g}",
        "made_on": made_on(),
        "runs": runs,
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
