"""What a token of the history costs, its provider's cache counted in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.plan.usage import Market


def test_a_token_costs_the_cached_price_where_the_cache_is_warm_and_the_full_one_where_it_is_cold() -> None:
    assert Market(10.0, 1.0, warm=1.0).token == 1.0
    assert Market(10.0, 1.0, warm=0.0).token == 10.0


def test_nothing_falls_out_of_a_cold_cache_or_of_none() -> None:
    assert Market(10.0, 1.0, warm=0.0).lost == 0.0
    assert Market(warm=1.0).lost == 0.0
    assert Market(10.0, 1.0, warm=1.0).lost == 9.0


@given(st.floats(0, 100), st.floats(0, 100), st.floats(0, 1))
def test_the_price_lies_between_both(full: float, cached: float, warm: float) -> None:
    market = Market(full, cached, warm)
    assert min(full, cached) - 1e-9 <= market.token <= max(full, cached) + 1e-9
    assert market.lost >= 0.0
