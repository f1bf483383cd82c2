from datetime import datetime, timedelta, timezone

from frostwatch.rules import Rule, evaluate
from frostwatch.windows import Window

T0 = datetime(2025, 3, 14, 21, 0, tzinfo=timezone.utc)


def made(values, house="H1", sensor="air", start=0):
    return [
        Window(house, sensor, T0 + timedelta(minutes=15 * (n + start)), 15, 3, value, value + 0.5, value + 1)
        for n, value in enumerate(values)
    ]


FROST = Rule("frost", "air", low=2.5, windows=2, severity="page")


def test_one_cold_window_is_no_alert():
    assert evaluate([FROST], made([3.0, 2.0, 3.0])) == []


def test_two_cold_windows_are():
    (alert,) = evaluate([FROST], made([3.0, 2.0, 1.5, 1.0]))
    assert (alert.house, alert.since, alert.worst) == ("H1", T0 + timedelta(minutes=15), 1.5)


def test_houses_do_not_mix():
    mixed = sorted(made([2.0, 9.0], "H1") + made([9.0, 2.0], "H2"), key=lambda one: one.start)
    assert evaluate([FROST], mixed) == []
