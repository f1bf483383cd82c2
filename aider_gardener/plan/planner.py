"""Makes plans: which entries to show at which level so that the history meets its budget.

A plan spares the last exchanges. Of what is older, outputs and pastes go to their short forms, then what is
worth least (`priority`) leaves the prompt until the history is at its low mark. Only where the prompt could
not be sent otherwise the last exchanges go to their short forms too, then to a line each. What has expired,
by its class's or its own term, is shown shorter by the next plan.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from aider_gardener.messages import (
    ContentClass,
    Entry,
    Focus,
    Level,
    Plan,
    Rendition,
    SourceKind,
    Swap,
    TokenCounter,
)
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.goals import Goal
from aider_gardener.plan.priority import priority
from aider_gardener.plan.view import Piece, exchanges, is_filler, note_line
from aider_gardener.settings import ANY_CLASS, Terms
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

SPOKEN = frozenset({SourceKind.TYPED, SourceKind.REPLY})
"""What user and model said, as against what programs and the host put in."""

RenditionsOf = Callable[[Entry], Mapping[Level, Rendition]]

LEVELS = tuple(Level)
"""From the whole down to nothing."""
MINIMUM_GAIN = 0.08
"""Least share of the budget that a plan must save, or it would trickle and break the cache for little."""
EXPIRED_GAIN = 0.25
"""Least share of the high mark that entries which have expired must save for a plan of their own."""
TAIL_SHARE = 0.6
"""Share of the low mark that the last exchanges may take whole: what the next reply builds on. The rest is
left to older entries, however large the last exchange is."""
LEAST_BATCH_TURNS = 2
"""Incremental context hides turns in batches of as many as stay whole, and at least so many."""


@dataclass(frozen=True)
class Policy:
    """What a plan does beside meeting its mark.

    `terms` say when entries are due. The last `keep_turns` turns (0: only the last exchange) stay whole
    as long as the prompt can be sent, and so do the entries `named`, by their place. `older`: once a plan is
    made, it shows everything older by a line. `incremental`: all but the last so many turns are hidden, for
    the rolling summary in the chat map has what they said; 0: not.
    """

    terms: Terms = field(default_factory=dict)
    keep_turns: int = 0
    older: bool = False
    incremental: int = 0
    named: frozenset[int] = frozenset()

    def with_own(self, entry_id: str, context_ttl: int, summarise_after: int) -> Policy:
        """The policy with terms of its own for one entry; 0 turns mean never."""
        own = {(entry_id, Level.LINE): context_ttl, (entry_id, Level.COMPRESSED): summarise_after}
        return replace(self, terms={**self.terms, **own})

    def due_level(self, entry: Entry, turn: int, over: bool) -> Level:
        """The most that is worth showing of an entry that need not stay whole. `over`: a plan is made anyway,
        so of what came in the user's role the short form is enough, which leaves what was typed itself. That
        expires only if its class is named: `all` leaves it out."""
        if self.older and over:
            return Level.LINE
        anything = [ANY_CLASS] if entry.cls is not ContentClass.PROMPT else []
        keys = [entry.id, entry.cls.value, *anything]
        for level in (Level.LINE, Level.COMPRESSED):
            turns = next((self.terms[key, level] for key in keys if (key, level) in self.terms), 0)
            if 0 < turns <= turn - entry.turn:
                return level
        return Level.COMPRESSED if over and entry.role == "user" else Level.FULL


NO_POLICY = Policy()


class Applied(NamedTuple):
    """One plan that was applied: in which turn, how many seconds it took, and what held then: the next
    sequence number and the marks, with what set them. No other is due before new content enters or a mark
    falls."""

    turn: int
    plan: Plan
    seconds: float = 0.0
    next_seq: int = -1
    high: int = 0
    hard: int = 0
    set_by: str = ""


class Draft(NamedTuple):
    """A plan with the chat that it makes, before that takes the place of the chat, and the entries that it
    spares because the user named them."""

    plan: Plan
    chat: Chat
    named: tuple[Entry, ...] = ()


def piece_tokens(pieces: Iterable[Piece], count: TokenCounter) -> int:
    """Tokens of the messages, with what chat formats add to each."""
    return sum(piece.tokens(count) + MESSAGE_OVERHEAD_TOKENS for piece in pieces)


def history_tokens(chat: Chat, count: TokenCounter) -> int:
    """Tokens of everything of the past: both lists without the messages of the open exchange."""
    past = (piece for piece in chat.pieces if chat.open_exchange.isdisjoint(piece.levels))
    return piece_tokens(past, count)


def draft(
    chat: Chat,
    goal: Goal,
    *,
    focus: Focus,
    count: TokenCounter,
    renditions: RenditionsOf,
    policy: Policy = NO_POLICY,
) -> Draft | None:
    """The plan that brings the chat's history from above `goal.high` down to `goal.low`, or None.

    What has expired goes first, and is a plan of its own where it saves enough. Incremental context hides
    turns once there is a batch of them or the history is above its high mark; where the whole turns alone are
    above it, the plan shortens them too.

    None when nothing is due or what could be saved is not worth a plan; never more tokens than now.
    """
    now = _View(chat, count, renditions)
    leaving = _leaving(chat, goal, policy, now.tokens) if policy.incremental else []
    rolled = now.at(dict.fromkeys((entry.seq for entry in leaving), Level.HIDDEN))
    if rolled.tokens >= now.tokens:
        return _shortened(now, goal, focus, policy)
    reason = f"turns left the last {policy.incremental} that stay whole"
    swaps = tuple(Swap(e.id, chat.level_of(e), Level.HIDDEN, e.tokens, reason) for e in leaving)
    if rolled.tokens > goal.high and (more := _shortened(rolled, goal, focus, policy)):
        swaps, rolled = (*swaps, *more.plan.swaps), _View(more.chat, count, renditions)
    return _drafted(now, rolled, swaps, reason, goal)


def _leaving(chat: Chat, goal: Goal, policy: Policy, before: int) -> list[Entry]:
    """The entries to hide of a history of so many tokens because their turns are over; pinned ones stay."""
    entries, last_turns = chat.all_entries(), policy.incremental
    whole_turns = {entry.turn for entry in entries if entry.seq not in chat.levels} - {chat.turn}
    is_batch = len(whole_turns) > last_turns + max(LEAST_BATCH_TURNS, last_turns)
    if not (is_batch or goal.asked or before > goal.high):
        return []
    staying = chat.open_exchange | policy.named
    past = [e for e in entries if e.turn < chat.turn - last_turns and chat.shows(e) and not e.pinned]
    return [entry for entry in past if entry.seq not in staying]


def _drafted(now: _View, view: _View, swaps: tuple[Swap, ...], reason: str, goal: Goal) -> Draft:
    """The plan from one view to another. Of its marks `passed` is the one that the history is above, "high"
    or "hard", "" where something else made it due."""
    passed = "hard" if 0 < goal.hard < now.tokens else "high" if now.tokens > goal.high else ""
    marks: dict[str, int | str] = {"high": goal.high, "low": goal.low, "hard": goal.hard, "passed": passed}
    broken = broken_prefix(now.chat, view.chat, now.count)
    return Draft(Plan(swaps, reason, now.tokens, view.tokens, broken, marks), view.chat)


def _shortened(now: _View, goal: Goal, focus: Focus, policy: Policy) -> Draft | None:
    """The plan that shortens and hides what is due and, above the high mark, what is worth least."""
    chat = now.chat
    over_hard = 0 < goal.hard < now.tokens
    over = now.tokens > goal.high or over_hard or goal.asked
    if not over and not policy.terms:
        return None
    older, protected = _older_and_protected(chat, policy, int(TAIL_SHARE * goal.low))
    points = {entry.seq: priority(entry, turn=chat.turn, focus=focus) for entry in [*older, *protected]}
    view = now.at({entry.seq: now.lowest(entry, policy.due_level(entry, chat.turn, over)) for entry in older})
    if over:
        room = sum(map(now.tokens_of, protected)) + int((1 - TAIL_SHARE) * goal.low)
        least_first = sorted(older, key=lambda entry: (points[entry.seq], entry.seq))
        view = view.down_to(max(goal.low, min(room, goal.high)), least_first, Level.HIDDEN)
    if over_hard:
        view = view.down_to(goal.hard, protected, Level.COMPRESSED).down_to(goal.hard, protected, Level.LINE)
    minimum = 1 if over_hard else max(1, int((MINIMUM_GAIN if over else EXPIRED_GAIN) * goal.high))
    if now.tokens - view.tokens < minimum:
        return None
    swaps = tuple(
        Swap(
            entry.id,
            chat.level_of(entry),
            view.chat.level_of(entry),
            now.tokens_of(entry) - view.tokens_of(entry),
            _reason(entry, points[entry.seq], chat.turn - entry.turn),
        )
        for entry in [*older, *protected]
        if view.chat.level_of(entry) is not chat.level_of(entry) and not is_filler(entry)
    )
    return _drafted(now, view, swaps, goal.reason if over else "expired", goal)


def _reason(entry: Entry, points: float, age: int) -> str:
    """Why an entry is swapped, in words for the user."""
    when = "this turn" if age <= 0 else "1 turn ago" if age == 1 else f"{age} turns ago"
    return f"{entry.cls.value}, priority {points:.0f}, {when}"


@dataclass(frozen=True)
class _View:
    """A chat while a plan is made."""

    chat: Chat
    count: TokenCounter
    renditions: RenditionsOf

    @cached_property
    def tokens(self) -> int:
        return history_tokens(self.chat, self.count)

    def tokens_of(self, entry: Entry, level: Level | None = None) -> int:
        """The tokens that an entry takes as it is shown, or at a level."""
        level = level or self.chat.level_of(entry)
        if level is Level.FULL:
            return entry.tokens + MESSAGE_OVERHEAD_TOKENS
        return 0 if level is Level.HIDDEN else self.renditions(entry)[level].tokens

    def lowest(self, entry: Entry, wanted: Level) -> Level:
        """The level, down to the wanted one, at which the entry takes least."""
        at = self.chat.level_of(entry)
        below = LEVELS[LEVELS.index(at) + 1 : LEVELS.index(wanted) + 1]
        levels = [each for each in below if each is Level.HIDDEN or each in self.renditions(entry)]
        return min([at, *levels], key=lambda level: self.tokens_of(entry, level))

    def at(self, levels: Mapping[int, Level]) -> _View:
        """The view with these levels in place of those that it has."""

        def text_of(entry: Entry, level: Level) -> str:
            return entry.content if level is Level.FULL else self.renditions(entry)[level].text

        changed = {
            seq: level for seq, level in levels.items() if self.chat.levels.get(seq, Level.FULL) is not level
        }
        if not changed:
            return self
        return replace(self, chat=self.chat.shown_at({**self.chat.levels, **changed}, text_of))

    def down_to(self, limit: int, entries: Iterable[Entry], level: Level) -> _View:
        """The view with as many of the entries, the first ones first, at the level as bring its history to
        the limit. Notes cost a little more than their parts, so what comes out is looked at again."""
        view, queue = self, deque(entries)
        while queue and view.tokens > limit:
            lower, over = dict[int, Level](), view.tokens - limit
            while queue and over > 0:
                entry = queue.popleft()
                lower[entry.seq] = view.lowest(entry, level)
                over -= view.tokens_of(entry) - view.tokens_of(entry, lower[entry.seq])
            view = view.at(lower)
        return view


def broken_prefix(before: Chat, after: Chat, count: TokenCounter) -> int:
    """Tokens from the first message that changes to the end of the history: uncached once."""
    old, new = before.pieces, after.pieces
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    return piece_tokens(new[same:], count)


def _older_and_protected(chat: Chat, policy: Policy, tail_tokens: int) -> tuple[list[Entry], list[Entry]]:
    """The entries of which something is shown, in the order of the chat: those that a plan may shorten and
    hide, and those that stay as they are while the prompt can be sent.

    What waits for an answer and what is pinned is in neither. Kept are the last finished exchange with what
    came after it, the last reply, what the policy keeps, and of the exchanges before it as many as fit into
    `tail_tokens`, but for what programs printed.
    """
    entries = [entry for entry in chat.all_entries() if entry.seq not in chat.open_exchange]
    finished = exchanges(entries)
    spoken = [group for group in finished if any(not is_notice(entry) for entry in group)]
    last = {entry.seq for group in spoken[-1:] for entry in group}
    last |= {entry.seq for entry in entries if last and entry.seq > max(last)}
    last |= set([entry.seq for entry in entries if entry.role == "assistant" and not is_filler(entry)][-1:])
    for group in reversed(finished):
        messages = [entry for entry in group if entry.source.kind in SPOKEN]
        tail_tokens -= sum(entry.tokens + MESSAGE_OVERHEAD_TOKENS for entry in messages)
        if tail_tokens < 0:
            break
        last |= {entry.seq for entry in messages}
    last |= policy.named
    if policy.keep_turns:
        last |= {entry.seq for entry in entries if entry.turn >= chat.turn - policy.keep_turns}
    older, protected = list[Entry](), list[Entry]()
    for entry in entries:
        if chat.shows(entry) and not entry.pinned:
            (protected if entry.seq in last else older).append(entry)
    return older, protected


def is_notice(entry: Entry) -> bool:
    """Whether the host wrote it itself, or it says nothing."""
    return is_filler(entry) or entry.source.kind is SourceKind.NOTICE


def note_rendition(entry: Entry, level: Level, text: str, count: TokenCounter) -> Rendition:
    """A rendition with the tokens it costs as a line of a note."""
    return Rendition(level, text, count(note_line(entry, text)) + 1)
