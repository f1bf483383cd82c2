"""Retention carried out: what a policy lets go leaves the archive for good, and its room is given back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aider_gardener.archive.retention import MEGABYTE, Policy, Pruning, plan_pruning
from aider_gardener.archive.store.base import Store
from aider_gardener.errors import StoreError

if TYPE_CHECKING:
    from aider_gardener.settings import Settings

ROUNDS = 4
"""How often a cap is aimed at: what an entry takes on disk beside its text is only estimated."""
TOO_LARGE = (
    "the archive takes {size:.1f} MB, more than the limit of {limit:g} MB;"
    " `gardener store gc` shows what may go"
)
PRUNED = "{count} archived messages that the retention policy lets go were deleted ({size:.1f} MB left)"


@dataclass(frozen=True)
class Pruned:
    """What was deleted, and the size of the archive before and after, in bytes."""

    entries: int
    bytes_before: int
    bytes_after: int


def proposal(store: Store, policy: Policy, *, clock: Callable[[], float] = time.time) -> list[Pruning]:
    """What the policy lets go now. Changes nothing. Raises StoreError."""
    return plan_pruning(
        store.holdings(),
        store.live_sessions(),
        now=clock(),
        file_bytes=store.size_bytes(),
        policy=policy,
    )


def prune(store: Store, policy: Policy, *, clock: Callable[[], float] = time.time) -> Pruned:
    """Delete for good what the policy lets go, and give its room back to the disk. Raises StoreError."""
    before, entries = store.size_bytes(), 0
    for _ in range(ROUNDS):
        due: Sequence[Pruning] = proposal(store, policy, clock=clock)
        if not due:
            break
        entries += store.forget([each.holding.entry_id for each in due])
    if entries:
        store.compact()
    return Pruned(entries, before, store.size_bytes())


def keep_to_policy(store: Store, settings: Settings) -> str:
    """What is done once a session, between turns: prune where the user asked for that, else say that the
    archive is larger than the limit. Returns the line for the user, or ""."""
    limit = settings.store_limit * MEGABYTE
    if not store.persistent or (settings.retention == "off" and not limit):
        return ""
    if settings.retention == "off":
        size = store.size_bytes()
        too_large = size > limit
        return TOO_LARGE.format(size=size / MEGABYTE, limit=settings.store_limit) if too_large else ""
    try:
        done = prune(store, Policy(max_bytes=limit))
    except StoreError as error:
        return f"the archive could not be pruned: {error}"
    if not done.entries:
        return ""
    return PRUNED.format(count=done.entries, size=done.bytes_after / MEGABYTE)
