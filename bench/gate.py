"""The regression gate: a short session whose figures may not get worse than the committed ones.

    python -m bench.gate            replay and compare, exit 1 when something got worse
    python -m bench.gate --write    replay and keep the figures as bench/results/gate.json

It is the beginning of a recorded session with the probes about it, asked at its end at the latest. The
history budget is small, so that every part of the gardener has to work.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.measure.summary import recall_of
from aider_gardener.replay.play.jobs import replay_all
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.history import load_session
from bench.limit import net_tokens
from bench.provenance import made_on

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).with_name("results") / "gate.json"
FORMAT = 1

BEGINNINGS: Mapping[str, int] = {"greenhouse-watch": 12}
"""Name of a recorded session → how many of its turns are replayed."""

HISTORY_TOKENS = 2_000
AGE_TURNS = 3
"""Probes are about turns at least so long before the end."""

SUPPORTED_TOLERANCE = 2
"""So many probes fewer may be supported in a session: vectors differ a little between processors."""
TOKENS_TOLERANCE = 0.03
"""By this share the net tokens may grow, of which one from the cache is a tenth."""

AGAIN = "run: python -m bench.gate --write"

Figures = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep the figures as the committed ones")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder))
    print(json.dumps(found, indent=1))
    if options.write:
        value = {"format": FORMAT, "kind": "gate", "provenance": made_on(), "sessions": found}
        RESULTS.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
        return 0
    worse = list(regressions(json.loads(RESULTS.read_text(encoding="utf-8"))["sessions"], found))
    print("\n".join(worse) or "nothing got worse")
    return 1 if worse else 0


def measure(folder: Path) -> dict[str, Figures]:
    """Replay the beginning under the gardener; the figures of each session."""
    jobs = []
    for name, turns in BEGINNINGS.items():
        beginning(ROOT / "recorded_sessions" / name, folder / name, turns)
        jobs.append(Job(load_session(folder / name), "gardener", history_tokens=HISTORY_TOKENS))
    return {name: figures(result) for name, result in zip(BEGINNINGS, replay_all(jobs), strict=True)}


def figures(result: ReplayResult) -> Figures:
    return {
        "turns": result.turns,
        **asdict(recall_of(result.probes)),
        "net_tokens": net_tokens(result.calls),
        "plans": sum(event.by == "plan" for event in result.compactions),
        "session_sha256": result.provenance.session_sha256,
    }


def beginning(source: Path, target: Path, turns: int) -> None:
    """Write the first turns of a recorded session as a session of its own, with the probes about them."""
    target.mkdir(parents=True)
    shutil.copytree(source / "repo0", target / "repo0")
    lines = (source / "session.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if json.loads(line).get("turn", 0) <= turns]
    (target / "session.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")
    probes = json.loads((source / "probes.json").read_text(encoding="utf-8"))
    asked = [
        {**probe, "ask_at_turn": min(probe["ask_at_turn"], turns + 1)}
        for probe in probes
        if probe["about_turn"] <= turns - AGE_TURNS
    ]
    (target / "probes.json").write_text(json.dumps(asked), encoding="utf-8")


def regressions(before: Mapping[str, Figures], now: Mapping[str, Figures]) -> Iterator[str]:
    """What got worse by more than its tolerance, a line each; other sessions or probes are named first."""
    for name, old in before.items():
        new = now.get(name)
        if new is None or any(old[key] != new[key] for key in ("turns", "asked", "session_sha256")):
            yield f"{name}: not the session or probes of the committed figures; {AGAIN}"
            continue
        if new["supported"] < old["supported"] - SUPPORTED_TOLERANCE:
            yield f"{name}: {new['supported']} of {new['asked']} probes supported, {old['supported']} before"
        if not new["net_tokens"]:
            yield f"{name}: no token was counted"
        if new["net_tokens"] > old["net_tokens"] * (1 + TOKENS_TOLERANCE):
            yield f"{name}: {new['net_tokens']:,} net tokens, {old['net_tokens']:,} before"


if __name__ == "__main__":
    sys.exit(main())
