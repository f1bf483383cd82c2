"""The chat map: one small note on what the chat has touched and settled, before the history.

It names what no longer stands in the prompt: the user's rules, decisions, errors met, files, symbols and
numbers, each with its turn. It is made anew only when the view changes, so that between two plans it is
the same text and providers go on serving it from their caches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from aider_gardener.messages import Entry, TokenCounter
from aider_gardener.notes.decisions import MOST_DECISIONS, Decision, decided_after
from aider_gardener.notes.growing import Growing
from aider_gardener.notes.names import NAME, Fault, Gathered, Name, mine
from aider_gardener.notes.rules import MOST_RULES, Amendment, Constraint, fitting, held_after, in_order, line
from aider_gardener.notes.summary import SUMMARY_SHARE
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.planner import Applied
from aider_gardener.reading.output import squeeze
from aider_gardener.settings import Settings

RULES_SHARE, FACTS_SHARE = 0.05, 0.1
"""The shares of the history budget that rules, and decisions, errors and names together, may use."""
MAP_HEAD = (
    "(What is settled in this chat, kept by aider-gardener; [n] is the turn. Newer messages and files take"
    " precedence.)"
)
RULES_HEAD = "Rules set by the user:"
DECIDED_HEAD = "Decided:"
FAULTS_HEAD = "Errors met:"
NAMES_HEAD = "Names and numbers that came up, by turn:"
SUMMARY_HEAD = "Earlier turns:"
DECIDED_SHARE, FAULTS_SHARE = 0.35, 0.15
"""Shares of the map for decisions and errors, at most; names get the rest."""
LEAST_SCORE = 0.2
"""Names that score less, mentioned once long ago, are not worth their place."""
FAULTS_SHOWN = 6


class Read:
    """What was read of the chat's entries so far: rules, decisions, names and errors."""

    def __init__(self) -> None:
        self.rules = Growing[list[Constraint], "Entry | Amendment"](list, held_after)
        self.decisions = Growing[list[Decision], Entry](list, decided_after)
        self.names = Growing[Gathered, Entry](Gathered, lambda held, entry: held.add(entry, mine(entry)))


@dataclass(frozen=True)
class MapNote:
    """The note as it stands, what it was made for, and its tokens: all of it, and its rules alone. `read`
    is what the next one need not read again."""

    key: object = None
    text: str = ""
    tokens: int = 0
    rule_tokens: int = 0
    read: Read = field(default_factory=Read, compare=False, repr=False)


@dataclass(frozen=True)
class Room:
    """Tokens that the parts of the note may use, and the most for all of it (0: no such limit)."""

    rules: int = 0
    facts: int = 0
    summary: int = 0
    whole: int = 0


def room_for(
    settings: Settings, budget: int, note: MapNote | None = None, plans: Sequence[Applied] = ()
) -> Room:
    """What the settings allow of a history budget. With the note that stands and the plans applied: no
    more than it had and the last plan saved, so that a compaction never makes a prompt longer."""
    rules, facts = int(RULES_SHARE * budget), int(FACTS_SHARE * budget)
    rolled = int(SUMMARY_SHARE * budget) if settings.incremental else 0
    whole = note.tokens + plans[-1].plan.tokens_saved if note and plans else 0
    return Room(rules, facts, rolled, whole)


def renewed(
    note: MapNote,
    chat: Chat,
    room: Room,
    *,
    around: Callable[[], str],
    summary: Callable[[], str],
    count: TokenCounter,
    amendments: Sequence[Amendment] = (),
) -> MapNote:
    """The note for the prompt; the same one until the chat's view or its rules are changed. Empty as long as
    everything stands in full, but for rules that were changed by hand.

    `around` gives the text of the prompt beside the history: what stands there is not named.
    `summary` gives the summary of hidden turns.
    """
    shown = (tuple(chat.fidelity.items()), chat.floor, len(chat.forgotten), tuple(amendments))
    key = (shown, room.rules, room.facts, room.summary)
    if key == note.key:
        return note
    if not chat.fidelity:
        room = replace(room, facts=0, summary=0, whole=0)
    if not chat.fidelity and not amendments:
        return MapNote(key, read=note.read)
    return made(key, chat, room, around, summary, count, note.read, amendments)


def made(
    key: object,
    chat: Chat,
    room: Room,
    around: Callable[[], str],
    summary: Callable[[], str],
    count: TokenCounter,
    read: Read,
    amendments: Sequence[Amendment],
) -> MapNote:
    """A new note within its room."""
    entries = past(chat)
    view = "\n".join(piece.content for piece in [*chat.done, *chat.cur])
    held = read.rules.over(in_order(entries, amendments))[-MOST_RULES:]
    rules = rule_lines(held, view, room.rules, count)
    told = summary() if room.summary else ""
    shown = "\n".join([view, *rules, told, around()])
    facts = fact_lines(chat.turn, entries, shown, room.facts, count, read)
    sections = [section(RULES_HEAD, rules), section(SUMMARY_HEAD, [told] if told else []), facts]
    while any(sections):
        text = "\n".join([MAP_HEAD, *filter(None, sections)])
        if not room.whole or count(text) <= room.whole:
            return MapNote(key, text, count(text), count(sections[0]), read)
        sections.pop()  # the facts go first, the rules last
    return MapNote(key, read=read)


def fact_lines(
    turn: int, entries: Sequence[Entry], shown: str, limit: int, count: TokenCounter, read: Read
) -> str:
    """Decisions, errors and names that are not shown elsewhere, within `limit` tokens."""
    if limit <= 0:
        return ""
    found, decided = read.names.over(entries), read.decisions.over(entries)[-MOST_DECISIONS:]
    names, faults = found.names, list(found.faults.values())
    flat = squeeze(shown)
    sections = [
        section(DECIDED_HEAD, decision_lines(decided, flat, int(DECIDED_SHARE * limit), count)),
        section(FAULTS_HEAD, fault_lines(faults, flat, int(FAULTS_SHARE * limit), count)),
    ]
    left = limit - sum(count(text) for text in sections if text) - count(NAMES_HEAD) - 2
    sections.append(section(NAMES_HEAD, name_lines(names.values(), shown, turn, left, count)))
    return "\n".join(filter(None, sections))


def past(chat: Chat) -> list[Entry]:
    """The entries that the note may speak of: of this chat since it was cleared, taken out ones excepted."""
    return [entry for seq, entry in chat.entries.items() if seq >= chat.floor and seq not in chat.gone]


def section(head: str, lines: Sequence[str]) -> str:
    return "\n".join([head, *lines]) if lines else ""


def rule_lines(held: Sequence[Constraint], view: str, limit: int, count: TokenCounter) -> list[str]:
    """The rules that hold and do not stand in the view in the user's own words, the newest that fit."""
    if limit <= 0:
        return []
    flat = squeeze(view)
    missing = [rule for rule in held if rule.text.removesuffix(" …") not in flat]
    return [line(rule) for rule in fitting(missing, token_limit=limit - count(RULES_HEAD) - 1, count=count)]


def decision_lines(made: Sequence[Decision], flat: str, limit: int, count: TokenCounter) -> list[str]:
    """Decisions that are not shown, the user's before the model's and newer before older, in their order."""
    rows = [one for one in made if one.text.removesuffix(" …") not in flat]
    rows.sort(key=lambda one: (not one.is_users, -one.seq))
    kept: list[Decision] = []
    left = limit - count(DECIDED_HEAD)
    for row in rows:
        cost = count(row.text) + 4
        if cost <= left:
            left -= cost
            kept.append(row)
    kept.sort(key=lambda one: (one.seq, made.index(one)))
    return [f"[{one.turn}] {one.text}" for one in kept]


def fault_lines(faults: Sequence[Fault], flat: str, limit: int, count: TokenCounter) -> list[str]:
    """The last errors, open ones first to be kept, in the order in which they were met."""
    rows = sorted((f for f in faults if f.text not in flat), key=lambda f: (bool(f.solved), -f.turn))
    kept: list[Fault] = []
    left = limit - count(FAULTS_HEAD)
    for fault in rows[:FAULTS_SHOWN]:
        cost = count(fault.text) + 8
        if cost <= left:
            left -= cost
            kept.append(fault)
    kept.sort(key=faults.index)
    return [f"[{f.turn}] {f.text}" + (f", gone in [{f.solved}]" if f.solved else "") for f in kept]


def name_lines(names: Iterable[Name], shown: str, turn: int, limit: int, count: TokenCounter) -> list[str]:
    """The names of highest rank that the prompt does not show, a line for each turn they first came up in."""
    known = {match.group() for match in NAME.finditer(shown)}
    rows = [name for name in names if name.score(turn) >= LEAST_SCORE and name.last_turn < turn]
    rows.sort(key=lambda name: (-name.score(turn), name.order))
    kept: list[Name] = []
    turns: set[int] = set()
    left = limit
    for name in rows:
        if left <= 4:
            break
        if name.text in known or name.text in shown:
            continue
        cost = count(name.text) + 1 + (0 if name.first_turn in turns else 4)
        if cost <= left:
            left -= cost
            kept.append(name)
            turns.add(name.first_turn)
    kept.sort(key=lambda name: name.order)
    kept.sort(key=lambda name: name.first_turn)
    return [
        f"[{first}] " + ", ".join(name.text for name in group)
        for first, group in groupby(kept, key=lambda name: name.first_turn)
    ]
