"""What is read of a chat entry by entry, kept as the chat grows: only what is new is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar


class Placed(Protocol):
    """What a reader goes through: entries, and what was said of them between."""

    @property
    def seq(self) -> int: ...
    @property
    def id(self) -> str: ...


Held = TypeVar("Held")
Item = TypeVar("Item", bound=Placed)


class Growing(Generic[Held, Item]):
    """The outcome of a reader that goes through the entries in order.

    Where the entries begin with those of the last time it goes on from there, else it begins anew: the
    outcome is always that of all entries given.
    """

    def __init__(self, begin: Callable[[], Held], after: Callable[[Held, Item], Held]) -> None:
        self._begin = begin
        self._after = after
        self._held = begin()
        self._read: list[tuple[int, str]] = []

    def over(self, entries: Sequence[Item]) -> Held:
        """What the reader holds after these entries; not to be changed by the caller."""
        keys = [(entry.seq, entry.id) for entry in entries]
        if keys[: len(self._read)] != self._read:
            self._held, self._read = self._begin(), []
        for entry in entries[len(self._read) :]:
            self._held = self._after(self._held, entry)
        self._read = keys
        return self._held
