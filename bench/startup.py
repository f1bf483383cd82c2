"""How long `aider-gardener --version` takes beside `aider --version`: the ratio of the medians of
alternating runs in one go.

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
    "aider": "from aider.main import main; main()",
    "aider-gardener": "from aider_gardener.adapters.aider.cli import main; main()",
}


def seconds(name: str) -> float:
    """Wall-clock seconds of one start and end of a command."""
    code = f"import sys; sys.argv = [{name!r}, '--version']; {COMMANDS[name]}"
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
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
    ratio = medians["aider-gardener"] / medians["aider"]
    for name, median in medians.items():
        print(f"{name:16} {median:.3f} s (median of {options.runs})")
    print(f"ratio            {ratio:.3f}")
    if options.json:
        value = {"runs": options.runs, "median_seconds": medians, "ratio": round(ratio, 4)}
        options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
