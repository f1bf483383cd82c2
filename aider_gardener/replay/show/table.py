"""The figures of a report: a row a figure, a column a variant, in a terminal and in a page alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aider_gardener.replay.measure.cost import PROVIDERS
from aider_gardener.replay.measure.summary import (
    CALL_SECONDS,
    DISTANCES,
    NEEDED_SHARE,
    READ_TOKENS_PER_SECOND,
    WRITE_TOKENS_PER_SECOND,
    Recall,
    ReplayReport,
    Summary,
    percentile,
)
from aider_gardener.replay.show.verdict import money, verdict

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

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


@dataclass(frozen=True)
class Figure:
    """A row: its name, what stands in it for each summary, and what a reader must know of it."""

    name: str
    cell: Callable[[Summary], str]
    about: str = ""


def own_cost(summary: Summary) -> Figure:
    """What the chat costs with its own model."""
    model = summary.own.model if summary.own else ""
    return Figure(f"$ at {model}", lambda row: money(row.own.cached.usd) if row.own else NOTHING)


def brief(rows: Sequence[Summary]) -> list[Figure]:
    """What a user decides by."""
    return [
        own_cost(rows[0]),
        Figure("tokens billed", lambda row: f"{row.tokens_billed:,}"),
        Figure("largest prompt", lambda row: f"{row.largest_prompt:,}"),
        Figure(
            "questions supported",
            lambda row: of_count(row.recall.supported, row.recall.asked),
            f"{PRESENT} {SUPPORTED}",
        ),
        Figure(
            "facts used again",
            lambda row: of_count(row.carry_over.facts_present, row.carry_over.facts),
            USED_AGAIN,
        ),
        Figure(
            "lines used again",
            lambda row: of_count(row.carry_over.lines_present, row.carry_over.lines),
            USED_AGAIN,
        ),
    ]


def further(rows: Sequence[Summary]) -> list[Figure]:
    return [
        Figure("questions present", lambda row: of_count(row.recall.present, row.recall.asked)),
        *recall_figures(rows),
        Figure(
            "usable turns",
            usable_turns,
            f"usable turns: the prompt fits the window and at least {NEEDED_SHARE * 100:.0f} % of the "
            "questions asked so far are supported; ≥ where the session ended first, ≤ where it was too few "
            "from the first.",
        ),
        Figure("summaries by a model", llm_compactions, "lost: paid for and thrown away."),
        Figure("plans of the gardener", lambda row: str(row.plan_compactions or NOTHING)),
        Figure(
            "summaries take, modelled",
            lambda row: seconds(row.llm_seconds),
            f"Summaries are taken to last {CALL_SECONDS} s a call, {READ_TOKENS_PER_SECOND:,.0f} tokens/s "
            f"read, {WRITE_TOKENS_PER_SECOND:,.0f} tokens/s written.",
        ),
        Figure("plans take, measured", lambda row: seconds(row.plan_seconds)),
        Figure("overhead a turn, p50 / p95 ms", overhead),
    ]


def providers() -> list[Figure]:

    def cost(number: int, *, cold: bool) -> Callable[[Summary], str]:
        def cell(row: Summary) -> str:
            bills = row.costs[number]
            return money((bills.uncached if cold else bills.cached).usd)

        return cell

    return [
        Figure(f"$ {provider.name}{', cold' if cold else ''}", cost(number, cold=cold), COSTS)
        for number, provider in enumerate(PROVIDERS)
        for cold in (False, True)
    ]


def usable_turns(row: Summary) -> str:
    """Without probes only an overflow of the window says anything."""
    unknown = row.usable is None or (not row.recall.asked and not row.usable.ended_by)
    return NOTHING if unknown else str(row.usable)


def of_count(count: int, total: int) -> str:
    return f"{count:,} of {total:,}" if total else NOTHING


def seconds(value: float) -> str:
    if not value:
        return NOTHING
    return f"{value:,.0f} s" if value >= 10 else f"{value:.2f} s"


def llm_compactions(row: Summary) -> str:
    lost = f", {row.llm_discarded} lost" if row.llm_discarded else ""
    return f"{row.llm_compactions}{lost}" if row.llm_compactions or lost else NOTHING


def overhead(row: Summary) -> str:
    if not row.overhead_ms:
        return NOTHING
    return f"{percentile(row.overhead_ms, 0.5):.1f} / {percentile(row.overhead_ms, 0.95):.1f}"


def recall_figures(rows: Sequence[Summary]) -> list[Figure]:
    """By distance: how many of the probes were present / supported."""

    def figure(name: str) -> Figure:
        asked = max((row.recall_by_distance.get(name, Recall()).asked for row in rows), default=0)

        def cell(row: Summary) -> str:
            found = row.recall_by_distance.get(name, Recall())
            return f"{found.present} / {found.supported}" if found.asked else NOTHING

        return Figure(f"  {name} turns ago, {asked}", cell, "of these: present / supported.")

    return [figure(name) for name, _, _ in DISTANCES]


def telling(figures: Sequence[Figure], rows: Sequence[Summary]) -> list[Figure]:
    return [figure for figure in figures if any(figure.cell(row) != NOTHING for row in rows)]


def figures(rows: Sequence[Summary], *, full: bool) -> list[Figure]:
    """The rows of a table that say something."""
    return telling([*brief(rows), *(further(rows) if full else ()), *(providers() if full else ())], rows)


def blocks(report: ReplayReport) -> Iterator[tuple[str, list[Summary]]]:
    """(title, rows) for each session, then for their sum."""
    everything = [*report.summaries, *report.totals]
    for session in dict.fromkeys(summary.session for summary in everything):
        rows = [summary for summary in everything if summary.session == session]
        asked = f", {rows[0].recall.asked} questions" if rows[0].recall.asked else ""
        yield f"{session}: {rows[0].turns} turns{asked}", rows


def tables(report: ReplayReport, *, full: bool = False) -> Iterator[RenderableType]:
    """What to print, in order; the verdict last. In brief of several sessions their sum alone."""
    from rich import box
    from rich.text import Text

    from aider_gardener.tables import grid

    found = list(blocks(report))
    abouts: dict[str, None] = {}
    for title, rows in found if full or not report.totals else found[-1:]:
        yield Text(title, style="bold")
        shown = figures(rows, full=full)
        abouts |= dict.fromkeys(figure.about for figure in shown)
        cells = [(figure.name, *(figure.cell(row) for row in rows)) for figure in shown]
        yield grid(("", *(f">{row.variant}" for row in rows)), cells, box=box.SIMPLE_HEAD)
        yield ""
    told = [provenance(report), *abouts] if full else []
    for line in filter(None, [*told, *report.notes]):
        yield Text(line)
    for line in verdict(report).lines:
        yield Text(line)


def provenance(report: ReplayReport) -> str:
    """What the figures hold for."""
    if not report.results:
        return ""
    first = report.results[0].provenance
    budgets = sorted({result.provenance.history_tokens for result in report.results})
    return (
        f"{first.model} (window {first.window_tokens:,} tokens, weak model {first.weak_model}), "
        f"history budget {', '.join(f'{tokens:,}' for tokens in budgets)} tokens, map budget "
        f"{first.map_tokens:,} tokens, {'--cache-prompts, ' if first.cache_prompts else ''}"
        f"aider {first.aider}, tokens by {first.tokenizer}."
    )


def print_report(report: ReplayReport, console: Console, *, full: bool = False) -> None:
    for part in tables(report, full=full):
        console.print(part, soft_wrap=False, highlight=False)
