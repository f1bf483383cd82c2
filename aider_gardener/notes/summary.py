"""The rolling summary: the hidden turns by extraction alone, within a fixed size.

It is made from the one-line forms of what was said and done: a line a turn, shorter the older the turn
is, and of the oldest turns one line for a run of them. It is compiled anew from the originals whenever
turns leave the whole part, so nothing is summarised from a summary and no error adds up; its size is
fixed, so prompts stay flat however long the session is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from aider_gardener.messages import Entry, Fidelity, SourceKind, TokenCounter
from aider_gardener.notes.names import names_in
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.planner import RenditionsOf, is_notice

SUMMARY_SHARE = 0.25
"""Share of the history budget that the summary of old turns may use."""
LINE_TOKENS, LEAST_LINE_TOKENS = 64, 14
"""What the newest of the old turns may use, and the least that a turn of its own gets."""
FADE = 0.88
"""Each older turn may use this share of the next newer one."""
RUN_TURNS = 25
"""So many turns go into one line once they get no line of their own."""
RUN_TOKENS = 40


def summary(chat: Chat, *, token_limit: int, renditions: RenditionsOf, count: TokenCounter) -> str:
    """The hidden turns, oldest first, within `token_limit`: newer ones a line each, the oldest in runs.

    What a run is about are the names that come up in it most. Never longer than `token_limit`.
    """
    by_turn = hidden_turns(chat)
    newer: list[str] = []
    allowed, left = float(LINE_TOKENS), token_limit * 3 // 4
    at = len(by_turn)
    while at > 0 and left >= LEAST_LINE_TOKENS:
        turn, entries = by_turn[at - 1]
        text = turn_line(turn, entries, max(int(allowed), LEAST_LINE_TOKENS), renditions, count)
        cost = count(text) + 1
        if cost > left:
            break
        newer.append(text)
        left -= cost
        allowed *= FADE
        at -= 1
    spent = sum(count(text) + 1 for text in newer)
    runs = run_lines(by_turn[:at], token_limit - spent, count)
    return "\n".join([*runs, *reversed(newer)])


def hidden_turns(chat: Chat) -> list[tuple[int, list[Entry]]]:
    """The hidden entries by turn, oldest first, without what only the host said."""
    entries = [
        entry
        for seq, entry in sorted(chat.entries.items())
        if chat.fidelity.get(seq) is Fidelity.HIDDEN and seq >= chat.floor and seq not in chat.gone
    ]
    told = [entry for entry in entries if not is_notice(entry)]
    told.sort(key=lambda entry: entry.turn)
    return [(turn, list(group)) for turn, group in groupby(told, key=lambda entry: entry.turn)]


def turn_line(
    turn: int, entries: Sequence[Entry], limit: int, renditions: RenditionsOf, count: TokenCounter
) -> str:
    """One turn on one line: what was asked, then what came of it, cut to `limit` tokens."""
    pieces = [short_form(entry, renditions) for entry in told_first(entries)]
    text = f"[{turn}] " + " → ".join(dict.fromkeys(piece for piece in pieces if piece))
    return shortened(text, limit, count)


def told_first(entries: Sequence[Entry]) -> list[Entry]:
    """The prompt, the last reply, then the rest: the order in which a short line is filled."""
    typed = [entry for entry in entries if entry.source.kind is SourceKind.TYPED]
    replies = [entry for entry in entries if entry.source.kind is SourceKind.REPLY]
    first = [*typed[:1], *replies[-1:]]
    chosen = {entry.seq for entry in first}
    return [*first, *(entry for entry in entries if entry.seq not in chosen)]


def short_form(entry: Entry, renditions: RenditionsOf) -> str:
    """The one-line form of an entry, without its id and label."""
    made = renditions(entry).get(Fidelity.LINE)
    text = made.text if made else entry.content
    flat = " ".join(text.removesuffix(f"[{entry.id}]").split())
    return flat.removeprefix("reply: ")


def shortened(text: str, limit: int, count: TokenCounter) -> str:
    """The longest head of the text, at a word's end, within `limit` tokens."""
    if count(text) <= limit:
        return text
    words = text[: limit * 12].split(" ")
    low, high = 1, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if count(" ".join(words[:middle]) + " …") <= limit:
            low = middle
        else:
            high = middle - 1
    return " ".join(words[:low]) + " …"


def run_lines(turns: Sequence[tuple[int, list[Entry]]], limit: int, count: TokenCounter) -> list[str]:
    """Runs of old turns, the newest runs first to fit, a line of names each; what does not fit is told
    by one line for all that is older."""
    groups = [list(turns[at : at + RUN_TURNS]) for at in range(0, len(turns), RUN_TURNS)]
    lines: list[str] = []
    left = limit
    while groups and left >= RUN_TOKENS * 2:
        group = groups.pop()
        lines.append(run_line(group, RUN_TOKENS, count))
        left -= count(lines[-1]) + 1
    rest = [turn for group in groups for turn in group]
    if rest and left >= LEAST_LINE_TOKENS:
        lines.append(run_line(rest, min(left - 1, RUN_TOKENS), count))
    return lines[::-1]


def run_line(group: Sequence[tuple[int, list[Entry]]], limit: int, count: TokenCounter) -> str:
    """What a run of turns was about: the names that the most of its turns hold, in order of first use."""
    turns_of: dict[str, int] = {}
    for _turn, entries in group:
        said = [e for e in entries if e.source.kind in (SourceKind.TYPED, SourceKind.REPLY)]
        for name in {name for entry in said for name in names_in(entry.content[:4_000])}:
            turns_of[name] = turns_of.get(name, 0) + 1
    best = sorted(turns_of, key=lambda name: (-turns_of[name], name))[:12]
    head = f"[{group[0][0]}–{group[-1][0]}] " if len(group) > 1 else f"[{group[0][0]}] "
    return shortened(head + (", ".join(best) or "talk without names"), limit, count)
