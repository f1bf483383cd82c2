"""The tables and lists of an HTML report: figures, prices, probes, facts, and compactions with both texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aider_gardener.phrases import counted
from aider_gardener.replay.measure.result import (
    Compaction,
    ProbeResult,
    Quoted,
    ReplayResult,
    Swapped,
)
from aider_gardener.replay.measure.summary import Summary, llm_wall_clock
from aider_gardener.replay.play.gardened import middle_cut
from aider_gardener.replay.play.variants import variant_named
from aider_gardener.replay.show.html_detail import ReplayDetail
from aider_gardener.replay.show.table import (
    NOTHING,
    llm_compactions,
    money,
    of_count,
    saved_share,
    short,
    times,
    usable_turns,
    usd,
)

FACTS_SHOWN = 400
"""Rows of the table of facts, those first that were missing from some prompt."""

FACT_CHARS = 200

TEXT_CHARS = 8_000
"""Of one text at most so many characters are shown."""

SHORT_CHARS = 300
"""So many once the page's allowance is used up."""

PAGE_CHARS = 4_000_000
"""Characters of originals and renditions that one page may hold before texts are cut short."""

PASSAGES_SHOWN = 50
"""Recalled passages of one prompt that are listed, the best; their number is always told."""
SWAPS_SHOWN = 200
"""Swaps of one compaction that are listed, those that save most; their number is always told."""


def figure_rows(rows: Mapping[str, Summary], baseline: str, gardened: str) -> dict[str, Any]:
    """The figures at the top, a row each with a column a variant, the gardener and its baseline first;
    `saved` says what the gardener needs less. Rows that say nothing are left out."""
    names = list(dict.fromkeys([gardened, baseline, *rows]))
    before, after = rows[baseline], rows[gardened]

    def row(what: str, cell: Callable[[Summary], str], saved: tuple[float, float] = (0, 0)) -> dict[str, Any]:
        difference = saved_share(*saved) if saved[0] else ""
        if gardened == baseline or difference.startswith("0 %"):
            difference = ""
        return {"what": what, "values": [cell(rows[name]) for name in names], "saved": difference}

    bills = (before.costs[0].cached.usd, after.costs[0].cached.usd)
    billed = (before.tokens_billed, after.tokens_billed)
    largest = (before.largest_prompt, after.largest_prompt)
    found = [
        row(f"cost at {before.costs[0].model} prices", lambda one: usd(one.costs[0].cached.usd), bills),
        row("tokens billed", lambda one: short(one.tokens_billed), billed),
        row("largest prompt, tokens", lambda one: short(one.largest_prompt), largest),
        row("things asked later, still known", lambda one: of_count(one.recall.supported, one.recall.asked)),
        row("their bare words, at least", lambda one: of_count(one.recall.present, one.recall.asked)),
        row("answered right by the model asked", lambda one: of_count(one.answered[1], one.answered[0])),
        row("edits of that model applied", lambda one: of_count(one.edits[1], one.edits[0])),
        row("reused facts in the prompt", facts),
        row("reused lines in the prompt", lines),
        row("usable turns", usable_turns),
        row("summaries by a model", llm_compactions),
        row("compactions without a model", lambda one: str(one.plan_compactions)),
    ]
    told = [one for one in found if any(value != NOTHING for value in one["values"])]
    return {
        "names": names,
        "about": [(name, variant_named(name).about) for name in names],
        "rows": told,
    }


def facts(row: Summary) -> str:
    return of_count(row.carry_over.facts_present, row.carry_over.facts)


def lines(row: Summary) -> str:
    return of_count(row.carry_over.lines_present, row.carry_over.lines)


def price_rows(summaries: Sequence[Summary], baseline: str) -> list[dict[str, Any]]:
    """For each provider a row a variant: dollars with and without its cache, against the baseline, and the
    input's with the cache as a multiple of the limit."""
    by_variant = {summary.variant: summary for summary in summaries}
    if baseline not in by_variant:
        return []
    tables = []
    for number, cost in enumerate(by_variant[baseline].costs):
        held = cost.cached.usd
        rows = []
        for variant, summary in by_variant.items():
            own = summary.costs[number]
            rows.append(
                {
                    "variant": variant,
                    "cached": money(own.cached.usd),
                    "uncached": money(own.uncached.usd),
                    "over": times(own.cached.input_usd, own.limit.input_usd),
                    "saved": "baseline" if variant == baseline else saved_share(held, own.cached.usd),
                    "read": own.cached.cache_read_tokens,
                    "plain": own.cached.input_tokens,
                    "written": own.cached.cache_write_tokens,
                    "output": own.cached.output_tokens,
                }
            )
        tables.append({"provider": cost.provider, "model": cost.model, "rows_of": rows})
    return tables


def probe_rows(results: Sequence[ReplayResult]) -> list[dict[str, Any]]:
    """A row a probe with how each variant met it."""
    by_number: dict[int, dict[str, ProbeResult]] = {}
    for result in results:
        for probe in result.probes:
            by_number.setdefault(probe.number, {})[result.variant] = probe
    rows = []
    for number, met in sorted(by_number.items()):
        probe = next(iter(met.values()))
        verdicts = [verdict(met.get(result.variant)) for result in results]
        rows.append(
            {
                "number": number,
                "kind": probe.kind,
                "question": probe.question,
                "about": probe.about_turn,
                "ask": probe.ask_at_turn,
                "distance": probe.distance_turns,
                "verdicts": verdicts,
            }
        )
    return rows


def verdict(probe: ProbeResult | None) -> dict[str, str]:
    """How one variant met a probe: a word, and the keys that it lacks."""
    if probe is None:
        return {"word": "not asked", "lacks": ""}
    said = "" if probe.answer is None else f"; answered {'right' if probe.answered else 'wrong'}"
    if probe.supported:
        return {"word": "supported", "lacks": said.lstrip("; ")}
    if probe.present:
        return {"word": "present", "lacks": ", ".join(probe.unsupported) + said}
    return {"word": "missing", "lacks": ", ".join(probe.missing) + said}


def fact_rows(details: Mapping[str, ReplayDetail], variants: Sequence[str]) -> dict[str, Any]:
    """The old facts that replies used again, and in which of the variants' prompts they stood; how many the
    last variant's lacked."""
    variants = list(dict.fromkeys(name for name in variants if name))
    found: dict[tuple[int, int, str], dict[str, bool]] = {}
    for variant in variants:
        for one in details[variant].carried:
            key = (one.used_turn, one.said_turn, one.text)
            stood = found.setdefault(key, {})
            stood[variant] = stood.get(variant, True) and one.present
    ordered = sorted(found.items(), key=lambda item: (all(item[1].values()), item[0]))
    rows = [
        {
            "used": used,
            "said": said,
            "text": text[:FACT_CHARS],
            "stood": [{True: "yes", False: "no", None: NOTHING}[stood.get(name)] for name in variants],
        }
        for (used, said, text), stood in ordered[:FACTS_SHOWN]
    ]
    missing = sum(not stood.get(variants[-1], True) for stood in found.values()) if variants else 0
    return {"variants": variants, "rows": rows, "count": len(found), "missing": missing}


@dataclass
class TextAllowance:
    """How many characters of chat a page may still hold. `cut` counts the texts that were cut short
    because it was used up."""

    left: int = PAGE_CHARS
    cut: int = 0

    def take(self, text: str) -> str:
        """The text, its middle left out where it is longer than allowed."""
        limit = TEXT_CHARS if self.left > 0 else SHORT_CHARS
        shown = middle_cut(text, limit)
        self.cut += self.left <= 0 and shown != text
        self.left -= len(shown)
        return shown


def recalled_rows(detail: ReplayDetail, allowance: TextAllowance) -> list[dict[str, Any]]:
    """What was recalled, prompt by prompt, with what made each passage come."""
    by_turn: dict[int, list[Quoted]] = {}
    for one in detail.quoted:
        by_turn.setdefault(one.asked, []).append(one)
    return [
        {
            "turn": turn,
            "count": len(found),
            "passages": [
                {
                    "id": one.entry_id,
                    "turn": one.turn,
                    "source": one.source,
                    "matched": one.matched,
                    "text": allowance.take(one.text),
                }
                for one in found[:PASSAGES_SHOWN]
            ],
        }
        for turn, found in sorted(by_turn.items())
    ]


def compaction_rows(detail: ReplayDetail, allowance: TextAllowance) -> list[dict[str, Any]]:
    """The compactions in the order of their marks, each with its swaps, the largest saving first."""
    by_plan: dict[int, list[Swapped]] = {}
    for swap in detail.swaps:
        by_plan.setdefault(swap.plan, []).append(swap)
    rows, plan = [], 0
    for event in detail.compactions:
        swaps: list[Swapped] = []
        seconds = llm_wall_clock(event.calls, event.prompt_tokens, event.completion_tokens)
        if event.by == "plan":
            swaps = by_plan.get(plan, [])
            seconds = detail.plan_seconds[plan] if plan < len(detail.plan_seconds) else 0.0
            plan += 1
        rows.append((event, swaps, seconds))
    rows.sort(key=lambda row: row[0].turn)
    return [compaction_row(number, *row, allowance) for number, row in enumerate(rows, 1)]


def compaction_row(
    number: int, event: Compaction, swaps: list[Swapped], seconds: float, allowance: TextAllowance
) -> dict[str, Any]:
    """One compaction; `number` is that of its mark."""
    shown = sorted(swaps, key=lambda swap: -swap.tokens_saved)[:SWAPS_SHOWN]
    return {
        "number": number,
        "turn": event.turn,
        "by": event.by,
        "applied": event.applied,
        "before": event.tokens_before,
        "after": event.tokens_after,
        "saved": saved_tokens(event.tokens_before - event.tokens_after),
        "reason": event.reason,
        "calls": event.calls,
        "paid": event.prompt_tokens + event.completion_tokens,
        "took": f"{seconds * 1000:,.0f} ms" if event.by == "plan" else f"{seconds:,.1f} s (modelled)",
        "swap_count": len(swaps),
        "swaps": [swap_row(swap, allowance) for swap in shown],
    }


def saved_tokens(count: int) -> str:
    """What a compaction saves, in words; more is said as more."""
    return f"{counted(count, 'token')} saved" if count >= 0 else f"{counted(-count, 'token')} more"


def swap_row(swap: Swapped, allowance: TextAllowance) -> dict[str, Any]:
    """One swap with both texts."""
    return {
        "id": swap.entry_id,
        "turn": swap.turn,
        "source": swap.source,
        "cls": swap.cls,
        "before": swap.before,
        "after": swap.after,
        "saved": saved_tokens(swap.tokens_saved),
        "reason": swap.reason,
        "original": allowance.take(swap.original),
        "rendition": allowance.take(swap.rendition),
    }
