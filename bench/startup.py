"""How long `aider-gardener --version` takes beside `aider --version`, the ratio of the medians of alternating
runs in one go; and what `gardener run` and `gardener compress` take for next to nothing.

    python bench/startup.py [--runs N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

COMMANDS = {
    "aider --version": "from aider.main import main; main()",
    "aider-gardener --version": "from aider_gardener.adapters.aider.cli import main; main()",
    "gardener run -- true": "from aider_gardener.cli import main; main()",
    "gardener compress LICENSE": "from aider_gardener.cli import main; main()",
}
ROOT = Path(__file__).resolve().parent.parent


def seconds(name: str) -> float:
    """Wall-clock seconds of one start and end of a command."""
    code = f"import sys; sys.argv = {name.split()!r}; {COMMANDS[name]}"
    began = time.perf_counter()
    nowhere = subprocess.DEVNULL
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=nowhere, stderr=nowhere)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    for name in COMMANDS:
        seconds(name)  # compiles the modules and warms the file cache
    measured: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _run in range(options.runs):
        for name, taken in measured.items():
            taken.append(seconds(name))
    medians = {name: statistics.median(taken) for name, taken in measured.items()}
    ratio = medians["aider-gardener --version"] / medians["aider --version"]
    for name, median in medians.items():
        print(f"{name:25} {median:.3f} s (median of {options.runs})")
    print(f"ratio of the first two    {ratio:.3f}")
    if options.json:
        value = {"runs": options.runs, "median_seconds": medians, "ratio": round(ratio, 4)}
        options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
