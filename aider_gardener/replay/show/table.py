"""The table of a report, in words and figures: one block per session, columns stacked to the width."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from aider_gardener.replay.show.verdict import verdict

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

NOTHING = "–"
PADDING = 2
"""Columns between two cells."""


@dataclass(frozen=True)
class Column:
    """A heading (lines apart by line feeds) and what stands under it for each summary."""

    heading: str
    cell: Callable[[Summary], str]

    def width(self, rows: Sequence[Summary]) -> int:
        lines = [*self.heading.split("\n"), *(self.cell(row) for row in rows)]
        return max(len(line) for line in lines)


def figures() -> list[Column]:
    """The columns of the main table, the most telling first."""
    return [
        Column("present", lambda row: with_share(row.recall.present, row.recall.asked)),
        Column("supported", lambda row: with_share(row.recall.supported, row.recall.asked)),
        Column("answered\nright", lambda row: of_count(row.answered[1], row.answered[0])),
        Column("tokens\nbilled", lambda row: f"{row.tokens_billed:,}"),
        Column("largest\nprompt", lambda row: f"{row.largest_prompt:,}"),
        Column("usable\nturns", usable_turns),
        Column(
            "carry-over\nfacts",
            lambda row: of_count(row.carry_over.facts_present, row.carry_over.facts),
        ),
        Column(
            "carry-over\nlines",
            lambda row: of_count(row.carry_over.lines_present, row.carry_over.lines),
        ),
        *(cost_column(number, provider.name) for number, provider in enumerate(PROVIDERS)),
        Column("compactions\nby LLM", llm_compactions),
        Column("by\nplan", lambda row: str(row.plan_compactions)),
        Column("LLM time\nmodelled", lambda row: seconds(row.llm_seconds)),
        Column("plan time\nmeasured", lambda row: seconds(row.plan_seconds)),
        Column("overhead a turn\np50 / p95 ms", overhead),
    ]


def cost_column(number: int, name: str) -> Column:
    vendor, _, option = name.partition(" ")
    heading = f"{vendor} $\n{option or 'cached / not'}"
    return Column(
        heading,
        lambda row: f"{money(row.costs[number].cached.usd)} / {money(row.costs[number].uncached.usd)}",
    )


def money(usd: float) -> str:
    """Cents for whole dollars, a tenth of a cent below."""
    return f"{usd:,.2f}" if usd >= 1 else f"{usd:.3f}"


def usable_turns(row: Summary) -> str:
    """Without probes only an overflow of the window says anything."""
    unknown = row.usable is None or (not row.recall.asked and not row.usable.ended_by)
    return NOTHING if unknown else str(row.usable)


def with_share(count: int, total: int) -> str:
    return f"{count} ({100 * count / total:.0f} %)" if total else NOTHING


def of_count(count: int, total: int) -> str:
    return f"{count} of {total}" if total else NOTHING


def seconds(value: float) -> str:
    if not value:
        return NOTHING
    return f"{value:,.0f} s" if value >= 10 else f"{value:.2f} s"


def llm_compactions(row: Summary) -> str:
    lost = f", {row.llm_discarded} lost" if row.llm_discarded else ""
    return f"{row.llm_compactions}{lost}"


def overhead(row: Summary) -> str:
    if not row.overhead_ms:
        return NOTHING
    return f"{percentile(row.overhead_ms, 0.5):.1f} / {percentile(row.overhead_ms, 0.95):.1f}"


def recall_columns(rows: Sequence[Summary]) -> list[Column]:
    """By distance, then by kind: how many of the probes were present / supported."""
    kinds = list(dict.fromkeys(kind for row in rows for kind in row.recall_by_kind))
    return [
        *(recall_column(name, rows, lambda row: row.recall_by_distance) for name, _, _ in DISTANCES),
        *(recall_column(kind, rows, lambda row: row.recall_by_kind) for kind in kinds),
    ]


def recall_column(
    name: str, rows: Sequence[Summary], get: Callable[[Summary], Mapping[str, Recall]]
) -> Column:
    """One distance or kind; the heading says how many were asked."""
    asked = max((get(row).get(name, Recall()).asked for row in rows), default=0)

    def cell(row: Summary) -> str:
        found = get(row).get(name, Recall())
        return f"{found.present} / {found.supported}" if found.asked else NOTHING

    return Column(f"{name or 'other'}\nof {asked}", cell)


def stacks(columns: Sequence[Column], rows: Sequence[Summary], width: int) -> Iterator[list[Column]]:
    """Cut the columns into as few tables as fit the width; a figure is never shortened.

    Columns that say nothing of any row are left out.
    """
    columns = [column for column in columns if any(column.cell(row) != NOTHING for row in rows)]
    names = Column("variant", variant_name)
    used = start = names.width(rows) + PADDING
    stack: list[Column] = []
    for column in columns:
        needs = column.width(rows) + PADDING
        if stack and used + needs > width:
            yield [names, *stack]
            stack, used = [], start
        stack.append(column)
        used += needs
    if stack:
        yield [names, *stack]


def variant_name(row: Summary) -> str:
    return f"{row.variant} (floor)" if row.is_floor else row.variant


def blocks(report: ReplayReport) -> Iterator[tuple[str, list[Summary]]]:
    """(title, rows) for each session, then for their sum; the floor is each block's last row."""
    everything = [*report.summaries, *report.totals]
    for session in dict.fromkeys(summary.session for summary in everything):
        rows = [summary for summary in everything if summary.session == session]
        rows.sort(key=lambda row: row.is_floor)
        yield f"{session}: {rows[0].turns} turns, {rows[0].recall.asked} probes", rows


def tables(report: ReplayReport, width: int) -> Iterator[RenderableType]:
    """What to print, in order, none wider than `width` unless a single figure is."""
    from rich.text import Text

    for title, rows in blocks(report):
        yield Text(title, style="bold")
        yield from stacked(figures(), rows, width)
        if rows[0].recall.asked:
            yield Text("probes present / supported, by distance and kind")
            yield from stacked(recall_columns(rows), rows, width)
    for line in filter(None, [*captions(report), verdict(report)]):
        yield Text(line)


def stacked(columns: Sequence[Column], rows: Sequence[Summary], width: int) -> Iterator[RenderableType]:
    from rich import box
    from rich.table import Table

    for stack in stacks(columns, rows, width):
        gap = (0, PADDING - 1, 0, 0)  # the box itself takes one column between two cells
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=gap)
        for number, column in enumerate(stack):
            table.add_column(
                column.heading,
                justify="right" if number else "left",
                no_wrap=True,
                overflow="fold",
                min_width=column.width(rows),
            )
        for row, following in zip(rows, [*rows[1:], None], strict=True):
            last_before_floor = following is not None and following.is_floor and not row.is_floor
            table.add_row(*(column.cell(row) for column in stack), end_section=last_before_floor)
        yield table
        yield ""


def captions(report: ReplayReport) -> list[str]:
    """What a reader must know to judge the figures."""
    first = report.results[0].provenance if report.results else None
    lines = []
    if first:
        lines.append(
            f"{first.model} (window {first.window_tokens:,} tokens, weak model {first.weak_model}), "
            f"{history_budgets(report)}, map budget {first.map_tokens:,} tokens, "
            f"{'--cache-prompts, ' if first.cache_prompts else ''}aider {first.aider}, "
            f"tokens by {first.tokenizer}" + (f", commit {first.commit}" if first.commit else "") + "."
        )
    lines += [
        "present: every answer key stands in the prompt. supported: so does enough of what stood "
        "around it when it was said. The floor is what files and luck answer.",
        "tokens billed: prompt and completion of every call, weak model and retries included. Costs: "
        "with the provider's cache kept through the session / only within a turn; all with the "
        "token counts of the tokenizer named above, so compare variants, not providers.",
        f"usable turns: the prompt fits the window and at least {NEEDED_SHARE * 100:.0f} % of the probes "
        "asked so far are supported; ≥ where the session ended first, ≤ where recall was too low from "
        "the first.",
        "carry-over: facts and lines of three and more turns ago that replies used again, and how many of "
        "them stood in the prompt.",
        f"LLM time is modelled: {CALL_SECONDS} s a call, {READ_TOKENS_PER_SECOND:,.0f} tokens/s read, "
        f"{WRITE_TOKENS_PER_SECOND:,.0f} tokens/s written; lost: paid for and thrown away.",
    ]
    return [*lines, *report.notes]


def history_budgets(report: ReplayReport) -> str:
    budgets = sorted({result.provenance.history_tokens for result in report.results})
    return "history budget " + ", ".join(f"{tokens:,}" for tokens in budgets) + " tokens"


def print_report(report: ReplayReport, console: Console) -> None:
    """Print all of it, one empty line between the parts."""
    for part in tables(report, console.width):
        console.print(part, soft_wrap=False, highlight=False)


def rendered(report: ReplayReport, width: int) -> str:
    """The report as plain text, without colour, at a width."""
    from io import StringIO

    from rich.console import Console

    out = StringIO()
    print_report(report, Console(file=out, width=width, color_system=None, force_terminal=False))
    return out.getvalue()
