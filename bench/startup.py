"""How long `aider-gardener --version` takes beside `aider --version`, the ratio of the medians of alternating
runs in one go; what `gardener run` and `gardener compress` take for next to nothing; and what one look into
an archive takes, whose newest thousand passages have vectors, so that the encoder is loaded.

    python -m bench.startup [--runs N] [--entries N ...] [--folder FOLDER] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from aider_gardener.archive.store import open_store
from aider_gardener.recall.backlog import Backlog
from aider_gardener.recall.embed import USE_NAME
from bench.micro.archives import archive_of

CODE = {
    "aider": "from aider.main import main; main()",
    "aider-gardener": "from aider_gardener.adapters.aider.cli import main; main()",
    "gardener": "from aider_gardener.cli import main; main()",
}
COMMANDS = (
    "aider --version", "aider-gardener --version", "gardener run -- true", "gardener compress LICENSE",
    "gardener --help",
)  # fmt: skip
EMBEDDED = 1_000
ROOT = Path(__file__).resolve().parent.parent


def seconds(name: str) -> float:
    """Wall-clock seconds of one start and end of a command."""
    code = f"import sys; sys.argv = {name.split()!r}; {CODE[name.split()[0]]}"
    began = time.perf_counter()
    nowhere = subprocess.DEVNULL
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=nowhere, stderr=nowhere)
    return time.perf_counter() - began


def looks(entries: Sequence[int], folder: Path) -> Iterator[str]:
    """A look into an archive of each of these sizes, as a command."""
    for size in entries:
        place = archive_of(size, folder)
        store = open_store(place)
        if not store.warm_vectors(USE_NAME):
            Backlog(store, background=False).drain(EMBEDDED)
        store.close()
        yield f"gardener recall why was that limit set to 1000077 --store {place.resolve()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--entries", type=int, nargs="*", default=[1_000, 100_000])
    parser.add_argument("--folder", type=Path, default=Path("build/bench/looks"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    commands = [*COMMANDS, *looks(options.entries, options.folder)]
    for name in commands:
        seconds(name)  # compiles the modules and warms the file cache
    measured: dict[str, list[float]] = {name: [] for name in commands}
    for _run in range(options.runs):
        for name, taken in measured.items():
            taken.append(seconds(name))
    medians = {name: statistics.median(taken) for name, taken in measured.items()}
    ratio = medians["aider-gardener --version"] / medians["aider --version"]
    for name, median in medians.items():
        print(f"{median:.3f} s {name} (median of {options.runs})")
    print(f"{ratio:.3f} ratio of the first two")
    if options.json:
        value = {"runs": options.runs, "median_seconds": medians, "ratio": round(ratio, 4)}
        options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
