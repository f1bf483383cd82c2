"""Writes data/readings.csv: one night of three houses, the same each time."""

import math
import random
import sys
from datetime import datetime, timedelta, timezone

random.seed(int(sys.argv[1]) if len(sys.argv) > 1 else 88)
start = datetime(2025, 3, 14, 21, 0, tzinfo=timezone.utc)
print("time;house;sensor;value;quality")
for minute in range(0, 9 * 60, 5):
    at = start + timedelta(minutes=minute)
    for house, base in (("H1", 8.2), ("H2", 6.1), ("N7", 3.9)):
        if house == "N7" and 190 <= minute < 250:
            continue  # the radio of N7 was off
        air = base - 4.4 * math.sin(minute / 540 * math.pi) + random.uniform(-0.4, 0.4)
        text = f"{air:.1f}".replace(".", ",") if house == "H2" else f"{air:.1f}"
        stamp = str(int(at.timestamp())) if house == "N7" else at.isoformat()
        print(f"{stamp};{house};air;{text};{random.choice([0, 0, 0, 1])}")
        if minute % 15 == 0:
            print(f"{stamp};{house};soil;{21 - minute / 200 + random.uniform(-1, 1):.1f};0")
    if minute == 305:
        print(f"{at.isoformat()};H1;air;-127.0;9")
    if minute == 400:
        print(f"{at.isoformat()};H2;air;n/a;2")
    if minute % 60 == 0:
        print(f"{at.isoformat()};H1;level;{612 - minute * 0.45:.0f};0")
