"""The tables of what is measured without a replay: recall alone, on recorded sessions and in public."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench import several as pieces_found
from bench.goals import CHOSEN_ON, HELD_OUT
from bench.retrieval import sums

Value = Mapping[str, Any]


def retrieval(value: Value) -> Iterator[str]:
    """A row a way to find passages: the probes supported, and present, within each number of tokens."""
    sessions = value["sessions"]
    probes = sum(session["probes"] for session in sessions.values())
    head = ["recalled by", *(f"{tokens:,} tokens" for tokens in value["limits"])]
    rows = [
        [
            way,
            *(f"{supported} ({100 * supported / probes:.0f} %), {present}" for present, supported in counts),
        ]
        for way, counts in sums(sessions).items()
    ]
    yield f"Supported, then present, of {probes} probes:"
    yield ""
    yield from table(head, rows)
    yield ""
    rows = [
        [
            name,
            str(session["probes"]),
            *(str(found) for _present, found in session["ways"]["words and meaning"]),
        ]
        for name, session in sessions.items()
    ]
    yield "Supported by session, words and meaning:"
    yield ""
    yield from table(["session", "probes", *head[1:]], rows)
    yield ""


def several(value: Value) -> Iterator[str]:
    """The sums over all questions and over each half of the sessions, by way; then by kind."""
    groups = {"All sessions": value["rows"]}
    for title, name in (("First half", CHOSEN_ON), ("Second half", HELD_OUT)):
        groups[title] = [row for row in value["rows"] if row["half"] == name]
    for title, rows in groups.items():
        probes, pieces, decoys = pieces_found.tally(rows).asked
        yield f"{title}: {probes} questions, {pieces} pieces, {decoys} decoys."
        yield ""
        yield from counted("recalled by", pieces_found.tally(rows).supported)
        yield ""
    yield "By kind, words and meaning:"
    yield ""
    yield from counted("kind (questions; pieces; decoys)", dict(pieces_found.by("kind", value["rows"])))
    yield ""


def counted(head: str, rows: Mapping[str, Sequence[tuple[int, int, int]]]) -> Iterator[str]:
    limits = (f"{tokens:,} tokens" for tokens in pieces_found.LIMITS)
    yield from table(
        [head, *limits], [[name, *map(pieces_found.cell, found)] for name, found in rows.items()]
    )


def public(value: Value) -> Iterator[str]:
    """A row a way for all questions, those with one piece of evidence, and with several; then one a kind."""
    first, *budgets = [f"pieces@{value['ks'][-1]}", *(f"in {tokens:,}" for tokens in value["budgets"])]
    groups = dict(value["groups"])
    main = next(iter(groups["all questions"]))
    for group in ("all questions", "one piece of evidence", "several pieces"):
        ways = groups.pop(group, None)
        if ways is None:
            continue
        yield f"{group.capitalize()} ({asked(ways)}):"
        yield ""
        yield from table(["recalled by", first, *budgets], [[way, *cells(of)] for way, of in ways.items()])
        yield ""
    rows = [[f"{kind} ({asked(ways)})", *cells(ways[main])] for kind, ways in sorted(groups.items())]
    yield f"By kind, {main}:"
    yield ""
    yield from table(["kind (questions)", first, *budgets], rows)
    yield ""


def asked(ways: Value) -> int:
    """How many questions a group has."""
    return int(next(iter(next(iter(ways.values()))["found"].values()))["questions"])


def share(part: float, whole: float) -> str:
    return f"{100 * part / max(1, whole):.1f} %"


def cells(found: Value) -> list[str]:
    """The share of single pieces reached at the last k, then of whole answers found within each budget."""
    reached = list(found["reached"].values())[-1]
    whole = [share(of["all"], of["questions"]) for of in found["found"].values()]
    return [share(reached["parts"], reached["pieces"]), *whole]
