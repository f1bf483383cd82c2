"""The report of replays as one HTML page that needs nothing else: no server, no network, no script.

Whatever a chat holds is text in it, never markup.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from aider_gardener.archive.store.redact import Redactor
from aider_gardener.phrases import LEVELS, counted
from aider_gardener.replay.measure.result import ProbeResult, ReplayResult
from aider_gardener.replay.measure.summary import ReplayReport, Summary
from aider_gardener.replay.play.variants import variant_named
from aider_gardener.replay.show.chart import can_draw, plot_svg
from aider_gardener.replay.show.table import NOTHING, brief, further, provenance, providers
from aider_gardener.replay.show.verdict import best_stock, gardened_in, verdict

FACTS_SHOWN, FACT_CHARS = 400, 200
"""Rows of the table of facts, those first that were missing from some prompt; and how much is shown of
one."""

SWAPS_SHOWN = 200
"""Swaps of one compaction that are listed, those that save most; their number is always told."""


def page_of(report: ReplayReport) -> str:
    """The page; every value in it is escaped."""
    names = list(dict.fromkeys(result.session for result in report.results))
    redactor = Redactor()  # what is a secret in one text is one in all
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(count="{:,}".format, counted=counted, level=LEVELS.__getitem__)
    return environment.get_template("report.html.jinja").render(
        title=names[0] if len(names) == 1 else counted(len(names), "chat"),
        sessions=[session_of(f"s{number}", name, report, redactor) for number, name in enumerate(names, 1)],
        verdict=verdict(report),
        totals=tables_of(report.totals) if report.totals else [],
        provenance=provenance(report),
        notes=report.notes,
        asked=any(summary.recall.asked for summary in report.summaries),
        swaps_shown=SWAPS_SHOWN,
    )


def session_of(key: str, name: str, report: ReplayReport, redactor: Redactor) -> dict[str, object]:
    """One session's part of the page; `key` begins the ids in it."""
    results = [result for result in report.results if result.session == name]
    chart = re.sub(r"<metadata>.*?</metadata>", "", plot_svg(results) if can_draw() else "", flags=re.DOTALL)
    return {
        "key": key,
        "name": name,
        "turns": results[0].turns,
        "verdict": verdict(report, name),
        "tables": tables_of([summary for summary in report.summaries if summary.session == name]),
        "chart": re.sub(r'(\bid="|url\(#|xlink:href="#)', rf"\g<1>{key}-svg-", chart),
        "compactions": [
            (result.variant, sorted(result.compactions, key=lambda event: event.turn))
            for result in results
            if result.compactions
        ],
        "variants": [result.variant for result in results],
        "probes": probe_rows(results),
        "facts": fact_rows(results, redactor),
    }


def tables_of(summaries: Sequence[Summary]) -> list[dict[str, object]]:
    """The figures by what they are about, a row each with a column a variant, the gardener's first and what
    it is held against next: those a user decides by, then the others and those of every provider, folded."""
    rows = {summary.variant: summary for summary in summaries}
    first = [name for name in (gardened_in(rows), best_stock(rows)) if name]
    names = list(dict.fromkeys([*first, *rows]))
    ordered = [rows[name] for name in names]
    return [
        {
            "title": title,
            "variants": [(name, variant_named(name).about) for name in names],
            "rows": [(figure.name, [figure.cell(row) for row in ordered]) for figure in figures],
            "abouts": list(dict.fromkeys(figure.about for figure in figures if figure.about)),
        }
        for title, figures in (
            ("", brief(ordered)),
            ("Further figures", further(ordered)),
            ("Other providers", providers(ordered)),
        )
    ]


def probe_rows(results: Sequence[ReplayResult]) -> list[tuple[ProbeResult, list[str]]]:
    met = {(result.variant, probe.number): probe for result in results for probe in result.probes}
    return [
        (probe, [how_met(met.get((result.variant, number))) for result in results])
        for number, probe in sorted({probe.number: probe for probe in met.values()}.items())
    ]


def how_met(probe: ProbeResult | None) -> str:
    if probe is None:
        return "– not asked"
    if probe.supported:
        return "✔ supported"
    word, lacks = ("◐ present", probe.unsupported) if probe.present else ("✘ missing", probe.missing)
    return f"{word}: {', '.join(lacks)}"


def fact_rows(results: Sequence[ReplayResult], redactor: Redactor) -> dict[str, object]:
    """The old facts that replies used again, and in which prompts they stood: those first that lacked
    some."""
    found: dict[tuple[int, int, str], dict[str, bool]] = {}
    for result in results:
        for one in result.carried:
            presence = found.setdefault((one.used_turn, one.said_turn, one.text), {})
            presence[result.variant] = presence.get(result.variant, True) and one.present
    ordered = sorted(found.items(), key=lambda item: (all(item[1].values()), item[0]))
    words = {True: "yes", False: "no", None: NOTHING}
    rows = [
        (
            used,
            said_turn,
            redactor(text).text[:FACT_CHARS],
            [words[presence.get(result.variant)] for result in results],
        )
        for (used, said_turn, text), presence in ordered[:FACTS_SHOWN]
    ]
    return {"count": len(found), "rows": rows}
