"""An archive that was cut off: at each page of its file, its log and its copy, and within each.

    python -m bench.attacks.cuts [--every N] [--json FILE]

The archive is that of bench.attacks.flips, as two ended sessions leave it, or as a third one leaves it that
was killed and whose words stand in the log alone, with the log's index and without it (then what is left is
the archive of a moment before, and nothing can tell). Each cut is of one file, with the copy of the last
session's end beside it and without it; a process of its own then opens, reads, adds to and verifies what is
left, for at most 20 seconds. The outcomes are those of bench.attacks.flips.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from aider_gardener.archive.store import open_store
from aider_gardener.archive.store.location import FILE_NAME
from bench.attacks import flips
from bench.attacks.chat import put
from bench.attacks.results import keep, parser_of

PAGE_BYTES, LOG_HEAD, FRAME_BYTES = 4_096, 32, 24 + 4_096
SAID_LAST = 5


def killed(ids: list[str], folder: Path) -> list[str]:
    """Leave the archive `ended` of a folder in `left` as a chat that is killed does; returns the ids with
    those of its words."""
    store = open_store(Path(shutil.copytree(folder / "ended", folder / "open")))
    found = list(ids)
    for number in range(len(ids), len(ids) + SAID_LAST):
        session, text = flips.SESSIONS[number % 2], flips.text_of(number)
        found.append(put(store, text, session=session, seq=number, at=1.0 + number).id)
    shutil.copytree(folder / "open", folder / "left")
    store.close()
    return found


def cuts(path: Path, every: int) -> Iterator[int]:
    """How many bytes are left: none, each whole number of pages or frames, and half of one more."""
    size = path.stat().st_size
    head, step = (LOG_HEAD, FRAME_BYTES) if path.name.endswith("-wal") else (0, PAGE_BYTES)
    wholes, halves = (range(head + part, size, step * every) for part in (0, step // 2))
    yield from sorted({0, 1, 100, 511, size - 1, *wholes, *halves})


def cut(place: Path, name: str, size: int, *, with_index: bool = True) -> None:
    os.truncate(place / name, size)
    if not with_index:
        (place / f"{FILE_NAME}-shm").unlink()


def rows(folder: Path) -> Iterator[tuple[str, Path, list[str], str, bool, bool]]:
    """What is cut: its name, the archive, its ids, the file; whether copy and index of the log are there."""
    ended, left = folder / "ended", folder / "left"
    ids = flips.fill(ended)
    more = killed(ids, folder)
    for with_copy in (True, False):
        beside = "with its copy" if with_copy else "without a copy"
        yield f"file, {beside}", ended, ids, FILE_NAME, with_copy, True
        yield f"file of a killed chat, {beside}", left, more, FILE_NAME, with_copy, True
        for with_index in (True, False):
            index = "its index" if with_index else "no index"
            yield f"log, {beside}, {index}", left, more, f"{FILE_NAME}-wal", with_copy, with_index
    yield "copy", ended, ids, f"{FILE_NAME}.copy", True, True


def attack(every: int) -> dict[str, Any]:
    """All cuts: of each file how many, and what came of them."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, whole, ids, file, with_copy, with_index in rows(Path(folder)):
            flips.ENTRIES = len(ids)
            counts: Counter[str] = Counter()
            bad: dict[str, list[str]] = {}
            for size in cuts(whole / file, every):
                hurt = partial(cut, name=file, size=size, with_index=with_index)
                outcome = flips.tried(whole, hurt, ids, with_copy=with_copy)
                counts.update(set(outcome) & {"lost", "silent", "raised", "hung", "unmended"} or {"held"})
                if set(outcome) - {"lost"} and with_index:
                    bad[str(size)] = outcome
            found[name] = {"cuts": sum(1 for _ in cuts(whole / file, every)), **counts, "bad": bad}
            print(name, found[name], flush=True)
    return found


def main() -> None:
    options = parser_of(__doc__, every=8).parse_args()
    keep("cuts", {"cut": attack(options.every)}, options.json)


if __name__ == "__main__":
    main()
