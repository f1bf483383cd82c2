"""What README and docs/benchmark.md say of gain and price: two sentences over all recorded sessions, beside
aider with its summaries working, aider as it is, and thirty lines of a tail and a search."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pages import BadResults

COMMAND = "python -m bench.rest"
WIDTH = 118
OURS, FIXED, STOCK, SEARCH = "gardener", "stock-fixed", "stock", "tail-search"
SHOWN = (OURS, FIXED, STOCK, SEARCH)
OPENAI, DEEPSEEK = "OpenAI", "DeepSeek"
"""Providers as the results name them: at the first a cached token costs a half, at the other a tenth."""

Rows = Sequence[Mapping[str, Any]]


def measured(value: Mapping[str, Any], *, link: str) -> Iterator[str]:
    """The two sentences; `link` leads to the benchmark's page."""
    of = {name: [row for row in value["rows"] if row["variant"] == name] for name in SHOWN}
    missing = [name for name, rows in of.items() if len(rows) != len(of[OURS]) or not rows]
    if missing:
        raise BadResults(f"rest.json: {', '.join(missing)} not measured on all sessions: {COMMAND}")
    at = value["provenance"]
    turns = sum(row["turns"] for row in of[OURS])
    facts = {name: carried(rows) for name, rows in of.items()}
    asked = {name: known(rows) for name, rows in of.items()}
    cost = {name: dollars(rows, OPENAI) for name, rows in of.items()}
    cached = [dollars(of[name], DEEPSEEK) for name in (OURS, FIXED)]
    marked = {
        name: [row for row in value["marked"] if row["variant"] == name] for name in (OURS, FIXED, SEARCH)
    }
    claude = {name: f"${sum(row['usd'] for row in rows):,.2f}" for name, rows in marked.items()}
    used, lost = (sum(row["summaries"][at] for row in of[name]) for name, at in ((FIXED, 0), (STOCK, 1)))
    gain = f"""
        **What it gains:** over {len(of[OURS])} recorded sessions, {turns} turns in all, the prompts held
        {facts[OURS]} of the facts that later replies used, and the answers to {asked[OURS]} of the questions
        about the past; with the summaries of a mended aider (as it is it pays for them
        and throws them away) {facts[FIXED]} and {asked[FIXED]};
        with thirty lines that send the newest messages and search the rest, {facts[SEARCH]} and
        {asked[SEARCH]}."""
    price = f"""
        **What it costs:** {cost[OURS]} for all of them at gpt-4o's prices, beside {cost[FIXED]} for mended
        aider with its {used} calls for summaries, {cost[SEARCH]} for the thirty lines, and {cost[STOCK]} for
        aider as it is, which paid for {lost} summaries, lost them, and so sent everything ({facts[STOCK]} and
        {asked[STOCK]}). Where a token of the provider's cache costs a tenth the same prompts cost
        {cached[0]} beside mended aider's {cached[1]} (deepseek-chat). There more of a chat is kept: with
        Claude and --cache-prompts {kept(marked[OURS])} for {claude[OURS]}, beside {kept(marked[FIXED])} for
        {claude[FIXED]} (mended aider), and {kept(marked[SEARCH])} for {claude[SEARCH]} (the thirty lines).
        (`{COMMAND}`, aider {at["aider"]}, commit {at["commit"] or "unknown"}; [more]({link}).)"""
    yield from (filled(gain), "", filled(price))


def filled(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), WIDTH, break_on_hyphens=False, break_long_words=False)


def carried(rows: Rows) -> str:
    """The share of facts of three or more turns ago that stood in the prompt whose reply used them."""
    return share(sum(row["facts"][0] for row in rows), sum(row["facts"][1] for row in rows))


def known(rows: Rows) -> str:
    """The share of probes whose answer stood in the prompt with the words that were around it."""
    return share(sum(row["supported"] for row in rows), sum(row["asked"] for row in rows))


def kept(rows: Rows) -> str:
    return f"{carried(rows)} of the facts and {known(rows)} of the answers"


def dollars(rows: Rows, provider: str) -> str:
    return (
        f"${sum(cost['usd'] for row in rows for cost in row['costs'] if cost['provider'] == provider):,.2f}"
    )


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %"
