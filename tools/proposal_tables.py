"""The tables of docs/upstream-proposal.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from grid_tables import (
    AS_ORDER,
    FLOOR,
    GARDENER,
    MEASURES,
    PROVIDER,
    at_host_budget,
    counted,
    own_budget,
    paired,
    signed,
)
from pages import BadResults, table

from bench.grid.means import FACTS, PROBES, Key, Rows, complete, dollars, ordinary, rows_of, total

STOCK, FIXED = "stock", "stock-fixed"
RIVALS = ("tail-search", FIXED, "tail", "mask10", STOCK, FLOOR)
SURE = (FIXED, "tail-search", "tail")
PARTS = ("gardener-no-recall", "gardener-no-compress", "gardener-oldest-first")

Found = Mapping[Key, Rows]


def found(value: Mapping[str, Any]) -> Found:
    """The rows of all sessions by variant and budget."""
    return complete(ordinary(rows_of(value)))


def discarded(value: Mapping[str, Any]) -> Iterator[str]:
    """aider as it is and with its summaries applied: what is paid, lost and known."""
    own = own_budget(found(value))
    head = ["", "summaries paid for", "used", "tokens billed", f"$ {PROVIDER}", "probes supported", "facts"]
    lines = []
    for name in (STOCK, FIXED):
        rows = need(own, name)
        used, lost = (sum(row["llm"][at] for row in rows) for at in (0, 1))
        lines.append([
            f"`{name}`", f"{used + lost}", f"{used}", f"{total(rows, 'tokens_billed'):,.0f}",
            f"{dollars(rows, PROVIDER):.2f}", counted(PROBES, rows), counted(FACTS, rows),
        ])  # fmt: skip
    return table(head, lines)


def evidence(value: Mapping[str, Any]) -> Iterator[str]:
    """The gardener as it is, then everything at one budget."""
    own, same = own_budget(found(value)), at_host_budget(found(value))
    rows = [("gardener, its own budget", need(own, GARDENER))]
    rows += [(name, need(same, name)) for name in (GARDENER, AS_ORDER)]
    rows += [(name, same[name]) for name in RIVALS if name in same]
    head = ["history by", *(name for name, _ in MEASURES), "tokens billed", f"$ {PROVIDER}"]
    return table(
        head,
        [
            [name, *(counted(measure, one) for _, measure in MEASURES),
             f"{total(one, 'tokens_billed'):,.0f}", f"{dollars(one, PROVIDER):.2f}"]
            for name, one in rows
        ],
    )  # fmt: skip


def sure(value: Mapping[str, Any]) -> Iterator[str]:
    """Paired differences at one budget, with their intervals."""
    same = at_host_budget(found(value))
    missing = [name for name in (GARDENER, AS_ORDER, *SURE) if name not in same]
    if missing:
        raise BadResults(f"grid.json: {missing[0]} is not measured on all sessions: make bench")
    return paired(same, (GARDENER, AS_ORDER), SURE)


def without(value: Mapping[str, Any]) -> Iterator[str]:
    """The gardener without a part, beside the whole."""
    own = own_budget(found(value))
    whole = need(own, GARDENER)
    lines = [
        [name, *(signed(measure.above(need(own, name), whole)) for _, measure in MEASURES),
         f"{dollars(own[name], PROVIDER):.2f}"]
        for name in PARTS
    ]  # fmt: skip
    return table(["", *(name for name, _ in MEASURES), f"$ {PROVIDER}"], lines)


def need(own: Mapping[str, Rows], name: str) -> Rows:
    if name not in own:
        raise BadResults(f"grid.json: {name} is not measured on all sessions: make bench")
    return own[name]
