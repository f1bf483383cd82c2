"""Intervals: their middle, their width by sessions and items, pairs, and what cannot be compared."""

from __future__ import annotations

import pytest

from bench.intervals import difference, ratio, share


def test_a_share_lies_in_its_interval() -> None:
    found = share([[True, False, True, True], [True, True]])
    assert found.value == pytest.approx(500 / 6)
    assert found.low < found.value < found.high <= 100


def test_sessions_that_differ_make_an_interval_wider_than_probes_that_do() -> None:
    by_session = share([[True] * 20, [False] * 20] * 4)
    by_probe = share([[True, False] * 10] * 8)
    assert by_session.value == by_probe.value == 50
    assert by_session.high - by_session.low > 2 * (by_probe.high - by_probe.low)


def test_a_pair_is_compared_item_by_item() -> None:
    first = [[True, True, False, True]] * 6
    second = [[True, False, False, True]] * 6
    found = difference(first, second)
    assert found.value == 25
    assert found.tells
    assert found.high - found.low < share(first).high - share(second).low, "both share their draws"


def test_a_session_with_other_items_is_compared_by_shares() -> None:
    same, other = [True, False, True, True], [True, False, True, True, False]
    found = difference([same, other, []], [same, same, [False]])
    assert found.value == pytest.approx(100 * (6 / 9 - 6 / 9))
    assert found.low < 0 < found.high
    assert difference([[True] * 3] * 4, [[False] * 5] * 4).low == 100
    with pytest.raises(ValueError, match="same sessions"):
        difference([same], [same, same])


def test_a_ratio_is_that_of_sums() -> None:
    found = ratio([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    assert found.value == found.low == found.high == 0.5
    spread = ratio([1.0, 9.0, 2.0, 8.0], [2.0, 4.0, 6.0, 3.0])
    assert spread.low < spread.value < spread.high
