from datetime import date, datetime

import pytest

from tidepost.astro import UTC
from tidepost.zones import clock, day_bounds, parse_offset


@pytest.mark.parametrize(
    ("day", "zone", "hours"),
    [
        ("2024-02-10", "Europe/Oslo", 24),
        ("2024-03-31", "Europe/Oslo", 23),
        ("2024-10-27", "Europe/London", 25),
        ("2024-04-07", "Pacific/Chatham", 25),
        ("2024-03-31", "Atlantic/Azores", 23),
    ],
)
def test_length_of_local_days(day, zone, hours):
    start, end = day_bounds(date.fromisoformat(day), zone)
    assert (end - start).total_seconds() / 3600 == hours


def test_days_follow_each_other():
    _, end = day_bounds(date(2024, 9, 29), "Pacific/Chatham")
    start, _ = day_bounds(date(2024, 9, 30), "Pacific/Chatham")
    assert end == start


@pytest.mark.parametrize(
    ("text", "hours"), [("utc", 0.0), ("+01:00", 1.0), ("+12:45", 12.75), ("-03:30", -3.5), ("-00:30", -0.5)]
)
def test_offsets(text, hours):
    assert parse_offset(text) == hours


def test_clock_goes_to_the_nearest_minute():
    when = datetime(2024, 7, 1, 10, 59, 31, tzinfo=UTC)
    assert clock(when, "Europe/Oslo") == "13:00"
