"""What stands of an agent's list at given fidelities, as messages in their order.

What is whole stands in its own place, the rest in notes between. Where something is left out, user and
assistant take turns all the same: some providers demand it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from aider_gardener.compress.base import omitted
from aider_gardener.messages import Entry, Fidelity
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.view import FILLER, NOTE_HEAD, UNDONE_LABEL, Piece, TextOf, is_filler, note

MARK_CHARS = 120
"""A short form of a result that is no longer than this stands even where the result is hidden."""


@dataclass
class Drawing:
    """The messages drawn so far, and behind them the entries that go into the next note (`pending`). `gap`:
    something between the last message and the next one is not there."""

    chat: Chat
    text_of: TextOf
    pieces: list[Piece] = field(default_factory=list)
    pending: list[Entry] = field(default_factory=list)
    gap: bool = False

    @property
    def last_role(self) -> str:
        return self.pieces[-1].role if self.pieces else ""

    def reads_well(self, entry: Entry, *, followed: bool) -> bool:
        """Whether a message of words alone is better in a place of its own than in a note: a question if what
        follows it stands too, a reply if something is there that it answers."""
        if entry.role == "user":
            return followed
        has_gap = self.gap or bool(self.pending)
        return bool(self.noted()) or not has_gap or self.last_role not in ("", "assistant")

    def stand(self, pieces: Iterable[Piece]) -> None:
        """Add messages that follow each other without a gap."""
        self.flush()
        self._add(*pieces)

    def leave(self, entries: Iterable[Entry]) -> None:
        """These do not stand in places of their own."""
        self.pending += entries

    def noted(self) -> list[Entry]:
        """What the next note shows."""
        shown = (entry for entry in self.pending if self.chat.level_of(entry) is not Fidelity.HIDDEN)
        return [entry for entry in shown if not is_filler(entry)]

    def flush(self) -> None:
        """Put what is pending into a note."""
        self.gap = self.gap or bool(self.pending)
        if shown := self.noted():
            labels = dict.fromkeys(self.chat.undone, UNDONE_LABEL)
            text = note([(entry, self.text_of(entry, self.chat.level_of(entry))) for entry in shown], labels)
            self._add(self.chat.piece("user", text, *shown, is_note=True))
            self.gap = True
        self.pending = []

    def _add(self, *pieces: Piece) -> None:
        role = pieces[0].role
        if self.gap and role == "user" and self.last_role in ("user", "tool"):
            self.pieces.append(self.chat.piece("assistant", FILLER))
        elif self.gap and role == "assistant" and self.last_role in ("", "assistant"):
            self.pieces.append(self.chat.piece("user", NOTE_HEAD, is_note=True))
        self.pieces += pieces
        self.gap = False


def mark(entry: Entry, text_of: TextOf) -> str:
    """What stands for a hidden result: a short form of it that is hardly longer than saying that it was left
    out."""
    for level in (Fidelity.LINE, Fidelity.COMPRESSED):
        try:
            text = text_of(entry, level)
        except KeyError:  # reason: no shorter form of it was made
            continue
        if 0 < len(text) <= MARK_CHARS:
            return text
    return omitted("left out", entry.id)
