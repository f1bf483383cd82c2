"""Another SQLite looks at the archive of a chat that runs or was killed: is all there that was archived?

    python -m bench.attacks.peeks [--runs N] [--seed N] [--json FILE]

A browser of databases, a backup or `sqlite3` knows nothing of the check sums of pages: what such a
program moves from the log into the file, which it does on request and where it closes the file last, has
none. In each run a chat as in bench.attacks.kills is looked at some times while it goes on, every second time
with a request to move the log, is killed, and is looked at once more. `lost` counts messages that were
acknowledged, not forgotten, and are not there; `untold` runs after which the archive is another one and no
line said so.
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from bench.attacks.kills import CONTEXT, looked_at, play
from bench.attacks.results import keep, parser_of

MOST_PEEKS, MOST_SECONDS = 6, 0.4


def main() -> None:
    options = parser_of(__doc__, runs=50, seed=1).parse_args()
    keep("peeks", attack(options.runs, options.seed), options.json)


def attack(runs: int, seed: int) -> dict[str, Any]:
    """So many runs, five to an archive; see above for what they count."""
    counts = {"runs": runs, "peeks": 0, "messages acknowledged": 0, "lost": 0, "untold": 0}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        for number in range(runs):
            peeks, acknowledged, lost, untold = one_run(Path(root) / str(number // 5), number, seed)
            counts["peeks"] += peeks
            counts["messages acknowledged"] += acknowledged
            counts["lost"] += lost
            counts["untold"] += untold
    return counts


def one_run(directory: Path, number: int, seed: int) -> tuple[int, int, int, bool]:
    """Play a chat in a child, look at its archive, kill it and look again; the times it was looked at, the
    messages acknowledged and lost, and whether the archive is another one without a word."""
    chance = random.Random(f"{seed} {number}")
    pipe, other = CONTEXT.Pipe(duplex=False)
    child = CONTEXT.Process(target=play, args=(other, directory, f"k{number}", number, ""), daemon=True)
    child.start()
    other.close()
    told: list[tuple[str, ...]] = [pipe.recv()]
    peeks = chance.randrange(1, MOST_PEEKS)
    for _ in range(peeks):
        end = time.monotonic() + chance.random() * MOST_SECONDS
        while pipe.poll(max(0.0, end - time.monotonic())):
            told.append(pipe.recv())
        peek(directory, move=chance.random() < 0.5)
    child.kill()
    with suppress(EOFError, OSError):
        while True:
            told.append(pipe.recv())
    child.join(60)
    peek(directory, move=False)
    before = set(directory.glob("*.damaged-*"))
    found = looked_at(directory, f"k{number}", told)
    is_another = set(directory.glob("*.damaged-*")) != before
    is_told = any("was damaged" in fault for fault in found.faults)
    return peeks + 1, found.acknowledged, len(found.lost), is_another and not is_told


def peek(directory: Path, *, move: bool) -> None:
    """What a program does in which somebody looks at an archive."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(directory / "gardener.db", timeout=1)) as db:
        db.execute("SELECT count(*) FROM originals").fetchall()
        if move:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


if __name__ == "__main__":
    main()
