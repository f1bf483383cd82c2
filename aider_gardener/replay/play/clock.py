"""A virtual clock: replays read the same time of day whenever and however fast they run."""

from __future__ import annotations

import time
from contextlib import contextmanager
from datetime import datetime, timezone, tzinfo
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

START = 1_704_103_200.0
"""Seconds since the epoch at which every replay begins: 2024-01-01 10:00 UTC."""

SECONDS_PER_TURN = 60.0
"""How far apart the user's inputs are; recordings carry no clock."""

SECONDS_PER_CALL = 5.0
"""How long a model call is taken to last."""


class VirtualClock:
    """Seconds since the epoch that move only when told to."""

    def __init__(self, start: float = START) -> None:
        self.now = start

    def time(self) -> float:
        return self.now

    def time_ns(self) -> int:
        return int(self.now * 1_000_000_000)

    def advance(self, seconds: float) -> None:
        self.now += seconds

    def datetime_class(self) -> type[datetime]:
        """A datetime whose `now` reads this clock, in UTC where no zone is asked for."""
        clock = self

        class VirtualDatetime(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> VirtualDatetime:
                moment = cls.fromtimestamp(clock.now, tz or timezone.utc)
                return moment if tz else moment.replace(tzinfo=None)

        return VirtualDatetime

    @contextmanager
    def installed(self) -> Iterator[VirtualClock]:
        """`time.time` and `time.time_ns` read this clock within the block.

        `time.monotonic` and `time.perf_counter` stay real: timeouts and measurements need them.
        """
        real, real_ns = time.time, time.time_ns
        time.time, time.time_ns = self.time, self.time_ns
        try:
            yield self
        finally:
            time.time, time.time_ns = real, real_ns
