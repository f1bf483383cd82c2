"""What each compressor handles of the recorded sessions' histories, and what it saves.

    python -m bench.handled [--json FILE]

The figures are those of `gardener compress --evaluate-sessions`, session by session.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aider_gardener.replay.measure.ablation import ablate
from aider_gardener.replay.session.history import load_session
from aider_gardener.tokens import default_counter
from bench.provenance import made_on

SESSIONS = Path(__file__).resolve().parents[1] / "recorded_sessions"
RESULTS = Path(__file__).with_name("results") / "handled.json"
FORMAT = 1


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the results go")
    options = parser.parse_args(argv)
    count = default_counter()
    folders = sorted(path.parent for path in SESSIONS.glob("*/session.jsonl"))
    value = {
        "format": FORMAT,
        "kind": "handled",
        "provenance": {**made_on(), "tokenizer": "cl100k_base"},
        "sessions": {folder.name: ablate([load_session(folder)], count).record() for folder in folders},
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    print(f"written to {options.json.name}")
    return 0


def totals(sessions: Mapping[str, Mapping[str, Any]]) -> dict[str, list[int]]:
    """Tokens before and after by compressor over all sessions, the largest first."""
    found: dict[str, list[int]] = {}
    for session in sessions.values():
        for name, row in session["compressors"].items():
            held = found.setdefault(name, [0, 0])
            held[0], held[1] = held[0] + row["tokens"], held[1] + row["compressed_tokens"]
    return dict(sorted(found.items(), key=lambda item: -item[1][0]))


if __name__ == "__main__":
    sys.exit(main())
