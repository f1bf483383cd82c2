"""Readings summed up by window of time."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta

MAX_GAP = timedelta(minutes=20)
"""A sensor that is silent for longer than this has a gap."""


@dataclass(frozen=True)
class Window:
    """The readings of one sensor from `start` on, for `minutes`."""

    house: str
    sensor: str
    start: object
    minutes: int
    count: int
    low: float
    mean: float
    high: float


def start_of(at, minutes):
    """The beginning of the window that holds an instant."""
    return at - timedelta(minutes=at.minute % minutes, seconds=at.second)


def windows(readings, minutes=15):
    """One window a sensor and stretch of time that has readings, in order."""
    found = defaultdict(list)
    for one in sorted(readings, key=lambda one: one.at):
        found[one.house, one.sensor, start_of(one.at, minutes)].append(one.value)
    return [
        Window(house, sensor, start, minutes, len(values), min(values), sum(values) / len(values), max(values))
        for (house, sensor, start), values in sorted(found.items(), key=lambda item: item[0][2])
    ]


def gaps(readings, longest=MAX_GAP):
    """(house, sensor, from, to) for each silence that is longer than `longest`."""
    last, found = {}, []
    for one in readings:
        before = last.get(one.sensor)
        if before is not None and one.at - before > longest:
            found.append((one.house, one.sensor, before, one.at))
        last[one.sensor] = one.at
    return found
