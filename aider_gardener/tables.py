"""Tables for people: pressure, plan, recalled passages, why, the store; drawn with rich, printed as text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table

from aider_gardener.archive.lookup import Why
from aider_gardener.archive.retention import Pruning
from aider_gardener.archive.sessions import AIDER
from aider_gardener.messages import Entry, Plan
from aider_gardener.phrases import LEVELS, archive_text, bar, counted
from aider_gardener.plan.goals import Pressure
from aider_gardener.plan.view import label_of
from aider_gardener.terminal import columns, visible

BAR_CELLS = 30
BEGINNING_CHARS = 80
SCREEN_LARGEST, SCREEN_BEGINNING_CHARS = 5, 36
"""So many rows, and so much of a message, fit one screen."""
SHOWN_SWAPS = 20
"""So many changes of a plan are shown; of a long chat it has hundreds."""
WORDS = {"current": "this turn"}
"""Parts of a prompt where the word for people is another."""
FLAT: Mapping[str, Any] = {"box": None, "header_style": "", "no_wrap": True}
"""A table without lines, each row on one line."""


def plain(width: int | None = None) -> Console:
    """What draws on standard output, without colours; texts are never markup."""
    return Console(
        width=width, markup=False, emoji=False, force_terminal=False, color_system=None, legacy_windows=False
    )


def as_text(renderable: RenderableType, *, width: int = 0) -> str:
    """Draw a renderable as plain text of the terminal's width."""
    console = plain(width or columns())
    with console.capture() as drawn:
        console.print(renderable)
    return "\n".join(line.rstrip() for line in drawn.get().splitlines())


def grid(
    columns: Sequence[str], rows: Iterable[Sequence[RenderableType]], *, no_wrap: bool = False, **style: Any
) -> Table:
    """A table; a column whose name begins with ">" has figures, to the right. `style` is rich's. Texts are
    made visible before their columns are measured."""
    table = Table(**{"title_justify": "left", "pad_edge": False, "show_edge": False, **style})
    for name in columns:
        table.add_column(
            name.removeprefix(">"),
            justify="right" if name.startswith(">") else "left",
            overflow="ellipsis" if no_wrap else "fold",
            no_wrap=no_wrap,
        )
    for row in rows:
        table.add_row(*(visible(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def spaced(*parts: RenderableType) -> Group:
    """Parts with an empty line between them."""
    return Group(*[each for part in parts for each in ("", part)][1:])


def pressure_table(report: Pressure, entries: Iterable[Entry], *, host: str = AIDER) -> Group:
    """The report of /context-pressure on one screen of 24 lines and 80 columns, what it comes to last.
    `entries` are those of the chat, which was held with `host`."""
    window = f"{report.used:,} tokens; this model's window is unknown"
    if report.available or report.utilization:
        share = f"{report.utilization:.1%} {bar(report.utilization, BAR_CELLS)}"
        window = f"{report.used:,} of {report.used + report.available:,} tokens, {share}"
    parts = ", ".join(f"{WORDS.get(name, name)} {tokens:,}" for name, tokens in report.parts.items())
    head: list[RenderableType] = [Group(f"Prompt: {window}", f"  {parts}")]
    if report.by_class:
        rows = [
            (name, *(f"{row[key]:,}" for key in ("count", "orig", "sum")), f"{row['ratio']:.0%}")
            for name, row in report.by_class.items()
        ]
        head.append(grid(("History", ">messages", ">as said", ">now", ">share"), rows, **FLAT))
    history = f"{host} makes room itself."
    if report.history_budget:
        why = f" ({report.budget_set_by})" if report.budget_set_by else ""
        mark = f"{report.history_budget:,}{why}"
        history = f"The history has {report.history_used:,} tokens; room is made above {mark}."
    verdict = f"{report.level}. {history}\n{report.recommendation}"
    if report.largest_messages:
        head.append(_largest(report, entries, host))
    return spaced(*head, verdict)


def _largest(report: Pressure, entries: Iterable[Entry], host: str) -> Table:
    """The largest messages, numbered as other commands take them."""
    by_id = {entry.id: entry for entry in entries}
    rows = []
    shown = zip(report.largest_messages[:SCREEN_LARGEST], report.largest_ids, strict=False)
    for number, (row, stored_id) in enumerate(shown, 1):
        entry, tokens = by_id.get(stored_id), f"{row['tokens']:,}"
        if entry is None:
            rows.append(("", "note", tokens, "", ""))
            continue
        what = f"{label_of(entry, host)}, {entry.cls.value}"
        begins = beginning(entry.content, SCREEN_BEGINNING_CHARS)
        rows.append((str(number), what, tokens, stored_id, begins))
    return grid((">", "Largest", ">tokens", "id", "begins"), rows, **FLAT)


def beginning(text: str, chars: int) -> str:
    """How a text begins, on one line of at most so many characters."""
    words = " ".join(visible(text[: 4 * chars]).split())
    return words if len(words) <= chars else f"{words[: chars - 1]}…"


def plan_table(plan: Plan) -> Group:
    """A plan as /gardener plan shows it, with its first SHOWN_SWAPS changes."""
    rows, more = [], len(plan.swaps) - SHOWN_SWAPS
    for number, swap in enumerate(plan.swaps[:SHOWN_SWAPS], 1):
        change = f"{LEVELS[swap.before]} → {LEVELS[swap.after]}"
        rows.append((str(number), swap.entry_id, change, f"−{swap.tokens_saved:,}", swap.reason))
    swaps = grid((">", "message", "stands", ">tokens", "why"), rows, **FLAT)
    rest = [f"… and {counted(more, 'message')} more."] if more > 0 else []
    head = f"{plan.tokens_before:,} → {plan.tokens_after:,} tokens of history ({plan.reason})."
    cost = f"It makes {plan.prefix_tokens_broken:,} tokens of a cached prompt uncached once."
    return spaced(Group(swaps, *rest), Group(head, cost))


def two_columns(rows: Iterable[Sequence[str]]) -> Table:
    """Words, each with what it does or is."""
    return grid(("", ""), rows, box=None, show_header=False, padding=(0, 2, 0, 0))


def entries_table(entries: Sequence[Entry]) -> Table:
    """Messages, a line each: number, id, tokens, kind, how they begin."""
    rows = [
        (str(number), e.id, f"{e.tokens:,}", e.cls.value, beginning(e.content, BEGINNING_CHARS))
        for number, e in enumerate(entries, 1)
    ]
    return grid((">", "message", ">tokens", "kind", "begins"), rows, **{**FLAT, "no_wrap": False})


def why_table(why: Why, *, session: str = "") -> Group:
    """What is known of one entry, and each change of its rendition; other sessions are marked."""
    elsewhere = " of an older session" if session and why.session != session else ""
    in_prompt = f"{level_words(why.standing)}, {why.standing_tokens:,} of {why.tokens:,} tokens"
    rows = [
        ("message", f"{why.entry_id}, {why.cls}, turn {why.turn}{elsewhere}"),
        ("from", why.source),
        ("now", f"{in_prompt}{', pinned' if why.pinned else ''}"),
    ]
    if why.priority is not None:
        points = ", ".join(f"{name} {value:+g}" for name, value in why.parts.items())
        rows.append(("priority", f"{why.priority:g} of 100 now ({points})"))
    facts = grid(("", ""), [*rows, ("comes back", why.back), ("whole", why.whole)], show_header=False)
    changes = []
    for each in why.changes:
        by = f"{each.kind}: {each.cause}" if each.cause else each.kind
        because = f", because {each.reason}" if each.reason not in ("", each.kind) else ""
        levels = f"{level_words(each.before)} → {level_words(each.after)}"
        changes.append((str(each.turn), levels, by + because))
    if not changes:
        return spaced(facts, "Nothing was ever done to it.")
    return spaced(facts, grid(("turn", "from → to", "why"), changes))


def level_words(name: str) -> str:
    """How much of a message is shown, in words, given as it is recorded."""
    return next((words for level, words in LEVELS.items() if level.value == name), name)


def archive_table(status: Mapping[str, Any], sharing: Iterable[str]) -> Group:
    """What an archive holds, by class too, what its chats came to, and how it is shared."""
    by_class = status["by_class"]
    rows = [(name, *(f"{figure:,}" for figure in row.values())) for name, row in by_class.items()]
    table = grid(("class", ">entries", ">original", ">compressed"), rows, **FLAT)
    return spaced(archive_text(status), *([table] if rows else []), "\n".join(sharing))


def pruning_table(due: Iterable[Pruning], done: str) -> Table:
    """What may go, by class and reason, with what was done about it underneath."""
    sums: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for each in due:
        row = sums[each.holding.cls, each.reason.partition(",")[0]]
        row[:] = [row[0] + 1, row[1] + each.holding.tokens, row[2] + each.holding.bytes]
    rows = [(*names, *(f"{number:,}" for number in row)) for names, row in sorted(sums.items())]
    columns = ("class", "why", ">entries", ">tokens", ">bytes")
    return grid(
        columns, rows, box=box.SIMPLE, pad_edge=True, show_edge=True,
        caption=done, caption_justify="left", caption_style="",
    )  # fmt: skip
