"""Put the measured tables into docs/upstream-proposal.md, or with `--check` compare.

With `--check` nothing is changed and the exit code is 1 when a page is out of date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grid_tables import (
    AS_ORDER,
    FLOOR,
    GARDENER,
    HOST_BUDGET,
    MEASURES,
    PROVIDER,
    counted,
    own_budget,
    signed,
)
from pages import BadResults, parts, results, table, write_or_check

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.grid.means import FACTS, PROBES, Key, Rows, complete, dollars, ordinary, rows_of, total
from bench.intervals import ratio

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "upstream-proposal.md"
RESULTS = ROOT / "bench" / "results" / "grid.json"
FORMAT = 1
MOST_LINES = 200
"""The page is to be read in ten minutes."""

STOCK, FIXED = "stock", "stock-fixed"
RIVALS = ("tail-search", FIXED, "stock-lead", "tail", "first-last", "mask10", STOCK, FLOOR)
SURE = (FIXED, "tail-search", "tail")
PARTS = ("gardener-no-recall", "gardener-no-compress", "gardener-no-forms")

Found = Mapping[Key, Rows]


def main() -> int:
    """Write the page, or with --check only compare it."""
    return write_or_check("--check" in sys.argv[1:], faults, write)


def write() -> str:
    text = wanted(PAGE.read_text("utf-8"))
    PAGE.write_text(text, "utf-8", newline="\n")
    return f"{PAGE.name}: the figures are those of {RESULTS.name}"


def faults() -> Iterator[str]:
    """What is wrong with the page, a line each; nothing as long as there are no results."""
    if not RESULTS.exists():
        return
    text = PAGE.read_text("utf-8")
    try:
        if text != wanted(text):
            yield f"docs/{PAGE.name}: a table is not what tools/proposal_tables.py makes; run it"
    except BadResults as problem:
        yield str(problem)
    if len(text.splitlines()) > MOST_LINES:
        yield f"docs/{PAGE.name} has {len(text.splitlines())} lines, it may have {MOST_LINES}"


def wanted(text: str) -> str:
    """The page with its tables made anew."""
    found = complete(ordinary(rows_of(results(RESULTS, "grid", FORMAT))))
    for name, make in (("discarded", discarded), ("evidence", evidence), ("sure", sure), ("parts", without)):
        text = with_part(text, name, "\n".join(make(found)) + "\n")
    return text


def with_part(text: str, name: str, part: str) -> str:
    before, _, after = parts(text, name, PAGE.name)
    return before + part + after


def at_host_budget(found: Found) -> dict[str, Rows]:
    """The rows of each variant at the host's limit."""
    at = {variant: rows for (variant, budget), rows in found.items() if budget is None}
    at.update({variant: rows for (variant, budget), rows in found.items() if budget == HOST_BUDGET})
    return at


def discarded(found: Found) -> Iterator[str]:
    """aider as it is and with its summaries applied: what is paid, lost and known."""
    own = own_budget(found)
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


def evidence(found: Found) -> Iterator[str]:
    """The gardener as it is, then everything at one budget."""
    own, same = own_budget(found), at_host_budget(found)
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


def sure(found: Found) -> Iterator[str]:
    """Paired differences at one budget, with their intervals."""
    same = at_host_budget(found)
    head = ["", *(name for name, _ in MEASURES), f"$ {PROVIDER}, ratio"]
    lines = []
    for own in (GARDENER, AS_ORDER):
        for name in SURE:
            first, second = need(same, own), need(same, name)
            of = ratio(prices(first), prices(second))
            differences = [signed(measure.above(first, second)) for _, measure in MEASURES]
            lines.append([f"{own} – {name}", *differences, f"{of.value:.2f} ({of.low:.2f} to {of.high:.2f})"])
    return table(head, lines)


def prices(rows: Rows) -> Sequence[float]:
    return [row["usd"][PROVIDER][0] for row in rows]


def without(found: Found) -> Iterator[str]:
    """The gardener without a part, beside the whole."""
    own = own_budget(found)
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


if __name__ == "__main__":
    sys.exit(main())
