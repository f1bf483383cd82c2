from datetime import datetime, timedelta

import pytest

from tidepost.astro import UTC
from tidepost.interp import between
from tidepost.library import load
from tidepost.predict import height, series

START = datetime(2024, 5, 6, tzinfo=UTC)
HOUR = timedelta(hours=1)


def ramp():
    return [(START + n * HOUR, 1.0 + 0.25 * n) for n in range(5)]


@pytest.mark.parametrize("hours", [0, 0.5, 1.75, 3.2, 4])
def test_a_straight_line_stays_straight(hours):
    assert between(ramp(), START + hours * HOUR) == pytest.approx(1.0 + 0.25 * hours)


@pytest.mark.parametrize("hours", [-0.1, 4.1])
def test_outside_is_refused(hours):
    with pytest.raises(ValueError):
        between(ramp(), START + hours * HOUR)


@pytest.mark.parametrize("minutes", [20, 190, 700, 1370])
def test_hourly_table_is_good_for_three_centimetres(minutes):
    harbour = load("skerrow")
    table = series(harbour, START, START + 25 * HOUR, HOUR)
    when = START + timedelta(minutes=minutes)
    assert between(table, when) == pytest.approx(height(harbour, when), abs=0.03)
