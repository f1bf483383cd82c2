"""The tables of bench/results/grid.json: each session and their mean, the curve over budgets, kinds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import NOTHING, table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.grid.means import Key, by_key, complete, mean, mean_share, shown

Row = Mapping[str, Any]
Rows = Sequence[Row]
Cell = Callable[[Rows], str]

FLOOR = "no-history"
BUSY = 1.5
"""Load for each core above which other work must have been going on."""
PLOTS = (
    "![Probes supported over tokens billed, a curve for each variant](images/pareto-tokens.svg)",
    "",
    "![Probes supported over dollars, a curve for each variant](images/pareto-cost.svg)",
    "",
)
"""Drawn from the same file by bench/grid/plots.py."""


def grid(value: Mapping[str, Any]) -> Iterator[str]:
    """The plots, then all tables, a heading before each, then on what they depend and what is missing."""
    rows: Rows = value["rows"]
    yield from PLOTS
    sessions = list(dict.fromkeys(row["session"] for row in rows))
    own_budget = {key: found for key, found in complete(rows).items() if key[1] is None}
    yield from block(f"Mean of {len(sessions)} session{'s' * (len(sessions) > 1)}", own_budget)
    if len(sessions) > 1:
        for session in sessions:
            found = by_key([row for row in rows if row["session"] == session and row["budget"] is None])
            yield from block(session, found)
    yield from one_chat(value["chained"])
    yield from curve(complete(rows))
    yield from kinds(own_budget)
    yield from caption(value)


def block(title: str, found: Mapping[Key, Rows]) -> Iterator[str]:
    """Two tables over the variants at their own budget: what is known, and what it costs."""
    ordered = sorted(found.items(), key=lambda item: item[0][0] == FLOOR)
    for about, columns in (("what is known", recall_columns()), ("what it costs", cost_columns(found))):
        yield f"### {title}: {about}"
        yield ""
        head = ["variant", *(heading for heading, _ in columns)]
        lines = [[shown(key[0]), *(cell(rows) for _, cell in columns)] for key, rows in ordered]
        yield from table(head, lines)
        yield ""


def recall_columns() -> list[tuple[str, Cell]]:
    return [
        ("present", lambda rows: percent(mean_share(rows, at=1))),
        ("supported", lambda rows: percent(mean_share(rows))),
        *((f"{name} turns", distance(name)) for name in ("≤ 10", "11–25", "> 25")),
        ("carry-over", carry_over),
        ("usable turns", lambda rows: ", ".join(row["usable"] or NOTHING for row in rows)),
        ("invented", lambda rows: percent(mean_share(rows, "decoys", "never said"))),
        ("crossed", lambda rows: percent(mean_share(rows, "decoys", "crossed"))),
    ]


def cost_columns(found: Mapping[Key, Rows]) -> list[tuple[str, Cell]]:
    providers = list(next(iter(found.values()))[0]["usd"])
    return [
        ("budget", budgets),
        ("tokens billed", lambda rows: f"{average(rows, 'tokens_billed'):,.0f}"),
        ("largest prompt", lambda rows: f"{average(rows, 'largest_prompt'):,.0f}"),
        *((f"$ {name}", dollars(name)) for name in providers),
        ("from cache", lambda rows: percent(100 * mean([row["from_cache"][providers[0]] for row in rows]))),
        ("by LLM (lost)", lambda rows: f"{by_llm(rows, 0):.1f} ({by_llm(rows, 1):.1f})"),
        ("by plan", lambda rows: f"{average(rows, 'plans'):.1f}"),
        ("LLM s", lambda rows: f"{average(rows, 'llm_seconds'):.0f}"),
        ("plans s", lambda rows: f"{mean([row['measured']['plan_seconds'] for row in rows]):.2f}"),
        ("overhead ms p50 / p95", overhead),
    ]


def percent(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.0f} %"


def average(rows: Rows, name: str) -> float:
    return mean([row[name] for row in rows])


def by_llm(rows: Rows, at: int) -> float:
    return mean([row["llm"][at] for row in rows])


def distance(name: str) -> Cell:
    return lambda rows: percent(mean_share(rows, "distance", name))


def carry_over(rows: Rows) -> str:
    shares = [100 * row["carry_over"][0] / row["carry_over"][1] for row in rows if row["carry_over"][1]]
    return percent(mean(shares)) if shares else NOTHING


def dollars(provider: str) -> Cell:
    return lambda rows: f"{mean([row['usd'][provider][0] for row in rows]):.2f}"


def budgets(rows: Rows) -> str:
    return ", ".join(sorted({f"{row['history_tokens']:,}" for row in rows}))


def overhead(rows: Rows) -> str:
    found = [row["measured"]["overhead_ms"] for row in rows if row["measured"]["overhead_ms"][1]]
    if not found:
        return NOTHING
    return f"{mean([p50 for p50, _ in found]):.0f} / {mean([p95 for _, p95 in found]):.0f}"


def one_chat(rows: Rows) -> Iterator[str]:
    """All sessions one after the other in one chat: how far it gets; nothing if that was not run."""
    if not rows:
        return
    yield f"### All sessions in one chat of {rows[0]['turns']} turns"
    yield ""
    head = ["variant", "usable turns", "largest prompt", "supported", "tokens billed"]
    lines = [
        [shown(row["variant"]), row["usable"] or NOTHING, f"{row['largest_prompt']:,}",
         percent(mean_share([row])), f"{row['tokens_billed']:,}"]
        for row in rows
    ]  # fmt: skip
    yield from table(head, lines)
    yield ""


def curve(found: Mapping[Key, Rows]) -> Iterator[str]:
    """Supported probes and thousands of tokens billed at each budget; nothing without several budgets."""
    budgets = sorted({budget for _, budget in found if budget is not None})
    variants = list(dict.fromkeys(variant for variant, budget in found if budget is not None))
    if not variants:
        return
    yield "### Over the history budget: supported, thousands of tokens billed"
    yield ""
    lines = []
    for variant in variants:
        lines.append([shown(variant), *(point(found.get((variant, budget))) for budget in budgets)])
    yield from table(["variant", *(f"{budget:,}" for budget in budgets)], lines)
    yield ""


def point(rows: Rows | None) -> str:
    """A variant at one budget, or that it was not run there."""
    if not rows:
        return NOTHING
    return f"{percent(mean_share(rows))}, {average(rows, 'tokens_billed') / 1000:,.0f}k"


def kinds(found: Mapping[Key, Rows]) -> Iterator[str]:
    """Supported probes by the kind of fact."""
    names = sorted({name for rows in found.values() for row in rows for name in row["kind"]})
    yield "### By kind of fact: supported"
    yield ""
    lines = [
        [shown(key[0]), *(percent(mean_share(rows, "kind", name)) for name in names)]
        for key, rows in sorted(found.items(), key=lambda item: item[0][0] == FLOOR)
    ]
    yield from table(["variant", *names], lines)
    yield ""


def caption(value: Mapping[str, Any]) -> Iterator[str]:
    """On what the figures depend."""
    at = value["provenance"]
    yield f"`make bench`: {at['model']}, window {at['window_tokens']:,} tokens; weak {at['weak_model']};"
    yield f"aider {at['aider']}, tokens by {at['tokenizer']}, commit {at['commit'] or 'unknown'};"
    yield f"Python {at['python']}, {at['cpu']}, {at['cores']} cores."
    if at["load"] > BUSY * at["cores"]:
        yield f"The machine was busy with other work (load {at['load']}): plan time and overhead say little."
    if value["missing"]:
        missing = len(value["missing"])
        full = missing + len(value["rows"]) + len(value["chained"])
        yield f"{missing} of the {full} cells of the full grid are not measured yet: `make bench`."
