"""Tables to print."""

from .predict import extremes
from .zones import clock, day_bounds


def day_table(harbour, day):
    """Lines like `HW 06:12 3.41` for a local day."""
    rows = extremes(harbour, *day_bounds(day, harbour.zone))
    return [f"{kind} {clock(when, harbour.zone)} {height:.2f}" for kind, when, height in rows]
