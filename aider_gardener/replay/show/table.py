"""The figures of a report: a row a figure, a column a variant, in a terminal and in a page alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aider_gardener.phrases import counted
from aider_gardener.replay.measure.cost import PROVIDERS
from aider_gardener.replay.measure.summary import (
    CALL_SECONDS,
    DISTANCES,
    NEEDED_SHARE,
    READ_TOKENS_PER_SECOND,
    WRITE_TOKENS_PER_SECOND,
    ReplayReport,
    Summary,
    percentile,
)
from aider_gardener.replay.show.verdict import money, verdict

if TYPE_CHECKING:
    from rich.console import Console

NOTHING = "–"

USED_AGAIN = (
    "used again: facts and lines of three and more turns ago that replies used again, and how many of them "
    "stood in the prompt."
)
PRESENT = "present: every answer key stands in the prompt."
SUPPORTED = "supported: so does enough of what stood around it when it was said."
COSTS = (
    "Costs are with the provider's cache kept through the session, or only within a turn (cold); all with "
    "the token counts of one tokenizer, so compare variants, not providers."
)
USABLE = (
    f"usable turns: the prompt fits the window and at least {NEEDED_SHARE * 100:.0f} % of the questions "
    "asked so far are supported; ≥ where the session ended first, ≤ where it was too few from the first."
)
RATES = (
    f"Summaries are taken to last {CALL_SECONDS} s a call, {READ_TOKENS_PER_SECOND:,.0f} tokens/s read, "
    f"{WRITE_TOKENS_PER_SECOND:,.0f} tokens/s written."
)


@dataclass(frozen=True)
class Figure:
    """A row: its name, what stands in it for each summary, and what a reader must know of it."""

    name: str
    cell: Callable[[Summary], str]
    about: str = ""


def brief(rows: Sequence[Summary]) -> list[Figure]:
    """What a user decides by."""
    model = rows[0].own.model if rows[0].own else ""
    supported = f"{PRESENT} {SUPPORTED}"
    figures = [
        Figure(f"$ at {model}", lambda row: money(row.own.cached.usd) if row.own else NOTHING),
        Figure("tokens billed", lambda row: f"{row.tokens_billed:,}"),
        Figure("largest prompt", lambda row: f"{row.largest_prompt:,}"),
        Figure("questions supported", lambda row: of(row.recall.supported, row.recall.asked), supported),
        Figure(
            "facts used again", lambda row: of(row.carry_over.facts_present, row.carry_over.facts), USED_AGAIN
        ),
        Figure(
            "lines used again", lambda row: of(row.carry_over.lines_present, row.carry_over.lines), USED_AGAIN
        ),
    ]
    return telling(figures, rows)


def further(rows: Sequence[Summary]) -> list[Figure]:
    """The other figures of the chat's own model."""
    figures = [
        Figure("questions present", lambda row: of(row.recall.present, row.recall.asked)),
        *(recall_at(name, rows) for name, _, _ in DISTANCES),
        Figure("usable turns", usable_turns, USABLE),
        Figure("summaries by a model", summaries, "lost: paid for and thrown away."),
        Figure("plans of the gardener", lambda row: str(row.plan_compactions or NOTHING)),
        Figure("summaries take, modelled", lambda row: seconds(row.llm_seconds), RATES),
        Figure("plans take, measured", lambda row: seconds(row.plan_seconds)),
        Figure("overhead a turn, p50 / p95 ms", overhead),
    ]
    return telling(figures, rows)


def providers(rows: Sequence[Summary]) -> list[Figure]:
    """What every provider asks for, its cache kept or cold."""

    def cost(number: int, bill: str) -> Callable[[Summary], str]:
        return lambda row: money(getattr(row.costs[number], bill).usd)

    figures = [
        Figure(f"$ {provider.name}{mark}", cost(number, bill), COSTS)
        for number, provider in enumerate(PROVIDERS)
        for mark, bill in (("", "cached"), (", cold", "uncached"))
    ]
    return telling(figures, rows)


def telling(figures: Sequence[Figure], rows: Sequence[Summary]) -> list[Figure]:
    """Those that say something of some row."""
    return [figure for figure in figures if any(figure.cell(row) != NOTHING for row in rows)]


def usable_turns(row: Summary) -> str:
    """Without probes only an overflow of the window says anything."""
    unknown = row.usable is None or (not row.recall.asked and not row.usable.ended_by)
    return NOTHING if unknown else str(row.usable)


def of(count: int, total: int) -> str:
    return f"{count:,} of {total:,}" if total else NOTHING


def seconds(value: float) -> str:
    if not value:
        return NOTHING
    return f"{value:,.0f} s" if value >= 10 else f"{value:.2f} s"


def summaries(row: Summary) -> str:
    lost = f", {row.llm_discarded} lost" if row.llm_discarded else ""
    return f"{row.llm_compactions}{lost}" if row.llm_compactions or lost else NOTHING


def overhead(row: Summary) -> str:
    half, most = (percentile(row.overhead_ms, share) for share in (0.5, 0.95))
    return f"{half:.1f} / {most:.1f}" if row.overhead_ms else NOTHING


def recall_at(distance: str, rows: Sequence[Summary]) -> Figure:
    """How many of the probes of a distance were present / supported."""

    def cell(row: Summary) -> str:
        found = row.recall_by_distance[distance]
        return f"{found.present} / {found.supported}" if found.asked else NOTHING

    asked = max(row.recall_by_distance[distance].asked for row in rows)
    return Figure(f"  {distance} turns ago, {asked}", cell, "of these: present / supported.")


def print_report(report: ReplayReport, console: Console, *, full: bool = False) -> None:
    """A table for each session, then for their sum; the verdict last. In brief of several sessions their sum
    alone."""
    from rich import box

    from aider_gardener.tables import grid

    everything = [*report.summaries, *report.totals]
    sessions = list(dict.fromkeys(summary.session for summary in everything))
    abouts: dict[str, None] = {}
    for session in sessions if full or not report.totals else sessions[-1:]:
        rows = [summary for summary in everything if summary.session == session]
        asked = f", {rows[0].recall.asked} questions" if rows[0].recall.asked else ""
        console.print(f"{session}: {counted(rows[0].turns, 'turn')}{asked}")
        shown = [*brief(rows), *(further(rows) + providers(rows) if full else ())]
        abouts |= dict.fromkeys(figure.about for figure in shown)
        cells = [(figure.name, *(figure.cell(row) for row in rows)) for figure in shown]
        console.print(grid(("", *(f">{row.variant}" for row in rows)), cells, box=box.SIMPLE_HEAD))
        console.print()
    explanations = [provenance(report), *abouts] if full else []
    for line in filter(None, [*explanations, *report.notes, *verdict(report)]):
        console.print(line)


def provenance(report: ReplayReport) -> str:
    """What the figures hold for."""
    if not report.results:
        return ""
    first = report.results[0].provenance
    budgets = sorted({result.provenance.history_tokens for result in report.results})
    return (
        f"{first.model} (window {first.window_tokens:,} tokens, weak model {first.weak_model}), "
        f"history budget {', '.join(f'{tokens:,}' for tokens in budgets)} tokens, "
        f"{'--cache-prompts, ' if first.cache_prompts else ''}"
        f"aider {first.aider}, tokens by {first.tokenizer}."
    )
