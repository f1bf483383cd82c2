"""Put the measured tables into docs/upstream-proposal.md, or with `--check` compare."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

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
from pages import BadResults, Section, main, results, table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.grid.means import FACTS, PROBES, Key, Rows, complete, dollars, ordinary, rows_of, total

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "upstream-proposal.md"
RESULTS = ROOT / "bench" / "results" / "grid.json"
FORMAT = 1
TOOL = "proposal_tables"

STOCK, FIXED = "stock", "stock-fixed"
RIVALS = ("tail-search", FIXED, "tail", "mask10", STOCK, FLOOR)
SURE = (FIXED, "tail-search", "tail")
PARTS = ("gardener-no-recall", "gardener-no-compress", "gardener-oldest-first")

Found = Mapping[Key, Rows]


@lru_cache(maxsize=1)
def found() -> Found:
    """The rows of all sessions by variant and budget."""
    return complete(ordinary(rows_of(results(RESULTS, "grid", FORMAT))))


def discarded() -> Iterator[str]:
    """aider as it is and with its summaries applied: what is paid, lost and known."""
    own = own_budget(found())
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


def evidence() -> Iterator[str]:
    """The gardener as it is, then everything at one budget."""
    own, same = own_budget(found()), at_host_budget(found())
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


def sure() -> Iterator[str]:
    """Paired differences at one budget, with their intervals."""
    same = at_host_budget(found())
    missing = [name for name in (GARDENER, AS_ORDER, *SURE) if name not in same]
    if missing:
        raise BadResults(f"{RESULTS.name}: {missing[0]} is not measured on all sessions: make bench")
    return paired(same, (GARDENER, AS_ORDER), SURE)


def without() -> Iterator[str]:
    """The gardener without a part, beside the whole."""
    own = own_budget(found())
    whole = need(own, GARDENER)
    lines = [
        [name, *(signed(measure.above(need(own, name), whole)) for _, measure in MEASURES),
         f"{dollars(own[name], PROVIDER):.2f}"]
        for name in PARTS
    ]  # fmt: skip
    return table(["", *(name for name, _ in MEASURES), f"$ {PROVIDER}"], lines)


def need(own: Mapping[str, Rows], name: str) -> Rows:
    if name not in own:
        raise BadResults(f"{RESULTS.name}: {name} is not measured on all sessions: make bench")
    return own[name]


TABLES = {"discarded": discarded, "evidence": evidence, "sure": sure, "parts": without}
SECTIONS = [
    Section(PAGE, name, lambda make=make: "\n".join(make()) + "\n")  # type: ignore[misc]  # reason: bound now
    for name, make in TABLES.items()
]


if __name__ == "__main__":
    sys.exit(main(SECTIONS, TOOL))
