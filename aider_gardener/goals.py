"""The marks between which the history is kept: by its own budget, or by the window where that is tighter."""

from __future__ import annotations

from dataclasses import dataclass

from aider_gardener.messages import Marks
from aider_gardener.pressure import HARD_AT, OPTIMIZE_AT, WARNING_AT, WINDOW_LOW, Frame

OVER_BUDGET = "history above its budget"
COLD_SHARE = 0.6
"""Where between the low and the high mark a plan is already worth it when the cache is cold anyway."""


@dataclass(frozen=True)
class Goal:
    """What a plan must reach, in tokens of history: nothing above `high`, then down to `low`.

    `hard` is the most that the window allows, 0 when unknown; above it even the last exchange goes.
    `asked`: the user asked, so the history need not be above the high mark.
    """

    high: int
    low: int
    hard: int = 0
    reason: str = OVER_BUDGET
    asked: bool = False

    def marks(self, tokens: int) -> Marks:
        """The marks as a plan for a history of so many tokens records them, with the one it is above."""
        passed = "hard" if self.hard and tokens > self.hard else "high" if tokens > self.high else ""
        return Marks(self.high, self.low, self.hard, passed)


def marks(
    frame: Frame, *, high: int, low_mark: float, compacted: bool, hold: int = 0, cold: bool = False
) -> Goal:
    """The goal for a history that may take `high` tokens beside the rest of a prompt.

    The window sets the marks where it leaves less: compaction starts at 70 % of it (once some of the
    history is compacted, the rest of it at 85 %) and goes down to 60 %; 95 % is never passed. `hold` is
    a mark below which the user does not want another plan; `cold` says that the provider's cache is
    lost anyway, so that a plan costs nothing and is worth it earlier.
    """
    low = int(low_mark * high)
    hard, reason = 0, OVER_BUDGET
    if frame.window:
        hard = max(1, int(HARD_AT * frame.window) - frame.tokens)
        mark = OPTIMIZE_AT if compacted else WARNING_AT
        soft = int(mark * frame.window) - frame.tokens
        if soft < high:
            high = max(soft, 1)
            low = max(min(low, int(WINDOW_LOW * frame.window) - frame.tokens), 1)
            reason = f"window above {mark:.0%}"
    if cold:
        high = int(low + COLD_SHARE * (high - low))
        reason += ", while the prompt cache is cold"
    return Goal(max(high, hold), low, hard, reason)
