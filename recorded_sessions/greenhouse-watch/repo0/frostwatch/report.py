"""Windows and alerts as text."""


def table(windows):
    """A line a window, columns aligned."""
    lines = ["start             house   sensor      n    low   mean   high"]
    for one in windows:
        lines.append(
            f"{one.start:%Y-%m-%d %H:%M}  {one.house:<7} {one.sensor:<9} {one.count:>3}"
            f" {one.low:>6.1f} {one.mean:>6.1f} {one.high:>6.1f}"
        )
    return "\n".join(lines)


def alert_lines(alerts):
    return "\n".join(
        f"{alert.severity.upper():<5} {alert.house} {alert.sensor} {alert.worst:g}"
        f" since {alert.since:%H:%M} ({alert.rule})"
        for alert in alerts
    )
