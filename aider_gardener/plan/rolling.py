"""Incremental context: the plan that keeps the last turns whole and hides all older ones in batches.

What they said stands in the rolling summary of `notes.summary`.
"""

from __future__ import annotations

from aider_gardener.messages import Entry, Fidelity, Focus, Plan, Swap, TokenCounter
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.expiry import Policy
from aider_gardener.plan.goals import Goal
from aider_gardener.plan.planner import (
    NO_POLICY,
    Draft,
    RenditionsOf,
    broken_prefix,
    draft,
    history_tokens,
    open_exchange,
    text_of,
)

REASON = "turns left the last {turns} that stay whole"


def spare_turns(keep: int) -> int:
    """How many turns more than `keep` may stand whole before they are compiled: a batch, for the cache."""
    return max(2, keep)


def roll(
    chat: Chat,
    goal: Goal,
    *,
    keep_turns: int,
    focus: Focus,
    count: TokenCounter,
    renditions: RenditionsOf,
    policy: Policy = NO_POLICY,
) -> Draft | None:
    """The plan that hides the turns before the last `keep_turns`, when there is a batch of them or the
    history is above its high mark; where the whole turns alone are above it, the usual plan for them too.

    None when nothing is due. Pinned entries stay.
    """
    before = history_tokens(chat, count)
    old = [entry for entry in leaving(chat, keep_turns) if entry.seq not in policy.named]
    over = before > goal.high or goal.asked
    if not old or (whole_turns(chat) <= keep_turns + spare_turns(keep_turns) and not over):
        return draft(chat, goal, focus=focus, count=count, renditions=renditions, policy=policy)
    fidelity = {**chat.fidelity, **{entry.seq: Fidelity.HIDDEN for entry in old}}
    rolled = chat.shown_at(fidelity, lambda entry, level: text_of(entry, level, renditions))
    after = history_tokens(rolled, count)
    if after >= before:
        return draft(chat, goal, focus=focus, count=count, renditions=renditions, policy=policy)
    reason = REASON.format(turns=keep_turns)
    swaps = tuple(
        Swap(e.id, chat.fidelity.get(e.seq, Fidelity.FULL), Fidelity.HIDDEN, e.tokens, reason) for e in old
    )
    more = None
    if after > goal.high:
        more = draft(rolled, goal, focus=focus, count=count, renditions=renditions, policy=policy)
    if more is not None:
        swaps, after, rolled = (*swaps, *more.plan.swaps), more.plan.tokens_after, more.chat
    broken = broken_prefix(chat, rolled, count)
    return Draft(Plan(swaps, reason, before, after, broken, goal.marks(before)), rolled)


def leaving(chat: Chat, keep_turns: int) -> list[Entry]:
    """The entries shown that belong to turns before the last `keep_turns`, the present one not counted."""
    first_kept = chat.turn - keep_turns
    closed = open_exchange(chat)
    return [
        entry
        for entry in chat.all_entries()
        if entry.turn < first_kept
        and not entry.pinned
        and entry.seq not in closed
        and chat.fidelity.get(entry.seq) is not Fidelity.HIDDEN
    ]


def whole_turns(chat: Chat) -> int:
    """How many turns before the present one still show something in full."""
    shown = {entry.turn for entry in chat.all_entries() if entry.seq not in chat.fidelity}
    return len(shown - {chat.turn})
