"""Writes a report of replays as one HTML file that needs nothing else (see `page`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from aider_gardener.phrases import counted
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.measure.summary import ReplayReport, Summary
from aider_gardener.replay.play.jobs import FoundSession
from aider_gardener.replay.play.variants import variant_named
from aider_gardener.replay.show.html_chart import (
    MARK_SPACE,
    NARROW,
    WIDE,
    Chart,
    Columns,
    chart_of,
    columns_of,
    shown_of,
    top_of,
)
from aider_gardener.replay.show.html_detail import LAYERS, ReplayDetail, detail_of
from aider_gardener.replay.show.html_tables import (
    TextAllowance,
    compaction_rows,
    fact_rows,
    figure_rows,
    price_rows,
    probe_rows,
    recalled_rows,
    saved_tokens,
)
from aider_gardener.replay.show.page import asset, rendered, write_private
from aider_gardener.replay.show.table import captions
from aider_gardener.replay.show.verdict import best_stock, gardened_in, verdict, verdict_on

TILES: tuple[str, ...] = (
    "",
    "M0 4H8",
    "M4 0V8",
    "M0 8L8 0M-2 2L2 -2M6 10L10 6",
    "M0 0L8 8M-2 6L2 10M6 -2L10 2",
    "M2 2h2v2h-2z",
    "M0 2H8M0 6H8",
    "M2 0V8M6 0V8",
    "M0 4H8M4 0V8",
    "M0 0L8 8M0 8L8 0",
    "M1 1h1v1h-1zM5 5h1v1h-1z",
    "M0 4L2 2L4 4L6 2L8 4",
    "M0 1H4M4 5H8",
    "M1 0V4M5 4V8",
)
"""The pattern of each layer on a tile of 8 by 8, in the order of LAYERS: layers differ without colour."""

LIMITS = (
    "No model was asked: every reply is the one recorded. The page cannot show whether a model would have "
    "written a better or worse edit with another history, only what it was sent and what that costs.",
    "Still known says what a prompt held, not what a model would have made of it. What is asked of the "
    "recorded sessions was written by a language model, and so were both sides of those chats.",
    "What was reused is counted from replies that could only use what their own prompts held then: a "
    "chat that was held with a short history shows little.",
    "Dollars are modelled from published prices and caching rules, with the tokens of one tokenizer for "
    "every provider: compare the rows, not the providers.",
)

Found = Mapping[tuple[str, str], ReplayDetail]


@dataclass
class Details:
    """Collects the details of a report's results as they come in, from any thread."""

    found: dict[tuple[str, str], ReplayDetail] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def look(self, source: FoundSession, result: ReplayResult) -> None:
        """Take the details of one result; it must still have its texts."""
        detail = detail_of(result, source.session)
        with self.lock:
            self.found[result.session, result.variant] = detail


def write_html(report: ReplayReport, details: Details, path: Path) -> None:
    """Write the report, readable by its owner only; ReplayError if that fails."""
    write_private(path, html_of(report, details))


def html_of(report: ReplayReport, details: Details) -> str:
    """The text of the whole page."""
    return rendered(
        "report.html.jinja",
        script=asset("report.js"),
        filters={"saved": saved_tokens},
        **page_value(report, details.found),
        layers=LAYERS,
        tiles=TILES,
    )


def page_value(report: ReplayReport, details: Found) -> dict[str, Any]:
    """All that the template needs; originals share one allowance of characters for the whole page."""
    allowance = TextAllowance()
    names = list(dict.fromkeys(result.session for result in report.results))
    return {
        "sessions": [
            session_value(f"s{number}", name, report, details, allowance)
            for number, name in enumerate(names, 1)
        ],
        "verdict": verdict(report),
        "totals": table_values(report.totals) if report.totals else None,
        "captions": [line for line in captions(report) if line not in report.notes],
        "notes": report.notes,
        "limits": LIMITS,
        "texts_cut": allowance.cut,
        "title": names[0] if len(names) == 1 else counted(len(names), "chat"),
        "mark_radius": MARK_SPACE // 2,
    }


def chosen_of(rows: Mapping[str, Summary]) -> tuple[str, str]:
    """What the page compares: the baseline and the gardener, or what was replayed in their place."""
    baseline = best_stock(rows) or ("none" if "none" in rows else next(iter(rows), ""))
    others = (name for name in rows if name != baseline)
    return baseline, gardened_in(rows) or next(others, baseline)


def table_values(summaries: Sequence[Summary]) -> dict[str, Any]:
    """The figures and prices of one session, or of the sums of several."""
    rows = {summary.variant: summary for summary in summaries}
    baseline, gardened = chosen_of(rows)
    return {
        "baseline": baseline,
        "gardened": gardened,
        "figures": figure_rows(rows, baseline, gardened),
        "prices": price_rows(summaries, baseline),
    }


def session_value(
    key: str, name: str, report: ReplayReport, details: Found, allowance: TextAllowance
) -> dict[str, Any]:
    """One session's part of the page; `key` begins the ids in it."""
    results = [result for result in report.results if result.session == name]
    summaries = [summary for summary in report.summaries if summary.session == name]
    rows = {summary.variant: summary for summary in summaries}
    baseline, gardened = chosen_of(rows)
    own = {result.variant: details[name, result.variant] for result in results}
    columns = columns_of(list(own.values()))
    highest = top_of(max((one.tokens for detail in own.values() for one in detail.requests), default=0))
    charts = [
        chart_value(f"{key}-{number}", result, own[result.variant], columns, highest, allowance)
        for number, result in enumerate(results, 1)
    ]
    drawn = {layer for chart in charts for layer, _ in chart["frames"][0].layers}
    return {
        "key": key,
        "name": name,
        "turns": results[0].turns,
        "verdict": verdict_on(rows),
        "charts": charts,
        "legend": [(layer, meaning) for layer, meaning in LAYERS if layer in drawn],
        "per_column": columns.per_column,
        "readout": {variant: readout(detail, columns) for variant, detail in own.items()},
        "probes": probe_rows(results),
        "probe_variants": list(own),
        "missed": rows[gardened].recall.asked - rows[gardened].recall.supported,
        "facts": fact_rows(own, [baseline, gardened]),
        **table_values(summaries),
    }


def chart_value(
    key: str,
    result: ReplayResult,
    detail: ReplayDetail,
    columns: Columns,
    top_tokens: int,
    allowance: TextAllowance,
) -> dict[str, Any]:
    """One variant's chart, drawn for a screen and for a telephone, with its compactions."""
    frames: list[Chart] = [chart_of(detail, columns, top_tokens, frame) for frame in (WIDE, NARROW)]
    return {
        "key": key,
        "variant": result.variant,
        "about": variant_named(result.variant).about,
        "frames": frames,
        "largest": result.largest_prompt,
        "requests": len(detail.requests),
        "budget": result.provenance.history_tokens,
        "window": result.provenance.window_tokens,
        "compactions": compaction_rows(detail, allowance),
        "recalled": recalled_rows(detail, allowance),
    }


def readout(detail: ReplayDetail, columns: Columns) -> list[list[int] | None]:
    """For each column: turn, call, tokens, then the tokens of each layer; None without a request."""
    rows: list[list[int] | None] = []
    for request in shown_of(detail, columns):
        if request is None:
            rows.append(None)
            continue
        layers = [request.layers.get(name, 0) for name, _ in LAYERS]
        rows.append([request.turn, request.call, request.tokens, *layers])
    return rows
