"""What the gardener takes on a machine beside aider: megabytes and processor seconds of one-message chats.

    python -m bench.footprint [--runs N]

A real `aider-gardener --message` is run with a model on loopback: without the gardener, with it, and with it
once the model of meanings is wanted (a history that may hardly grow). Of several runs the least counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.model_server import ModelServer, keep_prices

RUNS = 3
REPLY = "The client waits 4.5 s after the third attempt, then it gives up. " * 40
WAYS = {
    "aider alone": ["--no-gardener"],
    "gardener, a short chat": [],
    "gardener, meaning wanted": ["--gardener-history-tokens", "400"],
}
PROGRAM = (
    "import atexit, resource, sys, time\n"
    "from aider_gardener.adapters.aider.cli import main\n"
    "def end():\n"
    "    time.sleep({wait})\n"
    "    used = resource.getrusage(resource.RUSAGE_SELF)\n"
    "    print('USED', used.ru_maxrss, used.ru_utime + used.ru_stime)\n"
    "atexit.register(end)\n"
    "sys.exit(main())\n"
)
WAIT_SECONDS = 4
"""What is loaded in the background has so long at the end."""


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Memory and processor time of the gardener beside aider.")
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N")
    runs = parser.parse_args(argv).runs
    rows = {way: [used(flags) for _ in range(runs)] for way, flags in WAYS.items()}
    least = {
        way: (min(mb for mb, _ in found), min(seconds for _, seconds in found)) for way, found in rows.items()
    }
    base = least["aider alone"]
    print("| chat of one message | MB | more | processor s | more |\n|---|---:|---:|---:|---:|")
    for way, (mb, seconds) in least.items():
        print(f"| {way} | {mb:.0f} | {mb - base[0]:.0f} | {seconds:.1f} | {seconds - base[1]:.1f} |")
    return 0


def used(flags: list[str]) -> tuple[float, float]:
    """Megabytes at most and processor seconds of one chat of one message."""
    with tempfile.TemporaryDirectory() as folder, ModelServer([REPLY]) as server:
        home = Path(folder) / "home"
        keep_prices(home)
        project = Path(folder) / "project"
        project.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=project, check=True)
        environ = {**os.environ, "OPENAI_API_BASE": server.url, "OPENAI_API_KEY": "any", "HOME": str(home)}
        environ |= {"XDG_DATA_HOME": str(home), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        quiet = ["--model", "gpt-4o", "--no-check-update", "--no-analytics", "--no-gitignore", "--yes-always"]
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(wait=WAIT_SECONDS), *quiet, *flags, "--message", "how?"],
            cwd=project, env=environ, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    told = next(line.split() for line in run.stdout.splitlines() if line.startswith("USED "))
    unit = 1_048_576 if sys.platform == "darwin" else 1_024
    return float(told[1]) / unit, float(told[2])


if __name__ == "__main__":
    sys.exit(main())
