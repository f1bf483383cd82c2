"""The table of a report, in words and figures: one block per session, columns stacked to the width.

The last table, over several sessions, has the mean of each figure, every session counting the same. The sums
beside it weigh a long session more; a variant that is good on one session only shows here.

The closing words of a report: what the gardener saved, and as plainly what its prompts no longer held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aider_gardener.replay.measure.cost import PROVIDERS, Cost
from aider_gardener.replay.measure.probes import CROSSED, NEVER_SAID
from aider_gardener.replay.measure.result import Provenance
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

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

NOTHING = "–"
PADDING = 2
"""Columns between two cells."""

Cell = Callable[[Sequence[Summary]], str]

GARDENER, WHOLE = "gardener", "stock"
BESIDE = ("stock-fixed", "stock")
"""The variants that the gardener's losses are held against, as far as they were run."""


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
        Column("edits\napplied", lambda row: of_count(row.edits[1], row.edits[0])),
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


def limit_columns() -> list[Column]:
    """What the input costs with each provider, its cache kept, as a multiple of the limit; and net tokens."""
    return [
        *(limit_column(number, provider.name) for number, provider in enumerate(PROVIDERS)),
        Column("net tokens\n/ limit", lambda row: times(row.net_tokens, row.limit_net_tokens)),
        Column("net\ntokens", lambda row: f"{row.net_tokens:,}" if row.net_tokens else NOTHING),
    ]


def limit_column(number: int, name: str) -> Column:
    vendor, _, option = name.partition(" ")

    def cell(row: Summary) -> str:
        cost = row.costs[number]
        return times(cost.cached.input_usd, cost.limit.input_usd)

    return Column(f"{vendor}\n{option or '/ limit'}", cell)


def times(value: float, limit: float) -> str:
    return f"{value / limit:.2f}" if limit else NOTHING


def limit_title(rows: Sequence[Summary]) -> str:
    """Whose prompts give the limit."""
    names = {row.limit_of for row in rows}
    whose = f"{names.pop()}'s prompts" if len(names) == 1 else "its own prompts"
    return f"cost of the input, cache kept, as a multiple of the limit of {whose}"


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
        *(recall_column(f"{kind} (decoy)", rows, decoys_of(kind)) for kind in (NEVER_SAID, CROSSED)),
    ]


def decoys_of(kind: str) -> Callable[[Summary], Mapping[str, Recall]]:
    return lambda row: {f"{kind} (decoy)": row.decoys.get(kind, Recall())}


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
        yield Text(limit_title(rows))
        yield from stacked(limit_columns(), rows, width)
        if rows[0].recall.asked:
            yield Text("probes present / supported, by distance and kind")
            yield from stacked(recall_columns(rows), rows, width)
    found = by_variant(report.summaries)
    if found:
        yield Text(f"mean of {len(next(iter(found.values())))} sessions", style="bold")
        yield from stacked(means_of(found), [rows[0] for rows in found.values()], width)
    for line in [*captions(report), *closing(report)]:
        yield Text(line)


def means_of(found: Mapping[str, Sequence[Summary]]) -> list[Column]:
    """The columns of means; each row stands for all summaries of its variant."""

    def column(heading: str, cell: Callable[[Sequence[Summary]], str]) -> Column:
        return Column(heading, lambda row: cell(found[row.variant]))

    return [column(heading, cell) for heading, cell in mean_columns()]


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
            f"{history_budgets(report)}, {host_options(first)}aider {first.aider}, "
            f"tokens by {first.tokenizer}" + (f", commit {first.commit}" if first.commit else "") + "."
        )
    lines += [
        "present: every answer key stands in the prompt. supported: so does enough of what stood "
        "around it when it was said. The floor is what files and luck answer. Decoys are wrong answers: "
        "invented ones that were never said, and answers to another question looked for in the surroundings "
        "of this one's.",
        "tokens billed: prompt and completion of every call, weak model and retries included. Costs: "
        "with the provider's cache kept through the session / only within a turn; all with the "
        "token counts of the tokenizer named above, so compare variants, not providers.",
        "limit: each token that stood in the last prompt of the same model, wherever, is read from the "
        "cache. One limit a session, that of the gardener's prompts where it ran: what sends less may stay "
        "below it. net tokens: those of the prompts, read from a cache as a tenth.",
        f"usable turns: the prompt fits the window and at least {NEEDED_SHARE * 100:.0f} % of the probes "
        "asked so far are supported; ≥ where the session ended first, ≤ where recall was too low from "
        "the first.",
        "carry-over: facts and lines of three and more turns ago that replies used again, and how many of "
        "them stood in the prompt.",
        f"LLM time is modelled: {CALL_SECONDS} s a call, {READ_TOKENS_PER_SECOND:,.0f} tokens/s read, "
        f"{WRITE_TOKENS_PER_SECOND:,.0f} tokens/s written; lost: paid for and thrown away.",
    ]
    return [*lines, *report.notes]


def saved_share(before: float, after: float) -> str:
    """How much less `after` is, in words; more is said as more."""
    if not before:
        return NOTHING
    percent = 100 * (before - after) / before
    return f"{abs(percent):.0f} % {'less' if percent >= 0 else 'more'}"


def history_budgets(report: ReplayReport) -> str:
    budgets = sorted({result.provenance.history_tokens for result in report.results})
    return "history budget " + ", ".join(f"{tokens:,}" for tokens in budgets) + " tokens"


def host_options(made_by: Provenance) -> str:
    """What of aider's own options the figures depend on, each with a comma behind it."""
    budget = "" if made_by.map_tokens is None else f"map budget {made_by.map_tokens:,} tokens, "
    return budget + ("--cache-prompts, " if made_by.cache_prompts else "")


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


def mean_columns() -> list[tuple[str, Cell]]:
    """Heading and what stands under it, for the summaries of one variant."""
    return [
        ("present", lambda rows: mean_share([row.recall for row in rows], "present")),
        ("supported", lambda rows: mean_share([row.recall for row in rows], "supported")),
        *((f"supported\n{name} turns", at_distance(name)) for name, _, _ in DISTANCES),
        ("tokens\nbilled", lambda rows: f"{mean([row.tokens_billed for row in rows]):,.0f}"),
        ("largest\nprompt", lambda rows: f"{mean([row.largest_prompt for row in rows]):,.0f}"),
        *((f"{provider.name}\nfrom cache", from_cache(at)) for at, provider in enumerate(PROVIDERS[:2])),
        *((f"{provider.name}\n/ limit", over_limit(at)) for at, provider in enumerate(PROVIDERS[:2])),
        ("plans", lambda rows: f"{mean([row.plan_compactions for row in rows]):.1f}"),
        ("LLM time\nmodelled", lambda rows: mean_seconds([row.llm_seconds for row in rows])),
        ("plan time\nmeasured", lambda rows: mean_seconds([row.plan_seconds for row in rows])),
        ("overhead\np95 ms", mean_overhead),
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


def over_limit(at: int) -> Cell:
    """The input's cost as a multiple of the limit while the provider's cache is kept."""
    return lambda rows: f"{mean([row.costs[at].over_limit for row in rows]):.2f}"


def cache_share(cost: Cost) -> float:
    bill = cost.cached
    total = bill.input_tokens + bill.cache_read_tokens + bill.cache_write_tokens
    return bill.cache_read_tokens / total if total else 0.0


def mean_seconds(values: Sequence[float]) -> str:
    return f"{mean(values):,.2f} s" if any(values) else NOTHING


def mean_overhead(rows: Sequence[Summary]) -> str:
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


def closing(report: ReplayReport) -> list[str]:
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
