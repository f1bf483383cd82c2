"""How long the archive keeps what it holds: confidence, importance, and what may be pruned.

First pure arithmetic over `Holding`s; then what a policy lets go leaves the archive for good, and its room is
given back. Nothing goes without `--yes` or a policy that the user set.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aider_gardener.archive.store.base import CONFIDENCE_FLOOR, CONFIDENCE_LOSS_PER_HOUR, Holding
from aider_gardener.messages import ContentClass
from aider_gardener.plan.priority import BASE

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

HALF_LIFE_DAYS = 7.0
RICH_TOKENS = 1_000
"""An entry of so many tokens and more counts as fully rich in length."""
LEAST_WORTH = 0.15
UNUSED_DAYS = 30.0
HOUR, DAY = 3_600.0, 86_400.0
MEGABYTE = 1_000_000

ROUNDS = 4
"""How often a cap is aimed at: what an entry takes on disk beside its text is only estimated."""


@dataclass(frozen=True)
class RetentionPolicy:
    """What may go besides what the rules let go: `max_bytes` caps the archive's size (0: no cap)."""

    max_bytes: int = 0


@dataclass(frozen=True)
class Pruning:
    """One entry that may go, and why."""

    holding: Holding
    confidence: float
    importance: float
    reason: str

    def record(self) -> dict[str, object]:
        """The same as plain data."""
        held = self.holding
        return {
            "id": held.entry_id,
            "class": held.cls,
            "tokens": held.tokens,
            "bytes": held.bytes,
            "uses": held.uses,
            "confidence": round(self.confidence, 3),
            "importance": round(self.importance, 3),
            "reason": self.reason,
        }


def confidence(held: Holding, now: float) -> float:
    """What is left of an entry's confidence, 0.1 to 1: it loses 0.5 % an hour since its last use."""
    hours = max(0.0, now - held.used_at) / HOUR
    return max(CONFIDENCE_FLOOR, held.confidence - CONFIDENCE_LOSS_PER_HOUR * hours)


def importance(held: Holding, now: float) -> float:
    """Recency × frequency × richness: 1 is a rich entry used twice a moment ago.

    Recency halves every 7 days since the last use; frequency is log2(2 + uses) over 2, so that what was
    never used has a half; richness is the mean of its class's base priority and of its length (the
    logarithm of its tokens over that of 1,000).
    """
    recency = math.pow(0.5, max(0.0, now - held.used_at) / DAY / HALF_LIFE_DAYS)
    frequency = math.log2(2 + held.uses) / 2
    length = min(1.0, math.log2(1 + held.tokens) / math.log2(1 + RICH_TOKENS))
    richness = (BASE[ContentClass(held.cls)] / 100 + length) / 2
    return recency * frequency * richness


def plan_pruning(
    holdings: Iterable[Holding],
    live: Collection[str],
    *,
    now: float,
    file_bytes: int,
    policy: RetentionPolicy,
) -> list[Pruning]:
    """What may go, the oldest of the least important first. Never what is pinned or stands in a live session.

    `file_bytes` is the size of the archive without its free pages. What the cap asks for beyond the rules
    is estimated by the share that an entry's text has in all texts.
    """
    everything = list(holdings)
    share = file_bytes / max(1, sum(held.bytes for held in everything))
    judged = [
        (held, confidence(held, now), importance(held, now))
        for held in everything
        if not held.pinned and not any(session in live for session in held.sessions)
    ]
    judged.sort(key=lambda each: (round(each[2], 3), each[0].used_at, each[0].entry_id))
    left, found = float(file_bytes), []
    due = [(each, reason_to_go(*each, now=now)) for each in judged]
    left -= sum(each[0].bytes * share for each, reason in due if reason)
    for (held, sure, worth), reason in due:
        if not reason and policy.max_bytes and left > policy.max_bytes:
            reason = f"the archive is larger than {policy.max_bytes / MEGABYTE:g} MB"
            left -= held.bytes * share
        if reason:
            found.append(Pruning(held, sure, worth, reason))
    return found


def reason_to_go(held: Holding, sure: float, worth: float, *, now: float) -> str:
    """Why an entry may go by the rules, or ""."""
    idle_days = (now - held.used_at) / DAY
    if idle_days >= UNUSED_DAYS:
        return f"not used for {idle_days:.0f} days"
    if not held.uses and sure <= LEAST_WORTH and worth <= LEAST_WORTH:
        return f"never used, confidence {sure:.2f}, importance {worth:.2f}"
    return ""


def proposal(
    store: Store, policy: RetentionPolicy, *, clock: Callable[[], float] = time.time
) -> list[Pruning]:
    """What the policy lets go now. Changes nothing. Raises StoreError."""
    return plan_pruning(
        store.holdings(),
        store.live_sessions(),
        now=clock(),
        file_bytes=store.size_bytes(),
        policy=policy,
    )


def prune(store: Store, policy: RetentionPolicy, *, clock: Callable[[], float] = time.time) -> int:
    """Delete for good what the policy lets go, and give its room back to the disk; returns how many
    entries. Raises StoreError."""
    entries = 0
    for _ in range(ROUNDS):
        due: Sequence[Pruning] = proposal(store, policy, clock=clock)
        if not due:
            break
        entries += store.forget([each.holding.entry_id for each in due], told=False)
    if entries:
        store.compact()
    return entries
