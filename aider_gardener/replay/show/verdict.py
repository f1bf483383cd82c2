"""The verdict on a replay in one plain sentence: what the chat would have cost, and what was still known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aider_gardener.phrases import counted
from aider_gardener.replay.measure.summary import ReplayReport, Summary
from aider_gardener.replay.play.variants import variant_named

GARDENER, WHOLE = "gardener", "stock"
STOCK = (WHOLE, "stock-fixed")
"""The variants without a gardener that a user of aider could have."""


def verdict(report: ReplayReport) -> str:
    """The verdict on all chats of a report."""
    chats = len({row.session for row in report.summaries})
    rows = report.totals if chats > 1 else report.summaries
    return verdict_on({row.variant: row for row in rows}, chats)


def verdict_on(rows: Mapping[str, Summary], chats: int = 1) -> str:
    """The gardener held against the best stock variant, of the rows by variant of one chat or of the sums
    over several; "" where either was not played. More is said as more, and what was lost is told beside
    what would have been there without the gardener."""
    gardened, stock = gardened_in(rows), best_stock(rows)
    if not gardened or not stock:
        return ""
    own, other = rows[gardened], rows[stock]
    otherwise = "without it" if stock == WHOLE else f"with {stock}"
    name = "the gardener" if gardened == GARDENER else gardened
    chat = "this chat" if chats == 1 else f"these {chats:,} chats"
    clauses = [f"With {name} {chat} would have {spent(own, other, otherwise)}"]
    if own.recall.asked:
        asked, known = own.recall.asked, own.recall.supported
        beside = aside([known], [other.recall.supported], otherwise)
        was = "was" if 1 in (asked, known) else "were"
        clauses.append(f"{known:,} of {counted(asked, 'thing')} asked later {was} still known{beside}")
    clauses.append(reused(own, other, otherwise))
    rest = [rows[one] for one in STOCK if one in rows and one != stock]
    clauses += [cheaper(row) for row in rest if 0 < row.usd < own.usd]
    return "; ".join(clauses) + "."


def gardened_in(variants: Iterable[str]) -> str:
    """The gardener with its defaults, else the first variant that has one; "" if there is none."""
    found = [name for name in variants if variant_named(name).settings is not None]
    return GARDENER if GARDENER in found else next(iter(found), "")


def best_stock(rows: Mapping[str, Summary]) -> str:
    """The stock variant that still knew most, the cheaper of two that knew as much; "" if there is none."""

    def merit(name: str) -> tuple[float, ...]:
        row = rows[name]
        carried = row.carry_over
        return row.recall.supported, carried.facts_present + carried.lines_present, -row.usd

    return max((name for name in STOCK if name in rows), key=merit, default="")


def spent(own: Summary, other: Summary, otherwise: str) -> str:
    """The price, or the tokens where there is no price, beside what they would have been otherwise."""
    bills = (own.usd, other.usd)
    if any(bills):
        verb, shown, unit = "cost", [usd(bill) for bill in bills], f" ({own.costs[0].model} prices)"
        more = bills[0] > bills[1]
    else:
        verb, shown, unit = "taken", [f"{row.tokens_billed:,}" for row in (own, other)], " (tokens)"
        more = own.tokens_billed > other.tokens_billed
    if shown[0] == shown[1]:
        return f"{verb} {shown[0]}, as much as {otherwise}{unit}"
    if more:
        return f"{verb} {shown[0]}, more than the {shown[1]} {otherwise}{unit}"
    apart = "" if otherwise == "without it" else f" {otherwise}"
    return f"{verb} {shown[0]} instead of {shown[1]}{apart}{unit}"


def cheaper(row: Summary) -> str:
    """Another stock variant that would have cost less than the gardener, and what it would have known."""
    known = f", with {row.recall.supported:,} known" if row.recall.asked else ""
    return f"{row.variant} would have cost {usd(row.usd)}{known}"


def reused(own: Summary, other: Summary, otherwise: str) -> str:
    """Of the old facts and lines that replies used again, how many the prompts held."""
    mine, theirs = own.carry_over, other.carry_over
    kinds = [
        (mine.facts_present, mine.facts, theirs.facts_present, "reused fact"),
        (mine.lines_present, mine.lines, theirs.lines_present, "reused line"),
    ]
    kinds = [kind for kind in kinds if kind[1]]
    if not kinds:
        return "no reply used anything old again"
    held = " and ".join(f"{present:,} of {counted(total, what)}" for present, total, _, what in kinds)
    return f"{held} stood in the prompt{aside([k[0] for k in kinds], [k[2] for k in kinds], otherwise)}"


def aside(own: list[int], other: list[int], otherwise: str) -> str:
    """The counts of the other variant in brackets, where they are not the same."""
    return "" if own == other else f" ({' and '.join(f'{count:,}' for count in other)} {otherwise})"


def usd(value: float) -> str:
    """Cents for whole dollars, a tenth of a cent below."""
    return f"${value:,.2f}" if value >= 1 else f"${value:.3f}"
