"""Rows of the grid put together: a variant at a budget over all sessions, each counting the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Key = tuple[str, int | None]
"""Variant and budget."""

SUPPORTED = 2
"""The place of the supported ones in [asked, present, supported]."""


SHOWN_NAMES = {"filter": "headroom-ai"}
"""Variants that go by another name in tables and plots."""


def shown(variant: str) -> str:
    """A variant's name for readers."""
    return SHOWN_NAMES.get(variant, variant)


def by_key(rows: Sequence[Row]) -> dict[Key, list[Row]]:
    """The rows of each variant and budget, in the order in which they come."""
    found: dict[Key, list[Row]] = {}
    for row in rows:
        found.setdefault((row["variant"], row["budget"]), []).append(row)
    return found


def complete(rows: Sequence[Row]) -> dict[Key, list[Row]]:
    """Only what has a row for every session there is: means over other sessions do not compare."""
    sessions = {row["session"] for row in rows}
    return {key: own for key, own in by_key(rows).items() if {row["session"] for row in own} == sessions}


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def share(counts: Sequence[int], at: int = SUPPORTED) -> float:
    """Percent of the probes asked; 0 if none were."""
    return 100 * counts[at] / counts[0] if counts[0] else 0.0


def mean_share(
    rows: Sequence[Row], name: str = "recall", part: str = "", at: int = SUPPORTED
) -> float | None:
    """The mean over sessions of the percent of probes, of one distance, kind or decoy with `part`.

    None where no session asked any.
    """
    counts = [row[name].get(part, (0, 0, 0)) if part else row[name] for row in rows]
    asked = [share(found, at) for found in counts if found[0]]
    return mean(asked) if asked else None
