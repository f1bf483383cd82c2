"""How long the archive keeps what it holds: confidence, importance, and what may be pruned.

First pure arithmetic over `Holding`s; then what the rules and a cap let go leaves the archive for good, and
its room is given back. Nothing goes without `--yes` or a setting of the user's.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
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
class Pruning:
    """One entry that may go, and why."""

    holding: Holding
    confidence: float
    importance: float
    reason: str

    def record(self) -> dict[str, object]:
        """The same as plain data."""
        holding = self.holding
        return {
            "id": holding.entry_id,
            "class": holding.cls,
            "tokens": holding.tokens,
            "bytes": holding.bytes,
            "uses": holding.uses,
            "confidence": round(self.confidence, 3),
            "importance": round(self.importance, 3),
            "reason": self.reason,
        }


def confidence(holding: Holding, now: float) -> float:
    """What is left of an entry's confidence, 0.1 to 1: it loses 0.5 % an hour since its last use."""
    hours = max(0.0, now - holding.used_at) / HOUR
    return max(CONFIDENCE_FLOOR, holding.confidence - CONFIDENCE_LOSS_PER_HOUR * hours)


def importance(holding: Holding, now: float) -> float:
    """Recency × frequency × richness: 1 is a rich entry used twice a moment ago.

    Recency halves every 7 days since the last use; frequency is log2(2 + uses) over 2, so that what was
    never used has a half; richness is the mean of its class's base priority and of its length (the
    logarithm of its tokens over that of 1,000).
    """
    recency = math.pow(0.5, max(0.0, now - holding.used_at) / DAY / HALF_LIFE_DAYS)
    frequency = math.log2(2 + holding.uses) / 2
    length = min(1.0, math.log2(1 + holding.tokens) / math.log2(1 + RICH_TOKENS))
    richness = (BASE[ContentClass(holding.cls)] / 100 + length) / 2
    return recency * frequency * richness


def plan_pruning(
    holdings: Iterable[Holding], live: Collection[str], *, now: float, file_bytes: int, max_bytes: int = 0
) -> list[Pruning]:
    """What may go, the oldest of the least important first. Never what is pinned or stands in a live session.

    `file_bytes` is the size of the archive without its free pages, `max_bytes` its cap (0: none). What the
    cap asks for beyond the rules is estimated by the share that an entry's text has in all texts.
    """
    everything = list(holdings)
    share = file_bytes / max(1, sum(holding.bytes for holding in everything))
    judged = []
    for holding in everything:
        if not holding.pinned and not any(session in live for session in holding.sessions):
            sure, worth = confidence(holding, now), importance(holding, now)
            judged.append(Pruning(holding, sure, worth, reason_to_go(holding, sure, worth, now=now)))
    judged.sort(key=lambda each: (round(each.importance, 3), each.holding.used_at, each.holding.entry_id))
    rest_bytes, found = file_bytes - sum(each.holding.bytes * share for each in judged if each.reason), []
    for each in judged:
        if not each.reason and max_bytes and rest_bytes > max_bytes:
            rest_bytes -= each.holding.bytes * share
            each = replace(each, reason=f"the archive is larger than {max_bytes / MEGABYTE:g} MB")
        if each.reason:
            found.append(each)
    return found


def reason_to_go(holding: Holding, sure: float, worth: float, *, now: float) -> str:
    """Why an entry may go by the rules, or ""."""
    idle_days = (now - holding.used_at) / DAY
    if idle_days >= UNUSED_DAYS:
        return f"not used for {idle_days:.0f} days"
    if not holding.uses and sure <= LEAST_WORTH and worth <= LEAST_WORTH:
        return f"never used, confidence {sure:.2f}, importance {worth:.2f}"
    return ""


def proposal(store: Store, max_bytes: int = 0, *, clock: Callable[[], float] = time.time) -> list[Pruning]:
    """What may go now. Changes nothing. Raises StoreError."""
    size, live = store.size_bytes(), store.live_sessions()
    return plan_pruning(store.holdings(), live, now=clock(), file_bytes=size, max_bytes=max_bytes)


def prune(store: Store, max_bytes: int = 0, *, clock: Callable[[], float] = time.time) -> int:
    """Delete for good what may go, and give its room back to the disk; returns how many entries. Raises
    StoreError."""
    entries = 0
    for _ in range(ROUNDS):
        due = proposal(store, max_bytes, clock=clock)
        if not due:
            break
        entries += store.forget([each.holding.entry_id for each in due], everywhere=False)
    if entries:
        store.compact()
    return entries
