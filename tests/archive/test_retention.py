"""Retention: what may go, by the figures of the rule, and what never may."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener.archive.retention import DAY, HOUR, confidence, importance, plan_pruning
from aider_gardener.archive.store.base import Holding
from aider_gardener.messages import ContentClass

NOW = 1_000 * DAY
FRESH = Holding("g1", "prose", 1_000, 4_000, NOW, 0, 1.0, False, ("s",))


def aged(days: float, **rest: object) -> Holding:
    return FRESH._replace(used_at=NOW - days * DAY, **rest)  # type: ignore[arg-type]  # reason: checked by use


def gone(*holdings: Holding, live: tuple[str, ...] = (), most: int = 0, size: int = 100_000) -> list[str]:
    due = plan_pruning(holdings, live, now=NOW, file_bytes=size, max_bytes=most)
    return [each.holding.entry_id for each in due]


@pytest.mark.parametrize(
    ("hours", "stored", "expected"),
    [
        (0, 1.0, 1.0),
        (10, 1.0, 0.95),
        (100, 1.0, 0.5),
        (180, 1.0, 0.1),
        (9_999, 1.0, 0.1),
        (1, 0.1, 0.1),
        (-5, 0.7, 0.7),
    ],
)
def test_confidence_loses_half_a_percent_an_hour(hours: float, stored: float, expected: float) -> None:
    held = FRESH._replace(used_at=NOW - hours * HOUR, confidence=stored)
    assert confidence(held, NOW) == pytest.approx(expected)


def test_importance_halves_every_seven_days_and_grows_with_use() -> None:
    assert importance(aged(7), NOW) == pytest.approx(importance(FRESH, NOW) / 2, rel=1e-6)
    assert importance(aged(0, uses=2), NOW) == pytest.approx(importance(FRESH, NOW) * 2, rel=1e-6)
    assert (
        importance(aged(0, cls="prompt"), NOW) > importance(FRESH, NOW) > importance(aged(0, tokens=3), NOW)
    )


def test_what_was_never_used_goes_when_it_has_lost_its_worth() -> None:
    young, old = aged(3, cls="log", tokens=5), aged(15, cls="log", tokens=5)
    assert gone(young) == [] and gone(old) == ["g1"]
    assert gone(old._replace(uses=1)) == []
    assert gone(aged(29, uses=9)) == [] and gone(aged(31, uses=9)) == ["g1"]


def test_pinned_entries_and_live_sessions_stay_whatever_the_cap() -> None:
    for most in (0, 1):
        assert gone(aged(400), most=most) == ["g1"]
        assert gone(aged(400, pinned=True), most=most) == []
        assert gone(aged(400, sessions=("a", "s")), live=("s",), most=most) == []


def test_a_cap_takes_the_oldest_of_the_least_important_first() -> None:
    holdings = [aged(n + 1, uses=5)._replace(entry_id=f"g{n:02d}") for n in range(10)]
    found = gone(*reversed(holdings), most=50_000, size=100_000)
    assert found == [f"g{n:02d}" for n in range(9, 4, -1)]
    rich = aged(10, uses=200, cls="prompt")._replace(entry_id="rich")
    assert "rich" not in gone(rich, *holdings, most=80_000, size=110_000)
    assert gone(*holdings, most=100_000, size=100_000) == []


@given(
    days=st.lists(st.floats(0, 400), min_size=1, max_size=30),
    uses=st.integers(0, 50),
    cap=st.integers(0, 200_000),
    cls=st.sampled_from([each.value for each in ContentClass]),
)
@settings(max_examples=60, deadline=None)
def test_a_cap_frees_at_least_what_it_must_and_never_twice(
    days: list[float], uses: int, cap: int, cls: str
) -> None:
    holdings = [aged(day, uses=uses, cls=cls)._replace(entry_id=f"g{n}") for n, day in enumerate(days)]
    size = sum(each.bytes for each in holdings) * 2
    found = gone(*holdings, most=cap, size=size)
    assert len(found) == len(set(found))
    left = size - len(found) * 8_000
    assert not cap or left <= cap
    assert set(found) >= set(gone(*holdings, size=size))
