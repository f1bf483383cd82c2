"""Levels and marks: the host's limit, or more where breaking the cached prefix more rarely is hardly dearer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.plan.goals import (
    FLAT_SHARE,
    MOST_HIGH,
    REST_TURNS,
    Frame,
    Level,
    Limit,
    level,
    marks,
    widest_batch,
)
from aider_gardener.plan.usage import Market

WARM, COLD, UNCACHED = Market(10.0, 1.0, warm=1.0), Market(10.0, 1.0, warm=0.0), Market(warm=1.0)
LIMIT = Limit(8_000, 0.25, growth=1_000)
ROOMY = Frame(window=1_000_000)
CHATS = (
    st.floats(1, 5_000), st.integers(1, 50_000), st.floats(0.05, 0.95), st.floats(0.1, 1), st.integers(0, 90_000)
)  # fmt: skip
"""Growth, what a plan breaks, the price of a cached token, how warm the cache is, what stands around."""


def turn_cost(batch: float, market: Market, growth: float, broken: int, around: int) -> float:
    """What a turn costs with plans every `batch` tokens: the new tokens, the rest of the prompt, the plans."""
    standing = market.token * (around + batch / 2)
    return market.full * growth + standing + market.lost * broken * growth / batch


def test_where_cached_tokens_are_cheap_the_prefix_rests_longer() -> None:
    assert marks(ROOMY, LIMIT, WARM, compacted=False).high >= 2_000 + REST_TURNS * 1_000
    slow = Limit(8_000, 0.25, growth=100)
    assert marks(ROOMY, slow, WARM, compacted=False).high == 8_000


def test_what_stands_behind_the_history_makes_plans_rarer() -> None:
    little = Limit(8_000, 0.25, growth=600)
    files = Frame(window=1_000_000, parts={"files": 20_000})
    assert marks(files, little, WARM, compacted=False).high > marks(ROOMY, little, WARM, compacted=False).high


def test_a_limit_that_the_user_set_is_the_high_mark() -> None:
    fixed = Limit(8_000, 0.25, fixed=True, growth=1_000)
    assert marks(ROOMY, fixed, WARM, compacted=False).high == 8_000


@given(*CHATS)
def test_the_widest_of_the_marks_that_cost_alike_is_taken(
    growth: float, broken: int, cached: float, warm: float, around: int
) -> None:
    market = Market(1.0, cached, warm)
    widest = widest_batch(market, growth, broken, around=around)
    if widest < 100:
        return  # whole tokens are too coarse there

    def cost(batch: float) -> float:
        return turn_cost(batch, market, growth, broken, around)

    least = min(cost(widest * share / 400) for share in range(1, 401))
    assert cost(widest) <= (1 + FLAT_SHARE) * least * 1.001
    for wider in (1.05, 1.5, 4):
        assert cost(widest * wider) > cost(widest)
        assert cost(widest * wider) > (1 + FLAT_SHARE) * least


@given(st.integers(100, 40_000), st.floats(0, 20_000), st.floats(0, 1), st.booleans())
def test_nothing_is_done_within_the_limit(tokens: int, growth: float, warm: float, cold: bool) -> None:
    goal = marks(ROOMY, Limit(tokens, 0.2, growth=growth), Market(1.0, 0.1, warm), compacted=False, cold=cold)
    assert tokens <= goal.high <= max(tokens, MOST_HIGH)
    assert goal.low <= tokens


def test_the_window_is_the_tighter_mark_where_it_leaves_less() -> None:
    goal = marks(Frame(window=10_000, parts={"files": 3_000}), LIMIT, WARM, compacted=False)
    assert (goal.high, goal.hard, goal.reason) == (4_000, 6_500, "window above 70%")


def test_once_something_is_compacted_the_window_may_fill_to_85_percent() -> None:
    frame = Frame(window=10_000, parts={"files": 3_000})
    goal = marks(frame, LIMIT, WARM, compacted=True)
    assert (goal.high, goal.hard, goal.reason) == (5_500, 6_500, "window above 85%")
    assert goal.low == LIMIT.low


def test_where_the_window_leaves_next_to_nothing_a_plan_goes_down_to_60_percent_of_it() -> None:
    goal = marks(Frame(window=10_000, parts={"files": 5_500}), LIMIT, WARM, compacted=False)
    assert (goal.high, goal.low) == (1_500, 500)
    nothing = marks(Frame(window=10_000, parts={"files": 20_000}), LIMIT, WARM, compacted=False)
    assert (nothing.high, nothing.low, nothing.hard) == (1, 1, 1)


def test_when_the_cache_is_cold_anyway_a_plan_is_worth_it_earlier() -> None:
    warm, cold = (marks(ROOMY, LIMIT, WARM, compacted=False, cold=cold) for cold in (False, True))
    assert LIMIT.tokens < cold.high < warm.high
    assert cold.reason.endswith("while the prompt cache is cold")
    assert "cold" not in warm.reason


@pytest.mark.parametrize(
    ("used", "found"),
    [
        (0, Level.OK),
        (699, Level.OK),
        (700, Level.WARNING),
        (849, Level.WARNING),
        (850, Level.OPTIMIZE),
        (949, Level.OPTIMIZE),
        (950, Level.HARD),
        (2_000, Level.HARD),
    ],
)
def test_levels_begin_at_their_share_of_the_window(used: int, found: Level) -> None:
    assert level(used, 1_000) is found
    assert level(used, 0) is Level.OK


def test_a_mark_says_what_set_it() -> None:
    fixed = Limit(8_000, 0.25, fixed=True, growth=1_000)
    assert marks(ROOMY, fixed, WARM, compacted=False).set_by == "your limit"
    assert marks(ROOMY, LIMIT, WARM, compacted=False).set_by == "the cheapest limit"
    assert marks(ROOMY, LIMIT, COLD, compacted=False).set_by == "aider's limit"
    small = Frame(window=10_000, parts={"files": 3_000})
    assert marks(small, LIMIT, WARM, compacted=False).set_by == "what the window leaves"
