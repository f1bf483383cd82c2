"""The layout of prompts over a map of 5,000 files, beside 500: milliseconds a prompt, and files as they are.

    python -m bench.attacks.maps [--files N] [--beside N] [--prompts N] [--json FILE]

The files of a map stand on the disk, twenty of them in the chat. Before each prompt some of both are edited,
added and removed, and the map ranks its files anew and shows other lines of them. `growth` is the time over
that of the small map, in units of the growth of the map: above 1 it grows faster. `wrong` counts files that a
reader of the prompt would not read as they are.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from aider_gardener.plan.layout import File, Layout
from aider_gardener.plan.repo_map import MapNow, Mentions
from bench.attacks.results import keep, parser_of

IN_CHAT, CHANGED = 20, 30


def text_of(name: str, edit: int) -> str:
    return "".join(
        f"def {name}_{n}(order):\n    return order * {n + edit * (n == 7)}\n\n\n" for n in range(12)
    )


def run(count: int, prompts: int, seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        edits = {f"pkg{n % 50}/file{n}.py": 0 for n in range(count)}
        for name in edits:
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text_of(Path(name).stem, 0))

        def stamp(name: str) -> object:
            try:
                found = (root / name).stat()
            except OSError:
                return None
            return found.st_mtime_ns, found.st_size

        layout, seconds, wrong, fresh = Layout(), [], 0, count
        for prompt in range(prompts):
            names = list(edits)
            for name in chance.sample(names, CHANGED):
                edits[name] += 1
                (root / name).write_text(text_of(Path(name).stem, edits[name]))
            for name in chance.sample(names[IN_CHAT:], 2):
                (root / name).unlink()
                del edits[name]
            for _ in range(2):
                edits[f"pkg0/file{fresh}.py"] = 0
                (root / f"pkg0/file{fresh}.py").write_text(text_of(f"file{fresh}", 0))
                fresh += 1
            chat = [File(name, (root / name).read_text()) for name in list(edits)[:IN_CHAT]]
            ranked = chance.sample(list(edits)[IN_CHAT:], len(edits) - IN_CHAT)
            lines = (f"{name}:\n│def {Path(name).stem}_{chance.randrange(3)}(order):\n⋮" for name in ranked)
            now = MapNow("The map:\n", "\n".join(lines), stamp, lambda: Mentions(words=frozenset({"order"})))
            began = time.process_time()
            layout = layout.next(chat, now, list(range(prompt)))
            wrong += len(layout.wrong(chat))
            seconds.append(time.process_time() - began)
    return {
        "ms": round(1000 * statistics.median(seconds), 1),
        "worst_ms": round(1000 * max(seconds), 1),
        "wrong": wrong,
    }


def main() -> None:
    options = parser_of(__doc__, files=5_000, beside=500, prompts=40).parse_args()
    runs = {str(count): run(count, options.prompts, 1) for count in (options.beside, options.files)}
    small, large = runs.values()
    growth = round(large["ms"] / small["ms"] / (options.files / options.beside), 2)
    keep("maps", {"growth": growth, "runs": runs}, options.json)


if __name__ == "__main__":
    main()
