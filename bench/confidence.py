"""Whether an entry's confidence or importance, as retention knows them, helps recall to put the answer first.

    python -m bench.confidence [--embedder NAME] [--json FILE]

The probes of the recorded sessions, as in bench.retrieval: nothing of the chat stands in the prompt, and what
is recalled within LIMIT tokens is scored. Every recall is a use of what it found, as in a chat. Then the
score of a passage loses a weight's share of what its entry's confidence, or importance, lacks of 1: at two
speeds, for confidence falls by the hour. The sessions' halves are those of bench.goals: what is chosen on
one has to hold on the other.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

from aider_gardener.archive.retention import CONFIDENCE_GAIN, confidence, importance
from aider_gardener.archive.store.base import Holding
from aider_gardener.errors import GardenerError
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Entry
from aider_gardener.recall import recall
from aider_gardener.recall.candidates import Request
from aider_gardener.recall.ranking import Passage, in_order
from aider_gardener.recall.recall import Recalled, recall_note
from aider_gardener.replay.measure.probes import score, texts_of_turn
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Probe, Session
from bench.goals import CHOSEN_ON, HELD_OUT, halves
from bench.provenance import made_on
from bench.retrieval import ROOT, VECTORS, asked, refuse_without

RESULTS = Path(__file__).with_name("results") / "confidence.json"
FORMAT = 1
LIMIT = 1_000
"""Tokens that may be recalled for a question."""
SPEEDS = {"a turn a minute": 60.0, "a turn an hour": 3_600.0}
"""Seconds between the turns of a session."""
WORTHS: Mapping[str, Callable[[Holding, float], float]] = {"confidence": confidence, "importance": importance}
WEIGHTS = (0.1, 0.3, 1.0)
AS_IT_IS = "as it is"

Worth = Callable[[Entry], float]


@dataclass
class Uses:
    """What was used when, at one speed: by entry its uses, the last one, and its confidence then."""

    seconds: float
    known: dict[str, tuple[int, float, float]] = field(default_factory=dict)

    def held(self, entry: Entry) -> Holding:
        """An entry as retention sees it."""
        said = entry.turn * self.seconds
        uses, used, sure = self.known.get(entry.id, (0, said, 1.0))
        chars, last = len(entry.content), max(used, said)
        return Holding(entry.id, entry.cls.value, entry.tokens, chars, said, last, uses, sure, False, ())

    def use(self, entry: Entry, now: float) -> None:
        """Count a use, as the archive does."""
        held = self.held(entry)
        sure = min(1.0, confidence(held, now) + CONFIDENCE_GAIN)
        self.known[entry.id] = (held.uses + 1, now, sure)


def ordered(
    worth: Worth, weight: float, passages: Sequence[Passage], scores: Sequence[float]
) -> list[tuple[int, float]]:
    """The order of passages, each score less by the weight's share of what its entry lacks of worth 1."""
    paired = zip(passages, scores, strict=True)
    return in_order(passages, [score * (1 - weight * (1 - worth(one.entry))) for one, score in paired])


def measured(session: Session, vectors: Path, embedder: str) -> dict[str, list[int]]:
    """By way how many of the session's probes were present and supported."""
    found: dict[str, list[int]] = {}
    speeds = {name: Uses(seconds) for name, seconds in SPEEDS.items()}
    for probe, gardener in asked(session, vectors, embedder):
        said = texts_of_turn(session, probe.about_turn)
        plain = ask(gardener, probe, said, found.setdefault(AS_IT_IS, [0, 0]))
        for speed, uses in speeds.items():
            now = probe.ask_at_turn * uses.seconds
            for (name, of), weight in product(WORTHS.items(), WEIGHTS):
                by_worth = partial(ordered, partial(worth, of, uses, now), weight)
                with patch.object(recall, "in_order", by_worth):
                    ask(gardener, probe, said, found.setdefault(f"{name} × {weight:g}, {speed}", [0, 0]))
            entries = {entry.id: entry for entry in gardener.state.chat.entries.values()}
            for stored_id in dict.fromkeys(one.entry_id for one in plain):
                uses.use(entries[stored_id], now)
    return found


def worth(of: Callable[[Holding, float], float], uses: Uses, now: float, entry: Entry) -> float:
    """What an entry is worth now by one of WORTHS."""
    return of(uses.held(entry), now)


def ask(gardener: Gardener, probe: Probe, said: Sequence[str], counts: list[int]) -> list[Recalled]:
    """What is recalled for a probe; whether it is present and supported is counted."""
    archive, request = gardener.state.archive, Request(probe.question, token_limit=LIMIT)
    passages = recall.recall(archive, gardener.state.chat, request, count=archive.count)
    scored = score(probe, said, [recall_note(passages)])
    counts[0] += scored.present
    counts[1] += scored.supported
    return passages


def sums(sessions: Mapping[str, Mapping[str, Sequence[int]]]) -> dict[str, dict[str, list[int]]]:
    """Present and supported by way, over each half of the sessions."""
    half_of = halves(list(sessions))
    found: dict[str, dict[str, list[int]]] = {}
    for name, ways in sessions.items():
        for way, (present, supported) in ways.items():
            counts = found.setdefault(way, {CHOSEN_ON: [0, 0], HELD_OUT: [0, 0]})[half_of[name]]
            counts[0] += present
            counts[1] += supported
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--embedder", default="use", help="as the setting embedder")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the results go")
    options = parser.parse_args(argv)
    folders = sorted(path.parent for path in (ROOT / "recorded_sessions").glob("*/session.jsonl"))
    VECTORS.parent.mkdir(parents=True, exist_ok=True)
    try:
        refuse_without(options.embedder)
        loaded = {folder.name: load_session(folder) for folder in folders}
        sessions = {name: measured(one, VECTORS, options.embedder) for name, one in loaded.items()}
    except GardenerError as problem:
        print(f"bench.confidence: {problem}", file=sys.stderr)
        return 1
    value: dict[str, Any] = {
        "format": FORMAT,
        "kind": "confidence",
        "provenance": {**made_on(), "tokenizer": "cl100k_base", "embedder": options.embedder},
        "limit": LIMIT,
        "probes": {name: len(session.probes) for name, session in loaded.items()},
        "sessions": sessions,
        "sums": sums(sessions),
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    for way, by_half in value["sums"].items():
        print(f"{way:>40}: " + ", ".join(f"{half} {p} / {s}" for half, (p, s) in by_half.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
