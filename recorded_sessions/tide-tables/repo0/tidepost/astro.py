"""Mean longitudes of moon and sun, and the nodal corrections that follow from them."""

from dataclasses import dataclass
from datetime import datetime, timezone
from math import cos, radians, sin

UTC = timezone.utc
EPOCH = datetime(2000, 1, 1, 12, tzinfo=UTC)

# degrees a day
RATE_S = 13.17639648
RATE_H = 0.98564736
RATE_P = 0.11140353
RATE_N = -0.05295377


@dataclass(frozen=True)
class Longitudes:
    T: float
    s: float
    h: float
    p: float
    N: float


def longitudes(when):
    """Hour angle and mean longitudes in degrees at an aware time."""
    when = when.astimezone(UTC)
    d = (when - EPOCH).total_seconds() / 86400
    hours = when.hour + when.minute / 60 + when.second / 3600
    return Longitudes(
        T=15 * hours,
        s=(218.3164477 + RATE_S * d) % 360,
        h=(280.46646 + RATE_H * d) % 360,
        p=(83.3532465 + RATE_P * d) % 360,
        N=(125.04452 + RATE_N * d) % 360,
    )


def nodal(bucket, N):
    """(f, u): factor of the amplitude and shift of the phase in degrees."""
    c, s = cos(radians(N)), sin(radians(N))
    if bucket == "M2":
        return 1 - 0.037 * c, -2.1 * s
    if bucket == "M4":
        f, u = nodal("M2", N)
        return f * f, 2 * u
    if bucket == "K1":
        return 1.006 + 0.115 * c, -8.9 * s
    if bucket == "K2":
        return 1.024 + 0.286 * c, -17.7 * s
    if bucket == "O1":
        return 1.009 + 0.187 * c, 10.8 * s
    return 1.0, 0.0
