"""The report of replays as one HTML page (see `pages`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aider_gardener.files import write_private
from aider_gardener.phrases import counted
from aider_gardener.replay.measure.result import Carried, ProbeResult, ReplayResult
from aider_gardener.replay.measure.summary import ReplayReport, Summary
from aider_gardener.replay.play.gardened import middle_cut
from aider_gardener.replay.play.variants import variant_named
from aider_gardener.replay.show.chart import can_draw, in_turn, layers_svg
from aider_gardener.replay.show.pages import rendered
from aider_gardener.replay.show.table import NOTHING, captions, figures, recall_columns
from aider_gardener.replay.show.verdict import best_stock, gardened_in, verdict, verdict_on

FACTS_SHOWN, FACT_CHARS = 400, 200
"""Rows of the table of facts, those first that were missing from some prompt; and how much is shown of
one."""

PASSAGES_SHOWN, SWAPS_SHOWN = 50, 200
"""Recalled passages of one prompt, the best, and swaps of one compaction, those that save most, that are
listed; their number is always told."""

TEXT_CHARS, SHORT_CHARS, PAGE_CHARS = 8_000, 300, 4_000_000
"""So much of one text is shown, and so little once a page holds so many characters of chat."""

LIMITS = (
    "No model was asked: every reply is the one recorded. The page cannot show whether a model would have "
    "written a better or worse edit with another history, only what it was sent and what that costs.",
    "Supported says what a prompt held, not what a model would have made of it. What is asked of the "
    "recorded sessions was written by a language model, and so were both sides of those chats.",
    "The carry-over is counted from replies that could only use what their own prompts held then: a "
    "chat that was held with a short history shows little.",
    "Dollars are modelled from published prices and caching rules, with the tokens of one tokenizer for "
    "every provider: compare the rows, not the providers.",
)


@dataclass
class Allowance:
    """How many characters of chat a page may still hold. `cut` counts the texts that were cut short
    because it was used up."""

    left: int
    cut: int = 0

    def take(self, text: str) -> str:
        """The text, its middle left out where it is longer than allowed."""
        shown = middle_cut(text, TEXT_CHARS if self.left > 0 else SHORT_CHARS)
        self.cut += self.left <= 0 and shown != text
        self.left -= len(shown)
        return shown


def write_page(report: ReplayReport, path: Path) -> None:
    """Write the report, readable by its owner only; StoreError if that fails."""
    write_private(path, page_of(report))


def page_of(report: ReplayReport) -> str:
    """The text of the whole page. Its results must hold what a page shows (`Job.page`)."""
    allowance = Allowance(PAGE_CHARS)
    names = list(dict.fromkeys(result.session for result in report.results))
    sessions = [session_of(f"s{number}", name, report) for number, name in enumerate(names, 1)]
    return rendered(
        "report.html.jinja",
        title=names[0] if len(names) == 1 else counted(len(names), "chat"),
        sessions=sessions,
        verdict=verdict(report),
        totals=figure_table(report.totals) if report.totals else None,
        captions=[line for line in captions(report) if line not in report.notes],
        notes=report.notes,
        limits=LIMITS,
        allowance=allowance,
        swaps_shown=SWAPS_SHOWN,
        passages_shown=PASSAGES_SHOWN,
    )


def session_of(key: str, name: str, report: ReplayReport) -> dict[str, Any]:
    """One session's part of the page; `key` begins the ids in it."""
    results = [result for result in report.results if result.session == name]
    summaries = [summary for summary in report.summaries if summary.session == name]
    names = [result.variant for result in results]

    def link(variant: str, number: int) -> str:
        return f"{key}-{names.index(variant)}-{number}"

    return {
        "key": key,
        "name": name,
        "turns": results[0].turns,
        "verdict": verdict_on({summary.variant: summary for summary in summaries}),
        "table": figure_table(summaries),
        "chart": _within_page(layers_svg(results, link), key) if can_draw() else "",
        "compactions": [
            (result.variant, [(link(result.variant, at), at, event) for at, event in enumerate(events, 1)])
            for result in results
            if (events := in_turn(result.compactions))
        ],
        "recalled": [(result.variant, by_turn(result)) for result in results if result.quoted],
        "variants": names,
        "probes": probe_rows(results),
        "facts": fact_rows(results),
    }


def _within_page(svg: str, key: str) -> str:
    """An SVG without what it says of itself, its ids unlike those of the page's other ones."""
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return re.sub(rf'(\bid="|url\(#|xlink:href="#)(?!{key}-)', rf"\g<1>{key}-svg-", svg)


def figure_table(summaries: Sequence[Summary]) -> dict[str, Any]:
    """The figures of the terminal's table, a row each with a column a variant, the gardener's first and
    what it is held against next. Rows that say nothing are left out."""
    rows = {summary.variant: summary for summary in summaries}
    first = [name for name in (gardened_in(rows), best_stock(rows)) if name]
    names = list(dict.fromkeys([*first, *rows]))
    columns = [*figures(), *recall_columns(summaries)]
    cells = [
        (column.heading.replace("\n", " "), [column.cell(rows[name]) for name in names]) for column in columns
    ]
    return {
        "names": names,
        "about": [(name, variant_named(name).about) for name in names],
        "rows": [(what, values) for what, values in cells if any(value != NOTHING for value in values)],
    }


def by_turn(result: ReplayResult) -> list[tuple[int, list[Any]]]:
    """What was recalled, prompt by prompt."""
    found: dict[int, list[Any]] = {}
    for one in result.quoted:
        found.setdefault(one.asked, []).append(one)
    return sorted(found.items())


def probe_rows(results: Sequence[ReplayResult]) -> list[tuple[ProbeResult, list[str]]]:
    """Each probe with how the variants met it."""
    met = {(result.variant, probe.number): probe for result in results for probe in result.probes}
    return [
        (probe, [how_met(met.get((result.variant, number))) for result in results])
        for number, probe in sorted({probe.number: probe for probe in met.values()}.items())
    ]


def how_met(probe: ProbeResult | None) -> str:
    """How one variant met a probe, and the keys that it lacks."""
    if probe is None:
        return "– not asked"
    said = "" if probe.answer is None else f"; answered {'right' if probe.answered else 'wrong'}"
    if probe.supported:
        return f"✔ supported{said}"
    word, lacks = ("◐ present", probe.unsupported) if probe.present else ("✘ missing", probe.missing)
    return f"{word}: {', '.join(lacks)}{said}"


def fact_rows(results: Sequence[ReplayResult]) -> dict[str, Any]:
    """The old facts that replies used again, and in which prompts they stood: those first that lacked
    some."""
    found: dict[tuple[int, int, str], dict[str, bool]] = {}
    for result in results:
        for one in result.carried:
            stood = found.setdefault(_place(one), {})
            stood[result.variant] = stood.get(result.variant, True) and one.present
    ordered = sorted(found.items(), key=lambda item: (all(item[1].values()), item[0]))
    return {"count": len(found), "rows": [_fact_row(*item, results) for item in ordered[:FACTS_SHOWN]]}


def _place(one: Carried) -> tuple[int, int, str]:
    return one.used_turn, one.said_turn, one.text


def _fact_row(
    place: tuple[int, int, str], stood: Mapping[str, bool], results: Sequence[ReplayResult]
) -> tuple[int, int, str, list[str]]:
    words = {True: "yes", False: "no", None: NOTHING}
    return place[0], place[1], place[2][:FACT_CHARS], [words[stood.get(result.variant)] for result in results]
