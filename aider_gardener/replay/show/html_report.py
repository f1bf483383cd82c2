"""Writes a report as one HTML file that needs nothing else: no server, no network, no key.

Whatever a chat holds is text in it, never markup; the file's own script is the only one that its
content security policy lets run.
"""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.measure.summary import ReplayReport, Summary
from aider_gardener.replay.play.jobs import FoundSession
from aider_gardener.replay.play.variants import variant_named
from aider_gardener.replay.show.html_chart import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Columns,
    chart_of,
    columns_of,
    ticks,
    top_of,
    turn_ticks,
    y_of,
)
from aider_gardener.replay.show.html_detail import LAYERS, LayeredRequest, ReplayDetail, detail_of
from aider_gardener.replay.show.html_tables import (
    TextAllowance,
    card_rows,
    compaction_rows,
    fact_rows,
    price_rows,
    probe_rows,
    recalled_rows,
    variant_rows,
)
from aider_gardener.replay.show.table import captions, closing, closing_of

FOLDER = Path(__file__).parent / "html"

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

BASELINES = ("stock", "stock-fixed", "none")
"""What the gardener is held against: the first of these that was replayed."""

LIMITS = (
    "No model was asked: every reply is the one recorded. The page cannot show whether a model would have "
    "written a better or worse edit with another history, only what it was sent and what that costs.",
    "A probe says what a prompt held, not what a model would have made of it. Probes of the recorded "
    "sessions were written by a language model, and so were both sides of those chats.",
    "What is carried over is counted from replies that could only use what their own prompts held then: a "
    "chat that was held with a short history shows few.",
    "Dollars are modelled from published prices and caching rules, with the tokens of one tokenizer for "
    "every provider: compare the rows, not the providers.",
)

HISTORY_LIMIT = (
    "This chat was read from a history file, which holds neither the files that were in the chat nor, "
    "since aider 0.64, the outputs of commands: what was really sent was larger, and so may be what can be "
    "saved."
)

Found = Mapping[tuple[str, str], ReplayDetail]


@dataclass
class Details:
    """Collects the details of a report's results as they come in, from any thread."""

    found: dict[tuple[str, str], ReplayDetail] = field(default_factory=dict)
    recorded: dict[str, bool] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def look(self, source: FoundSession, result: ReplayResult) -> None:
        """Take the details of one result; it must still have its texts."""
        detail = detail_of(result, source.session)
        with self.lock:
            self.found[result.session, result.variant] = detail
            self.recorded[result.session] = source.session.recorded


def write_html(report: ReplayReport, details: Details, path: Path) -> None:
    """Write the report, readable by its owner only; ReplayError if that fails."""
    text = html_of(report, details)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_private(path, text)
    except OSError as problem:
        raise ReplayError(f"{path}: cannot be written ({problem.strerror or problem})") from problem


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, in one go: a reader finds the old one or the new one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def html_of(report: ReplayReport, details: Details) -> str:
    """The text of the whole page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count"] = lambda value: f"{value:,}"
    script, style = (asset(name) for name in ("report.js", "report.css"))
    value: Mapping[str, Any] = page_value(report, details.found, details.recorded)
    page = environment.get_template("report.html.jinja")
    return page.render(**value, layers=LAYERS, script=script, style=style, policy=policy(script), tiles=TILES)


def asset(name: str) -> str:
    """A part of the page that stands in it as it is; it must not hold an end tag."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    if "</" in text:
        raise ReplayError(f"{name}: holds an end tag; install aider-gardener again")
    return text


def policy(script: str) -> str:
    """A content security policy under which only this script runs and nothing is fetched."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def page_value(report: ReplayReport, details: Found, recorded: Mapping[str, bool]) -> dict[str, Any]:
    """All that the template needs; originals share one allowance of characters for the whole page."""
    allowance = TextAllowance()
    names = list(dict.fromkeys(result.session for result in report.results))
    sessions = [
        session_value(f"s{number}", name, report, details, recorded.get(name, True), allowance)
        for number, name in enumerate(names, 1)
    ]
    return {
        "sessions": sessions,
        "totals": price_rows(report.totals, baseline_of([row.variant for row in report.totals])),
        "captions": captions(report),
        "closing": closing(report) if len(names) > 1 else [],
        "limits": LIMITS,
        "texts_cut": allowance.cut,
        "title": names[0] if len(names) == 1 else f"{len(names)} sessions",
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": RIGHT,
        "top": TOP,
        "bottom": BOTTOM,
    }


def baseline_of(variants: Sequence[str]) -> str:
    """The variant that others are held against; "" if there is none to choose."""
    return next((name for name in [*BASELINES, *variants] if name in variants), "")


def gardened_of(variants: Sequence[str], baseline: str) -> str:
    """The gardener's variant, else another than the baseline, else the baseline."""
    with_settings = [name for name in variants if variant_named(name).settings is not None]
    wanted = ["gardener", *with_settings, *(name for name in variants if name != baseline)]
    return next((name for name in wanted if name in variants), baseline)


def session_value(
    key: str, name: str, report: ReplayReport, details: Found, is_recorded: bool, allowance: TextAllowance
) -> dict[str, Any]:
    """One session's part of the page; `key` begins the ids in it."""
    results = [result for result in report.results if result.session == name]
    summaries = [summary for summary in report.summaries if summary.session == name]
    variants = [result.variant for result in results]
    baseline = baseline_of(variants)
    gardened = gardened_of(variants, baseline)
    own = {variant: details[name, variant] for variant in variants}
    columns = columns_of(list(own.values()))
    highest = max((one.tokens for detail in own.values() for one in detail.requests), default=0)
    return {
        "key": key,
        "name": name,
        "turns": results[0].turns,
        "note": "" if is_recorded else HISTORY_LIMIT,
        "baseline": baseline,
        "gardened": gardened,
        "closing": closing_of(by_variant(summaries)),
        "cards": card_rows(by_variant(summaries), baseline, gardened, results[0].provenance),
        "charts": [
            chart_value(f"{key}-{number}", result, own[result.variant], columns, top_of(highest), allowance)
            for number, result in enumerate(results, 1)
        ],
        "ticks": ticks(top_of(highest)),
        "turn_ticks": turn_ticks(columns),
        "per_column": columns.per_column,
        "readout": {variant: readout(own[variant], columns, top_of(highest)) for variant in variants},
        "probes": probe_rows(results),
        "probe_variants": variants,
        "prices": price_rows(summaries, baseline),
        "facts": fact_rows(own, [baseline, gardened]),
        "variants": variant_rows(summaries),
        "window": results[0].provenance.window_tokens,
    }


def by_variant(summaries: Sequence[Summary]) -> dict[str, Summary]:
    return {summary.variant: summary for summary in summaries}


def chart_value(
    key: str,
    result: ReplayResult,
    detail: ReplayDetail,
    columns: Columns,
    top_tokens: int,
    allowance: TextAllowance,
) -> dict[str, Any]:
    """One variant's chart with its compactions."""
    chart = chart_of(detail, columns, top_tokens)
    budget = result.provenance.history_tokens
    return {
        "key": key,
        "variant": result.variant,
        "about": variant_named(result.variant).about,
        "layers": chart.layers,
        "labels": layer_labels(chart.columns, top_tokens),
        "marks": chart.marks,
        "largest": result.largest_prompt,
        "requests": len(detail.requests),
        "budget": budget,
        "compactions": compaction_rows(detail, allowance),
        "recalled": recalled_rows(detail, allowance),
    }


def layer_labels(shown: Sequence[LayeredRequest | None], top_tokens: int) -> list[tuple[str, float]]:
    """(layer, y) for each layer that is high enough at the right end to be named there."""
    last = next((request for request in reversed(shown) if request), None)
    found, floor = [], 0
    for name, _ in LAYERS:
        tokens = last.layers.get(name, 0) if last else 0
        low, high = y_of(floor, top_tokens), y_of(floor + tokens, top_tokens)
        if low - high >= 12:
            found.append((name, round((low + high) / 2 + 4, 1)))
        floor += tokens
    return found


def readout(detail: ReplayDetail, columns: Columns, top_tokens: int) -> list[list[int] | None]:
    """For each column: turn, call, tokens, then the tokens of each layer; None without a request."""
    rows: list[list[int] | None] = []
    for request in chart_of(detail, columns, top_tokens).columns:
        if request is None:
            rows.append(None)
            continue
        layers = [request.layers.get(name, 0) for name, _ in LAYERS]
        rows.append([request.turn, request.call, request.tokens, *layers])
    return rows
