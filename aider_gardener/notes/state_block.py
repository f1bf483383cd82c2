"""Where a chat stands, in a few lines, for a host that begins anew or has just compacted its context
itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aider_gardener.messages import Entry, TokenCounter
from aider_gardener.notes.decisions import decided
from aider_gardener.notes.last_chat import edited_files, open_errors
from aider_gardener.notes.names import faults_in
from aider_gardener.notes.rules import standing

HEAD = "[Context Gardener State]"
EXPLAINED = "(A record kept by aider-gardener of {which}, not a request. g… is the id of a whole original.)"
RULES, DECIDED, FAILING, FILES = "Rules the user set:", "Decided:", "Still failing:", "Files edited last:"
MOST_FILES, MOST_FAULTS, FAULTS_EACH = 12, 4, 3
ROOM = (0.45, 0.75, 0.9)
"""The share of the budget that is spent when the rules, the decisions and the errors have had theirs."""


def state_block(
    entries: Sequence[Entry], *, which: str, token_limit: int, count: TokenCounter, reach: str = ""
) -> str:
    """Rules, decisions, open errors and files of a chat's entries within a budget, as quotes; "" when there
    is nothing to tell. `which` names the chat in the head, `reach` is a last line: how to see more."""
    lines = [HEAD, EXPLAINED.format(which=which)]
    tail = [reach] if reach else []
    left = token_limit - sum(count(line) + 1 for line in [*lines, *tail])
    full, told = left, False
    for share, (head, rows) in zip((*ROOM, 1.0), sections(entries), strict=True):
        room = left - int((1 - share) * full) - count(head) - 1
        taken = newest_that_fit(rows, room, count)
        if taken:
            told = True
            lines += [head, *taken]
            left -= count(head) + 1 + sum(count(row) + 1 for row in taken)
    return "\n".join([*lines, *tail]) if told else ""


def sections(entries: Sequence[Entry]) -> Iterator[tuple[str, list[str]]]:
    """The parts in the order of their worth, each with its lines, the newest last."""
    yield RULES, [_quoted(rule.turn, rule.text, rule.entry_id) for rule in standing(entries)]
    yield DECIDED, [_quoted(one.turn, one.text, one.entry_id) for one in decided(entries)]
    failing = open_errors(entries)[-MOST_FAULTS:]
    yield FAILING, [_quoted(entry.turn, fault_words(entry), entry.id) for entry in failing]
    files = edited_files(entries)[:MOST_FILES]
    yield FILES, [f"> {', '.join(files)}"] if files else []


def fault_words(entry: Entry) -> str:
    """What failed, in one line: the command and the first of its faults."""
    faults = faults_in(entry)
    first = "; ".join(faults[:FAULTS_EACH]) or " ".join(entry.content.split())[:160]
    more = f" (+{len(faults) - FAULTS_EACH} more)" if len(faults) > FAULTS_EACH else ""
    return f"{entry.source.detail}: {first}{more}" if entry.source.detail else first + more


def _quoted(turn: int, text: str, entry_id: str) -> str:
    """One line that nothing in it can leave."""
    return f"> [{turn}] {' '.join(text.split())} ({entry_id})"


def newest_that_fit(rows: Sequence[str], room: int, count: TokenCounter) -> list[str]:
    """The last of the lines that fit, in their order; one that is too long by itself is passed over."""
    kept: list[str] = []
    for row in reversed(rows):
        cost = count(row) + 1
        if cost <= room:
            room -= cost
            kept.append(row)
    return kept[::-1]
