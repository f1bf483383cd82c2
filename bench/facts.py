"""The outputs with facts that lie in the tests, compressed: what is kept, by halves.

    python -m bench.facts [FOLDER ...] [--each] [--parts] [--json FILE]

Constants are chosen on half a of the outputs, told by their names alone; half b is reported apart. `--parts`
measures besides what each engine brings: facts kept with it less facts kept without. What the figures mean
and which folders can be given: bench/evaluate.py.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path
from typing import Any

from aider_gardener.compress import shapes
from aider_gardener.compress.message import compress_message
from aider_gardener.errors import SessionError
from aider_gardener.messages import TokenCounter
from aider_gardener.tokens import default_counter
from bench.evaluate import Output, evaluated, outputs_in, sums
from bench.provenance import made_on

ROOT = Path(__file__).resolve().parent.parent
FOLDER, SESSIONS = ROOT / "tests" / "data" / "facts", ROOT / "recorded_sessions"
RESULTS = Path(__file__).resolve().parent / "results" / "facts.json"


def half(output: Output) -> str:
    """ "a" or "b"."""
    return "ab"[int(sha1(output.name.encode()).hexdigest(), 16) % 2]


def brought(folders: Sequence[Path], count: TokenCounter) -> dict[str, int]:
    """By engine how many facts more are kept with it than without."""
    outputs = [output for folder in folders for output in outputs_in(folder) if output.facts]

    def kept() -> int:
        forms = (compress_message(one.text, one.source, count=count).text for one in outputs)
        return sum(len(one.facts) - len(one.lost(form)) for one, form in zip(outputs, forms, strict=True))

    whole, found = kept(), dict[str, int]()
    for name in list(shapes.ENGINES):
        engine = shapes.ENGINES.pop(name)
        found[name] = whole - kept()
        shapes.ENGINES[name] = engine
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[*sorted(FOLDER.iterdir()), SESSIONS])
    parser.add_argument("--each", action="store_true", help="a line for each output")
    parser.add_argument("--parts", action="store_true", help="what each engine brings, by leaving it out")
    parser.add_argument("--json", type=Path, metavar="FILE", help=f"write the figures here ({RESULTS.name})")
    options = parser.parse_args()
    count = default_counter()
    sets: dict[str, Any] = {}
    for folder in options.folders:
        try:
            found = evaluated(folder, count)
        except (OSError, ValueError, KeyError, SessionError) as problem:
            parser.error(str(problem))
        if options.each:
            print("\n".join(one.line() for one in found))
        halves = {name: sums([one for one in found if half(one.output) == name]) for name in "ab"}
        sets[folder.name] = {**sums(found), **{f"half {name}": figures for name, figures in halves.items()}}
        print(folder.name, json.dumps(sums(found)))
    parts = brought(options.folders, count) if options.parts else {}
    for name, facts in parts.items():
        print(f"{facts:+5} {name}")
    if options.json:
        value = {"kind": "facts", "format": 1, "provenance": made_on(), "sets": sets, "parts": parts}
        options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
