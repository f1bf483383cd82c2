from datetime import datetime, timedelta, timezone

import pytest

from frostwatch.readings import Reading
from frostwatch.windows import gaps, start_of, windows

T0 = datetime(2025, 3, 14, 21, 0, tzinfo=timezone.utc)


def series(values, house="H1", sensor="air", step=5, start=T0):
    return [Reading(start + timedelta(minutes=step * n), house, sensor, value) for n, value in enumerate(values)]


def test_a_window_has_the_lowest_the_mean_and_the_highest():
    (one,) = windows(series([1.0, 2.0, 6.0]), 15)
    assert (one.count, one.low, one.mean, one.high) == (3, 1.0, 3.0, 6.0)


@pytest.mark.parametrize("minutes", [5, 10, 15, 30, 60, 90, 120])
def test_windows_do_not_overlap_and_cover_every_reading(minutes):
    found = windows(series([1.0] * 60), minutes)
    assert sum(one.count for one in found) == 60
    starts = [one.start for one in found]
    assert all(later - earlier >= timedelta(minutes=minutes) for earlier, later in zip(starts, starts[1:]))


def test_an_instant_at_the_edge_belongs_to_the_window_that_begins_there():
    assert start_of(T0 + timedelta(minutes=15), 15) == T0 + timedelta(minutes=15)
    assert start_of(T0 + timedelta(minutes=14, seconds=59, microseconds=999), 15) == T0


def test_a_silence_is_a_gap_of_its_house():
    quiet = series([1.0, 1.0], step=60, house="N7")
    busy = series([1.0] * 13, house="H1")
    found = gaps(sorted(quiet + busy, key=lambda one: one.at))
    assert [(house, sensor) for house, sensor, _, _ in found] == [("N7", "air")]
