"""Write the README's measured tables from bench/results/replay.json, or with `--check` compare the two.

They stand between two marker lines: the sums over all sessions, and the sessions in which the gardener does
worst beside stock-fixed; plain chats are added from bench/results/dominance.json where that is. Without
replay.json the section says which command makes it, and `--check` finds nothing wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import NOTHING, BadResults, parts, results, table, write_or_check

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "replay.json"
DOMINANCE = RESULTS.with_name("dominance.json")
README = ROOT / "README.md"

FORMAT = 1
"""Of the JSON that `gardener replay --json` writes."""

COMMAND = (
    "gardener replay recorded_sessions --variant none,no-history,stock,stock-fixed,gardener"
    " --json build/replay.json"
)
NAME = "measured"
"""Of the section, as its marker lines have it."""

WIDTH = 98
ORDER = ("none", "stock", "stock-fixed", "gardener", "no-history")
"""The variants shown, in this order; others follow as they come."""

GARDENER, RIVAL = "gardener", "stock-fixed"
"""Whose worst session is shown, and beside what."""

LIMITED = ("gpt-4o", "deepseek/deepseek-chat")
"""The models whose costs are held against the limit."""

LIMIT_SAID = (
    " cost / limit is that of the input over what it would be if all that stood in the gardener's last"
    " prompt were read from the cache wherever it stands;"
)

CHAT = "{} as a plain chat"

Row = Mapping[str, Any]
Counts = Mapping[str, Mapping[str, Sequence[int]]]
"""[met, of] by session, then by variant."""


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite the section, or only compare it; exit 1 when it differs or cannot be made."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 on a difference")
    parser.add_argument("--take", type=Path, metavar="FILE", help="first keep this report, without its calls")
    options = parser.parse_args(argv)
    if options.take:
        take(options.take)
    return write_or_check(options.check, faults, write)


def take(report: Path) -> None:
    """Keep a report as the results that the README quotes. The calls of each replay, nine tenths of it,
    are left out: the command makes them again, the same."""
    value = json.loads(report.read_text(encoding="utf-8"))
    for result in value["results"]:
        result.pop("calls", None)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


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
    report = results(RESULTS, "replay", FORMAT)
    rows = shown(report)
    return "\n".join([*reading(rows), "", *by_variant(rows), "", *worst(report), *caption(report), ""])


def reading(rows: Sequence[Row]) -> list[str]:
    """What the figures come to, in plain words; nothing without the three variants that it is about."""
    found = {row["variant"]: row for row in rows}
    if not {"stock", RIVAL, GARDENER} <= set(found) or not found[GARDENER]["recall_by_distance"]:
        return []
    own, rival, stock = (found[name] for name in (GARDENER, RIVAL, "stock"))
    asked = own["recall"]["asked"]
    known = {name: share(row["recall"]["supported"], asked) for name, row in found.items()}
    far = list(own["recall_by_distance"])[-1]
    late = {name: row["recall_by_distance"][far] for name, row in found.items()}
    after = {name: share(row["supported"], row["asked"]) for name, row in late.items()}
    facts = own["carry_over"]["facts"]
    reused = {name: share(row["carry_over"]["facts_present"], facts) for name, row in found.items()}
    dollars = {name: row["costs"][0]["cached"]["usd"] for name, row in found.items()}
    text = (
        f"In plain words, over {own['turns']:,} turns: of what was asked about later the model could still"
        f" know {known[GARDENER]} with the gardener; {known[RIVAL]} if aider's summaries worked ({RIVAL});"
        f" {known['stock']} with aider as it is, which throws its summaries away and sends everything again."
        f" More than {far.lstrip('> ')} turns later that was {after[GARDENER]}, {after[RIVAL]} and"
        f" {after['stock']}. Of the facts that replies used again {reused[GARDENER]} stood in the prompt,"
        f" {reused[RIVAL]} and {reused['stock']}. That took ${dollars[GARDENER]:,.2f},"
        f" ${dollars[RIVAL]:,.2f} and ${dollars['stock']:,.2f}, and no call of a model for summaries, where"
        f" {RIVAL} made {rival['llm_compactions']} and stock paid for {stock['llm_discarded']} that were"
        " lost. In a chat that stays below aider's own limit nothing changes, and nothing is saved."
    )
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def share(met: int, of: int) -> str:
    return f"{met / of:.0%}" if of else NOTHING


def shown(report: Row) -> list[Row]:
    """One row a variant: the sums over all sessions, or the only session's figures."""
    rows = report["totals"] or report["summaries"]
    if not rows or len({row["session"] for row in rows}) > 1:
        raise BadResults(f"{RESULTS.name}: no sums over all sessions; make it with: {COMMAND}")
    rank = {name: place for place, name in enumerate(ORDER)}
    return sorted(rows, key=lambda row: rank.get(row["variant"], len(rank)))


def by_variant(rows: Sequence[Row]) -> Iterator[str]:
    """A column for each variant."""
    first = rows[0]
    title = f"{first['session']}, {first['turns']} turns"
    head = [title, *(str(row["variant"]) for row in rows)]
    return table(head, [[name, *(cell(row) for row in rows)] for name, cell in figures(first)])


def figures(first: Row) -> list[tuple[str, Callable[[Row], str]]]:
    """What is shown, top to bottom: a name and the cell of a variant."""
    asked = first["recall"]["asked"]
    return [
        (f"probes present, of {asked}", lambda row: count(row["recall"]["present"])),
        (f"probes supported, of {asked}", lambda row: count(row["recall"]["supported"])),
        *(
            (f"{what} carried over, of {count(first['carry_over'][what])}", carried(what))
            for what in ("facts", "lines")
            if first["carry_over"][what]
        ),
        ("tokens billed", lambda row: count(row["tokens_billed"])),
        *((price_name(cost), price(place)) for place, cost in enumerate(first["costs"])),
        *(
            (limit_name(cost), over_limit(place))
            for place, cost in enumerate(first["costs"])
            if limited(cost)
        ),
        ("history rewritten by an LLM", lambda row: count(row["llm_compactions"])),
        ("LLM summaries thrown away", lambda row: count(row["llm_discarded"])),
        ("history rewritten by a plan", lambda row: count(row["plan_compactions"])),
        ("largest prompt, tokens", lambda row: count(row["largest_prompt"])),
        ("overhead ms, p50 / p95", overhead),
    ]


def count(value: int) -> str:
    return f"{value:,}"


def carried(what: str) -> Callable[[Row], str]:
    return lambda row: count(row["carry_over"][f"{what}_present"])


def worst(report: Row) -> list[str]:
    """A table of the sessions in which the gardener does worst beside its rival, with an empty line last;
    nothing for a single session."""
    names = {row["session"] for row in report["summaries"]}
    if len(names) < 2:
        return []
    lines = []
    for what in ("probes supported", "facts", "lines"):
        found = [worst_of(recorded_counts(report, what)), worst_of(chat_counts(what))]
        lines += [[what, *cells] for cells in found if cells]
    return [*table(["worst session", "", GARDENER, RIVAL], lines), ""] if lines else []


def recorded_counts(report: Row, what: str) -> Counts:
    """What is met of one figure, by session and variant, in the sessions as they were recorded."""
    found: dict[str, dict[str, Sequence[int]]] = {}
    for row in report["summaries"]:
        own, recall = row["carry_over"], row["recall"]
        counts = [recall["supported"], recall["asked"]]
        if what in own:
            counts = [own[f"{what}_present"], own[what]]
        found.setdefault(row["session"], {})[row["variant"]] = counts
    return found


def chat_counts(what: str) -> Counts:
    """The same of the sessions as plain chats; nothing as long as these are not measured."""
    if not DOMINANCE.exists():
        return {}
    try:
        rows = json.loads(DOMINANCE.read_text("utf-8"))["rows"]
        return {
            CHAT.format(row["session"]): {
                variant: own[what.rpartition(" ")[2]] for variant, own in row["variants"].items()
            }
            for row in rows
            if row["kind"] == "plain"
        }
    except (OSError, ValueError, KeyError) as problem:
        raise BadResults(f"{DOMINANCE.name}: cannot be read ({problem!r}); make it again") from problem


def worst_of(found: Counts) -> list[str] | None:
    """The session with the least share met more than the rival's, and both figures."""
    gaps = {
        name: (own[GARDENER][0] - own[RIVAL][0]) / own[GARDENER][1]
        for name, own in found.items()
        if GARDENER in own and RIVAL in own and own[GARDENER][1]
    }
    if not gaps:
        return None
    name = min(gaps, key=lambda name: gaps[name])
    return [name, *(f"{met} of {of}" for met, of in (found[name][GARDENER], found[name][RIVAL]))]


def price_name(cost: Row) -> str:
    """The model that is paid; an option of aider's stands in the row below that of the model without it."""
    if "--cache-prompts" in str(cost["provider"]):
        return "$ same with --cache-prompts"
    return "$ " + str(cost["model"]).rpartition("/")[2]


def price(place: int) -> Callable[[Row], str]:
    return lambda row: f"{row['costs'][place]['cached']['usd']:.2f}"


def limited(cost: Row) -> bool:
    """Whether a row is made of this cost and its limit; results of earlier versions have no limit."""
    return cost["model"] in LIMITED and "--cache-prompts" not in cost["provider"] and "over_limit" in cost


def limit_name(cost: Row) -> str:
    return f"cost / limit, {str(cost['model']).rpartition('/')[2]}"


def over_limit(place: int) -> Callable[[Row], str]:
    return lambda row: f"{row['costs'][place]['over_limit']:.2f}"


def overhead(row: Row) -> str:
    measured = row["measured"]
    p50, p95 = measured["overhead_ms_p50"], measured["overhead_ms_p95"]
    return f"{p50:.0f} / {p95:.0f}" if p95 else NOTHING


def caption(report: Row) -> list[str]:
    """On what the figures depend, and the report's own notes, in lines of the page's width."""
    made_by = report["results"][0]["provenance"]
    budgets = sorted({result["provenance"]["history_tokens"] for result in report["results"]})
    text = (
        f"Made by `{COMMAND}`: {made_by['model']} (window {made_by['window_tokens']:,} tokens,"
        f" history budget {', '.join(count(tokens) for tokens in budgets)}), aider {made_by['aider']},"
        f" tokens counted by {made_by['tokenizer']}, commit {made_by['commit'] or 'unknown'}."
        " Costs are at the providers' prices with every turn within five minutes of the one before;"
        f"{LIMIT_SAID if any(map(limited, shown(report)[0]['costs'])) else ''}"
        " overhead is the time that the gardener adds to a turn."
    )
    lines = textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)
    for note in report.get("notes", ()):
        lines += ["", *textwrap.wrap(str(note), WIDTH, break_long_words=False, break_on_hyphens=False)]
    return lines


if __name__ == "__main__":
    sys.exit(main())
