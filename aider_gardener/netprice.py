"""Whether a plan pays: what it saves on the turns to come, against the cached prefix that it breaks now.

A token of history costs its price on every later call: the full price where the cache is cold, the
price of a cache read where it is warm. A plan saves that for the tokens it takes out. It also breaks the
cached prefix from the first message that it changes: all that stands behind is paid in full once more.
How long a chat goes on is not known; one that has lasted n turns is expected to last about n more (the
Lindy estimate), within bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

from aider_gardener.messages import Plan

CACHE_SECONDS = 300.0
"""After so long without a call a provider's prompt cache is taken to be cold."""
FEWEST_TURNS, MOST_TURNS = 3, 30
"""Turns that a chat is expected to go on, at least and at most."""


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


@dataclass(frozen=True)
class Net:
    """A plan's price, in the market's unit: what it saves on the turns to come, what it costs now."""

    saves: float
    costs: float

    @property
    def pays(self) -> bool:
        return self.saves >= self.costs


def turns_to_come(turn: int) -> int:
    """How many turns a chat that has lasted `turn` turns is expected to go on."""
    return min(max(turn, FEWEST_TURNS), MOST_TURNS)


def net_price(plan: Plan, market: Market, *, turn: int, behind: int) -> Net:
    """What the plan saves and costs; `behind` are the tokens that stand behind the history in a prompt
    (the chat's files) and fall out of the cache with it."""
    saves = plan.tokens_saved * market.token * turns_to_come(turn)
    broken = plan.prefix_tokens_broken + behind
    return Net(saves, broken * market.warm * max(0.0, market.full - market.cached))
