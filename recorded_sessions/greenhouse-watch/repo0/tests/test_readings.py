from datetime import datetime, timezone

import pytest

from frostwatch.readings import BadLine, parse_row, parse_value, read


def test_a_row_is_a_reading():
    one = parse_row(["2025-03-14T21:00:00+00:00", "H1", "air", "7.5", "1"], 1)
    assert one.value == 7.5 and one.quality == 1 and one.at.hour == 21


def test_epoch_seconds_are_utc():
    one = parse_row(["1741986000", "N7", "air", "3.1"], 1)
    assert one.at == datetime(2025, 3, 14, 21, 0, tzinfo=timezone.utc)


@pytest.mark.parametrize(("text", "value"), [("7.5", 7.5), ("7,5", 7.5), ("-0,3", -0.3), (" 12 ", 12.0), ("+1,25", 1.25)])
def test_both_decimal_marks_are_read(text, value):
    assert parse_value(text) == value


def test_a_bad_line_names_its_number():
    with pytest.raises(BadLine, match="line 7"):
        parse_row(["yesterday", "H1", "air", "x"], 7)


def test_bad_lines_are_collected_unless_strict():
    lines = ["time;house;sensor;value;quality", "2025-03-14T21:00:00+00:00;H1;air;7.5;0", "nonsense;H1;air;7.5"]
    found, bad = read(lines)
    assert len(found) == 1 and len(bad) == 1
    with pytest.raises(BadLine):
        read(lines, strict=True)
