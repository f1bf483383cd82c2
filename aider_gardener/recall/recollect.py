"""Recall as one chat uses it: asked for by the user, or unasked before a prompt is sent."""

from __future__ import annotations

from aider_gardener.archive.archive import Archive
from aider_gardener.messages import TokenCounter
from aider_gardener.plan.chat import Chat
from aider_gardener.recall.candidates import Request
from aider_gardener.recall.recall import Recalled, recall, recall_note

MARGIN_TOKENS = 16
"""Kept free of a note's budget, for tokenizers that count a text as a whole higher than its parts."""


class Recollection:
    """Finds passages in an archive and counts each hit as an access; remembers the open question's note."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._open: tuple[object, str] | None = None

    def find(self, chat: Chat, request: Request, count: TokenCounter) -> list[Recalled]:
        """The passages that fit the request, best first; a hit counts as an access."""
        found = recall(self.archive, chat, request, count=count)
        self.archive.touch(item.entry_id for item in found)
        return found

    def note(self, chat: Chat, request: Request, count: TokenCounter) -> str:
        """What is recalled for a prompt, as one note; "" when nothing fits.

        As long as question, view and files are the same it stays the same, so that a retry sends the
        same prompt.
        """
        key = (request, tuple(chat.fidelity.items()), len(chat.entries))
        if self._open is None or self._open[0] != key:
            found = self.find(chat, request, count)
            self._open = (key, recall_note(found, session=self.archive.session))
        return self._open[1]

    def reset(self) -> None:
        """Look anew for the open question: what was found may be gone."""
        self._open = None

    def twin(self) -> Recollection:
        """A copy for a trial."""
        other = Recollection(self.archive)
        other._open = self._open
        return other
