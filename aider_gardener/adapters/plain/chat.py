"""An agent's own list of messages beside the chat that is made of it.

The agent hands its whole list over before each prompt, perhaps as copies, so its messages are known by what
they hold. A call of tools and its results stand or fall together: while the call is whole each result keeps
its own place, at whatever level, and once it is not all of them are lines of a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import zip_longest

from aider_gardener.adapters.plain.reading import Item, Kind
from aider_gardener.adapters.plain.view import Drawing, mark
from aider_gardener.messages import Entry, Fidelity, SourceKind
from aider_gardener.plan.chat import Admit, Chat
from aider_gardener.plan.view import Piece, TextOf

AdmitItem = Callable[[Item], Admit]
"""Gives what makes and stores the entry of an item."""

Unit = list[Entry]
"""What stands or falls together: one message, or a call of tools with its results."""


@dataclass(frozen=True)
class AgentList:
    """The list as it was handed over last: `seqs` are its entries by sequence number, `keys` what each
    message is known by, `items` how each entry that ever stood was read."""

    seqs: tuple[int, ...] = ()
    keys: tuple[str, ...] = ()
    items: dict[int, Item] = field(default_factory=dict)

    def sync(
        self, chat: Chat, read: Sequence[Item], admit_as: AdmitItem, text_of: TextOf
    ) -> tuple[AgentList, Chat, list[Entry]]:
        """The list and the chat as they are now, and the entries that are new. A message that is no longer
        there is gone, and where nothing of the last list is left the chat was cleared."""
        keys = tuple(item.key for item in read)
        if keys == self.keys:
            return self, chat, []
        items, added, seqs = dict(self.items), list[Entry](), list[int]()
        for item, known in zip(read, aligned(self.keys, keys), strict=True):
            if known is None:
                chat, entry = chat.enter(item.message, admit_as(item))
                items[entry.seq] = item
                added.append(entry)
                seqs.append(entry.seq)
            else:
                seqs.append(self.seqs[known])
        now = AgentList(tuple(seqs), keys, items)
        if self.seqs and not set(self.seqs) & set(seqs):
            chat = chat.cleared(keeping=seqs)
        chat = replace(chat, order=now.seqs, held=now.held(chat), layout=now.layout)
        return now, chat.shown_at(chat.fidelity, text_of), added

    def question(self, chat: Chat) -> Entry | None:
        """What the user said last; None where the user said nothing."""
        entries = (chat.entries[seq] for seq in reversed(self.seqs) if self.kind(seq) is Kind.SAID)
        asked = [entry for entry in entries if entry.role == "user"]
        typed = (entry for entry in asked if entry.source.kind is SourceKind.TYPED)
        return next(typed, asked[0] if asked else None)

    def kind(self, seq: int) -> Kind:
        return self.items[seq].kind

    def held(self, chat: Chat) -> frozenset[int]:
        """The entries that stand in their places whatever happens: instructions, what the user said last, and
        the last message, or the call whose results it is among."""
        held = {seq for seq in self.seqs if self.kind(seq) is Kind.FIXED}
        asked = self.question(chat)
        held |= {asked.seq} if asked else set()
        at = len(self.seqs) - 1
        while at > 0 and self.kind(self.seqs[at]) is Kind.RESULT:
            at -= 1
        held |= set(self.seqs[max(at, 0) : at + 1])
        return frozenset(held) - chat.forgotten

    def units(self, entries: Sequence[Entry]) -> Iterator[Unit]:
        """The entries by what stands or falls together."""
        unit: Unit = []
        for entry in entries:
            if unit and not (self.kind(entry.seq) is Kind.RESULT and self.kind(unit[0].seq) is Kind.CALLS):
                yield unit
                unit = []
            unit.append(entry)
        if unit:
            yield unit

    def layout(self, chat: Chat, text_of: TextOf) -> tuple[list[Piece], list[Piece]]:
        """The list with each entry at its level; the first of both lists is always empty."""
        drawing = Drawing(chat, text_of)
        units = list(self.units([chat.entries[seq] for seq in chat.order]))
        for unit, after in zip_longest(units, units[1:]):
            first = unit[0]
            followed = after is None or chat.in_place(after[0])
            must = first.seq in chat.held or not self.is_words(first)
            if chat.in_place(first) and (must or drawing.reads_well(first, followed=followed)):
                drawing.stand(self.piece(entry, chat, text_of) for entry in unit)
            else:
                drawing.leave(unit)
        drawing.flush()
        return [], drawing.pieces

    def is_words(self, entry: Entry) -> bool:
        """Whether an entry is text alone, which a note may show as well as a message of its own."""
        return self.kind(entry.seq) is Kind.SAID and not entry.pinned and not self.items[entry.seq].images

    def piece(self, entry: Entry, chat: Chat, text_of: TextOf) -> Piece:
        """An entry in its own place; a result that is hidden leaves a mark, for its call must be answered."""
        level = chat.level_of(entry)
        role = "tool" if self.kind(entry.seq) is Kind.RESULT else entry.role
        text = mark(entry, text_of) if level is Fidelity.HIDDEN else text_of(entry, level)
        return chat.piece(role, text, entry)


def aligned(known: Sequence[str], keys: Sequence[str]) -> list[int | None]:
    """For each key its place among those known, in order; None for a new one."""
    result: list[int | None] = [None] * len(keys)
    start = next((at for at, (old, new) in enumerate(zip(known, keys, strict=False)) if old != new), None)
    start = min(len(known), len(keys)) if start is None else start
    result[:start] = range(start)
    for block in SequenceMatcher(None, known[start:], keys[start:], autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            result[start + block.b + offset] = start + block.a + offset
    return result
