"""Pressure: what the chat uses of the model's window and of the history budget, as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from aider_gardener.messages import ContentClass, Entry

WARNING_AT, OPTIMIZE_AT, HARD_AT, WINDOW_LOW = 0.70, 0.85, 0.95, 0.60
LARGEST_SHOWN = 10


class Level(str, Enum):
    """How full the window is: OK below 70 %, WARNING to 85 %, OPTIMIZE to 95 %, HARD above."""

    OK = "OK"
    WARNING = "WARNING"
    OPTIMIZE = "OPTIMIZE"
    HARD = "HARD"


@dataclass(frozen=True)
class Frame:
    """What surrounds the history in a prompt, in tokens, as last seen: the parts and the window.

    `parts` maps "system", "map", "files", "current" to tokens. `window` is the model's
    max_input_tokens, 0 when unknown. `files` are the chat's files with their tokens.
    """

    window: int = 0
    parts: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, int] = field(default_factory=dict)
    model: str = ""

    @property
    def tokens(self) -> int:
        return sum(self.parts.values())


@dataclass(frozen=True)
class Pressure:
    """The report of row A12. Token figures are of the next prompt as it stands; 0 `available` means
    that the model's window is unknown."""

    used: int
    available: int
    utilization: float
    level: str
    history_budget: int
    history_used: int
    parts: Mapping[str, int]
    messages_count: int
    largest_messages: Sequence[Mapping[str, Any]]
    by_message: Sequence[Mapping[str, Any]]
    by_class: Mapping[str, Mapping[str, Any]]
    entries_tracked: int
    total_original_tokens: int
    total_summary_tokens: int
    compression_ratio: float
    eviction_candidates: int
    plan_would_save: int
    droppable_files: Sequence[Mapping[str, Any]]
    recommendation: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def level(used: int, window: int) -> Level:
    """The level of a prompt of `used` tokens in a window (0: unknown, always OK)."""
    share = used / window if window else 0.0
    if share >= HARD_AT:
        return Level.HARD
    if share >= OPTIMIZE_AT:
        return Level.OPTIMIZE
    return Level.WARNING if share >= WARNING_AT else Level.OK


def message_row(index: int, role: str, cls: ContentClass | None, tokens: int) -> dict[str, Any]:
    return {"index": index, "role": role, "class": cls.value if cls else "note", "tokens": tokens}


def by_class(rows: Sequence[tuple[Entry, int]]) -> dict[str, dict[str, Any]]:
    """Entries, original tokens, tokens as they stand, and their ratio, for each class that occurs."""
    found: dict[str, dict[str, Any]] = {}
    for entry, standing in rows:
        row = found.setdefault(entry.cls.value, {"count": 0, "orig": 0, "sum": 0, "ratio": 1.0})
        row["count"] += 1
        row["orig"] += entry.tokens
        row["sum"] += standing
    for row in found.values():
        row["ratio"] = round(row["sum"] / row["orig"], 4) if row["orig"] else 1.0
    return dict(sorted(found.items(), key=lambda item: -item[1]["sum"]))


def recommendation(
    state: Level, *, history_used: int, budget: int, would_save: int, drop: Sequence[str]
) -> str:
    """One or two sentences on what the user should do now."""
    if state is Level.HARD:
        advice = "The prompt hardly fits the window."
    elif state in (Level.WARNING, Level.OPTIMIZE):
        advice = "The window is filling up; the gardener compacts the history by itself."
    elif history_used > budget:
        advice = "The history is above its limit; the next prompt compacts it."
    else:
        advice = "Nothing to do."
    if would_save:
        advice += f" A compaction now would save {would_save:,} tokens (/gardener plan shows it)."
    if drop and state is not Level.OK:
        advice += f" Largest files in the chat, worth a /drop if not needed: {', '.join(drop)}."
    return advice
