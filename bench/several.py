"""What recall alone finds of answers that stand at several turns, by the tokens that it may spend.

    python -m bench.several [--json FILE]

The questions to each recorded session are in `bench/questions`. Each needs two to four pieces that
were said at different turns, and may name decoys: what was said elsewhere about something similar and is no
part of the answer. As in `bench.retrieval`, nothing but what is recalled for the question is sent.
A piece counts as a probe does there; a probe only when all its pieces are supported. Decoys say how much else
comes along.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aider_gardener.errors import GardenerError, SessionError
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.recall.recall import recall_note
from aider_gardener.recall.request import Request
from aider_gardener.replay.measure.probes import key_pattern, score, texts_of_turn
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Probe, Session, json_list
from bench.goals import halves
from bench.grid.rows import written
from bench.provenance import made_on
from bench.retrieval import ROOT, VECTORS, WAYS, Way, listening

RESULTS = Path(__file__).with_name("results") / "several.json"
QUESTIONS = Path(__file__).with_name("questions")
FORMAT = 1
LIMITS = (300, 1_000, 2_000, 4_000)
"""Tokens that may be recalled for a question."""
LEAST_AGE_TURNS = 5
"""The newest piece of an answer is at least so old when it is asked for."""
KINDS = (
    "compare",
    "list",
    "first-last",
    "updated",
    "before-after",
    "ever",
    "never",
    "across",
)
"""`updated`: the old and the new; `ever` and `never`: a statement and what bears it out or denies it;
`across`: a reason here, a figure there."""
MAIN_WAY = "words and meaning"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Piece:
    """Part of an answer: exact texts, all said in one turn."""

    about_turn: int
    answer_keys: tuple[str, ...]


@dataclass(frozen=True)
class SeveralProbe:
    """A question asked just before turn `ask_at_turn`, its pieces by turn, and pieces of other answers."""

    ask_at_turn: int
    kind: str
    question: str
    pieces: tuple[Piece, ...]
    decoys: tuple[Piece, ...] = ()


@dataclass
class Tally:
    """Probes, pieces and decoys that were asked for, and by way and limit those that were supported."""

    asked: tuple[int, int, int]
    supported: dict[str, list[tuple[int, int, int]]]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the results go")
    options = parser.parse_args(argv)
    paths = sorted(QUESTIONS.glob("*.json"))
    VECTORS.parent.mkdir(parents=True, exist_ok=True)
    half_of = halves(path.stem for path in paths)
    rows: list[Row] = []
    try:
        for path in paths:
            session = load_session(ROOT / "recorded_sessions" / path.stem)
            found = measured(session, load_several(path, session), VECTORS)
            rows += [{"session": path.stem, "half": half_of[path.stem], **row} for row in found]
    except GardenerError as problem:
        print(f"bench.several: {problem}", file=sys.stderr)
        return 1
    value = {
        "format": FORMAT,
        "kind": "several",
        "provenance": {**made_on(), "tokenizer": "cl100k_base"},
        "limits": list(LIMITS),
        "rows": rows,
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(written(value), encoding="utf-8")
    sys.path.insert(0, str(ROOT / "tools"))
    from session_tables import several

    print("\n".join(several(value)))
    return 0


def load_several(path: Path, session: Session) -> list[SeveralProbe]:
    """The probes of a file; SessionError names the first that its session cannot answer."""
    found = []
    for number, row in enumerate(json_list(path), 1):
        try:
            probe = several_probe(row)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise SessionError(
                f"{path}: probe {number} needs ask_at_turn, kind, question and pieces, each of these with"
                f" about_turn and answer_keys ({problem!r})"
            ) from problem
        fault = next(faults(probe, session), "")
        if fault:
            raise SessionError(f"{path}: probe {number}: {fault}")
        found.append(probe)
    return found


def several_probe(row: Mapping[str, Any]) -> SeveralProbe:
    """One probe from its JSON object."""
    return SeveralProbe(
        ask_at_turn=int(row["ask_at_turn"]),
        kind=str(row["kind"]),
        question=str(row["question"]),
        pieces=tuple(map(piece, row["pieces"])),
        decoys=tuple(map(piece, row.get("decoys") or ())),
    )


def piece(row: Mapping[str, Any]) -> Piece:
    """One piece from its JSON object."""
    keys = row["answer_keys"]
    texts = isinstance(keys, list) and all(isinstance(key, str) and key.strip() for key in keys)
    if not texts or not keys:
        raise ValueError(f"answer_keys must be a list of texts, got {keys!r}")
    return Piece(about_turn=int(row["about_turn"]), answer_keys=tuple(keys))


def faults(probe: SeveralProbe, session: Session) -> Iterator[str]:
    """Why a probe cannot be asked of the session, a clause each."""
    turns = [one.about_turn for one in probe.pieces]
    if probe.kind not in KINDS:
        yield f"unknown kind {probe.kind!r}; known are {', '.join(KINDS)}"
    if not 2 <= len(turns) <= 4 or turns != sorted(set(turns)):
        yield f"an answer has two to four pieces of different turns, in order, not {turns}"
    latest, end = max(turns, default=0) + LEAST_AGE_TURNS, session.turn_count + 1
    if not latest <= probe.ask_at_turn <= end:
        yield f"it must be asked between turns {latest} and {end}, not at {probe.ask_at_turn}"
    for one in probe.decoys:
        if one.about_turn in turns or one.about_turn >= probe.ask_at_turn:
            yield f"a decoy stands at another turn than the pieces, before the question, not {one.about_turn}"
    for one in (*probe.pieces, *probe.decoys):
        said = "\n".join(texts_of_turn(session, one.about_turn))
        for key in one.answer_keys:
            if not key_pattern(key).search(said):
                yield f"the key {key!r} was not said in turn {one.about_turn}"
            if key_pattern(key).search(probe.question):
                yield f"the question gives away the key {key!r}"


def measured(
    session: Session, probes: Sequence[SeveralProbe], vectors: Path, embedder: str = "use"
) -> list[Row]:
    """A row a probe: by way and limit, which of its pieces and decoys are supported (1) and which not (0)."""
    turns = {probe.ask_at_turn for probe in probes}
    return [
        {
            "ask_at_turn": turn,
            "kind": probe.kind,
            "pieces": len(probe.pieces),
            "decoys": len(probe.decoys),
            "ways": {
                name: [marks(session, probe, gardener, way, n) for n in LIMITS] for name, way in WAYS.items()
            },
        }
        for turn, gardener in listening(session, turns, vectors, embedder)
        for probe in probes
        if probe.ask_at_turn == turn
    ]


def marks(
    session: Session, probe: SeveralProbe, gardener: Gardener, way: Way, token_limit: int
) -> list[list[int]]:
    """1 or 0 for each piece, and for each decoy, by what this way recalls for the question."""
    request = Request(probe.question, token_limit=token_limit)
    sent = recall_note(way(gardener.state.archive, gardener.state.chat, request))
    return [
        [int(supported(session, probe, one, sent)) for one in several]
        for several in (probe.pieces, probe.decoys)
    ]


def supported(session: Session, probe: SeveralProbe, one: Piece, sent: str) -> bool:
    """Whether what is sent supports this piece, as a probe of its own would be."""
    alone = Probe(one.about_turn, probe.ask_at_turn, probe.kind, probe.question, one.answer_keys)
    return score(alone, texts_of_turn(session, one.about_turn), [sent]).supported


def tally(rows: Sequence[Row]) -> Tally:
    """The sums over rows of `measured`; a probe is supported when all its pieces are."""
    return Tally(
        asked=(len(rows), sum(row["pieces"] for row in rows), sum(row["decoys"] for row in rows)),
        supported={
            way: [sums_at([row["ways"][way][at] for row in rows]) for at in range(len(LIMITS))]
            for way in WAYS
        },
    )


def sums_at(found: Iterable[tuple[Sequence[int], Sequence[int]]]) -> tuple[int, int, int]:
    """Probes, pieces and decoys supported, of the marks of each probe's pieces and decoys."""
    found = list(found)
    return (
        sum(all(pieces) for pieces, _decoys in found),
        sum(sum(pieces) for pieces, _decoys in found),
        sum(sum(decoys) for _pieces, decoys in found),
    )


def by(what: str, rows: Sequence[Row]) -> Iterator[tuple[str, list[tuple[int, int, int]]]]:
    """For each kind or session, with how many probes, pieces and decoys it has: what the main way found."""
    for name in dict.fromkeys(sorted(row[what] for row in rows)):
        found = tally([row for row in rows if row[what] == name])
        yield f"{name} ({cell(found.asked)})", found.supported[MAIN_WAY]


def cell(counts: tuple[int, int, int]) -> str:
    return "{}; {}; {}".format(*counts)


if __name__ == "__main__":
    sys.exit(main())
