"""Local days and clock times."""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from .astro import UTC


def day_bounds(day, zone):
    """Begin and end of a local day in UTC; it may have 23 or 25 hours."""
    tz = ZoneInfo(zone)
    start = datetime.combine(day, time(), tzinfo=tz)
    end = start.astimezone(UTC) + timedelta(hours=24)
    return start.astimezone(UTC), end


def clock(when, zone):
    """HH:MM on the harbour's clock, to the nearest minute."""
    local = (when + timedelta(seconds=30)).astimezone(ZoneInfo(zone))
    return local.strftime("%H:%M")


def parse_offset(text):
    """Hours east of Greenwich of "+01:00", "-03:30" or "utc"."""
    if text.strip().lower() == "utc":
        return 0.0
    hours, minutes = text.split(":")
    return int(hours) + int(minutes) / 60
