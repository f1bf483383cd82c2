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

SECONDS_PER_TURN = 60.0
"""How far apart the user's inputs are; recordings carry no clock."""

SECONDS_PER_CALL = 5.0
"""How long a model call is taken to last."""


class VirtualClock:
    """Seconds since the epoch that move only when told to."""

    def __init__(self) -> None:
        self.now = START

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

    def install(self) -> None:
        """Have `time.time` and `time.time_ns` read this clock from now on. `time.monotonic` and
        `time.perf_counter` stay real: timeouts and measurements need them."""
        time.time, time.time_ns = self.time, self.time_ns


class CachedTokenCount:
    """Stands in for `Model.token_count`, each text counted once; gives the same numbers.

    A list's count is that of its messages, each counted alone, plus what the request itself costs.
    """

    def __init__(self, original: Callable[[Any, Any], Any]) -> None:
        self.original = original
        self.known: dict[tuple[str, ...], int] = {}

    def of_text(self, model: Any, text: Any) -> int:
        key = (model.name, text if isinstance(text, str) else json.dumps(text, sort_keys=True, default=str))
        if key not in self.known:
            self.known[key] = self.original(model, text) or 0
        return self.known[key]

    def of_message(self, model: Any, message: Mapping[str, Any]) -> int:
        """Tokens that this message adds to a request."""
        key: tuple[str, ...]
        role, content = message.get("role"), message.get("content")
        if len(message) == 2 and isinstance(role, str) and isinstance(content, str):
            key = (model.name, role, content)
        else:
            key = (model.name, "", "", json.dumps(message, sort_keys=True, default=str))
        if key not in self.known:
            self.known[key] = self.original(model, [dict(message)]) - self.overhead(model)
        return self.known[key]

    def overhead(self, model: Any) -> int:
        """Tokens of a request with no message in it."""
        key = (model.name, "", "", "")
        if key not in self.known:
            message = {"role": "user", "content": "x"}
            one, two = self.original(model, [message]), self.original(model, [message, message])
            self.known[key] = 2 * one - two
        return self.known[key]

    def of_messages(self, model: Any, messages: Sequence[Mapping[str, Any]]) -> int:
        return sum(self.of_message(model, message) for message in messages) + self.overhead(model)

    def method(self) -> Callable[[Any, Any], int]:
        """What to put in the place of `Model.token_count`."""

        def token_count(model: Any, messages: Any) -> int:
            if type(messages) is list:
                return self.of_messages(model, messages)
            return self.of_text(model, messages)

        return token_count
