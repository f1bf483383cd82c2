"""A plan is taken when it saves more on the turns to come than the cache that it breaks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.messages import Plan
from aider_gardener.netprice import FEWEST_TURNS, MOST_TURNS, Market, net_price, turns_to_come

WARM = Market(full=10.0, cached=1.0, warm=1.0)


def plan(saved: int, broken: int) -> Plan:
    return Plan((), "made", saved + 1_000, 1_000, broken)


def test_a_warm_cache_makes_a_small_gain_wait() -> None:
    # 100 tokens at the cached price for 3 turns are 300; 5,000 broken tokens cost 9 each once.
    assert not net_price(plan(100, 5_000), WARM, turn=1, behind=0).pays


def test_the_same_gain_pays_when_the_cache_is_cold() -> None:
    assert net_price(plan(100, 5_000), Market(10.0, 1.0, warm=0.0), turn=1, behind=0).pays


def test_what_stands_behind_the_history_is_broken_too() -> None:
    small = plan(2_000, 500)
    assert net_price(small, WARM, turn=1, behind=0).pays
    assert not net_price(small, WARM, turn=1, behind=10_000).pays


def test_a_long_chat_is_expected_to_go_on_longer() -> None:
    later = plan(1_000, 2_000)
    assert not net_price(later, WARM, turn=1, behind=1_000).pays
    assert net_price(later, WARM, turn=28, behind=1_000).pays
    assert [turns_to_come(turn) for turn in (0, 12, 500)] == [FEWEST_TURNS, 12, MOST_TURNS]


def test_where_no_prices_are_known_every_plan_pays() -> None:
    assert net_price(plan(1, 100_000), Market(warm=1.0), turn=1, behind=100_000).pays


@given(st.integers(1, 10_000), st.integers(0, 10_000), st.floats(0, 1), st.integers(0, 200))
def test_more_saved_never_pays_less_and_more_broken_never_more(
    saved: int, broken: int, warm: float, turn: int
) -> None:
    market = Market(10.0, 1.0, warm)
    net = net_price(plan(saved, broken), market, turn=turn, behind=0)
    assert net_price(plan(saved + 1, broken), market, turn=turn, behind=0).saves > net.saves
    assert net_price(plan(saved, broken + 1), market, turn=turn, behind=0).costs >= net.costs
