"""What a replay reads from the gardener."""

from __future__ import annotations

from typing import Any

from aider_gardener.replay.measure.result import Compaction, Swapped, middle_cut


class Watched:
    """What the gardeners of a replay did, noted turn by turn: a chat that starts anew has another one.
    `stopped` is the turn in which none was there any more, as after a fault of its own."""

    def __init__(self) -> None:
        self.plans: list[Compaction] = []
        self.overhead: dict[int, float] = {}
        self.stopped = 0
        self._gardener: Any = None
        self._plans_seen = 0
        self._seconds_seen = 0.0

    def look(self, coder: Any, turn: int) -> None:
        """Note what the coder's gardener did since the last look, as of this turn."""
        gardener = getattr(coder, "gardener", None)
        if gardener is None:
            self.stopped = self.stopped or turn
            return
        if gardener is not self._gardener:
            self._gardener, self._plans_seen, self._seconds_seen = gardener, 0, 0.0
        applied = list(gardener.state.plans)
        for event in applied[self._plans_seen :]:
            self.plans.append(plan_of(gardener, event, turn))
        self._plans_seen = len(applied)
        seconds = gardener.state.seconds
        if seconds:
            self.overhead[turn] = self.overhead.get(turn, 0.0) + seconds - self._seconds_seen
        self._seconds_seen = seconds


def plan_of(gardener: Any, event: Any, turn: int) -> Compaction:
    """A plan that was applied, with the texts that it swapped."""
    entries = {entry.id: entry for entry in gardener.state.chat.entries.values()}
    return Compaction(
        turn=turn,
        by="plan",
        applied=True,
        tokens_before=event.plan.tokens_before,
        tokens_after=event.plan.tokens_after,
        reason=event.plan.reason,
        seconds=float(event.seconds),
        swaps=tuple(
            swapped(gardener, swap, entries[swap.entry_id])
            for swap in event.plan.swaps
            if swap.entry_id in entries
        ),
    )


def swapped(gardener: Any, swap: Any, entry: Any) -> Swapped:
    hidden = swap.after.value == "hidden"
    return Swapped(
        entry_id=entry.id,
        turn=entry.turn,
        source=": ".join(part for part in (entry.source.kind.value, entry.source.detail) if part),
        cls=entry.cls.value,
        before=swap.before.value,
        after=swap.after.value,
        tokens_saved=swap.tokens_saved,
        reason=swap.reason,
        original=middle_cut(entry.content),
        rendition="" if hidden else middle_cut(gardener.state.archive.text(entry, swap.after)),
    )
