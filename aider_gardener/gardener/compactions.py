"""Compactions of one chat: the plan that is due, applied, and taken back."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

from aider_gardener.errors import UsageError
from aider_gardener.gardener.state import UNDOABLE, ChatState, Planned, Prefix
from aider_gardener.messages import Entry, Fidelity, Plan
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.goals import WARNING_AT, Goal, Limit, marks
from aider_gardener.plan.planner import SAID, Applied, Draft, draft, open_exchange
from aider_gardener.plan.rolling import roll
from aider_gardener.plan.usage import CACHE_SECONDS, Market, Usage
from aider_gardener.recall.candidates import Request
from aider_gardener.recall.recall import recall
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

NONE_LEFT = (
    f"only the last {UNDOABLE} compactions of a chat can be undone, and they are;"
    " /gardener undo all shows every original whole again"
)
PINNED_SHARE = 0.5
"""What pinned messages take of the history's budget; what they need beyond it comes on top."""
GROWTH_TURNS = 20
"""How fast a chat grows is measured over so many of its last turns."""


@dataclass(frozen=True)
class Asked:
    """A compaction that the user asks for, not yet made, and the entries that it spares for its focus."""

    draft: Draft
    named: tuple[Entry, ...] = ()

    @property
    def plan(self) -> Plan:
        return self.draft.plan


def goal_of(state: ChatState, *, cold: bool = False) -> Goal:
    """The marks for the history now: by its budget, or by the window where that is tighter."""
    return marks(
        state.frame,
        Limit(
            state.budget,
            state.settings.low_mark,
            fixed=bool(state.settings.history_tokens or state.host_limit_given),
            growth=growth_of(state.chat),
            held=held_tokens(state),
        ),
        market(state.usage, state.prefix, cold=cold),
        compacted=bool(state.chat.fidelity),
        hold=state.compactions.hold,
        cold=cold,
    )


def pinned_entries(state: ChatState) -> list[Entry]:
    """The entries that this chat holds whole because the user wants it, in their order."""
    return [entry for entry in state.chat.all_entries() if entry.pinned]


def held_tokens(state: ChatState) -> int:
    """Tokens of pinned entries beyond their share of the budget: the chat needs the rest of it to go on."""
    pinned = sum(entry.tokens for entry in pinned_entries(state))
    return max(0, pinned - int(PINNED_SHARE * state.budget))


def pinned_room(state: ChatState) -> int:
    """The most tokens that may be pinned: their share of the budget, or what the window has free below its
    first threshold beside the rest of the prompt and a history of its usual length, where that is more."""
    share, frame = int(PINNED_SHARE * state.budget), state.frame
    free = int(WARNING_AT * frame.window) - frame.around - (state.budget - share)
    return max(share, free) if frame.window else share


def growth_of(chat: Chat) -> float:
    """Tokens that user and model add a turn, on average over the chat's last turns. Outputs are not
    counted: a plan takes them first, so what is left of them is soon the same."""
    since = max(0, chat.turn - GROWTH_TURNS)
    lately = takewhile(lambda entry: entry.turn > since, reversed(chat.entries.values()))
    said = [entry for entry in lately if entry.source.kind in SAID]
    return sum(e.tokens + MESSAGE_OVERHEAD_TOKENS for e in said) / max(1, chat.turn - since)


def market(usage: Usage, prefix: Prefix, *, cold: bool) -> Market:
    """What a token costs now: the model's prices, and the chance that the cache holds the prefix: what
    the provider says of the last calls, else how often what stands before the history stayed the same."""
    share = usage.cache_read_share
    warm = share if share is not None else prefix.kept_share
    if cold or usage.idle_seconds >= CACHE_SECONDS:
        warm = 0.0
    prices = usage.prices
    return Market(prices.input, prices.cache_read, warm) if prices.input else Market(warm=warm)


def drafted(state: ChatState, goal: Goal, named: frozenset[int] = frozenset()) -> Draft | None:
    """The plan that meets the goal, with its view; None when nothing is due. Changes nothing. The entries
    `named` stay as they stand as long as the prompt can be sent."""
    settings = state.settings
    make = partial(roll, keep_turns=settings.incremental_turns) if settings.incremental else draft
    return make(
        state.chat,
        goal,
        focus=state.focus(),
        count=state.count,
        renditions=state.archive.renditions,
        policy=replace(state.policy, named=named) if named else state.policy,
    )


def asked_for(state: ChatState, focus: str = "") -> Asked | None:
    """What a compaction down to the low mark would do now, sparing what the focus names; None when nothing
    is worth it. Changes nothing."""
    goal = replace(goal_of(state), asked=True, reason="asked for")
    named = named_by(state, focus, goal.low) if focus.strip() else ()
    made = drafted(state, goal, frozenset(named))
    return Asked(made, tuple(state.chat.entries[seq] for seq in named)) if made else None


def named_by(state: ChatState, focus: str, token_limit: int) -> list[int]:
    """The entries of this chat that hold words of a focus and fit it best, in their order, as many as fit
    whole into the limit."""
    chat, archive = state.chat, state.archive
    request = Request(focus, token_limit=token_limit, session=archive.session)
    found = [item for item in recall(archive, chat, request, count=state.count) if item.match.words]
    standing = [seq for item in found for seq in chat.standing(item.entry_id)[-1:]]
    chosen: dict[int, None] = {}
    left = token_limit
    for seq in dict.fromkeys(standing):
        tokens = chat.entries[seq].tokens + MESSAGE_OVERHEAD_TOKENS
        if tokens <= left:
            chosen[seq] = None
            left -= tokens
    return sorted(chosen)


def compact(state: ChatState, asked: Asked) -> Plan:
    """Apply what was asked for."""
    return applied(state, asked.draft, time.perf_counter())


def preview(state: ChatState) -> Plan | None:
    """The plan of `asked_for`."""
    asked = asked_for(state)
    return asked.plan if asked else None


def tend(state: ChatState, *, cold: bool = False, goal: Goal | None = None) -> Plan | None:
    """Apply the plan that is due, if any."""
    if goal is None and not may_be_due(state):
        return None
    began = time.perf_counter()
    made = drafted(state, goal or goal_of(state, cold=cold))
    return applied(state, made, began) if made else None


def applied(state: ChatState, made: Draft, began: float) -> Plan:
    """Make a plan's view the chat's, and keep how to take it back. `began` is when its making did."""
    chat, done = state.chat, state.compactions
    done.hold = 0
    due = goal_of(state)
    done.planned = Planned(chat.next_seq, due.high, due.hard)
    done.before.push(chat.fidelity)
    chat.apply(made.fidelity, made.done, made.cur)
    state.archive.plan_event(chat.turn, made.plan)
    done.applied.append(Applied.now(made.plan, chat.turn, time.perf_counter() - began))
    return made.plan


def may_be_due(state: ChatState) -> bool:
    """No two compactions without new content or a smaller limit between."""
    goal, last = goal_of(state), state.compactions.planned
    return state.chat.next_seq != last.next_seq or goal.high < last.high or goal.hard < last.hard


def shrink(state: ChatState, room: int = 0) -> Plan | None:
    """Garden harder: the provider rejected the prompt as too long. Halves what stands, or goes down
    to `room` tokens if that is less (0: unknown)."""
    half = max(1, min(state.history_used // 2, room or sys.maxsize))
    goal = Goal(high=half, low=half, hard=half, reason="the provider rejected the prompt as too long")
    return tend(state, goal=goal)


def undo(state: ChatState, *, every: bool = False) -> int:
    """Take back the last compaction (or every one) as far as its entries are still there; returns how
    many entries changed. Raises UsageError when there is nothing to take back."""
    views = state.compactions.before
    if not views.made:
        raise UsageError("there is no compaction to undo in this chat")
    if not views and not every:
        raise UsageError(NONE_LEFT)
    changed = give_back(state, "undo") if every else show(state, views.pop(), "undo")
    hold_off(state)
    return changed


def give_back(state: ChatState, kind: str) -> int:
    """Show every original whole again; what was compacted before cannot be taken back any more, for it
    stands. Returns how many entries changed."""
    state.compactions.before.clear()
    return show(state, {}, kind)


def hold_off(state: ChatState) -> None:
    """What the user put back is not compacted again before the history has grown by as much."""
    goal = goal_of(state)
    state.compactions.hold = state.history_used + goal.high - goal.low


def apply(state: ChatState, fidelity: Mapping[int, Fidelity], reason: str) -> int:
    """Show the entries at the given fidelities from now on, until it is undone; returns how many changed."""
    state.compactions.before.push(state.chat.fidelity)
    return show(state, fidelity, reason)


def hide_finished(state: ChatState) -> int:
    """Hide every message but those that wait for an answer; returns how many entries that are."""
    now = open_exchange(state.chat)
    hidden = [entry.seq for entry in state.chat.all_entries() if entry.seq not in now]
    apply(state, {**state.chat.fidelity, **dict.fromkeys(hidden, Fidelity.HIDDEN)}, "summarised by an LLM")
    return len(hidden)


def show_originals(state: ChatState, seqs: Sequence[int] | None = None) -> int:
    """Put originals back into the chat (all, or the given entries); returns how many changed."""
    standing = state.chat.fidelity
    keep = {} if seqs is None else {k: v for k, v in standing.items() if k not in set(seqs)}
    return show(state, keep, "restore")


def show(state: ChatState, fidelity: Mapping[int, Fidelity], kind: str) -> int:
    """Make the fidelities the view and record the swaps as of this kind; returns how many there were."""
    chat, archive = state.chat, state.archive
    before = dict(chat.fidelity)
    levels = chat.levels(fidelity)
    chat.apply(levels, *chat.rendered(levels, archive.text))
    changed = sorted(s for s in {*levels, *before} if levels.get(s) != before.get(s))
    swaps = [archive.swap_record(chat.entries[s].id, before.get(s), levels.get(s), kind) for s in changed]
    archive.swaps_event(chat.turn, kind, swaps)
    return len(changed)
