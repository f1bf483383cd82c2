"""Pressure, what the chat uses of the model's window as a value, and the marks between which the history is
kept: by its limit and the price of the cache, or by the window.

A history grows from the low mark to the high mark, then one plan takes it down again, and what is behind the
first message that it changes falls out of the provider's cache. A token that stands costs the price of a
cached one on every call; in return the next replies can build on it. So where a cached token is cheap the
marks are wide; where it is dearer the prefix rests for some turns; where nothing is cached the limit holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import NamedTuple

from aider_gardener.phrases import WHILE_COLD, WINDOW_LEAVES, YOUR_LIMIT
from aider_gardener.plan.usage import Market

WARNING_AT, OPTIMIZE_AT, HARD_AT, WINDOW_LOW = 0.70, 0.85, 0.95, 0.60

OVER_LIMIT = "history above its limit"
YOURS, HOSTS, OURS, BY_PRICE, BY_WINDOW, PUT_BACK = (
    YOUR_LIMIT,
    "aider's limit",
    "the gardener's limit",
    "the limit by cache prices",
    WINDOW_LEAVES,
    "a limit raised by what was put back",
)
"""What may set the high mark."""
COLD_SHARE = 0.6
"""Where between the low and the high mark a plan is already worth it when the cache is cold anyway."""
REST_TURNS = 14
"""Turns that the prefix is to rest at least: what the next replies build on was said in the last few."""
CHEAP_SHARE = 1 / 3
"""Where a cached token costs at most so much of its price the limit is MOST_HIGH."""
MOST_HIGH = 32_000
"""The high mark that the prices choose is not above this: models lose things in very long histories."""


class Fullness(str, Enum):
    """How full the window is: OK below 70 %, WARNING to 85 %, OPTIMIZE to 95 %, HARD above."""

    OK = "OK"
    WARNING = "WARNING"
    OPTIMIZE = "OPTIMIZE"
    HARD = "HARD"


@dataclass(frozen=True)
class Frame:
    """What surrounds the history in a prompt, in tokens, as last seen: the parts and the window. What waits
    for an answer is no part of it.

    `parts` maps "system", "map", "files", "notes" to tokens. `window` is the model's
    max_input_tokens, 0 when unknown. `files` are the chat's files with their tokens, `read_only` the names of
    those that the model may not edit.
    """

    window: int = 0
    parts: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, int] = field(default_factory=dict)
    model: str = ""
    read_only: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """All of it."""
        return sum(self.parts.values())


@dataclass(frozen=True)
class Pressure:
    """The report on a prompt. Token figures are of the next prompt as it stands; `available` is below 0 where
    it is longer than the window, and 0 where that is unknown. `largest_ids` are the ids of the largest
    messages, "" for a note that shows several, `budget_set_by` says what set the budget of the history."""

    used: int
    available: int
    utilization: float
    level: str
    history_budget: int
    history_used: int
    parts: Mapping[str, int]
    messages_count: int
    largest_messages: Sequence[Mapping[str, object]]
    by_message: Sequence[Mapping[str, object]]
    by_class: Mapping[str, Mapping[str, float]]
    entries_tracked: int
    total_original_tokens: int
    total_summary_tokens: int
    compression_ratio: float = 1.0
    eviction_candidates: int = 0
    plan_would_save: int = 0
    droppable_files: Sequence[Mapping[str, object]] = ()
    recommendation: str = ""
    largest_ids: Sequence[str] = ()
    budget_set_by: str = ""

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def fullness(used: int, window: int) -> Fullness:
    """How full a prompt of `used` tokens makes a window (0: unknown, always OK)."""
    share = used / window if window else 0.0
    if share >= HARD_AT:
        return Fullness.HARD
    if share >= OPTIMIZE_AT:
        return Fullness.OPTIMIZE
    return Fullness.WARNING if share >= WARNING_AT else Fullness.OK


@dataclass(frozen=True)
class Goal:
    """What a plan must reach, in tokens of history: nothing above `high`, then down to `low`.

    `hard` is the most that the window allows, 0 when unknown; above it even the last exchange goes. `set_by`
    says what set the high mark. `asked`: the user asked, so the history need not be above the high mark.
    """

    high: int
    low: int
    hard: int = 0
    reason: str = OVER_LIMIT
    set_by: str = ""
    asked: bool = False


class Limit(NamedTuple):
    """How long the history may get, in tokens. `tokens` is the host's limit or the user's, or `ours`, where
    tokens have no price; `fixed`: the user set it, so prices do not move it. `low_share` of it is the low
    mark. `growth` is what the chat adds a turn. `pinned` is what pinned messages take beyond their share: it
    comes on top of both marks."""

    tokens: int
    low_share: float
    fixed: bool = False
    growth: float = 0.0
    pinned: int = 0
    ours: bool = False


def marks(
    frame: Frame, limit: Limit, market: Market, *, waiting: int = 0, compacted: bool, cold: bool = False
) -> Goal:
    """The goal for the history beside its frame and the tokens `waiting` for an answer.

    The high mark is the limit. Unless the user set it, more is allowed where a cached token costs half as
    much or less: what is added in REST_TURNS, in proportion where it costs more, and MOST_HIGH where it is
    cheap.

    The window sets the marks where it leaves less: compaction starts at 70 % of it (once some of the history
    is compacted, the rest of it at 85 %) and goes down to 60 %; 95 % is never passed. It sets none where the
    frame alone is longer: the prompt would not fit without any history either. `cold` says that the
    provider's cache is lost anyway, so that a plan costs nothing and is worth it earlier, but never below the
    limit.
    """
    most, tokens = limit.tokens + limit.pinned, limit.tokens
    if not limit.fixed and market.cached <= CHEAP_SHARE:
        tokens = max(tokens, MOST_HIGH)
    low, high = int(limit.low_share * tokens) + limit.pinned, tokens + limit.pinned
    if not limit.fixed:
        batch = int(REST_TURNS * limit.growth * min(1.0, 2 * market.cached_share))
        high = max(high, min(low + batch, MOST_HIGH + limit.pinned))
    hard, reason = 0, OVER_LIMIT
    set_by = YOURS if limit.fixed else BY_PRICE if high > most else OURS if limit.ours else HOSTS
    if cold:
        high = max(most, int(low + COLD_SHARE * (high - low)))
    if frame.window > frame.tokens:
        other_tokens = frame.tokens + waiting
        hard = max(1, int(HARD_AT * frame.window) - other_tokens)
        mark = OPTIMIZE_AT if compacted else WARNING_AT
        soft = int(mark * frame.window) - other_tokens
        if soft < high:
            high = max(soft, 1)
            low = max(min(low, int(WINDOW_LOW * frame.window) - other_tokens), 1)
            reason, set_by = f"window above {mark:.0%}", BY_WINDOW
    return Goal(high, low, hard, reason + (f", {WHILE_COLD}" if cold else ""), set_by)
