"""Lines of a gateway export as readings."""

import csv
from dataclasses import dataclass
from datetime import datetime, timezone


@dataclass(frozen=True)
class Reading:
    """One value of one sensor. `at` is aware; `value` is in the sensor's own unit."""

    at: datetime
    house: str
    sensor: str
    value: float
    quality: int = 0


class BadLine(ValueError):
    """A line that is no reading; the message names the line."""


def parse_time(text):
    """An instant as the gateways write it: seconds since the epoch, or ISO 8601."""
    if text.isdigit():
        return datetime.fromtimestamp(int(text), timezone.utc)
    return datetime.fromisoformat(text)


def parse_value(text):
    """A number as the gateways write it."""
    return float(text)


def parse_row(row, number):
    """One row of the export: time;house;sensor;value;quality."""
    try:
        time, house, sensor, value, *rest = row
        quality = int(rest[0]) if rest else 0
        return Reading(parse_time(time), house.strip(), sensor.strip(), parse_value(value), quality)
    except (ValueError, TypeError) as problem:
        raise BadLine(f"line {number}: {problem}") from problem


def read(lines, strict=False):
    """Readings of an export, oldest first, and the lines that were none."""
    readings, bad = [], []
    for number, row in enumerate(csv.reader(lines, delimiter=";"), 1):
        if not row or row[0].startswith("#") or row[0] == "time":
            continue
        try:
            readings.append(parse_row(row, number))
        except BadLine as problem:
            if strict:
                raise
            bad.append(str(problem))
    readings.sort(key=lambda one: one.at)
    return readings, bad
