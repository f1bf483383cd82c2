"""When somebody has to be woken up."""

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """`sensor` of any house below `low` or above `high` in `windows` windows one after the other."""

    name: str
    sensor: str
    low: float | None = None
    high: float | None = None
    windows: int = 1
    severity: str = "warn"


@dataclass(frozen=True)
class Alert:
    rule: str
    severity: str
    house: str
    sensor: str
    since: object
    worst: float


def load_rules(path):
    with open(path, encoding="utf-8") as file:
        return [Rule(**row) for row in json.load(file)]


def broken(rule, window):
    """Whether a window breaks a rule."""
    if rule.low is not None and window.low < rule.low:
        return True
    return rule.high is not None and window.high > rule.high


def evaluate(rules, windows):
    """The alerts that the windows raise: one a rule, house and unbroken run of windows."""
    alerts = []
    for rule in rules:
        run = []
        for window in windows:
            if window.sensor != rule.sensor:
                continue
            if broken(rule, window):
                run.append(window)
            else:
                run = []
            if len(run) == rule.windows:
                worst = min(w.low for w in run) if rule.low is not None else max(w.high for w in run)
                alerts.append(Alert(rule.name, rule.severity, run[0].house, rule.sensor, run[0].start, worst))
    return alerts
