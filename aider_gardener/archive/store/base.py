"""The frozen data that goes into a store and comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

Record = dict[str, Any]
"""A write as plain data (see `records`)."""
FRAME_KEY, GROWTH_KEY = "frame", "autopilot"
"""The keys of how the last prompt of a session was measured, and of how it grew and what it came to."""
TRANSCRIPT_KEY = "transcript"
"""The key of how far the transcript of a session was taken in, which is no word of it and stays when the
session is forgotten: what was forgotten is not taken in again."""
CONFIDENCE_LOSS_PER_HOUR = 0.005
CONFIDENCE_FLOOR = 0.1
CONFIDENCE_GAIN = 0.03
"""Confidence starts at 1, loses half a point in a hundred an hour down to the floor, gains three a use."""


@dataclass(frozen=True)
class Evidence:
    """The n passages of some sessions, session by session in the order in which they were said, as columns of
    n numbers: `chunks` are theirs in the archive, `sessions` those of the messages, `starts` and `ends` their
    characters in these. What was said twice stands there twice. `has_word` has a row for each word of the
    question, n wide: whether the passage holds it, or a form of it."""

    chunks: NDArray[np.int64]
    sessions: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    has_word: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.chunks)


class StoredPassage(NamedTuple):
    """A passage as the archive has it, its text without colour codes. `number` is its chunk's."""

    entry_id: str
    start: int
    end: int
    text: str
    number: int


@dataclass(frozen=True)
class SessionInfo:
    """One session of a project; times are seconds since the epoch, `turns` is the highest turn seen.

    `entries` counts what was said: no note of the gardener's and no notice of the host's.
    """

    id: str
    project: str
    started_at: float
    entries: int = 0
    turns: int = 0
    last_at: float = 0.0


class Event(NamedTuple):
    """Something that was done to the chat, when and why: what undo, `why` and reports read."""

    session: str
    turn: int
    kind: str
    data: Mapping[str, object]
    at: float


@dataclass(frozen=True)
class StoreStats:
    """Counts of what the archive holds. Tokens are those the entries were stored with.

    `rendition_tokens` counts for each original its compressed rendition where there is one.
    `by_class` maps the class's word to (entries, original tokens, rendition tokens). `bytes` is the
    size on disk of all files of the archive, or what it takes in memory.
    """

    entries: int = 0
    redacted: int = 0
    pinned: int = 0
    original_tokens: int = 0
    rendition_tokens: int = 0
    bytes: int = 0
    by_class: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    path: str = ""


class Holding(NamedTuple):
    """What retention needs to know of an original: size in bytes and tokens, use, and where it stands.

    `used_at` is the last access, or the last time it was said where it was never looked up; `uses` counts
    the accesses. `confidence` is that of the last access, before it decays. Times are seconds since the
    epoch.
    """

    entry_id: str
    cls: str
    tokens: int
    bytes: int
    used_at: float
    uses: int
    confidence: float
    pinned: bool
    sessions: tuple[str, ...]
