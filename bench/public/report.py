"""The tables of a run for people."""

from __future__ import annotations

from collections.abc import Sequence

from aider_gardener.tables import as_text, grid
from bench.public.measure import BUDGETS, EVERY, KS, NAMES, SEVERAL, SINGLE, Measured, Share, Tally

WIDTH = 136
LEGEND = """
Per cent. @k: all evidence among the first k different messages. pieces@k: share of single messages there.
in N: all evidence found within N tokens, each message with at least half of its content words.
The definitions stand in bench/public/measure.py."""


def report(benchmark: str, counted: Measured) -> str:
    """The tables for people, and what was left out."""
    lines = [
        f"{benchmark}: {counted.conversations:,} conversations, {counted.messages:,} messages,"
        f" {counted.questions:,} questions, {counted.judged:,} of them judged",
    ]
    if counted.left_out:
        lines.append(f"left out: {reasons(counted)}")
    lines.append(
        f"{per_thousand(counted.ingest_seconds, counted.messages):.1f} s to take in 1,000 messages,"
        f" {1000 * counted.question_seconds / counted.judged:.0f} ms a question in all {len(NAMES)} ways"
    )
    for group in (EVERY, SINGLE, SEVERAL):
        if ways := counted.tallies.get(group):
            rows = [(way, *cells(ways[way])) for way in NAMES]
            title = f"\n{group.capitalize()}, n = {ways[NAMES[0]].questions:,}"
            lines.append(table(title, ["way", *heads()], rows))
    kinds = sorted(set(counted.tallies) - {EVERY, SINGLE, SEVERAL})
    rows = [(kind, f"{(one := counted.tallies[kind][NAMES[0]]).questions:,}", *cells(one)) for kind in kinds]
    lines.append(table(f"\nBy kind, {NAMES[0]}", ["kind", "n", *heads()], rows))
    found = [(way, *sessions(counted.tallies[EVERY][way])) for way in NAMES]
    columns = ["way", *(f"{what} @{k}" for what in ("all", "any") for k in KS)]
    lines.append(table("\nSessions that hold the evidence", columns, found))
    lines.append(LEGEND)
    return "\n".join(lines)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    drawn = grid([columns[0], *(f">{name}" for name in columns[1:])], rows, title=title)
    drawn.columns[0].no_wrap = True
    return as_text(drawn, width=WIDTH)


def reasons(counted: Measured) -> str:
    return (
        ", ".join(f"{number:,} {reason}" for reason, number in counted.left_out.most_common()) or "none asked"
    )


def heads() -> list[str]:
    pieces = [f"pieces@{k}" for k in KS]
    return [*(f"@{k}" for k in KS), *pieces, *(f"in {tokens:,}" for tokens in BUDGETS)]


def cells(tally: Tally) -> list[str]:
    reached = tally.reached.values()
    pieces = [percent(share.parts, share.pieces) for share in reached]
    return [*map(whole, reached), *pieces, *map(whole, tally.found.values())]


def sessions(tally: Tally) -> list[str]:
    shares = tally.sessions.values()
    return [*map(whole, shares), *(percent(share.any, share.questions) for share in shares)]


def whole(share: Share) -> str:
    return percent(share.all, share.questions)


def percent(part: int, of: int) -> str:
    return f"{100 * part / of:.1f}" if of else "–"


def per_thousand(seconds: float, messages: int) -> float:
    return 1000 * seconds / messages if messages else 0.0
