"""python -m tidepost day|terms|residuals HARBOUR YYYY-MM-DD"""

import csv
import sys
from datetime import date, datetime, timedelta
from math import cos, radians
from pathlib import Path

from .astro import longitudes, nodal
from .constituents import TABLE
from .library import load
from .predict import height
from .table import day_table
from .zones import day_bounds

ALMANAC = Path(__file__).resolve().parent.parent / "tests" / "almanac"


def terms(harbour, day):
    """What each constituent gives at the begin of the local day."""
    start, _ = day_bounds(day, harbour.zone)
    lon = longitudes(start)
    print(f"{harbour.name}  {start:%Y-%m-%d %H:%M}Z  T={lon.T:.2f} s={lon.s:.2f} h={lon.h:.2f} p={lon.p:.2f} N={lon.N:.2f}")
    print(f"{'name':5} {'speed':>11} {'ampl':>7} {'G':>7} {'f':>6} {'u':>7} {'V':>8} {'gives':>8}")
    for name, (amplitude, phase) in harbour.constituents.items():
        known = TABLE[name]
        f, u = nodal(known.bucket, lon.N)
        v = known.argument(lon) % 360
        gives = f * amplitude * cos(radians(v + u - phase))
        print(f"{name:5} {known.speed:11.7f} {amplitude:7.4f} {phase:7.2f} {f:6.4f} {u:7.3f} {v:8.3f} {gives:8.4f}")


def residuals(harbour, day):
    """Ours against the almanac, hour by hour."""
    with open(ALMANAC / f"{harbour.id}-{day}.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    print("utc               almanac    ours    diff")
    worst = 0.0
    for row in rows:
        ours = height(harbour, datetime.fromisoformat(row["utc"]))
        diff = ours - float(row["height"])
        worst = max(worst, abs(diff))
        print(f"{row['utc'][:16]}  {float(row['height']):7.3f} {ours:7.3f} {diff:+7.3f}")
    print(f"worst {worst:.3f} m")


def main():
    command, name, text = sys.argv[1:4]
    harbour, day = load(name), date.fromisoformat(text)
    if command == "day":
        print("\n".join(day_table(harbour, day)))
    elif command == "terms":
        terms(harbour, day)
    elif command == "residuals":
        residuals(harbour, day)
    else:
        sys.exit(__doc__)


main()
