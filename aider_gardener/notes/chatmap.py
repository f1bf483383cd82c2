"""The chat map: one small note on what the chat has touched and settled, before the history.

It names what no longer stands in the prompt: the user's rules, decisions, errors met, files, symbols and
numbers, each with its turn. It is made anew only when the view changes, so that between two plans it is
the same text and providers go on serving it from their caches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from aider_gardener.messages import Entry, TokenCounter
from aider_gardener.notes.decisions import Decision, decided
from aider_gardener.notes.fitting import fitting
from aider_gardener.notes.names import Fault, Name, gather
from aider_gardener.notes.rules import Amendment, Constraint, line, standing
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
NAMED_TURNS = 240
"""Names and errors are read of so many turns, six times the half-life of a name."""
FAULTS_SHOWN = 6
TURN_TOKENS = 4
"""What the turn before a decision or the names of one turn costs."""


@dataclass(frozen=True)
class MapNote:
    """The note in the prompt, what it was made for, and its tokens."""

    key: object = None
    text: str = ""
    tokens: int = 0


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
    """What the settings allow of a history budget. With the note of the last prompt and the plans applied: no
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
        room = Room(rules=room.rules)
        if not amendments:
            return MapNote(key)
    entries = past(chat)
    view = "\n".join(piece.content for piece in chat.pieces)
    rules = _rule_lines(standing(entries, amendments), squeeze(view), room.rules, count)
    turns = summary() if room.summary else ""
    in_prompt = "\n".join([view, *rules, turns, around()])
    facts = _facts(chat.turn, entries, in_prompt, room.facts, count) if room.facts > 0 else ""
    sections = [_section(RULES_HEAD, rules), _section(SUMMARY_HEAD, [turns] if turns else []), facts]
    while any(sections):
        text = "\n".join([MAP_HEAD, *filter(None, sections)])
        if not room.whole or count(text) <= room.whole:
            return MapNote(key, text, count(text))
        sections.pop()  # the facts go first, the rules last
    return MapNote(key)


def past(chat: Chat) -> list[Entry]:
    """The entries that the note may speak of: of this chat since it was cleared, taken out ones excepted."""
    return [entry for seq, entry in chat.entries.items() if seq >= chat.floor and seq not in chat.gone]


def _facts(turn: int, entries: Sequence[Entry], shown: str, room: int, count: TokenCounter) -> str:
    """Decisions, errors and names that are not shown elsewhere, within `room` tokens."""
    names, faults = gather([entry for entry in entries if entry.turn > turn - NAMED_TURNS])
    flat = squeeze(shown)
    sections = [
        _section(DECIDED_HEAD, _decision_lines(decided(entries), flat, int(DECIDED_SHARE * room), count)),
        _section(FAULTS_HEAD, _fault_lines(faults, flat, int(FAULTS_SHARE * room), count)),
    ]
    left = room - sum(count(text) for text in sections if text) - count(NAMES_HEAD) - 2
    sections.append(_section(NAMES_HEAD, name_lines(names.values(), shown, turn, left, count)))
    return "\n".join(filter(None, sections))


def _section(head: str, lines: Sequence[str]) -> str:
    return "\n".join([head, *lines]) if lines else ""


def _is_shown(text: str, flat: str) -> bool:
    return text.removesuffix(" …") in flat


def _rule_lines(rules: Sequence[Constraint], flat: str, room: int, count: TokenCounter) -> list[str]:
    """The rules that are not shown in the user's own words, the newest that fit."""
    missing = [line(rule) for rule in reversed(rules) if not _is_shown(rule.text, flat)]
    left = room - count(RULES_HEAD) - 1
    return [*fitting(missing, left, lambda text: count(text) + 1, gaps=False)][::-1]


def _decision_lines(made: Sequence[Decision], flat: str, room: int, count: TokenCounter) -> list[str]:
    """Decisions that are not shown, the user's before the model's and newer before older, in their order."""
    missing = [one for one in made if not _is_shown(one.text, flat)]
    best = sorted(missing, key=lambda one: (not one.is_users, -one.seq))
    kept = fitting(best, room - count(DECIDED_HEAD), lambda one: count(one.text) + TURN_TOKENS)
    return [f"[{one.turn}] {one.text}" for one in sorted(kept, key=made.index)]


def _fault_lines(faults: Sequence[Fault], flat: str, room: int, count: TokenCounter) -> list[str]:
    """The last errors, open ones first to be kept, in the order in which they were met."""
    missing = [fault for fault in faults if fault.text not in flat]
    best = sorted(missing, key=lambda fault: (bool(fault.solved), -fault.turn))[:FAULTS_SHOWN]
    kept = fitting(best, room - count(FAULTS_HEAD), lambda fault: count(fault.text) + 2 * TURN_TOKENS)
    return [
        f"[{fault.turn}] {fault.text}" + (f", gone in [{fault.solved}]" if fault.solved else "")
        for fault in sorted(kept, key=faults.index)
    ]


def name_lines(names: Iterable[Name], shown: str, turn: int, room: int, count: TokenCounter) -> list[str]:
    """The names of highest rank that the prompt does not show, a line for each turn they first came up in."""
    scored = [(-name.score(turn), name.order, name) for name in names if name.last_turn < turn]
    best = (name for score, _order, name in sorted(scored) if -score >= LEAST_SCORE)
    missing = (name for name in best if name.text not in shown)
    by_turn: dict[int, list[Name]] = {}

    def cost(name: Name) -> int:
        return count(name.text) + 1 + (0 if name.first_turn in by_turn else TURN_TOKENS)

    for name in fitting(missing, room, cost, least=TURN_TOKENS):
        by_turn.setdefault(name.first_turn, []).append(name)
    return [
        f"[{first}] " + ", ".join(name.text for name in sorted(group, key=lambda name: name.order))
        for first, group in sorted(by_turn.items())
    ]
