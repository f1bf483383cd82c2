"""An agent's own list of messages beside the chat that is made of it, and what of it is shown.

The agent hands its whole list over before each prompt, perhaps as copies, so its messages are known by what
they hold. A call of tools and its results stay together: while the call is whole each result keeps its own
place, at whatever level, and once it is not all of them are lines of a note.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import partial
from itertools import zip_longest

from aider_gardener.adapters.plain.reading import Item, Kind
from aider_gardener.compress.base import omitted
from aider_gardener.messages import Entry, Level, Message
from aider_gardener.plan.chat import Chat, Rendering, question
from aider_gardener.plan.view import Piece, TextOf

IMAGE_TOKENS = 1_100
"""What a part that is no text counts as: about what OpenAI charges for a large image in high detail."""
_NOTE = Item(None, Kind.WORDS, Message("user", ""))


@dataclass(frozen=True)
class AgentList:
    """The list as it was handed over last: `seqs` are its entries by sequence number, `keys` what each
    message is known by, `items` how each entry that was ever in it was read."""

    seqs: tuple[int, ...] = ()
    keys: tuple[Hashable, ...] = ()
    items: dict[int, Item] = field(default_factory=dict)

    def sync(
        self, chat: Chat, read: Sequence[Item], admit: Callable[..., Entry], text_of: TextOf
    ) -> tuple[AgentList, Chat, list[Entry]]:
        """The list and the chat as they are now, and the entries that are new. A message that is no longer
        there is gone, and where nothing of the last list is left the chat was cleared. A note of ours is in
        it once the agent has put it there. `admit` is told of each new one how it was read."""
        keys = tuple(item.key for item in read)
        if keys == self.keys and self.seqs == chat.order:
            return self, chat, []
        items, added, seqs = dict(self.items), list[Entry](), list[int]()
        ours = {(e.role, e.content): seq for seq, e in chat.entries.items() if seq not in items}
        for item, place in zip(read, aligned(self.keys, keys), strict=True):
            seq = ours.pop(item.message, None) if place is None else self.seqs[place]
            if seq is None:
                chat, entry = chat.enter(item.message, partial(admit, item))
                added.append(entry)
                seq = entry.seq
            items[seq] = item
            seqs.append(seq)
        now = AgentList(tuple(seqs), keys, items)
        if self.seqs and not set(self.seqs) & set(seqs):
            chat = chat.cleared(keeping=seqs)
        chat = replace(chat, order=now.seqs, fixed=now._in_place(chat), layout=now.layout)
        return now, chat.shown_at(chat.levels, text_of), added

    def question(self, chat: Chat) -> Entry | None:
        """What the user said last; None where the user said nothing."""
        return question(chat.entries[seq] for seq in reversed(self.seqs) if self.kind(seq) is Kind.WORDS)

    def kind(self, seq: int) -> Kind:
        return self._item(seq).kind

    def _item(self, seq: int) -> Item:
        """How an entry was read; a note of ours that the agent has not put into its list yet is words."""
        return self.items.get(seq, _NOTE)

    def layout(self, chat: Chat, text_of: TextOf) -> tuple[list[Piece], list[Piece]]:
        """The list with each entry at its level; the first of both lists is always empty."""
        first_shown = next((at for at, seq in enumerate(chat.order) if chat.shows(chat.entries[seq])), 0)
        while first_shown and self.kind(chat.order[first_shown]) is Kind.RESULT:
            first_shown -= 1
        rendering = Rendering(chat, text_of, gap=first_shown > 0)
        units = list(self._units([chat.entries[seq] for seq in chat.order[first_shown:]]))
        for unit, after in zip_longest(units, units[1:]):
            first, item = unit[0], self._item(unit[0].seq)
            followed = after is None or chat.in_place(after[0])
            is_words = item.kind is Kind.WORDS and not item.images and not first.pinned
            must = first.seq in chat.fixed or not is_words  # a note may show words as well
            if chat.in_place(first) and (must or _reads_well(first, rendering, followed=followed)):
                rendering.add(self._piece(entry, chat, text_of) for entry in unit)
            else:
                rendering.pending += unit
        rendering.add_note()
        return [], rendering.pieces

    def _in_place(self, chat: Chat) -> frozenset[int]:
        """The entries that keep their places whatever happens: instructions, what the user said last, and
        the last message, or the call whose results it is among."""
        at = len(self.seqs) - 1
        while at > 0 and self.kind(self.seqs[at]) is Kind.RESULT:
            at -= 1
        asked = self.question(chat)
        fixed = [seq for seq in self.seqs if self.kind(seq) is Kind.FIXED]
        return (
            frozenset([*fixed, *([asked.seq] if asked else []), *self.seqs[max(at, 0) : at + 1]])
            - chat.forgotten
        )

    def _units(self, entries: Sequence[Entry]) -> Iterator[list[Entry]]:
        """The entries by what stays together: one message, or a call of tools with its results."""
        unit: list[Entry] = []
        for entry in entries:
            if unit and not (self.kind(entry.seq) is Kind.RESULT and self.kind(unit[0].seq) is Kind.CALLS):
                yield unit
                unit = []
            unit.append(entry)
        if unit:
            yield unit

    def _piece(self, entry: Entry, chat: Chat, text_of: TextOf) -> Piece:
        """An entry in its own place; a result that is hidden leaves a mark, for its call must be answered."""
        level = chat.level_of(entry)
        role = "tool" if self.kind(entry.seq) is Kind.RESULT else entry.role
        text = omitted("left out", entry.id) if level is Level.HIDDEN else text_of(entry, level)
        piece = chat.piece(role, text, entry)
        piece.image_tokens = IMAGE_TOKENS * self._item(entry.seq).images if level is Level.FULL else 0
        return piece


def _reads_well(entry: Entry, rendering: Rendering, *, followed: bool) -> bool:
    """Whether a message of words alone is better in a place of its own than in a note: a question if what
    follows it is shown too, a reply if something is there that it answers."""
    if entry.role == "user":
        return followed
    has_gap = rendering.gap or bool(rendering.pending)
    return bool(rendering.noted) or not has_gap or rendering.last_role not in ("", "assistant")


def aligned(old_keys: Sequence[Hashable], keys: Sequence[Hashable]) -> list[int | None]:
    """For each key its place among those known, in order; None for a new one."""
    same = (at for at, (old, new) in enumerate(zip(old_keys, keys, strict=False)) if old != new)
    start = next(same, min(len(old_keys), len(keys)))
    places: list[int | None] = [*range(start), *[None] * (len(keys) - start)]
    blocks = SequenceMatcher(None, old_keys[start:], keys[start:], autojunk=False).get_matching_blocks()
    for old, new, size in blocks:
        places[start + new : start + new + size] = range(start + old, start + old + size)
    return places
