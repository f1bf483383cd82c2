"""What an HTML report lists of each compaction: what was swapped and why, with both texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aider_gardener.replay.measure.result import Compaction, Swapped
from aider_gardener.replay.measure.summary import llm_wall_clock
from aider_gardener.replay.play.gardened import middle_cut
from aider_gardener.replay.show.html_detail import Detail

TEXT_CHARS = 8_000
"""Of one text at most so many characters are shown."""

SHORT_CHARS = 300
"""So many once the page's allowance is used up."""

PAGE_CHARS = 4_000_000
"""Characters of originals and renditions that one page may hold before texts are cut short."""

SWAPS_SHOWN = 200
"""Swaps of one compaction that are listed, those that save most; their number is always told."""


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


def compaction_rows(detail: Detail, allowance: TextAllowance) -> list[dict[str, Any]]:
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
        "saved": event.tokens_before - event.tokens_after,
        "reason": event.reason,
        "calls": event.calls,
        "paid": event.prompt_tokens + event.completion_tokens,
        "took": f"{seconds * 1000:,.0f} ms" if event.by == "plan" else f"{seconds:,.1f} s (modelled)",
        "swap_count": len(swaps),
        "swaps": [swap_row(swap, allowance) for swap in shown],
    }


def swap_row(swap: Swapped, allowance: TextAllowance) -> dict[str, Any]:
    """One swap with both texts."""
    return {
        "id": swap.entry_id,
        "turn": swap.turn,
        "source": swap.source,
        "cls": swap.cls,
        "before": swap.before,
        "after": swap.after,
        "saved": swap.tokens_saved,
        "reason": swap.reason,
        "original": allowance.take(swap.original),
        "rendition": allowance.take(swap.rendition),
    }
