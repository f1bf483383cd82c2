"""What each sign by which recall ranks a passage brings: the answers found without it.

    python -m bench.signs [--locomo PATH] [--json FILE]

The probes of the recorded sessions, as in bench.retrieval, and with LoCoMo's file the questions of its
conversations, as in bench.public, are asked with all of `ranking.WEIGHTS` and with each of them set to 0.
Every second session and every second conversation is a half of its own: the weights were chosen on the first.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from aider_gardener.recall import finding
from aider_gardener.recall.ranking import WEIGHTS, Weights, scores, told_by_text
from aider_gardener.recall.recall import recall, recall_note
from aider_gardener.recall.request import Request
from aider_gardener.replay.measure.probes import score, texts_of_turn
from aider_gardener.replay.session.history import load_session
from bench.provenance import made_on
from bench.public import locomo
from bench.public.measure import archived, covered
from bench.retrieval import ROOT, VECTORS, asked
from bench.vectors import keeping

RESULTS = Path(__file__).with_name("results") / "signs.json"
FORMAT = 1
LIMITS = (300, 1_000, 3_000)
"""Tokens that may be recalled for a question."""
ALL = "all"
Counts = dict[str, list[list[int]]]
"""By set of weights, for each half: what was found within each limit, and the questions."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--locomo", type=Path, help="locomo10.json, or its folder")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the results go")
    options = parser.parse_args(argv)
    VECTORS.parent.mkdir(parents=True, exist_ok=True)
    found = {"recorded": recorded()}
    if options.locomo:
        found["locomo"] = of_locomo(options.locomo)
    value = {
        "format": FORMAT,
        "kind": "signs",
        "provenance": made_on(),
        "limits": list(LIMITS),
        "weights": WEIGHTS._asdict(),
        "found": found,
    }
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    print("\n".join(table(found)))
    return 0


def sets() -> dict[str, Weights]:
    """All the weights, and these without each."""
    return {ALL: WEIGHTS} | {f"without {name}": WEIGHTS._replace(**{name: 0.0}) for name in WEIGHTS._fields}


def ask(counts: Counts, half: int, one: Any) -> None:
    """Ask a question with every set of weights. `one` tells whether its answer is found within a limit."""
    for name, weights in sets().items():
        row = counts.setdefault(name, [[0] * (len(LIMITS) + 1) for _half in range(2)])[half]
        with (
            patch.object(finding, "scores", partial(scores, weights=weights)),
            patch.object(finding, "told_by_text", partial(told_by_text, weights=weights)),
        ):
            for at, limit in enumerate(LIMITS):
                row[at] += one(limit)
        row[-1] += 1


def recorded() -> Counts:
    """The recorded sessions' probes that are supported."""
    counts: Counts = {}
    folders = sorted(path.parent for path in (ROOT / "recorded_sessions").glob("*/session.jsonl"))
    for number, folder in enumerate(folders):
        session = load_session(folder)
        for probe, gardener in asked(session, VECTORS, "use"):
            said, state = texts_of_turn(session, probe.about_turn), gardener.state

            def supported(limit: int, *, probe: Any = probe, said: Any = said, state: Any = state) -> bool:
                request = Request(probe.question, token_limit=limit)
                passages = recall(state.archive, state.chat, request, count=state.archive.count)
                return score(probe, said, [recall_note(passages)]).supported

            ask(counts, number % 2, supported)
    return counts


def of_locomo(path: Path) -> Counts:
    """LoCoMo's questions of which all evidence is found."""
    counts: Counts = {}
    load = keeping(VECTORS, "use")
    for number, conversation in enumerate(locomo.conversations(path)):
        with archived(conversation, load and cache(load)) as held:
            for question in conversation.questions:
                if question.left_out:
                    continue
                wanted = {held.ids[name] for name in question.messages}

                def whole(
                    limit: int, *, text: str = question.text, wanted: set[str] = wanted, held: Any = held
                ) -> bool:
                    archive, request = held.gardener.state.archive, Request(text, token_limit=limit)
                    passages = recall(archive, held.gardener.state.chat, request, count=archive.count)
                    return wanted <= covered(wanted, passages, held.said)

                ask(counts, number % 2, whole)
    return counts


def table(found: dict[str, Counts]) -> Iterator[str]:
    """The rows as Markdown: within each limit what was found, in the half chosen on and in the other."""
    for data, counts in found.items():
        questions = [half[-1] for half in counts[ALL]]
        yield f"\n| {data}, of {questions[0]} / {questions[1]} | " + " | ".join(map(str, LIMITS)) + " |"
        yield "|---|" + "---:|" * len(LIMITS)
        for name, (one, other) in counts.items():
            cells = [f"{one[at]} / {other[at]}" for at in range(len(LIMITS))]
            yield f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
