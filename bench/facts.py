"""The outputs with facts that lie in the tests, compressed: what is kept, by halves.

    python -m bench.facts [FOLDER ...] [--each] [--bare] [--json FILE]

Constants are chosen on half a of the outputs, told by their names alone; half b is reported apart. `--bare`
hides the commands. What the figures mean: `aider_gardener.cli.evaluate`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from aider_gardener.cli.evaluate import Output, evaluated, sums
from aider_gardener.tokens import default_counter
from bench.provenance import made_on

ROOT = Path(__file__).resolve().parent.parent
FOLDER, SESSIONS = ROOT / "tests" / "data" / "facts", ROOT / "recorded_sessions"
RESULTS = Path(__file__).resolve().parent / "results" / "facts.json"


def half(output: Output) -> str:
    """ "a" or "b"."""
    return "ab"[sum(output.name.encode()) % 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[*sorted(FOLDER.iterdir()), SESSIONS])
    parser.add_argument("--each", action="store_true", help="a line for each output")
    parser.add_argument("--bare", action="store_true", help="without the command, as a paste")
    parser.add_argument("--json", type=Path, metavar="FILE", help=f"write the figures here ({RESULTS.name})")
    options = parser.parse_args()
    count = default_counter()
    sets: dict[str, Any] = {}
    for folder in options.folders:
        found = evaluated(folder, count, bare=options.bare)
        if options.each:
            print("\n".join(one.line() for one in found))
        halves = {name: sums([one for one in found if half(one.output) == name]) for name in "ab"}
        sets[folder.name] = {**sums(found), **{f"half {name}": figures for name, figures in halves.items()}}
        print(folder.name, json.dumps(sums(found)))
    if options.json:
        value = {"kind": "facts", "format": 1, "provenance": made_on(), "sets": sets}
        options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
