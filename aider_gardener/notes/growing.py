"""What is read of a chat entry by entry, kept as the chat grows: only what is new is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from aider_gardener.messages import Entry

Held = TypeVar("Held")


class Growing(Generic[Held]):
    """The outcome of a reader that goes through the entries in order.

    Where the entries begin with those of the last time it goes on from there, else it begins anew: the
    outcome is always that of all entries given.
    """

    def __init__(self, begin: Callable[[], Held], after: Callable[[Held, Entry], Held]) -> None:
        self._begin = begin
        self._after = after
        self._held = begin()
        self._read: list[tuple[int, str]] = []

    def over(self, entries: Sequence[Entry]) -> Held:
        """What the reader holds after these entries; not to be changed by the caller."""
        keys = [(entry.seq, entry.id) for entry in entries]
        if keys[: len(self._read)] != self._read:
            self._held, self._read = self._begin(), []
        for entry in entries[len(self._read) :]:
            self._held = self._after(self._held, entry)
        self._read = keys
        return self._held
