from datetime import datetime, timedelta, timezone

import pytest

from tidepost.astro import UTC, longitudes, nodal
from tidepost.constituents import TABLE

SPEEDS = {
    "M2": 28.9841042, "S2": 30.0, "N2": 28.4397295, "K2": 30.0821373, "K1": 15.0410686, "O1": 13.9430356,
    "P1": 14.9589314, "M4": 57.9682084, "MS4": 58.9841042, "SA": 0.0410686, "SSA": 0.0821373,
}


@pytest.mark.parametrize("name", SPEEDS)
def test_speed(name):
    assert TABLE[name].speed == pytest.approx(SPEEDS[name], abs=2e-7)


def test_longitudes_do_not_depend_on_the_zone():
    utc = datetime(2024, 3, 1, 6, 30, tzinfo=UTC)
    assert longitudes(utc) == longitudes(utc.astimezone(timezone(timedelta(hours=12, minutes=45))))


@pytest.mark.parametrize(("bucket", "f", "u"), [("M2", 0.963, 0.0), ("M4", 0.927369, 0.0), ("K2", 1.31, 0.0), ("", 1.0, 0.0)])
def test_nodal_at_zero(bucket, f, u):
    assert nodal(bucket, 0.0) == pytest.approx((f, u))
