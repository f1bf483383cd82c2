"""Write the README's measured section from bench/results/grid.json, or with `--check` compare the two.

It stands between two marker lines: what the figures come to in plain words, a table over all sessions, and
one line on how sure the differences are. Without results the section says which command makes them.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from grid_tables import AS_ORDER, FLOOR, GARDENER, own_budget
from pages import NOTHING, BadResults, command, parts, results, table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.grid.means import (
    FACTS,
    LINES,
    PARAPHRASED,
    PROBES,
    Measure,
    Rows,
    complete,
    dollars,
    ordinary,
    rows_of,
    total,
)
from bench.intervals import Interval, ratio

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "grid.json"
README = ROOT / "README.md"

FORMAT = 1
COMMAND = "make bench"
NAME = "measured"
"""Of the section, as its marker lines have it."""

WIDTH = 98
STOCK, FIXED, SEARCH = "stock", "stock-fixed", "tail-search"
SHOWN = (STOCK, FIXED, SEARCH, GARDENER, AS_ORDER, FLOOR)
PROVIDER = "OpenAI"
PRICED: Mapping[str, str] = {
    "OpenAI": "gpt-4o",
    "DeepSeek": "deepseek-chat",
    "Anthropic": "claude-sonnet-4-5",
    "Anthropic --cache-prompts": "the same with --cache-prompts",
}
"""Provider → how its row of dollars is named."""

Own = Mapping[str, Rows]
Cell = Callable[[Rows], str]


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite the section, or only compare it; exit 1 when it differs or cannot be made."""
    return command(__doc__, argv, faults, write)


def faults() -> Iterator[str]:
    """What is wrong with the section, a line each; nothing as long as there are no results."""
    if not RESULTS.exists():
        return
    try:
        if parts(readme(), NAME, README.name)[1] != section():
            yield "README.md: the measured section is not what tools/readme_table.py makes; run it"
    except BadResults as problem:
        yield str(problem)


def write() -> str:
    """Put the section into the README. Raises BadResults without markers or with unusable results."""
    before, _, after = parts(readme(), NAME, README.name)
    README.write_text(before + section() + after, "utf-8", newline="\n")
    return f"{README.name}: the measured section is that of {RESULTS.name}"


def readme() -> str:
    return README.read_text("utf-8") if README.exists() else ""


def section() -> str:
    """The text between the markers, with a line end last."""
    if not RESULTS.exists():
        return f"Not measured yet: `{COMMAND}`\nand then `python tools/readme_table.py` put the table here.\n"
    value = results(RESULTS, "grid", FORMAT)
    own = own_budget(complete(ordinary(rows_of(value))))
    missing = [name for name in SHOWN if name not in own]
    if missing:
        raise BadResults(f"{RESULTS.name}: {', '.join(missing)} not measured on all sessions: {COMMAND}")
    lines = [*reading(own), "", *by_variant(own), "", *sureness(own), "", *caption(value["provenance"]), ""]
    return "\n".join(lines)


def wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def reading(own: Own) -> list[str]:
    """What the figures come to, in plain words."""

    def of(measure: Measure, name: str) -> str:
        return f"{measure.share(own[name]).value:.0f}%"

    made, lost = (sum(row["llm"][at] for row in own[name]) for name, at in ((FIXED, 0), (STOCK, 1)))
    return wrapped(
        f"In plain words, over {total(own[GARDENER], 'turns'):,.0f} turns: of the facts that replies"
        " used again"
        f" {of(FACTS, GARDENER)} stood in the prompt with the gardener; {of(FACTS, FIXED)} if aider's"
        " summaries"
        f" worked ({FIXED}); {of(FACTS, STOCK)} with aider as it is, which throws its summaries away"
        " and sends"
        f" everything again; {of(FACTS, SEARCH)} with the newest messages beside a plain full-text search"
        f" ({SEARCH}). Of what was asked about later the model could still know {of(PROBES, GARDENER)},"
        f" {of(PROBES, FIXED)}, {of(PROBES, STOCK)} and {of(PROBES, SEARCH)}; {of(PROBES, AS_ORDER)}"
        " where the"
        " gardener gives the question no more than it gives an order."
        f" That took {cost(own, GARDENER)}, {cost(own, FIXED)}, {cost(own, STOCK)} and"
        f" {cost(own, SEARCH)}, and"
        f" no call of a model for summaries, where {FIXED} made {made} and stock paid for {lost} that"
        " were lost."
        " In a chat that stays below aider's own limit nothing changes, and nothing is saved."
    )


def cost(own: Own, name: str) -> str:
    return f"${dollars(own[name], PROVIDER):,.2f}"


def by_variant(own: Own) -> Iterator[str]:
    """A column for each variant."""
    sessions = len(own[GARDENER])
    head = [f"all {sessions} sessions, {total(own[GARDENER], 'turns'):,.0f} turns", *SHOWN]
    rows = [[name, *(cell(own[variant]) for variant in SHOWN)] for name, cell in figures(own)]
    return table(head, rows)


def figures(own: Own) -> list[tuple[str, Cell]]:
    """What is shown, top to bottom: a name and the cell of a variant."""
    return [
        *(
            (f"{name}, of {measure.count(own[GARDENER])[1]}", met(measure))
            for name, measure in (
                ("facts carried over", FACTS),
                ("lines carried over", LINES),
                ("probes supported", PROBES),
                ("paraphrased probes", PARAPHRASED),
            )
        ),
        ("tokens billed", lambda rows: f"{total(rows, 'tokens_billed'):,.0f}"),
        *((f"$ {name}", price(provider)) for provider, name in PRICED.items()),
        ("summaries by an LLM", lambda rows: f"{sum(row['llm'][0] for row in rows)}"),
        ("paid for and thrown away", lambda rows: f"{sum(row['llm'][1] for row in rows)}"),
        ("largest prompt, tokens", lambda rows: f"{max(row['largest_prompt'] for row in rows):,}"),
        ("overhead ms, p50 / p95", overhead),
    ]


def met(measure: Measure) -> Cell:
    return lambda rows: f"{measure.count(rows)[0]}"


def price(provider: str) -> Cell:
    return lambda rows: f"{dollars(rows, provider):.2f}"


def overhead(rows: Rows) -> str:
    """Of the session in which it was most; only the gardener's own cells are run with nothing beside them."""
    worst = max((row["measured"]["overhead_ms"] for row in rows), key=lambda pair: float(pair[1]))
    return f"{worst[0]:.0f} / {worst[1]:.0f}" if rows[0]["variant"] == GARDENER else NOTHING


def sureness(own: Own) -> list[str]:
    """One line on the differences, with their intervals."""
    said = [
        f"beside {name} {points(FACTS.above(own[GARDENER], own[name]))} of the facts,"
        f" {points(PROBES.above(own[GARDENER], own[name]))} of the probes, {times(own, name)} times its price"
        for name in (FIXED, SEARCH)
    ]
    return wrapped(
        "What the gardener's prompts hold more or less, with the middle 95% of a paired bootstrap by session:"
        f" {'; '.join(said)}."
    )


def points(of: Interval) -> str:
    return f"{of.value:+.0f} ({of.low:+.0f} to {of.high:+.0f}) points"


def times(own: Own, name: str) -> str:
    found = ratio(*([row["usd"][PROVIDER][0] for row in own[variant]] for variant in (GARDENER, name)))
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


def caption(at: Mapping[str, Any]) -> list[str]:
    """On what the figures depend, in lines of the page's width."""
    return wrapped(
        f"Made by `{COMMAND}`: {at['model']} (window {at['window_tokens']:,} tokens), aider"
        f" {at['aider']}, tokens"
        f" counted by {at['tokenizer']}, commit {at['commit'] or 'unknown'}. Costs are at the"
        " providers' prices"
        " with every turn within five minutes of the one before; overhead is the time that the"
        " gardener adds to"
        " a turn, in the session where that was most."
    )


if __name__ == "__main__":
    sys.exit(main())
