"""Levels and marks: the host's limit, or more where the provider's cache makes it cheap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.plan.goals import MOST_HIGH, REST_TURNS, Frame, Fullness, Limit, fullness, marks
from aider_gardener.plan.usage import Market

CHEAP, HALF, UNCACHED = Market(0.1, warm=1.0), Market(0.5, warm=1.0), Market(warm=1.0)
LIMIT = Limit(8_000, 0.25, growth=1_000)
ROOMY = Frame(window=1_000_000)


@pytest.mark.parametrize("warm", [0.0, 1.0])
def test_where_cached_tokens_are_cheap_the_marks_are_wide(warm: float) -> None:
    goal = marks(ROOMY, LIMIT, Market(1 / 3, warm), compacted=False)
    assert (goal.high, goal.low) == (MOST_HIGH, MOST_HIGH // 4)
    roomy = Limit(2 * MOST_HIGH, 0.25, growth=1_000)
    assert marks(ROOMY, roomy, CHEAP, compacted=False).high == 2 * MOST_HIGH, "the host allows more"


@pytest.mark.parametrize(("cached", "share"), [(0.5, 1.0), (0.4, 1.0), (0.75, 0.5), (1.0, 0.0)])
def test_where_they_are_dearer_the_prefix_rests_for_some_turns(cached: float, share: float) -> None:
    market = Market(cached, warm=1.0)
    goal = marks(ROOMY, LIMIT, market, compacted=False)
    assert (goal.high, goal.low) == (max(8_000, 2_000 + share * REST_TURNS * 1_000), 2_000)
    slow = Limit(8_000, 0.25, growth=100)
    assert marks(ROOMY, slow, market, compacted=False).high == 8_000
    fast = Limit(8_000, 0.25, growth=100_000)
    assert marks(ROOMY, fast, HALF, compacted=False).high == MOST_HIGH


@pytest.mark.parametrize("market", [HALF, CHEAP, UNCACHED])
def test_a_limit_that_the_user_set_is_the_high_mark(market: Market) -> None:
    fixed = Limit(8_000, 0.25, fixed=True, growth=1_000)
    goal = marks(ROOMY, fixed, market, compacted=False)
    assert (goal.high, goal.low) == (8_000, 2_000)


@given(st.integers(100, 40_000), st.floats(0, 20_000), st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_nothing_is_done_within_the_limit(
    tokens: int, growth: float, cached: float, warm: float, cold: bool
) -> None:
    limit = Limit(tokens, 0.2, growth=growth)
    goal = marks(ROOMY, limit, Market(cached, warm), compacted=False, cold=cold)
    assert tokens <= goal.high <= max(tokens, MOST_HIGH)
    assert goal.low < goal.high


def test_the_window_is_the_tighter_mark_where_it_leaves_less() -> None:
    goal = marks(Frame(window=10_000, parts={"files": 3_000}), LIMIT, HALF, compacted=False)
    assert (goal.high, goal.hard, goal.reason) == (4_000, 6_500, "window above 70%")


def test_what_waits_for_an_answer_takes_of_the_window_too() -> None:
    goal = marks(Frame(window=10_000, parts={"files": 2_000}), LIMIT, HALF, waiting=1_000, compacted=False)
    assert (goal.high, goal.hard) == (4_000, 6_500)


def test_once_something_is_compacted_the_window_may_fill_to_85_percent() -> None:
    frame = Frame(window=10_000, parts={"files": 3_000})
    goal = marks(frame, LIMIT, HALF, compacted=True)
    assert (goal.high, goal.hard, goal.reason) == (5_500, 6_500, "window above 85%")
    assert goal.low == 2_000


def test_where_the_window_leaves_next_to_nothing_a_plan_goes_down_to_60_percent_of_it() -> None:
    goal = marks(Frame(window=10_000, parts={"files": 5_500}), LIMIT, HALF, compacted=False)
    assert (goal.high, goal.low) == (1_500, 500)
    nothing = marks(Frame(window=10_000, parts={"files": 9_900}), LIMIT, HALF, compacted=False)
    assert (nothing.high, nothing.low, nothing.hard) == (1, 1, 1)


def test_a_frame_that_does_not_fit_the_window_by_itself_takes_nothing_from_the_history() -> None:
    known, unknown = (Frame(window=window, parts={"files": 20_000}) for window in (10_000, 0))
    goals = [marks(frame, LIMIT, HALF, compacted=False) for frame in (known, unknown)]
    assert goals[0] == goals[1]


@pytest.mark.parametrize("market", [HALF, CHEAP])
def test_when_the_cache_is_cold_anyway_a_plan_is_worth_it_earlier(market: Market) -> None:
    warm, cold = (marks(ROOMY, LIMIT, market, compacted=False, cold=cold) for cold in (False, True))
    assert LIMIT.tokens < cold.high < warm.high
    assert cold.reason.endswith("while the prompt cache is cold")
    assert "cold" not in warm.reason


@pytest.mark.parametrize(
    ("used", "found"),
    [
        (0, Fullness.OK),
        (699, Fullness.OK),
        (700, Fullness.WARNING),
        (849, Fullness.WARNING),
        (850, Fullness.OPTIMIZE),
        (949, Fullness.OPTIMIZE),
        (950, Fullness.HARD),
        (2_000, Fullness.HARD),
    ],
)
def test_levels_begin_at_their_share_of_the_window(used: int, found: Fullness) -> None:
    assert fullness(used, 1_000) is found
    assert fullness(used, 0) is Fullness.OK


def test_a_mark_says_what_set_it() -> None:
    fixed = Limit(8_000, 0.25, fixed=True, growth=1_000)
    assert marks(ROOMY, fixed, HALF, compacted=False).set_by == "your limit"
    assert marks(ROOMY, LIMIT, HALF, compacted=False).set_by == "the limit by cache prices"
    assert marks(ROOMY, LIMIT, UNCACHED, compacted=False).set_by == "aider's limit"
    assert marks(ROOMY, LIMIT._replace(ours=True), UNCACHED, compacted=False).set_by == "the gardener's limit"
    small = Frame(window=10_000, parts={"files": 3_000})
    assert marks(small, LIMIT, HALF, compacted=False).set_by == "what the window leaves"
