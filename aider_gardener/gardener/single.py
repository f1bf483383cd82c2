"""The part of the facade that cares for single entries; an id may be given by its beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from aider_gardener.archive.entries import Why
from aider_gardener.gardener import asks, care
from aider_gardener.gardener.care import GivenBack, Restored
from aider_gardener.messages import Entry
from aider_gardener.notes.last_chat import LastTime, last_time

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

NOTE_SHARE, LEAST_NOTE_TOKENS = 0.3, 240
"""The part of the high mark that the account of the last chat may take, and what it needs to say anything."""


class SingleEntries:
    """What can be done to one entry of a chat: forget, pin, restore (all of them too), why it is as it is."""

    def forget(self, entry_id: str) -> int:
        """Delete an entry for good, from archive and chat, with notes that quote it; returns how many."""
        return care.forget(cast("Gardener", self), entry_id)

    def forget_session(self) -> int:
        """Delete for good what this chat added to the archive, and empty the chat; returns the entries."""
        return care.forget_session(cast("Gardener", self))

    def pin(self, entry_id: str, *, pinned: bool = True) -> Entry:
        """Hold an entry whole in the chat, or with `pinned` false let it go."""
        return care.pin(cast("Gardener", self), entry_id, pinned=pinned)

    def restore(self, entry_id: str) -> Restored:
        """Put an original back into the chat whole: in its place, or where it has none at the end."""
        return care.restore(cast("Gardener", self), entry_id)

    def give_back(self) -> GivenBack:
        """Put every original that is hidden or shortened back into the chat whole, each in its place."""
        return care.give_back(cast("Gardener", self))

    def why(self, entry_id: str) -> Why:
        """What an entry is, how it stands, what was done to it when and why, what brings it back."""
        return care.why(cast("Gardener", self), entry_id)

    def answer(self, reply: str) -> tuple[str, list[str]]:
        """What to tell a model whose reply asks for originals, and their ids; ("", []) for nothing."""
        gardener = cast("Gardener", self)
        with gardener.timed():
            return asks.answer(gardener, reply)

    def last_time(self) -> LastTime | None:
        """A short account of the last chat in this project, within the recall budget; None without one.

        It takes a small part of what the history may use, or the first exchanges would push it out.
        """
        gardener = cast("Gardener", self)
        most = max(LEAST_NOTE_TOKENS, int(NOTE_SHARE * gardener.goal().high))
        return last_time(gardener.archive, token_limit=min(gardener.recall_budget, most))
