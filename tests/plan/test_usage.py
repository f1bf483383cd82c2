"""Usage: sums, prices, the share served from cache, a factor that corrects the tokenizer, and what a token costs."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.plan.usage import MOST_FACTOR, Call, Market, Prices, Usage

PRICES = Prices(input=3e-6, output=15e-6, cache_read=0.3e-6, cache_write=3.75e-6)


def test_a_call_is_priced_by_what_was_read_from_cache_and_written_to_it() -> None:
    call = Call(10_000, 100, cached_tokens=6_000, written_tokens=1_000)
    assert PRICES.cost(call) == pytest.approx(3_000 * 3e-6 + 6_000 * 0.3e-6 + 1_000 * 3.75e-6 + 100 * 15e-6)


def test_prices_come_from_a_row_of_litellms_table() -> None:
    assert Prices.of({"input_cost_per_token": 2e-6}) == Prices(2e-6, 0.0, 2e-6, 2e-6)
    assert (
        Prices.of({"input_cost_per_token": 2e-6, "input_cost_per_token_cache_hit": 1e-7}).cache_read == 1e-7
    )


def test_totals_add_up_and_idle_time_is_that_since_the_last_answer() -> None:
    now = [100.0]
    usage = Usage(lambda: now[0])
    assert usage.idle_seconds == math.inf
    usage.add(Call(1_000, 50, cached_tokens=400), PRICES)
    usage.add(Call(2_000, 60, reported=False), PRICES)
    now[0] = 130.0
    assert usage.idle_seconds == 30.0
    assert (usage.calls, usage.prompt_tokens) == (2, 3_000)
    assert usage.cost == pytest.approx(2_600 * 3e-6 + 400 * 0.3e-6 + 110 * 15e-6)


def test_the_cached_share_is_that_of_the_last_prompts_and_none_without_caching() -> None:
    usage = Usage(lambda: 0.0)
    usage.add(Call(1_000, 1), PRICES)
    assert usage.cache_read_share is None
    for _ in range(10):
        usage.add(Call(1_000, 1, cached_tokens=750), PRICES)
    assert usage.cache_read_share == 0.75


def test_the_factor_needs_three_prompts_and_ignores_numbers_that_cannot_be() -> None:
    usage = Usage(lambda: 0.0)
    usage.compare("m", estimated=10_000, reported=10)
    usage.compare("m", estimated=10_000, reported=90_000)
    for _ in range(2):
        usage.compare("m", estimated=10_000, reported=12_100)
    assert usage.factor("m") == 1.0
    usage.compare("m", estimated=10_000, reported=12_200)
    assert usage.factor("m") == 1.2
    assert usage.factor("other") == 1.0


def test_a_provider_that_reports_too_little_does_not_lower_what_is_counted() -> None:
    usage = Usage(lambda: 0.0)
    for _ in range(8):
        usage.compare("m", estimated=10_000, reported=6_000)
    assert usage.factor("m") == 1.0


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=20))
def test_the_factor_is_bounded_whatever_is_reported(rows: list[tuple[int, int]]) -> None:
    usage = Usage(lambda: 0.0)
    for estimated, reported in rows:
        usage.compare("m", estimated=estimated, reported=reported)
    assert 1.0 <= usage.factor("m") <= MOST_FACTOR


@given(st.floats(0, 100), st.floats(0, 1))
def test_the_cache_spares_at_most_all_and_never_less_than_nothing(cached: float, warm: float) -> None:
    assert 0.0 <= Market(cached, warm).cached_share <= warm


def test_a_call_that_is_only_estimated_says_nothing_of_the_cache() -> None:
    usage = Usage(lambda: 0.0)
    usage.add(Call(1_000, 1, cached_tokens=750), PRICES)
    usage.add(Call(9_000, 1, reported=False), PRICES)
    assert usage.cache_read_share == 0.75


def test_a_cache_is_cold_after_five_minutes_or_what_the_provider_has_shown() -> None:
    now = [1_000.0]
    usage = Usage(lambda: now[0])
    assert not usage.is_cold, "before the first call there is none"
    usage.add(Call(1_000, 1), Prices())
    found = []
    for seconds in (0.0, 299.0, 300.0, 9_999.0):
        now[0] = 1_000.0 + seconds
        found.append(usage.is_cold)
    assert found == [False, False, True, True]
    now[0] = 1_900.0
    usage.add(Call(1_100, 1, cached_tokens=900), Prices())
    now[0] += 800.0
    assert not usage.is_cold, "it was held for 900 seconds"
    now[0] += 200.0
    assert usage.is_cold


def test_a_cache_that_the_host_keeps_warm_says_nothing_of_how_long_it_is_held_without() -> None:
    now = [1_000.0]
    usage = Usage(lambda: now[0])
    usage.add(Call(1_000, 1), Prices(), warmed_seconds=600.0)
    now[0] += 800.0
    assert not usage.is_cold
    usage.add(Call(1_100, 1, cached_tokens=1_000), Prices())
    now[0] += 301.0
    assert usage.is_cold
