"""Tables for people: pressure, plan, status, recalled passages, the store; drawn with rich, printed as
text."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from aider_gardener.archive.entries import Why
from aider_gardener.messages import Entry, Plan
from aider_gardener.plan.goals import Pressure
from aider_gardener.recall.recall import Recalled

BAR_CELLS = 30
EXCERPT_CHARS = 240
BEGINNING_CHARS = 80
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


def pressure_table(report: Pressure) -> Group:
    """The report of /context-pressure."""
    window = report.used + report.available
    if report.available or report.utilization:
        head = f"{bar(report.utilization)} {report.utilization:.1%} of {window:,} tokens, {report.level}"
    else:
        head = f"{report.used:,} tokens used; this model's window is unknown"
    history = f"history {report.history_used:,} tokens, compacted above {report.history_budget:,}"
    parts = [[name, f"{tokens:,}"] for name, tokens in report.parts.items()]
    parts.append(["all", f"{report.used:,}"])
    classes = [
        [name, str(row["count"]), f"{row['orig']:,}", f"{row['sum']:,}", f"{row['ratio']:.2f}"]
        for name, row in report.by_class.items()
    ]
    largest = [
        [f"{row['index'] + 1}. {row['role']}", str(row["class"]), f"{row['tokens']:,}"]
        for row in report.largest_messages[:5]
    ]
    return Group(
        Text(head),
        Text(history),
        Text(""),
        grid("Tokens by part", ["part", "tokens"], parts),
        Text(""),
        grid("History by class", ["class", "messages", "original", "standing", "ratio"], classes),
        Text(""),
        grid("Largest messages", ["message", "class", "tokens"], largest),
        Text(""),
        Text(report.recommendation),
    )


def plan_table(plan: Plan) -> Group:
    """A plan as /gardener plan shows it."""
    rows = [
        [swap.entry_id, f"{swap.before.value} → {swap.after.value}", f"{swap.tokens_saved:,}", swap.reason]
        for swap in plan.swaps
    ]
    head = f"{plan.tokens_before:,} → {plan.tokens_after:,} tokens of history ({plan.reason})."
    cost = f"It makes {plan.prefix_tokens_broken:,} tokens of a cached prompt uncached once."
    return Group(Text(head), Text(cost), grid("", ["entry", "rendition", "saves", "why"], rows))


def status_table(status: Mapping[str, Any]) -> Table:
    """The status as two columns."""
    rows = [
        [name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value)]
        for name, value in status.items()
    ]
    return grid("", ["gardener", ""], rows)


def status_tables(status: Mapping[str, Any]) -> Group:
    """The status with its parts below it, each under its name."""
    plain = {name: value for name, value in status.items() if not isinstance(value, Mapping)}
    parts: list[Table | Text] = [status_table(plain)]
    for name, value in status.items():
        if isinstance(value, Mapping):
            known = {key: row for key, row in value.items() if row is not None}
            parts += [Text(""), Text(name.replace("_", " ").capitalize()), status_table(known)]
    return Group(*parts)


def recalled_table(found: Sequence[Recalled], *, session: str = "", why: bool = False) -> Table:
    """Recalled passages with where they come from, and with `why` what made them come; other sessions are
    marked."""
    table = Table(show_header=False, pad_edge=False, show_edge=False)
    table.add_column(overflow="fold", ratio=1)
    table.add_column(overflow="fold", ratio=4)
    for item in found:
        where = f"turn {item.turn}, {item.label}\n{item.entry_id}"
        if session and item.session != session:
            where = f"older session\n{where}"
        if item.until:
            where = f"{where}\nuntil turn {item.until}"
        if why:
            where = f"{where}\n{item.match}"
        text = item.text if len(item.text) <= EXCERPT_CHARS else item.text[:EXCERPT_CHARS] + " …"
        table.add_row(Text(where), Text(text))
    return table


def entries_table(entries: Sequence[Entry]) -> Table:
    """Entries, a line each: id, tokens, class, how they begin."""
    table = grid("", ["entry", "tokens", "class"], [])
    table.add_column("begins", overflow="fold")
    for entry in entries:
        begins = " ".join(entry.content.split())[:BEGINNING_CHARS]
        table.add_row(entry.id, f"{entry.tokens:,}", entry.cls.value, Text(begins))
    return table


def why_table(why: Why, *, session: str = "") -> Group:
    """What is known of one entry, and each change of its rendition; other sessions are marked."""
    elsewhere = " of an older session" if session and why.session != session else ""
    pinned = ", pinned" if why.pinned else ""
    standing = f"{why.standing}, {why.standing_tokens:,} of {why.tokens:,} tokens{pinned}"
    rows = [
        ("entry", f"{why.entry_id}, {why.cls}, turn {why.turn}{elsewhere}"),
        ("from", why.source),
        ("stands", standing),
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
        changes.add_row(str(each.turn), f"{each.before} → {each.after}", Text(by), Text(because))
    return Group(facts, Text(""), changes)


def stats_table(stats: Mapping[str, Any]) -> Group:
    """The statistics of an archive."""
    plain = {name: value for name, value in stats.items() if name != "by_class"}
    rows = [
        [name, *(f"{row[key]:,}" for key in ("entries", "original_tokens", "compressed_tokens"))]
        for name, row in stats["by_class"].items()
    ]
    return Group(
        status_table(plain), Text(""), grid("By class", ["class", "entries", "original", "compressed"], rows)
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
