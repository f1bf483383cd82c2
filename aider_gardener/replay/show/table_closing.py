"""The closing words of a report: what the gardener saved, and as plainly what its prompts no longer held."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aider_gardener.replay.measure.summary import Report, Summary

GARDENER, WHOLE = "gardener", "stock"
BESIDE = ("stock-fixed", "stock")
"""The variants that the gardener's losses are held against, as far as they were run."""


def closing(report: Report) -> list[str]:
    """The words about all sessions together; nothing unless aider as it is and the gardener ran on each."""
    rows = report.totals or report.summaries
    if len({row.session for row in rows}) > 1:
        return []
    return closing_of({row.variant: row for row in rows})


def closing_of(rows: Mapping[str, Summary]) -> list[str]:
    """The words about one session's rows by variant, or about their sums."""
    if GARDENER not in rows or WHOLE not in rows:
        return []
    return [f"{saved(rows[WHOLE], rows[GARDENER])} {lost(rows)}"]


def saved(before: Summary, after: Summary) -> str:
    """What the gardener saves of aider as it is, in tokens and money; more is said as more."""
    tokens, more_tokens = difference(before.tokens_billed, after.tokens_billed, short)
    cost = before.costs[0]
    dollars, more_dollars = difference(cost.cached.usd, after.costs[0].cached.usd, usd)
    prices = f"{cost.model}, cache kept"
    if more_tokens == more_dollars:
        verb = "added" if more_tokens else "saved"
        return f"The gardener {verb} {tokens} tokens ({dollars}; {prices})."
    verbs = ("added", "but saved") if more_tokens else ("saved", "but added")
    return f"The gardener {verbs[0]} {tokens} tokens {verbs[1]} {dollars} ({prices})."


def difference(before: float, after: float, shown: Callable[[float], str]) -> tuple[str, bool]:
    """The difference in words, and whether there is more than before."""
    if after > before:
        return f"{shown(after - before)} to {shown(before)}", True
    return f"{shown(before - after)} of {shown(before)}", False


def lost(rows: Mapping[str, Summary]) -> str:
    """What the gardener's prompts held of what replies used, and the probes that they did not support."""
    own = rows[GARDENER]
    beside = {name: rows[name] for name in BESIDE if name in rows}
    carried, probes = own.carry_over, own.recall
    said = ["no later reply used anything old again"]
    if carried.facts or carried.lines:
        others = ", ".join(
            f"{name} {row.carry_over.facts_present} and {row.carry_over.lines_present}"
            for name, row in beside.items()
        )
        said = [
            f"of what later replies used again, its prompts held {carried.facts_present} of {carried.facts} "
            f"facts and {carried.lines_present} of {carried.lines} lines ({others})"
        ]
    if probes.asked:
        others = ", ".join(f"{name} {unsupported(row)}" for name, row in beside.items())
        said.append(f"{unsupported(own)} of {probes.asked} probes were not supported ({others})")
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}."


def unsupported(row: Summary) -> int:
    return row.recall.asked - row.recall.supported


def short(tokens: float) -> str:
    """A count of tokens in three digits or so."""
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= unit:
            return f"{tokens / unit:.1f}{letter}"
    return f"{tokens:.0f}"


def usd(value: float) -> str:
    """Cents for whole dollars, a tenth of a cent below."""
    return f"${value:,.2f}" if value >= 1 else f"${value:.3f}"
