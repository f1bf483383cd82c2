"""What the model's calls really used: the provider's own numbers where there are any, estimates otherwise.

One `Usage` a chat. It counts calls of the main model, prices them, says how much of a prompt the
provider's cache serves and how long it has been idle, and corrects the tokenizer's estimates.

A token that is shown costs its price on every call: the full price where the cache is cold, the price of a
cache read where it is warm. A plan breaks the cached prefix from the first message that it changes: all that
is behind it is paid in full once more.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

RECENT_CALLS = 10
"""The share served from cache is that of so many last calls."""
SAMPLES, LEAST_SAMPLES = 8, 3
LEAST_SAMPLE_TOKENS = 500
LEAST_RATIO, MOST_RATIO = 0.5, 2.0
"""A prompt that was counted as less or more than this times its estimate was not the one estimated."""
MOST_FACTOR = 1.5
FACTOR_STEP = 0.05
"""The factor moves in steps of 5 %: a smaller error is not worth counting everything anew."""

CACHE_SECONDS = 300.0
"""After so long without a call a provider's prompt cache is taken to be cold, until it has shown that it
holds prompts longer."""
CACHED_SHARE = 0.5
"""A provider that reads so much of the last prompt from its cache has held it."""


@dataclass(frozen=True)
class Prices:
    """A model's prices in dollars a token, as litellm's table names them; 0 where unknown."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0

    @classmethod
    def of(cls, info: Mapping[str, Any]) -> Prices:
        """The prices in a row of litellm's table. Without a price for cached tokens they cost as others."""
        plain = float(info.get("input_cost_per_token") or 0)
        read = info.get("cache_read_input_token_cost") or info.get("input_cost_per_token_cache_hit")
        written = info.get("cache_creation_input_token_cost")
        output = float(info.get("output_cost_per_token") or 0)
        return cls(plain, output, float(read or plain), float(written or plain))

    def cost(self, call: Call) -> float:
        """Dollars for one call."""
        uncached = max(0, call.prompt_tokens - call.cached_tokens - call.written_tokens)
        return (
            uncached * self.input
            + call.cached_tokens * self.cache_read
            + call.written_tokens * self.cache_write
            + call.completion_tokens * self.output
        )


class Call(NamedTuple):
    """One call. `prompt_tokens` is everything sent, of which `cached_tokens` were read from the
    provider's cache and `written_tokens` written to it. `reported`: the numbers are the provider's."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    written_tokens: int = 0
    reported: bool = True


class Usage:
    """The usage of one chat: its `calls`, the `prompt_tokens` that they sent, and their `cost` in dollars.
    `clock` gives seconds since the epoch."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.calls, self.prompt_tokens, self.cost = 0, 0, 0.0
        self.prices = Prices()
        self._last_at = -math.inf
        self._last_prompt = 0
        self._cache_seconds = CACHE_SECONDS
        self._warmed_seconds = 0.0
        self._caches = False
        self._recent: deque[Call] = deque(maxlen=RECENT_CALLS)
        self._cold: deque[bool] = deque(maxlen=RECENT_CALLS)
        self._ratios: dict[str, tuple[float, ...]] = {}
        self._longest: dict[str, int] = {}

    def add(self, call: Call, prices: Prices, *, warmed_seconds: float = 0.0) -> None:
        """Count a call that has just ended. Until `warmed_seconds` after it the host itself sees to it that
        the cache keeps its prompt."""
        if call.cached_tokens > CACHED_SHARE * self._last_prompt > 0:
            self._cache_seconds = max(self._cache_seconds, self.idle_seconds - self._warmed_seconds)
        self._cold.append(self.is_cold)
        self._warmed_seconds = warmed_seconds
        self.prices, self._last_at, self._last_prompt = prices, self._clock(), call.prompt_tokens
        if call.reported:
            self._recent.append(call)
        self._caches = self._caches or call.cached_tokens + call.written_tokens > 0
        self.calls += 1
        self.prompt_tokens += call.prompt_tokens
        self.cost += prices.cost(call)

    def taken(self, model: str, call: Call) -> int:
        """The longest prompt in tokens that a model has taken in this chat, that of a call included."""
        self._longest[model] = max(self._longest.get(model, 0), call.prompt_tokens)
        return self._longest[model]

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last answer came in; infinite before the first."""
        return max(0.0, self._clock() - self._last_at)

    @property
    def is_cold(self) -> bool:
        """Whether the last call is so long ago that nothing of it is in the provider's cache."""
        return self._warmed_seconds + self._cache_seconds <= self.idle_seconds < math.inf

    @property
    def is_served(self) -> bool:
        """Whether the cache serves this chat: its provider does not say that it reads nothing from it, and no
        more than half of the last ten calls came when it was cold."""
        return self.cache_read_share != 0 and 2 * sum(self._cold) <= len(self._cold)

    @property
    def reports(self) -> bool:
        """Whether the provider has given numbers of its own."""
        return bool(self._recent)

    @property
    def cache_read_share(self) -> float | None:
        """The share, 0 to 1, of the last ten prompts that the provider read from its cache.

        None as long as it has never said that it caches anything.
        """
        if not self._caches:
            return None
        sent = sum(call.prompt_tokens for call in self._recent)
        return sum(call.cached_tokens for call in self._recent) / sent if sent else None

    def compare(self, model: str, *, estimated: int, reported: int) -> None:
        """Note what a prompt was estimated at, by the tokenizer alone, and what the provider counted."""
        if min(estimated, reported) < LEAST_SAMPLE_TOKENS:
            return
        ratio = reported / estimated
        if LEAST_RATIO <= ratio <= MOST_RATIO:
            self._ratios[model] = (*self._ratios.get(model, ()), ratio)[-SAMPLES:]

    def factor(self, model: str) -> float:
        """What an estimate is to be multiplied by for this model: the median of the last eight prompts,
        in steps of 5 %, from 1 to 1.5; 1 before the third prompt. Never less than 1: a provider that reports
        too little must not let prompts grow past the window. What calls cost goes by its numbers."""
        ratios = self._ratios.get(model, ())
        if len(ratios) < LEAST_SAMPLES:
            return 1.0
        from statistics import median  # a hundredth of a second

        stepped = round(median(ratios) / FACTOR_STEP) * FACTOR_STEP
        return round(min(max(stepped, 1.0), MOST_FACTOR), 2)


class Market(NamedTuple):
    """What the provider's cache makes of the price of a token of the history: `cached` is the share of it
    that one read from the cache costs (1: none is, or no prices are known), `warm` the chance, 0 to 1, that
    the cache still holds what is before a change."""

    cached: float = 1.0
    warm: float = 0.0

    @property
    def cached_share(self) -> float:
        """The share of its price, expected, that the next prompt does not pay for a token."""
        return self.warm * max(0.0, 1.0 - self.cached)
