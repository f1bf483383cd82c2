"""Tables for people: pressure, plan, status, recalled passages, the store; drawn with rich, printed as
text."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from io import StringIO
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from aider_gardener.archive.entries import Why
from aider_gardener.messages import Entry, Plan
from aider_gardener.plan.goals import Pressure
from aider_gardener.plan.said import SHOWN
from aider_gardener.plan.view import LABELS
from aider_gardener.recall.hits import Hit

BAR_CELLS = 30
BEGINNING_CHARS = 80
SCREEN_CLASSES, SCREEN_LARGEST, SCREEN_BEGINNING_CHARS = 5, 5, 36
"""So many rows, and so much of a message, fit one screen."""
FIGURES = frozenset({"messages", "as said", "now", "tokens", ""})
PARTS = {"current": "this turn"}
"""Parts of a prompt, where the word for people is another."""
WIDTHS = (60, 120)
"""Tables are at least and at most so many columns wide."""


def as_text(renderable: Any, *, width: int = 0) -> str:
    """Draw a renderable as plain text of the terminal's width."""
    columns = width or min(max(shutil.get_terminal_size((100, 24)).columns, WIDTHS[0]), WIDTHS[1])
    console = Console(
        file=StringIO(), width=columns, force_terminal=False, color_system=None, legacy_windows=False
    )
    console.print(renderable)
    assert isinstance(console.file, StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


def bar(share: float) -> str:
    """A bar of fixed width for a share of 0 to 1; what is over shows as full."""
    filled = round(min(max(share, 0.0), 1.0) * BAR_CELLS)
    return "█" * filled + "░" * (BAR_CELLS - filled)


def grid(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table with a left column of words and right-aligned figures."""
    table = Table(title=title, title_justify="left", pad_edge=False, show_edge=False)
    for number, name in enumerate(columns):
        table.add_column(name, justify="left" if number == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def pressure_screen(report: Pressure, entries: Mapping[str, Entry]) -> Group:
    """The report of /context-pressure on one screen of 24 lines and 80 columns, what it comes to last.
    `entries` are those of the chat by id."""
    parts = ", ".join(f"{PARTS.get(name, name)} {tokens:,}" for name, tokens in report.parts.items())
    rows = {name: [row["count"], row["orig"], row["sum"]] for name, row in report.by_class.items()}
    others = list(rows.values())[SCREEN_CLASSES:]
    shown = dict(list(rows.items())[:SCREEN_CLASSES])
    if others:
        shown["others"] = [sum(column) for column in zip(*others, strict=True)]
    classes = plain_grid(("History", "messages", "as said", "now"))
    for name, figures in shown.items():
        classes.add_row(name, *(f"{figure:,}" for figure in figures))
    return Group(
        Text(window_line(report)),
        Text(f"  {parts}"),
        Text(""),
        classes,
        Text(""),
        largest_table(report, entries, SCREEN_LARGEST),
        Text(""),
        Text(verdict(report)),
    )


def window_line(report: Pressure) -> str:
    """How full the window is."""
    window = report.used + report.available
    if not (report.available or report.utilization):
        return f"Prompt: {report.used:,} tokens; this model's window is unknown"
    return f"Prompt: {report.used:,} of {window:,} tokens, {report.utilization:.1%} {bar(report.utilization)}"


def verdict(report: Pressure) -> str:
    """What the report comes to."""
    history = f"The history has {report.history_used:,} tokens; room is made above {report.history_budget:,}."
    return f"{report.level}. {history} {report.recommendation}"


def largest_table(report: Pressure, entries: Mapping[str, Entry], most: int) -> Table:
    """The largest messages, numbered as other commands take them."""
    table = plain_grid(("", "Largest", "tokens", "id"))
    table.add_column("begins", no_wrap=True)
    shown = zip(report.largest_messages[:most], report.largest_ids, strict=False)
    for number, (row, stored_id) in enumerate(shown, 1):
        entry, tokens = entries.get(stored_id), f"{row['tokens']:,}"
        if entry is None:
            table.add_row("", "note", tokens, "", "")
            continue
        what = f"{LABELS.get(entry.source.kind, entry.role)}, {entry.cls.value}"
        text = Text(beginning(entry.content, SCREEN_BEGINNING_CHARS))
        table.add_row(str(number), what, tokens, stored_id, text)
    return table


def beginning(text: str, chars: int) -> str:
    """How a text begins, on one line of at most so many characters."""
    words = " ".join(text[: 4 * chars].split())
    return words if len(words) <= chars else f"{words[: chars - 1]}…"


def plain_grid(columns: Sequence[str]) -> Table:
    """A table without lines: words to the left, figures to the right."""
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="", expand=False)
    for name in columns:
        table.add_column(name, justify="right" if name in FIGURES else "left", no_wrap=True)
    return table


def pressure_table(report: Pressure, entries: Mapping[str, Entry]) -> Group:
    """The report of /context-pressure --full."""
    parts = [[PARTS.get(name, name), f"{tokens:,}"] for name, tokens in report.parts.items()]
    parts.append(["all", f"{report.used:,}"])
    classes = [
        [name, str(row["count"]), f"{row['orig']:,}", f"{row['sum']:,}", f"{row['ratio']:.0%}"]
        for name, row in report.by_class.items()
    ]
    return Group(
        Text(window_line(report)),
        Text(""),
        grid("Tokens by part of the prompt", ["part", "tokens"], parts),
        Text(""),
        grid("History by kind of message", ["kind", "messages", "as said", "now", "share"], classes),
        Text(""),
        largest_table(report, entries, len(report.largest_messages)),
        Text(""),
        Text(verdict(report)),
    )


def plan_table(plan: Plan) -> Group:
    """A plan as /gardener plan shows it."""
    table = plain_grid(("", "message", "stands", "tokens", "why"))
    for number, swap in enumerate(plan.swaps, 1):
        change = f"{SHOWN[swap.before]} → {SHOWN[swap.after]}"
        table.add_row(str(number), swap.entry_id, change, f"−{swap.tokens_saved:,}", swap.reason)
    head = f"{plan.tokens_before:,} → {plan.tokens_after:,} tokens of history ({plan.reason})."
    cost = f"It makes {plan.prefix_tokens_broken:,} tokens of a cached prompt uncached once."
    return Group(table, Text(""), Text(head), Text(cost))


def recalled_screen(found: Sequence[Hit], *, session: str = "", why: bool = False) -> Table:
    """What was found, a message each with its number, when it was said and an excerpt, and with `why` what
    made it come; other sessions are marked."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    for number, hit in enumerate(found, 1):
        item = hit.best
        parts = [f"turn {item.turn}", when(item.said_at), item.label, item.entry_id]
        if item.host:
            parts.insert(0, f"in {item.host}")
        elif session and item.session != session:
            parts.insert(0, "older chat")
        if item.until:
            parts.append(f"until turn {item.until}")
        table.add_row(str(number), Text(", ".join(part for part in parts if part), style="bold"))
        table.add_row("", Text(hit.excerpt))
        if why:
            table.add_row("", Text(f"({item.match})"))
    return table


def when(at: float) -> str:
    """A day and time of this machine's zone, "12 Nov 14:02", with the year where it is another; "" for 0."""
    if not at:
        return ""
    said, now = datetime.fromtimestamp(at), datetime.now()
    return f"{said.day} {said:%b}{'' if said.year == now.year else f' {said.year}'} {said:%H:%M}"


def entries_table(entries: Sequence[Entry]) -> Table:
    """Messages, a line each: number, id, tokens, kind, how they begin."""
    table = plain_grid(("", "message", "tokens", "kind"))
    table.add_column("begins", overflow="fold")
    for number, entry in enumerate(entries, 1):
        text = Text(beginning(entry.content, BEGINNING_CHARS))
        table.add_row(str(number), entry.id, f"{entry.tokens:,}", entry.cls.value, text)
    return table


def why_table(why: Why, *, session: str = "") -> Group:
    """What is known of one entry, and each change of its rendition; other sessions are marked."""
    elsewhere = " of an older session" if session and why.session != session else ""
    pinned = ", pinned" if why.pinned else ""
    level = level_words(why.standing)
    standing = f"{level}, {why.standing_tokens:,} of {why.tokens:,} tokens{pinned}"
    rows = [
        ("message", f"{why.entry_id}, {why.cls}, turn {why.turn}{elsewhere}"),
        ("from", why.source),
        ("now", standing),
    ]
    if why.priority is not None:
        points = ", ".join(f"{name} {value:+g}" for name, value in why.parts.items())
        rows.append(("priority", f"{why.priority:g} of 100 now ({points})"))
    rows += [("comes back", why.back), ("whole", why.whole)]
    facts = Table(show_header=False, pad_edge=False, show_edge=False)
    for name, value in rows:
        facts.add_row(name, Text(value))
    if not why.changes:
        return Group(facts, Text(""), Text("Nothing was ever done to it."))
    changes = Table(pad_edge=False, show_edge=False)
    for name in ("turn", "from → to", "by", "because"):
        changes.add_column(name, overflow="fold")
    for each in why.changes:
        by = f"{each.kind}: {each.cause}" if each.cause else each.kind
        because = each.reason if each.reason != each.kind else ""
        changes.add_row(
            str(each.turn), f"{level_words(each.before)} → {level_words(each.after)}", Text(by), Text(because)
        )
    return Group(facts, Text(""), changes)


def level_words(name: str) -> str:
    """How much of a message stands, in words, given as it is recorded."""
    return next((words for level, words in SHOWN.items() if level.value == name), name)


def facts_table(facts: Mapping[str, Any]) -> Table:
    """Names and figures in two columns."""
    rows = [
        [name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value)]
        for name, value in facts.items()
    ]
    return grid("", ["", ""], rows)


def stats_table(stats: Mapping[str, Any]) -> Group:
    """The statistics of an archive."""
    plain = {name: value for name, value in stats.items() if name != "by_class"}
    rows = [
        [name, *(f"{row[key]:,}" for key in ("entries", "original_tokens", "compressed_tokens"))]
        for name, row in stats["by_class"].items()
    ]
    return Group(
        facts_table(plain), Text(""), grid("By class", ["class", "entries", "original", "compressed"], rows)
    )


def checkup_table(checks: Sequence[tuple[str, bool, str]]) -> Table:
    """The check-up: a mark, what was looked at, what was found; rows of (name, in order, found)."""
    table = Table(show_header=False, pad_edge=False, show_edge=False)
    for name, ok, found in checks:
        table.add_row("ok" if ok else "NOT OK", name, Text(found))
    return table


def pruning_table(entries: Sequence[Mapping[str, Any]], done: str) -> Table:
    """What may go, by class and reason, with what was done about it underneath."""
    groups: defaultdict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for entry in entries:
        groups[entry["class"], entry["reason"].partition(",")[0]].append(entry)
    table = Table(box=box.SIMPLE, caption=done, caption_justify="left", caption_style="")
    table.add_column("class")
    table.add_column("why")
    for name in ("entries", "tokens", "bytes"):
        table.add_column(name, justify="right")
    for (cls, reason), found in sorted(groups.items()):
        sums = (len(found), sum(each["tokens"] for each in found), sum(each["bytes"] for each in found))
        table.add_row(cls, reason, *(f"{number:,}" for number in sums))
    return table
