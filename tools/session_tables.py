"""The tables of what is measured without a replay: recall alone, on recorded sessions and in public."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pages import table

from bench.goals import CHOSEN_ON, HELD_OUT, halves
from bench.retrieval import sums

Value = Mapping[str, Any]
MAIN_WAY = "words and meaning"


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
            *(str(found) for _present, found in session["ways"][MAIN_WAY]),
        ]
        for name, session in sessions.items()
    ]
    yield "Supported by session, words and meaning:"
    yield ""
    yield from table(["session", "probes", *head[1:]], rows)
    yield ""


def several(value: Value) -> Iterator[str]:
    """A row a way over all questions to answers of several pieces, then one a half of the sessions."""
    found = value["several"]
    sessions = found["sessions"]
    half = halves(sessions)
    groups = {way: (sessions, way) for way in sums(sessions)}
    for which in (CHOSEN_ON, HELD_OUT):
        of_half = {name: one for name, one in sessions.items() if half[name] == which}
        groups[f"{MAIN_WAY}, {which}"] = of_half, MAIN_WAY
    rows = []
    for title, (of, way) in groups.items():
        asked = [sum(one[name] for one in of.values()) for name in ("questions", "pieces")]
        counts = [f"{questions}; {pieces}" for pieces, questions in sums(of)[way]]
        rows.append([title, f"{asked[0]}; {asked[1]}", *counts])
    yield "Questions all of whose pieces are supported, then single pieces:"
    yield ""
    yield from table(["recalled by", "asked", *(f"{tokens:,} tokens" for tokens in found["limits"])], rows)
    yield ""


def public(value: Value) -> Iterator[str]:
    """A row a way for all questions; then one for those with one piece of evidence, those with several, and
    each kind, as the first way finds them."""
    first, *budgets = [f"pieces@{value['ks'][-1]}", *(f"in {tokens:,}" for tokens in value["budgets"])]
    groups = dict(value["groups"])
    ways = groups.pop("all questions")
    main = next(iter(ways))
    yield from (f"All questions ({asked(ways)}):", "")
    yield from table(["recalled by", first, *budgets], [[way, *cells(of)] for way, of in ways.items()])
    pieces = [name for name in ("one piece of evidence", "several pieces") if name in groups]
    kinds = [*pieces, *sorted(set(groups).difference(pieces))]
    yield from ("", f"By pieces of evidence and by kind, {main}:", "")
    rows = [[f"{kind} ({asked(groups[kind])})", *cells(groups[kind][main])] for kind in kinds]
    yield from table(["questions", first, *budgets], rows)
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
