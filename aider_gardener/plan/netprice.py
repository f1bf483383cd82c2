"""What a token of the history costs now, its provider's prompt cache counted in.

A token that stands costs its price on every call: the full price where the cache is cold, the price of a
cache read where it is warm. A plan breaks the cached prefix from the first message that it changes: all
that stands behind is paid in full once more.
"""

from __future__ import annotations

from dataclasses import dataclass

CACHE_SECONDS = 300.0
"""After so long without a call a provider's prompt cache is taken to be cold."""


@dataclass(frozen=True)
class Market:
    """What a prompt token costs now, in dollars or any other unit: in full, and read from the cache.

    `warm` is the chance, 0 to 1, that the cache still holds what stands before the change. Where no
    prices are known (a local model) every token counts the same.
    """

    full: float = 1.0
    cached: float = 1.0
    warm: float = 0.0

    @property
    def token(self) -> float:
        """The expected price of one token that stands in the next prompt."""
        return self.warm * self.cached + (1 - self.warm) * self.full

    @property
    def lost(self) -> float:
        """What it costs, expected, that one token falls out of the cache."""
        return self.warm * max(0.0, self.full - self.cached)
