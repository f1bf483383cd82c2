"""What makes a replay the same at any speed: a virtual clock, which tells the same time of day whenever it
runs, and aider's token counts, each text counted once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone, tzinfo
from typing import Any

START = 1_704_103_200.0
"""Seconds since the epoch at which every replay begins: 2024-01-01 10:00 UTC."""

SECONDS_PER_TURN = 10.0
"""How far apart the user's inputs are; recordings carry no clock. So close that, with commands between two
prompts, the provider's cache is kept as a bill takes it to be."""

SECONDS_PER_CALL = 5.0
"""How long a model call is taken to last."""


class VirtualClock:
    """Seconds since the epoch, `now`, that move only when told to."""

    def __init__(self) -> None:
        self.now = START

    def datetime_class(self) -> type[datetime]:
        """A datetime whose `now` reads this clock, in UTC where no zone is asked for."""
        clock = self

        class VirtualDatetime(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> VirtualDatetime:
                moment = cls.fromtimestamp(clock.now, tz or timezone.utc)
                return moment if tz else moment.replace(tzinfo=None)

        return VirtualDatetime

    def install(self) -> None:
        """Have `time.time` and `time.time_ns` read this clock from now on. `time.monotonic` and
        `time.perf_counter` stay real: timeouts and measurements need them."""
        time.time = lambda: self.now
        time.time_ns = lambda: int(self.now * 1_000_000_000)


class CachedTokenCount:
    """Stands in for `Model.token_count`, each text counted once; gives the same numbers.

    A list's count is that of its messages, each counted alone, plus what the request itself costs.
    """

    def __init__(self, original: Callable[[object, object], Any]) -> None:
        self.original = original
        self.counts: dict[tuple[str, ...], int] = {}

    def once(self, model: Any, value: object) -> int:
        """Tokens of a text, or of a request with these messages."""
        text = (value,) if isinstance(value, str) else ("", json.dumps(value, sort_keys=True, default=str))
        key = (model.name, *text)
        if key not in self.counts:
            self.counts[key] = self.original(model, value) or 0
        return self.counts[key]

    def of_message(self, model: object, message: Mapping[str, object]) -> int:
        """Tokens that this message adds to a request."""
        return self.once(model, [dict(message)]) - self.overhead(model)

    def overhead(self, model: object) -> int:
        """Tokens of a request with no message in it."""
        message = {"role": "user", "content": "x"}
        return 2 * self.once(model, [message]) - self.once(model, [message, message])

    def of_messages(self, model: object, messages: Sequence[Mapping[str, object]]) -> int:
        return sum(self.of_message(model, message) for message in messages) + self.overhead(model)
