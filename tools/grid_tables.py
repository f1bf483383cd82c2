"""The tables of bench/results/grid.json: what is carried over, what is supported, and how sure that is; then
budgets, ablations, long sessions, small windows, and all sessions as one chat."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pages import NOTHING, table

from bench.grid.asked import ASKED_LATE, LONG_TURNS
from bench.grid.cells import CHAINED, SMALL_WINDOWS
from bench.grid.means import (
    FACTS,
    LATE,
    LINES,
    PARAPHRASED,
    PROBES,
    SUPPORTED,
    Key,
    Measure,
    Row,
    Rows,
    complete,
    dollars,
    ordinary,
    past_tokens,
    rows_of,
    total,
)
from bench.intervals import Interval, ratio

FLOOR, GARDENER, AS_ORDER = "no-history", "gardener", "gardener-as-order"
HOST_BUDGET = 8_000
"""The history limit that the host has of itself with the usual model: the baselines' own budget."""
RIVALS = ("stock-fixed", "tail", "tail-search", "tail-search-as-order", "mask10", "stock")
PROVIDER = "OpenAI"
LINE = 118
BUSY = 1.5
"""Load for each core above which other work must have been going on."""
PLOTS = (
    "![Probes supported over tokens billed, a curve for each variant](images/pareto-tokens.svg)",
    "",
    "![Facts carried over, over dollars, a curve for each variant](images/pareto-cost.svg)",
    "",
)
"""Drawn from the same file by bench/grid/plots.py."""

MEASURES: tuple[tuple[str, Measure], ...] = (
    ("facts carried over", FACTS),
    ("lines", LINES),
    ("probes supported", PROBES),
    ("paraphrased", PARAPHRASED),
)


def grid(value: Mapping[str, Any]) -> Iterator[str]:
    """All tables, a heading before each, then on what they depend and what is missing."""
    everything = rows_of(value)
    rows = ordinary(everything)
    found = complete(rows)
    yield from headline(found)
    yield from differences(found)
    yield from budgets(found)
    yield from PLOTS
    yield from distances(found)
    yield from ablations(found)
    yield from long_sessions(rows)
    yield from small_windows(everything)
    yield from one_chat([row for row in everything if row["session"] == CHAINED])
    yield from caption(value)


def heading(text: str, *words: str) -> Iterator[str]:
    """A heading, and below it what is to be known of its table."""
    yield from (f"### {text}", "", *textwrap.wrap(" ".join(words), LINE, break_on_hyphens=False))
    if words:
        yield ""


def own_budget(found: Mapping[Key, Rows]) -> dict[str, Rows]:
    """The rows of each variant as it is run if nobody says otherwise; baselines at the host's limit."""
    own: dict[str, Rows] = {}
    for budget in (HOST_BUDGET, None):
        own.update({variant: rows for (variant, at), rows in found.items() if at == budget})
    return own


def at_host_budget(found: Mapping[Key, Rows]) -> dict[str, Rows]:
    """The rows of each variant at the host's limit."""
    at: dict[str, Rows] = {}
    for budget in (None, HOST_BUDGET):
        at.update({variant: rows for (variant, one), rows in found.items() if one == budget})
    return at


def headline(found: Mapping[Key, Rows]) -> Iterator[str]:
    own = own_budget(found)
    names = [name for name in (GARDENER, AS_ORDER, *RIVALS, "none", FLOOR) if name in own]
    sessions = len(next(iter(own.values()), ()))
    yield from heading(
        f"What {sessions} sessions show, each variant at its own budget",
        "Shares are of all facts, lines and probes together; below each the middle 95 % of a",
        "bootstrap by session,",
        "then probe or fact. *History* is by how many tokens a prompt is longer than with no history at all.",
    )
    head = ["variant", *(name for name, _ in MEASURES), "history", "tokens billed", f"$ {PROVIDER}"]
    lines = []
    for name in names:
        rows = own[name]
        lines.append([
            name, *(counted(measure, rows) for _, measure in MEASURES), history(rows, own),
            f"{total(rows, 'tokens_billed'):,.0f}", f"{dollars(rows, PROVIDER):.2f}",
        ])  # fmt: skip
        lines.append(["", *(bounds(measure.share(rows)) for _, measure in MEASURES), "", "", ""])
    yield from table(head, lines)
    yield ""


def history(rows: Rows, own: Mapping[str, Rows]) -> str:
    return f"{past_tokens(rows, own[FLOOR]):,.0f}" if FLOOR in own else NOTHING


def counted(measure: Measure, rows: Rows) -> str:
    met, asked = measure.count(rows)
    return f"{met} of {asked}" if asked else NOTHING


def bounds(of: Interval) -> str:
    return f"{of.low:.0f}–{of.high:.0f} %"


def differences(found: Mapping[Key, Rows]) -> Iterator[str]:
    """The gardener beside each rival at the same budget, paired."""
    at_same = at_host_budget(found)
    mine = [name for name in (GARDENER, AS_ORDER) if name in at_same]
    if not mine:
        return
    yield from heading(
        f"The gardener at {HOST_BUDGET:,} tokens beside the others at {HOST_BUDGET:,}",
        "Points of percent by which the gardener's share is above the other's, and its dollars",
        "over the other's;",
        "in brackets the middle 95 % of paired draws. Bold: the draws agree on the sign.",
    )
    rivals = [name for name in RIVALS if name in at_same]
    yield from paired(at_same, mine, rivals)
    yield ""


def paired(at_same: Mapping[str, Rows], mine: Sequence[str], rivals: Sequence[str]) -> Iterator[str]:
    """A row for each of mine beside each rival: differences of shares, and dollars over dollars."""
    lines = []
    for own in mine:
        for name in rivals:
            first, second = at_same[own], at_same[name]
            differences = [signed(measure.above(first, second)) for _, measure in MEASURES]
            of = ratio(*([row["usd"][PROVIDER][0] for row in rows] for rows in (first, second)))
            lines.append([f"{own} – {name}", *differences, f"{of.value:.2f} ({of.low:.2f} to {of.high:.2f})"])
    yield from table(["", *(name for name, _ in MEASURES), f"$ {PROVIDER}, ratio"], lines)


def signed(of: Interval) -> str:
    text = f"{of.value:+.0f} ({of.low:+.0f} to {of.high:+.0f})"
    return f"**{text}**" if of.tells else text


def budgets(found: Mapping[Key, Rows]) -> Iterator[str]:
    """Each variant over the history budget: facts, probes, tokens of history in a prompt, dollars."""
    own = own_budget(found)
    steps = sorted({budget for _, budget in found if budget is not None})
    names = list(dict.fromkeys(variant for variant, budget in found if budget is not None))
    if not steps:
        return
    yield from heading(
        "At equal budgets",
        "Facts carried over / probes supported, in percent; in brackets the tokens of history",
        "in a prompt and dollars",
        f"at {PROVIDER} prices. A budget bounds what the gardener keeps standing; what a prompt",
        "recalls comes besides",
        "and is counted in the brackets.",
    )
    lines = [[name, *(point(found.get((name, step)), own) for step in steps)] for name in names]
    yield from table(["variant", *(f"{step:,}" for step in steps)], lines)
    yield ""


def point(rows: Rows | None, own: Mapping[str, Rows]) -> str:
    if not rows:
        return NOTHING
    facts, probes = FACTS.share(rows).value, PROBES.share(rows).value
    return f"{facts:.0f} / {probes:.0f} ({history(rows, own)}, ${dollars(rows, PROVIDER):.2f})"


def distances(found: Mapping[Key, Rows]) -> Iterator[str]:
    """Probes by distance, and how often a wrong answer seemed right."""
    own = own_budget(found)
    yield from heading(
        "By distance, and wrong answers",
        "Probes supported by the turns between saying and asking; then the share of wrong answers that",
        "seemed supported. *Invented*: a key of the probe is replaced by a name or number of the same make",
        "that stands nowhere in the session or its files. *Crossed*: the answer to another question, looked",
        "for in the surroundings of this one's. How often these are supported says how far to trust it.",
    )
    names = ("≤ 10", "11–25", "> 25")
    lines = []
    for name in (GARDENER, AS_ORDER, *RIVALS, "none", FLOOR):
        if name in own:
            rows = own[name]
            lines.append([
                name, *(of(rows, "distance", part) for part in names),
                of(rows, "decoys", "never said"), of(rows, "decoys", "crossed"),
            ])  # fmt: skip
    yield from table(["variant", *(f"{name} turns" for name in names), "invented", "crossed"], lines)
    yield ""


def of(rows: Rows, name: str, part: str, at: int = SUPPORTED) -> str:
    counts = [row[name].get(part, (0, 0, 0)) for row in rows]
    asked = sum(found[0] for found in counts)
    return f"{100 * sum(found[at] for found in counts) / asked:.0f} %" if asked else NOTHING


def ablations(found: Mapping[Key, Rows]) -> Iterator[str]:
    """The gardener without a part of it, at its own budget, as differences from the whole."""
    own = own_budget(found)
    names = [name for name in own if name.startswith("gardener-") and name != AS_ORDER]
    if GARDENER not in own or not names:
        return
    yield from heading(
        "What the parts give",
        "The gardener without a part, beside the whole: points of percent, paired; tokens of",
        "history in a prompt;",
        "dollars. `no-compress` shows entries whole or not; `oldest-first` hides the oldest, whole.",
    )
    whole = own[GARDENER]
    lines = [
        [name, *(signed(measure.above(own[name], whole)) for _, measure in MEASURES), history(own[name], own),
         f"{dollars(own[name], PROVIDER):.2f}"]
        for name in names
    ]  # fmt: skip
    lines.insert(0, [
        GARDENER, *(counted(measure, whole) for _, measure in MEASURES), history(whole, own),
        f"{dollars(whole, PROVIDER):.2f}",
    ])  # fmt: skip
    head = ["variant", *(name for name, _ in MEASURES), "history", f"$ {PROVIDER}"]
    yield from table(head, lines)
    yield ""


def long_sessions(rows: Sequence[Row]) -> Iterator[str]:
    """What a proposal must show of a session of fifty turns, for stock, stock-fixed and the gardener."""
    names = ("stock", "stock-fixed", GARDENER)
    chosen = {
        (str(row["session"]), str(row["variant"])): row
        for row in rows
        if row["turns"] >= LONG_TURNS and row["variant"] in names and row["budget"] is None
    }
    sessions = sorted({session for session, _ in chosen})
    if not sessions:
        return
    yield from heading(
        f"Sessions of at least {LONG_TURNS} turns",
        f"*Late* probes ask before turn {ASKED_LATE} what was said in turns 3 to 7.",
        "A session is *usable* as long as its prompts fit the window and 80 % of what was said",
        "so far is still",
        "supported; the target is twice stock's usable turns before the window is full.",
    )
    kinds = (
        f"prompt at turn {LONG_TURNS}",
        "late probes",
        "seconds compacting",
        "usable turns",
        "tokens billed",
    )
    lines = []
    for session in sessions:
        for name in names:
            cells = [row_cell(chosen.get((session, name)), place) for place in range(len(kinds))]
            lines.append([session if name == names[0] else "", name, *cells])
    yield from table(["session", "variant", *kinds], lines)
    yield ""


def row_cell(row: Row | None, place: int) -> str:
    if row is None:
        return NOTHING
    turns = {int(turn): tokens for turn, tokens in row["prompts"].items()}
    at = max((turn for turn in turns if turn <= LONG_TURNS), default=0)
    seconds = row["llm_seconds"] + row["measured"]["plan_seconds"]
    return (
        f"{turns.get(at, 0):,}",
        counted(LATE, [row]),
        f"{seconds:.1f}",
        str(row["usable"] or NOTHING),
        f"{row['tokens_billed']:,}",
    )[place]


def small_windows(rows: Sequence[Row]) -> Iterator[str]:
    """The long sessions with models of small windows."""
    chosen = [row for row in rows if row["model"] in SMALL_WINDOWS and row["session"] != CHAINED]
    if not chosen:
        return
    yield from heading(
        f"Small windows, sessions of at least {LONG_TURNS} turns",
        "Usable turns of each session in the order above, then probes supported and the largest",
        "prompt of all. With",
        "so small a window the files of these sessions alone may overflow it. Then the gardener leaves out",
        "what it can, recalled passages too, where the others send what no window of that size takes:",
        "probes count for them all the same, usable turns do not.",
    )
    sessions = sorted({str(row["session"]) for row in chosen})
    lines = []
    for model, window in SMALL_WINDOWS.items():
        for variant in dict.fromkeys(row["variant"] for row in chosen):
            own = [row for row in chosen if (row["model"], row["variant"]) == (model, variant)]
            own.sort(key=lambda row: str(row["session"]))
            if [row["session"] for row in own] == sessions:
                usable = ", ".join(str(row["usable"] or NOTHING) for row in own)
                largest = max(row["largest_prompt"] for row in own)
                lines.append([f"{window:,}", variant, usable, counted(PROBES, own), f"{largest:,}"])
    yield from table(["window", "variant", "usable turns", "probes supported", "largest prompt"], lines)
    yield ""


def one_chat(rows: Rows) -> Iterator[str]:
    """All sessions one after the other in one chat: how far it gets."""
    if not rows:
        return
    yield from heading(f"All sessions in one chat of {rows[0]['turns']} turns")
    head = [
        "variant",
        "usable turns",
        "largest prompt",
        "probes supported",
        "facts",
        "tokens billed",
        "$ OpenAI",
    ]
    lines = [
        [row["variant"], row["usable"] or NOTHING, f"{row['largest_prompt']:,}",
         counted(PROBES, [row]), counted(FACTS, [row]), f"{row['tokens_billed']:,}",
         f"{dollars([row], PROVIDER):.2f}"]
        for row in rows
    ]  # fmt: skip
    yield from table(head, lines)
    yield ""


def caption(value: Mapping[str, Any]) -> Iterator[str]:
    """On what the figures depend."""
    at = value["provenance"]
    yield f"`make bench`: {at['model']}, window {at['window_tokens']:,} tokens; weak {at['weak_model']};"
    yield f"aider {at['aider']}, tokens by {at['tokenizer']}, commit {at['commit'] or 'unknown'};"
    yield f"Python {at['python']}, {at['cpu']}, {at['cores']} cores."
    if at["load"] > BUSY * at["cores"]:
        yield f"The machine was busy with other work (load {at['load']}): seconds of plans say little."
    if value["missing"]:
        full = len(value["missing"]) + len(value["cells"])
        yield f"{len(value['missing'])} of the {full} cells are not measured yet: `make bench`."
