"""Compactions of one chat: the plan that is due, applied, and taken back."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from aider_gardener.errors import UsageError
from aider_gardener.messages import Fidelity, Plan
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.goals import Goal, Limit, marks
from aider_gardener.plan.planner import SAID, Applied, Draft, draft, history_tokens, open_exchange
from aider_gardener.plan.rolling import roll
from aider_gardener.plan.usage import CACHE_SECONDS, Market
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener


GROWTH_TURNS = 20
"""How fast a chat grows is measured over so many of its last turns."""


class Compactions:
    """What was compacted in a chat and what may be next. Each call gets the gardener it works for."""

    def __init__(self) -> None:
        self.applied: list[Applied] = []
        self._before: list[dict[int, Fidelity]] = []
        self._hold = 0
        self._planned = (-1, 0, 0)
        self._prompts = self._kept = 0

    def twin(self) -> Compactions:
        """A copy that changes on its own."""
        twin = copy(self)
        twin.applied, twin._before = list(self.applied), list(self._before)
        return twin

    def forget(self) -> None:
        """Nothing of before can be taken back any more (the chat was cleared)."""
        self._before.clear()

    def goal(self, gardener: Gardener, *, cold: bool = False) -> Goal:
        """The marks for the history now: by its budget, or by the window where that is tighter."""
        return marks(
            gardener.frame,
            Limit(
                gardener.budget,
                gardener.settings.low_mark,
                fixed=bool(gardener.settings.history_tokens or gardener.host_limit_given),
                growth=growth_of(gardener.chat),
            ),
            self.market(gardener, cold=cold),
            compacted=bool(gardener.chat.fidelity),
            hold=self._hold,
            cold=cold,
        )

    def draft(self, gardener: Gardener, goal: Goal) -> Draft | None:
        """The plan that meets the goal, with its view; None when nothing is due. Changes nothing."""
        settings = gardener.settings
        make = partial(roll, keep_turns=settings.incremental_turns) if settings.incremental else draft
        return make(
            gardener.chat,
            goal,
            focus=gardener.focus(),
            count=gardener.count,
            renditions=gardener.archive.renditions,
            policy=gardener.policy,
        )

    def preview(self, gardener: Gardener) -> Plan | None:
        """What a compaction down to the low mark would do now. Changes nothing."""
        made = self.draft(gardener, replace(self.goal(gardener), asked=True, reason="asked for"))
        return made.plan if made else None

    def tend(self, gardener: Gardener, *, cold: bool = False, goal: Goal | None = None) -> Plan | None:
        """Apply the plan that is due, if any."""
        if goal is None and not self._may_be_due(gardener):
            return None
        began = time.perf_counter()
        made = self.draft(gardener, goal or self.goal(gardener, cold=cold))
        if made is None:
            return None
        self._hold = 0
        due = self.goal(gardener)
        chat = gardener.chat
        self._planned = (chat.next_seq, due.high, due.hard)
        self._before.append(dict(chat.fidelity))
        chat.apply(made.fidelity, made.done, made.cur)
        gardener.archive.plan_event(chat.turn, made.plan)
        self.applied.append(Applied.now(made.plan, chat.turn, time.perf_counter() - began))
        return made.plan

    def market(self, gardener: Gardener, *, cold: bool) -> Market:
        """What a token costs now: the model's prices, and the chance that the cache holds the prefix: what
        the provider says of the last calls, else how often what stands before the history stayed the same."""
        usage = gardener.usage
        share = usage.cache_read_share
        warm = share if share is not None else self._kept / max(1, self._prompts)
        if cold or usage.idle_seconds >= CACHE_SECONDS:
            warm = 0.0
        prices = usage.prices
        return Market(prices.input, prices.cache_read, warm) if prices.input else Market(warm=warm)

    def note_prefix(self, *, kept: bool) -> None:
        """Count a prompt, and whether what stands before the history was as in the one before."""
        self._prompts += 1
        self._kept += kept

    def _may_be_due(self, gardener: Gardener) -> bool:
        """No two compactions without new content or a smaller limit between."""
        goal = self.goal(gardener)
        seq, high, hard = self._planned
        return gardener.chat.next_seq != seq or goal.high < high or goal.hard < hard

    def shrink(self, gardener: Gardener, room: int = 0) -> Plan | None:
        """Garden harder: the provider rejected the prompt as too long. Halves what stands, or goes down
        to `room` tokens if that is less (0: unknown)."""
        half = max(1, min(history_used(gardener) // 2, room or sys.maxsize))
        goal = Goal(high=half, low=half, hard=half, reason="the provider rejected the prompt as too long")
        return self.tend(gardener, goal=goal)

    def undo(self, gardener: Gardener, *, every: bool = False) -> int:
        """Take back the last compaction (or every one) as far as its entries are still there; returns how
        many entries changed. Raises UsageError when there is nothing to take back."""
        if not self._before:
            raise UsageError("there is no compaction to undo in this chat")
        before = self._before.pop()
        changed = self.give_back(gardener, "undo") if every else self._show(gardener, before, "undo")
        self.hold_off(gardener)
        return changed

    def give_back(self, gardener: Gardener, kind: str) -> int:
        """Show every original whole again; what was compacted before cannot be taken back any more, for it
        stands. Returns how many entries changed."""
        self.forget()
        return self._show(gardener, {}, kind)

    def hold_off(self, gardener: Gardener) -> None:
        """What the user put back is not compacted again before the history has grown by as much."""
        goal = self.goal(gardener)
        self._hold = history_used(gardener) + goal.high - goal.low

    def apply(self, gardener: Gardener, fidelity: dict[int, Fidelity], reason: str) -> int:
        """Show the entries at the given fidelities from now on; returns how many changed."""
        self._before.append(dict(gardener.chat.fidelity))
        return self._show(gardener, fidelity, reason)

    def show_originals(self, gardener: Gardener, seqs: Sequence[int] | None = None) -> int:
        """Put originals back into the chat (all, or the given entries); returns how many changed."""
        standing = gardener.chat.fidelity
        keep = {} if seqs is None else {k: v for k, v in standing.items() if k not in set(seqs)}
        return self._show(gardener, keep, "restore")

    def _show(self, gardener: Gardener, fidelity: dict[int, Fidelity], kind: str) -> int:
        chat, archive = gardener.chat, gardener.archive
        before = dict(chat.fidelity)
        fidelity = chat.levels(fidelity)
        chat.apply(fidelity, *chat.rendered(fidelity, archive.text))
        changed = sorted(s for s in {*fidelity, *before} if fidelity.get(s) != before.get(s))
        swaps = [
            archive.swap_record(chat.entries[s].id, before.get(s), fidelity.get(s), kind) for s in changed
        ]
        archive.swaps_event(chat.turn, kind, swaps)
        return len(changed)


def growth_of(chat: Chat) -> float:
    """Tokens that user and model add a turn, on average over the chat's last turns. Outputs are not
    counted: a plan takes them first, so what is left of them is soon the same."""
    since = max(0, chat.turn - GROWTH_TURNS)
    said = [e for e in chat.entries.values() if e.turn > since and e.source.kind in SAID]
    return sum(e.tokens + MESSAGE_OVERHEAD_TOKENS for e in said) / max(1, chat.turn - since)


def history_used(gardener: Gardener) -> int:
    """Tokens of everything of the past as it stands in the chat."""
    return history_tokens(*gardener.pieces, open_exchange(gardener.chat), gardener.count)
