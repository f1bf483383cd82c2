"""What everyday work costs over many entries, beside 10,000, and over large ones: seconds and memory.

    python -m bench.attacks.sizes [--entries N] [--beside N] [--megabytes N] [--folder FOLDER] [--json FILE]

Archives of indexed entries of 400 characters, 200 to a session, and one of texts of 1 MB each that do not
compress, their middle not indexed yet, as after a day of long outputs. A chat opens each, takes three turns,
recalls, shows what it holds, forgets an entry and a session, is checked, lets all go that retention does (all
of the older sessions), and ends, in one process. `growth` is the time over that of the small archive, in
units of the growth of the archive: above 1 it grows faster.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from aider_gardener.archive.store import Store, open_store, records
from aider_gardener.archive.store.redact import Redactor
from aider_gardener.messages import ContentClass, Entry, Source, entry_id
from bench.attacks.results import keep, parser_of

A_SESSION, AT_ONCE = 200, 2_000
TEXT_CHARS, LARGE_CHARS = 400, 1_000_000
LEAST_SECONDS = 0.05
"""Below that a time is noise, and its growth none."""
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


def made(directory: Path, count: int, *, is_large: bool = False) -> int:
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
            records.apply(db, records.as_record(entry, Redactor(), [(0, size)], ()))

    store.database.write(step)
    waiting.clear()


def measured(directory: Path) -> dict[str, Any]:
    """Seconds of each step in this process, by the processor, and the most memory that it took after it."""
    from aider_gardener.archive.retention import proposal, prune
    from aider_gardener.archive.store import open_to_read
    from aider_gardener.gardener.files import project_index
    from aider_gardener.gardener.past_chats import project_status
    from bench.attacks.chat import Played

    found: dict[str, Any] = {}

    def step(name: str, work: Callable[[], Any]) -> Any:
        began, clock = time.process_time(), time.perf_counter()
        result = work()
        found[name] = {
            "seconds": round(time.process_time() - began, 3),
            "clock": round(time.perf_counter() - clock, 3),
            "resident_mb": round(psutil.Process().memory_info().rss / 1e6),
        }
        return result

    chat = step("open", lambda: Played(directory, name="now"))
    for number in range(3):
        step(f"turn {number + 1}", chat.turn)
    step("recall", lambda: chat.gardener.recall("cache_key ledger_total of entry 77"))
    step("pressure", chat.gardener.pressure)
    step("sessions", lambda: chat.store.sessions("p"))
    step("status", lambda: (chat.store.stats(), project_status(chat.store, "p")))
    stored = chat.store.session_entries("s0")
    step("forget", lambda: chat.store.forget([stored[7].id]))
    step("forget a session", lambda: chat.store.forget_session("s1"))
    step("gc, shown", lambda: proposal(chat.store))
    step("index", lambda: project_index(chat.store, "p"))
    step("verify", chat.store.verify)
    step("open to read", lambda: open_to_read(directory).close())
    step("gc of all", lambda: prune(chat.store))
    step("end", chat.close)
    return found


def run(count: int, folder: Path | None, *, is_large: bool = False) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=folder) as root:
        directory = Path(root) / "archive"
        began = time.process_time()
        size = made(directory, count, is_large=is_large)
        adding = {"seconds": round(time.process_time() - began, 3)}
        command = [sys.executable, "-m", "bench.attacks.sizes", "--child", str(directory)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        return {"file_mb": round(size / 1e6), "steps": {"adding all": adding, **json.loads(done.stdout)}}


def main() -> None:
    parser = parser_of(__doc__, entries=60_000, beside=10_000, megabytes=500)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measured(options.child)))
        return
    small, many = (run(count, options.folder) for count in (options.beside, options.entries))
    times = options.entries / options.beside
    for name, row in many["steps"].items():
        before = max(LEAST_SECONDS, small["steps"][name]["seconds"])
        row["growth"] = round(max(LEAST_SECONDS, row["seconds"]) / before / times, 2)
    large = run(options.megabytes * 1_000_000 // LARGE_CHARS, options.folder, is_large=True)
    runs = {str(options.beside): small, str(options.entries): many, f"{options.megabytes} MB": large}
    keep("sizes", {"runs": runs}, options.json)


if __name__ == "__main__":
    main()
