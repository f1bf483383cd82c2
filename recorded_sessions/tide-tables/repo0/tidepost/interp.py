"""Heights between the entries of a table."""

from bisect import bisect_right


def between(table, when):
    """Cubic (Catmull-Rom) interpolation in [(time, height)] of even step."""
    times = [time for time, _ in table]
    if not times[0] <= when <= times[-1]:
        raise ValueError(f"{when} is outside of the table")
    i = bisect_right(times, when) - 1
    x = (when - times[i]) / (times[i + 1] - times[i])
    b, c = table[i][1], table[i + 1][1]
    a = table[i - 1][1] if i else 2 * b - c
    d = table[i + 2][1] if i + 2 < len(table) else 2 * c - b
    return b + 0.5 * x * (c - a + x * (2 * a - 5 * b + 4 * c - d + x * (3 * (b - c) + d - a)))
