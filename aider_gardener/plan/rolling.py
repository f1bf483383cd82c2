"""Incremental context: the plan that keeps the last turns whole and hides all older ones in batches.

What they said stands in the rolling summary of `notes.summary`.
"""

from __future__ import annotations

from dataclasses import replace

from aider_gardener.messages import Entry, Fidelity, Focus, Plan, Swap, TokenCounter, twin
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
    now = open_exchange(chat)
    before = history_tokens(chat.done, chat.cur, now, count)
    old = [entry for entry in leaving(chat, keep_turns) if entry.seq not in policy.named]
    over = before > goal.high or goal.asked
    if not old or (whole_turns(chat) <= keep_turns + spare_turns(keep_turns) and not over):
        return draft(chat, goal, focus=focus, count=count, renditions=renditions, policy=policy)
    fidelity = {**chat.fidelity, **{entry.seq: Fidelity.HIDDEN for entry in old}}
    done, cur = chat.rendered(fidelity, lambda entry, level: text_of(entry, level, renditions))
    after = history_tokens(done, cur, now, count)
    if after >= before:
        return draft(chat, goal, focus=focus, count=count, renditions=renditions, policy=policy)
    reason = REASON.format(turns=keep_turns)
    swaps = tuple(
        Swap(e.id, chat.fidelity.get(e.seq, Fidelity.FULL), Fidelity.HIDDEN, e.tokens, reason) for e in old
    )
    broken = broken_prefix(chat, [*done, *cur], count)
    plan = Plan(swaps, reason, before, after, broken, goal.marks(before))
    rolled = Draft(plan, fidelity, done, cur)
    return tightened(chat, rolled, goal, focus=focus, count=count, renditions=renditions, policy=policy)


def tightened(
    chat: Chat,
    rolled: Draft,
    goal: Goal,
    *,
    focus: Focus,
    count: TokenCounter,
    renditions: RenditionsOf,
    policy: Policy,
) -> Draft:
    """The plan with the usual one behind it, where what stays is still above the high mark."""
    if rolled.plan.tokens_after <= goal.high:
        return rolled
    trial = twin(chat)
    trial.apply(rolled.fidelity, rolled.done, rolled.cur)
    more = draft(trial, goal, focus=focus, count=count, renditions=renditions, policy=policy)
    if more is None:
        return rolled
    both = (*rolled.plan.swaps, *more.plan.swaps)
    broken = broken_prefix(chat, [*more.done, *more.cur], count)
    after = more.plan.tokens_after
    plan = replace(rolled.plan, swaps=both, tokens_after=after, prefix_tokens_broken=broken)
    return Draft(plan, more.fidelity, more.done, more.cur)


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
