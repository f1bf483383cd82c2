"""The last table of a report over several sessions: the mean of each figure, every session counting the same.

The sums beside it weigh a long session more; a variant that is good on one session only shows here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aider_gardener.replay.measure.cost import PROVIDERS, Cost
from aider_gardener.replay.measure.summary import DISTANCES, Recall, Summary, percentile

NOTHING = "–"

Cell = Callable[[Sequence[Summary]], str]


def mean_columns() -> list[tuple[str, Cell]]:
    """Heading and what stands under it, for the summaries of one variant."""
    return [
        ("present", lambda rows: mean_share([row.recall for row in rows], "present")),
        ("supported", lambda rows: mean_share([row.recall for row in rows], "supported")),
        *((f"supported\n{name} turns", at_distance(name)) for name, _, _ in DISTANCES),
        ("tokens\nbilled", lambda rows: f"{mean([row.tokens_billed for row in rows]):,.0f}"),
        ("largest\nprompt", lambda rows: f"{mean([row.largest_prompt for row in rows]):,.0f}"),
        *((f"{provider.name}\nfrom cache", from_cache(at)) for at, provider in enumerate(PROVIDERS[:2])),
        ("plans", lambda rows: f"{mean([row.plan_compactions for row in rows]):.1f}"),
        ("LLM time\nmodelled", lambda rows: seconds([row.llm_seconds for row in rows])),
        ("plan time\nmeasured", lambda rows: seconds([row.plan_seconds for row in rows])),
        ("overhead\np95 ms", overhead),
    ]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def mean_share(found: Sequence[Recall], figure: str) -> str:
    """The mean percentage over the sessions that asked any."""
    shares = [100 * getattr(one, figure) / one.asked for one in found if one.asked]
    return f"{mean(shares):.1f} %" if shares else NOTHING


def at_distance(name: str) -> Cell:
    return lambda rows: mean_share([row.recall_by_distance.get(name, Recall()) for row in rows], "supported")


def from_cache(at: int) -> Cell:
    """The share of the input that the provider's cache serves while it is kept."""
    return lambda rows: f"{100 * mean([cache_share(row.costs[at]) for row in rows]):.0f} %"


def cache_share(cost: Cost) -> float:
    bill = cost.cached
    total = bill.input_tokens + bill.cache_read_tokens + bill.cache_write_tokens
    return bill.cache_read_tokens / total if total else 0.0


def seconds(values: Sequence[float]) -> str:
    return f"{mean(values):,.2f} s" if any(values) else NOTHING


def overhead(rows: Sequence[Summary]) -> str:
    values = [percentile(row.overhead_ms, 0.95) for row in rows if row.overhead_ms]
    return f"{mean(values):.1f}" if values else NOTHING


def by_variant(summaries: Sequence[Summary]) -> dict[str, list[Summary]]:
    """The summaries of each variant that ran on every session; nothing for a single session."""
    sessions = {summary.session for summary in summaries}
    found: dict[str, list[Summary]] = {}
    for summary in summaries:
        found.setdefault(summary.variant, []).append(summary)
    complete = {name: rows for name, rows in found.items() if {row.session for row in rows} == sessions}
    return complete if len(sessions) > 1 else {}
