"""Compactions of one chat: the plan that is due, applied, and taken back.

There is one way to a plan, `drafted` and then `apply`, and one in which anything else changes how entries
stand: `show`. Both leave an event in the archive, which `undo` and a chat that is gone on with read.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile

from aider_gardener.archive.store.base import Event
from aider_gardener.errors import UsageError
from aider_gardener.gardener.state import ChatState
from aider_gardener.messages import Entry, Level, Plan
from aider_gardener.notes.chatmap import MapNote
from aider_gardener.plan.goals import PUT_BACK, WARNING_AT, Goal, Limit, marks
from aider_gardener.plan.planner import LEVELS, Applied, Draft, draft
from aider_gardener.plan.usage import Market
from aider_gardener.plan.view import is_filler
from aider_gardener.recall.recall import recall
from aider_gardener.recall.request import Request
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

PLAN, THROTTLE = "plan", "throttle"
UNDO, RESTORE, GIVEN_BACK = "undo", "restore", "all given back"
"""Kinds of events that change how entries stand. All but these can be undone, and `THROTTLE`: what was cut as
it entered would not have been sent."""
RESTS = "rests_before"
"""What an event records after which what was put back rests: the first sequence number behind it."""
PINNED_SHARE = 0.5
"""What pinned messages take of the history's budget; what they need beyond it comes on top."""
NAMED_SHARE = 0.6
"""A message that fits a focus this much worse than the best is not what is named by it."""
GROWTH_TURNS = 20
"""How fast a chat grows is measured over so many of its last turns."""


# The marks


def goal_of(state: ChatState, *, cold: bool = False) -> Goal:
    """The marks for the history now: by its budget, or by the window where that is tighter. They lie above
    what the user had put back: that is not compacted again before as much has been said as lies between the
    marks, or the window is full."""
    limit = Limit(
        state.budget,
        state.settings.low_mark,
        fixed=bool(state.settings.history_tokens or state.host_limit_given),
        growth=growth_of(state),
        pinned=max(0, _pinned_tokens(state) - int(PINNED_SHARE * state.budget)),
        ours=state.budget > state.host_limit,
    )
    goal = marks(
        state.frame,
        limit,
        market(state, cold=cold),
        waiting=state.open_counted,
        compacted=bool(state.chat.levels),
        cold=cold,
    )
    if state.put_back_at < 0:
        return goal
    now = state.chat.open_exchange
    later = [e for e in state.chat.all_entries() if e.seq >= state.put_back_at and e.seq not in now]
    high = min(state.history_used - _message_tokens(later) + goal.high - goal.low, goal.hard or sys.maxsize)
    return goal if high <= goal.high else replace(goal, high=high, set_by=PUT_BACK)


def pinned_entries(state: ChatState) -> list[Entry]:
    """The entries that this chat holds whole because the user wants it, in their order."""
    return [entry for entry in state.chat.all_entries() if entry.pinned]


def pinned_room(state: ChatState) -> int:
    """How many tokens more may be pinned. All of it takes at most its share of the budget, or what the window
    has free below its first threshold beside the rest of the prompt and a history of its usual length, where
    that is more."""
    share, frame = int(PINNED_SHARE * state.budget), state.frame
    free = int(WARNING_AT * frame.window) - frame.tokens - (state.budget - share)
    return (max(share, free) if frame.window else share) - _pinned_tokens(state)


def _pinned_tokens(state: ChatState) -> int:
    return sum(entry.tokens for entry in pinned_entries(state))


def _message_tokens(entries: Iterable[Entry]) -> int:
    return sum(entry.tokens + MESSAGE_OVERHEAD_TOKENS for entry in entries)


def growth_of(state: ChatState) -> float:
    """Tokens that are added to the history a turn, on average over the chat's last turns: of what entered
    shortened, those of the short form."""
    chat = state.chat
    since = max(0, chat.turn - GROWTH_TURNS)
    lately = list(takewhile(lambda entry: entry.turn > since, reversed(chat.entries.values())))
    shortened = chat.throttled.intersection(chat.levels) - chat.forgotten
    cut = [entry for entry in lately if entry.seq in shortened]
    saved = sum(entry.tokens - state.archive.renditions(entry)[Level.COMPRESSED].tokens for entry in cut)
    return (_message_tokens(lately) - saved) / max(1, chat.turn - since)


def market(state: ChatState, *, cold: bool) -> Market:
    """What the cache makes of the price of a token of the history: by the model's prices where it serves the
    chat, and by the chance that it holds it. That is how often what stands before the history stayed the
    same, unless the provider reads nothing of the last prompts from its cache: how much of them it reads
    depends on the files behind the history too."""
    usage, prices = state.usage, state.usage.prices
    warm = 0.0 if cold or usage.is_cold or usage.cache_read_share == 0 else state.prefix.unchanged_share
    is_priced = prices.input > 0 and usage.is_served
    return Market(prices.cache_read / prices.input if is_priced else 1.0, warm)


# Plans


def drafted(state: ChatState, goal: Goal, named: frozenset[int] = frozenset()) -> Draft | None:
    """The plan that meets the goal, with its chat; None when nothing is due. Changes nothing. The entries
    `named` stay as they stand as long as the prompt can be sent."""
    return draft(
        state.chat,
        goal,
        focus=state.focus(),
        count=state.count,
        renditions=state.archive.renditions,
        policy=replace(state.policy, named=named),
    )


def apply(state: ChatState, new_draft: Draft, began: float) -> Plan:
    """Make a draft's chat the chat. `began` is when its making did."""
    state.put_back_at = -1
    due = goal_of(state)
    before, state.chat = state.chat, new_draft.chat
    state.archive.plan_event(before, state.chat, new_draft.plan)
    seconds = time.perf_counter() - began
    one = Applied(
        state.chat.turn, new_draft.plan, seconds, state.chat.next_seq, due.high, due.hard, due.set_by
    )
    state.plans = (*state.plans, one)
    state.show()
    return new_draft.plan


def compact_to(state: ChatState, goal: Goal) -> Plan | None:
    """Apply the plan that meets the goal, if there is one and prompts may be changed."""
    if not state.acts:
        return None
    with state.timed():
        began = time.perf_counter()
        new_draft = drafted(state, goal)
        return apply(state, new_draft, began) if new_draft else None


def compact_if_due(state: ChatState, *, cold: bool = False) -> Plan | None:
    """Apply the plan that is due, if any: no two without new content, a smaller limit or what was put back
    between. `cold`: the provider's cache holds nothing of the history."""
    goal = goal_of(state)
    for last in state.plans[-1:] if state.put_back_at < 0 else ():
        if state.chat.next_seq == last.next_seq and goal.high >= last.high and goal.hard >= last.hard:
            return None
    return compact_to(state, goal_of(state, cold=True) if cold else goal)


def compact_after_rejection(state: ChatState, room: int = 0) -> Plan | None:
    """Compact harder: the provider rejected the prompt as too long. Halves what stands, or goes down to
    `room` tokens if that is less (0: unknown)."""
    half = max(1, min(state.history_used // 2, room or sys.maxsize))
    reason = "the provider rejected the prompt as too long"
    return compact_to(state, Goal(high=half, low=half, hard=half, reason=reason))


def asked_for(state: ChatState, focus: str = "") -> Draft | None:
    """What a compaction down to the low mark would do now, sparing what the words of the focus name; None
    when nothing is worth it. Changes nothing."""
    goal = replace(goal_of(state), asked=True, reason="asked for")
    named = _named_by(state, focus, goal.low) if focus.strip() else []
    new_draft = drafted(state, goal, frozenset(named))
    return new_draft._replace(named=tuple(state.chat.entries[seq] for seq in named)) if new_draft else None


def _named_by(state: ChatState, focus: str, token_limit: int) -> list[int]:
    """The entries of this chat that hold words of a focus and fit it best, in their order, as many as fit
    whole into the limit."""
    chat, archive = state.chat, state.archive
    request = Request(focus, token_limit=token_limit, session=archive.session)
    found = [item for item in recall(archive, chat, request) if item.words]
    least = NAMED_SHARE * max((item.score for item in found), default=0.0)
    found = [item for item in found if item.score >= least]
    chosen: list[int] = []
    room_tokens = token_limit
    for seq in dict.fromkeys(seq for item in found for seq in chat.places(item.entry_id)[-1:]):
        tokens = _message_tokens([chat.entries[seq]])
        if tokens <= room_tokens:
            chosen.append(seq)
            room_tokens -= tokens
    return sorted(chosen)


def plan(state: ChatState, focus: str = "") -> Plan | None:
    """The plan of `asked_for`."""
    asked = asked_for(state, focus)
    return asked.plan if asked else None


# The way back


def show(state: ChatState, levels: Mapping[int, Level], kind: str, *, rests: bool = False) -> int:
    """Show the entries at the given levels and record the swaps as of this kind; returns how many messages
    changed, counted as a plan does. `rests`: they are not compacted again before as much has been said."""
    before = state.chat
    state.chat = before.shown_at(levels, state.archive.text)
    if rests:
        state.put_back_at = before.next_seq
    data = {RESTS: before.next_seq} if rests else {}
    state.archive.swaps_event(before, state.chat, kind, data)
    state.show()
    shown = [entry for entry in state.chat.all_entries() if not is_filler(entry)]
    return sum(before.level_of(entry) is not state.chat.level_of(entry) for entry in shown)


def undo(state: ChatState, *, every: bool = False) -> int:
    """Take back the last compaction (or every one) as far as its entries are still there; returns how
    many entries changed. What was cut as it entered stays cut. Raises UsageError when there is nothing to
    take back."""
    state.sync_host()
    undoable = _undoable(state.archive.store.events(state.archive.session))
    if not undoable:
        raise UsageError("there is no compaction to undo in this chat")
    if every:
        cut = state.chat.throttled.intersection(state.chat.levels)
        return show(state, dict.fromkeys(cut, Level.COMPRESSED), GIVEN_BACK, rests=True)
    levels = dict(state.chat.levels)
    for seq, before, _after in swapped(undoable[-1]):
        if seq in levels and LEVELS.index(before) < LEVELS.index(levels[seq]):
            levels[seq] = before
    return show(state, levels, UNDO, rests=True)


def _undoable(events: Iterable[Event]) -> list[Event]:
    """The compactions of a chat that were not taken back, oldest first."""
    undoable: list[Event] = []
    for event in events:
        if event.kind in ("clear", GIVEN_BACK):
            undoable.clear()
        elif event.kind == UNDO and undoable:
            undoable.pop()
        elif event.kind not in (UNDO, RESTORE, THROTTLE) and swapped(event):
            undoable.append(event)
    return undoable


def swapped(event: Event) -> list[tuple[int, Level, Level]]:
    """The entries that an event swapped, by sequence number, each with its level before and after."""
    rows = event.data.get("swaps")
    found = []
    for row in rows if isinstance(rows, list) else []:
        with suppress(KeyError, TypeError, ValueError):  # an archive may come from elsewhere
            found.append((int(row["seq"]), Level(row["before"]), Level(row["after"])))
    return found


def give_back(state: ChatState) -> int:
    """Put every original that is hidden or shortened back into its place whole, for good: no compaction of
    before can be undone any more. What the host took out and what was forgotten stays away. Returns how many
    messages changed."""
    state.sync_host()
    state.note = MapNote()
    return show(state, {}, GIVEN_BACK)


def hide_finished(state: ChatState) -> int:
    """Hide every message but those that wait for an answer; returns how many entries that are."""
    now = state.chat.open_exchange
    hidden = [entry.seq for entry in state.chat.all_entries() if entry.seq not in now]
    levels = {**state.chat.levels, **dict.fromkeys(hidden, Level.HIDDEN)}
    show(state, levels, "summarised by an LLM")
    return len(hidden)
