"""Whether the default does harm: figures of the gardener beside those of the host, and which miss their goal.

A row is a session, the chain of all, or a session as a plain chat, with the figures of three variants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

GARDENER, RIVAL, WHOLE = "gardener", "stock-fixed", "stock"
VARIANTS = (GARDENER, RIVAL, WHOLE)
"""The gardener; aider with its summaries applied, which it must not be worse than; aider as it is."""

CHOSEN_ON, HELD_OUT = "chosen on", "held out"
"""The two halves: constants were chosen on one, the other is only reported."""

SESSION, CHAIN, PLAIN = "session", "chain", "plain"
"""The kinds of rows."""

PRICES: Mapping[str, str] = {
    "OpenAI": "gpt-4o",
    "Anthropic --cache-prompts": "Claude --cache-prompts",
    "DeepSeek": "DeepSeek",
}
"""The providers whose prices are shown, and how their columns are headed."""

USUAL_MODEL = "gpt-4o"

COUNTS = ("supported", "facts", "lines")
LEAST_SHARE_OF_WHOLE = 0.97
"""Of what is supported with nothing trimmed."""

Figures = Mapping[str, Any]
Row = Mapping[str, Any]


def halves(names: Iterable[str]) -> dict[str, str]:
    """Which half each session is in: alternately by sorted name, the first one chosen on."""
    return {name: (CHOSEN_ON, HELD_OUT)[place % 2] for place, name in enumerate(sorted(set(names)))}


def figures(row: Row) -> dict[str, Any]:
    """What is kept of a replay's row: counts as [met, of], dollars as [with the cache kept, without]."""
    asked, _present, supported = row["recall"]
    return {
        "supported": [supported, asked],
        "facts": list(row["carry_over"]),
        "lines": list(row["carry_lines"]),
        "tokens_billed": row["tokens_billed"],
        "usd": {name: list(row["usd"][name]) for name in PRICES},
    }


def misses(variants: Mapping[str, Figures]) -> set[str]:
    """The cells in which the gardener misses its goal: names of COUNTS, and `<provider> cached` or
    `<provider> uncached`. Tokens billed have no goal: it is their price that counts."""
    own, rival, whole = (variants[name] for name in VARIANTS)
    found = {name for name in COUNTS if own[name][0] < rival[name][0]}
    if own["supported"][0] < LEAST_SHARE_OF_WHOLE * whole["supported"][0]:
        found.add("supported")
    for provider in PRICES:
        for place, kept in enumerate(("cached", "uncached")):
            if own["usd"][provider][place] > rival["usd"][provider][place]:
                found.add(f"{provider} {kept}")
    return found


GOALS = len(COUNTS) + 2 * len(PRICES)
"""Cells of a row that have a goal."""


def summed(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """The figures of each variant over several rows."""
    return {name: added([row["variants"][name] for row in rows]) for name in VARIANTS}


def added(found: Sequence[Figures]) -> dict[str, Any]:
    def pairs(of: Iterable[Sequence[float]]) -> list[float]:
        return [sum(column) for column in zip(*of, strict=True)]

    return {
        **{name: pairs(one[name] for one in found) for name in COUNTS},
        "tokens_billed": sum(one["tokens_billed"] for one in found),
        "usd": {
            provider: [round(usd, 4) for usd in pairs(one["usd"][provider] for one in found)]
            for provider in PRICES
        },
    }


def title(row: Row) -> str:
    """A row's name, with its half and whatever model but the usual one has the limits."""
    model = "" if row["model"] == USUAL_MODEL else str(row["model"])
    besides = "; ".join(filter(None, [row["half"], model]))
    return f"{row['session']} ({besides})" if besides else str(row["session"])


def with_sums(rows: Sequence[Row]) -> list[tuple[str, Mapping[str, Figures]]]:
    """The rows of one kind as (name, figures by variant), then a sum for each half that has any."""
    shown: list[tuple[str, Mapping[str, Figures]]] = [(title(row), row["variants"]) for row in rows]
    for half in (CHOSEN_ON, HELD_OUT):
        own = [row for row in rows if row["half"] == half]
        if own:
            shown.append((f"{half}: {len(own)} together", summed(own)))
    return shown
