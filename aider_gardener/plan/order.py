"""The order of a prompt by rest: files and map stand among the history by how long they have been the same.

A provider's cache holds the beginning of a prompt up to the first token that is new. So nothing is moved
without need: what has changed leaves its place and goes behind the history, as something said last, what is
said later goes behind that. A change takes all that stood behind the old place out of the cache once; what
has fallen out can be put in any order, and that is when what rests goes to where it belongs.

That is before what is left of the history, if compacting it would cost more there than a change of the part
would: with n the part's tokens, B those of the history and of parts that stand behind it, q the chance that
the next prompt's history is compacted, and p that the part is changed, if q·n > p·B. Else it stands behind.
Both chances are those of Krichevsky and Trofimov (The Performance of Universal Encoding, 1981), half an event
added to those that were counted and one prompt to the prompts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

LOST_SHARE = 0.5
"""Where less than this share of the history stays in the cache, compacting it costs little."""


@dataclass(frozen=True)
class Part:
    """A file, the map, or an exchange of the history: what it is called, what tells its texts apart, its
    tokens. An exchange is called by its place, from 0."""

    name: str | int
    key: object
    tokens: int = field(compare=False)

    @property
    def is_history(self) -> bool:
        return isinstance(self.name, int)


@dataclass(frozen=True)
class Life:
    """In how many prompts something stood, in how many of them it was changed, and for how many it has been
    the same now."""

    prompts: int = 0
    changes: int = 0
    rested: int = 0

    def seen(self, *, changed: bool) -> Life:
        """With one prompt more."""
        rested = self.rested + 1 if self.prompts and not changed else 0
        return Life(self.prompts + 1, self.changes + changed, rested)

    @property
    def chance(self) -> float:
        """The chance, 0 to 1, of a change before the next prompt."""
        return (self.changes + 0.5) / (self.prompts + 1)


@dataclass
class Order:
    """The parts of the last prompt in their order, and how each has behaved. `sent` is the number of calls
    that had been made by then."""

    last: list[Part] = field(default_factory=list)
    lives: dict[str | int, Life] = field(default_factory=dict)
    compacted: Life = field(default_factory=Life)
    sent: int = -1

    def arrange(
        self, parts: Sequence[Part], history: Sequence[Part], *, sent: int, cold: bool = False
    ) -> list[Part]:
        """Parts and history in the order in which they stand now; that of the history is its own.

        `sent` calls were made so far: a prompt that is made again without one is no further prompt. `cold`:
        nothing of the last prompt is in the cache.
        """
        kept = self.kept(parts, history)
        if sent == self.sent and len(kept) == len(self.last) == len(parts) + len(history):
            return list(self.last)
        self._count(parts, history)
        kept = [] if cold else kept
        placed = {part.name for part in kept}
        waiting = [part for part in parts if part.name not in placed]
        said = [part for part in history if part.name not in placed]
        waiting.sort(key=lambda part: -self.lives[part.name].rested)
        is_free = len(kept) < len(self.last) or not self.last
        before = self._before(waiting, sum(part.tokens for part in said)) if is_free else []
        behind = [part for part in waiting if part not in before]
        self.last, self.sent = [*kept, *before, *said, *behind], sent
        return list(self.last)

    def kept(self, parts: Sequence[Part], history: Sequence[Part]) -> list[Part]:
        """The beginning of the last prompt that stands unchanged."""
        standing = {*parts, *history}
        at = next((at for at, part in enumerate(self.last) if part not in standing), len(self.last))
        return self.last[:at]

    def breaks(self, parts: Sequence[Part]) -> bool:
        """Whether most of the history falls out of the cache because a part before it was changed."""
        kept = self.kept(parts, [part for part in self.last if part.is_history])
        left = sum(part.tokens for part in kept if part.is_history)
        return left < LOST_SHARE * sum(part.tokens for part in self.last if part.is_history)

    def _count(self, parts: Sequence[Part], history: Sequence[Part]) -> None:
        keys, lives = {part.name: part.key for part in self.last}, self.lives
        self.lives = {
            part.name: lives.get(part.name, Life()).seen(changed=keys.get(part.name, part.key) != part.key)
            for part in parts
        }
        lost = any(part not in history for part in self.last if part.is_history)
        self.compacted = self.compacted.seen(changed=lost)

    def _before(self, parts: Sequence[Part], behind: int) -> list[Part]:
        """Of the parts that rest, those that belong before the rest of the history, `behind` tokens of it, in
        their order."""
        chosen: set[Part] = set()
        calm = [part for part in parts if self.lives[part.name].rested]
        for part in sorted(calm, key=lambda part: -self.lives[part.name].chance):
            if self.compacted.chance * part.tokens > self.lives[part.name].chance * behind:
                chosen.add(part)
                behind += part.tokens
        return [part for part in parts if part in chosen]

    @property
    def behind_history(self) -> int:
        """Tokens of the parts that fall out of the cache with the history."""
        first = next((at for at, part in enumerate(self.last) if part.is_history), len(self.last))
        return sum(part.tokens for part in self.last[first:] if not part.is_history)
