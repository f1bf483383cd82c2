"""Heights, series and high and low waters."""

from datetime import timedelta
from math import cos, radians

from .astro import longitudes, nodal
from .constituents import TABLE


def height(harbour, when):
    """Height above chart datum in metres at an aware time."""
    lon = longitudes(when)
    total = harbour.z0
    for name, (amplitude, phase) in harbour.constituents.items():
        known = TABLE[name]
        f, u = nodal(known.bucket, lon.N)
        total += f * amplitude * cos(radians(known.argument(lon) + u - phase))
    return total


def series(harbour, start, end, step):
    """[(time, height)] from start to before end."""
    found = []
    while start < end:
        found.append((start, height(harbour, start)))
        start += step
    return found


def extremes(harbour, start, end, step=timedelta(minutes=10)):
    """[(kind, time, height)] of high and low waters with start <= time < end."""
    points = series(harbour, start - step, end + 2 * step, step)
    found = []
    for (_, a), (when, b), (_, c) in zip(points, points[1:], points[2:]):
        if (b > a and b >= c) or (b < a and b <= c):
            bend = a - 2 * b + c
            shift = (c - a) / (2 * bend)
            top = when + shift * step
            if start <= when < end:
                kind = "HW" if bend < 0 else "LW"
                found.append((kind, top, b - (a - c) ** 2 / (8 * bend)))
    return found
