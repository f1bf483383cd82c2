"""A chat whose host keeps every message itself and hands the whole list over before each prompt.

What stands follows from the host's order and the fidelity of each entry alone. A call of tools and its
results stand or fall together: while the call is whole each result keeps its own place, at whatever fidelity,
and once it is not all of them are lines of a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import zip_longest

from aider_gardener.adapters.plain.reading import Item, Kind
from aider_gardener.adapters.plain.view import Drawing, mark
from aider_gardener.messages import Entry, Fidelity, SourceKind
from aider_gardener.plan.chat import Admit, Chat
from aider_gardener.plan.view import Levels, Piece, TextOf, with_hint

AdmitItem = Callable[[Item], Admit]
"""Gives what makes and stores the entry of an item."""

Unit = list[Entry]
"""What stands or falls together: one message, or a call of tools with its results."""


def no_text(_entry: Entry, _level: Fidelity) -> str:
    return ""


@dataclass
class AgentChat(Chat):
    """A `Chat` in the order of the host's own list.

    `order` are the entries of that list by sequence number, `keys` their keys, `items` how each entry that
    ever stood was read. `shown_by` gives the text of an entry's rendition.
    """

    order: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    items: dict[int, Item] = field(default_factory=dict)
    shown_by: TextOf = no_text

    def take(self, items: Sequence[Item], admit_as: AdmitItem) -> list[Entry]:
        """Take in what the host's list holds now; returns the entries that are new.

        A message that is no longer there is gone, one that was put back stands whole again, and where nothing
        of the last list is left the chat was cleared.
        """
        keys = [item.key for item in items]
        if keys == self.keys:
            return []
        before = set(self.order)
        matches = aligned(self.keys, keys)
        last = max((at for at, known in enumerate(matches) if known is not None), default=-1)
        back = self.removed()
        added: list[Entry] = []
        order = []
        for at, (item, known) in enumerate(zip(items, matches, strict=True)):
            if known is not None:
                seq = self.order[known]
            elif at < last and back.get(item.key):
                seq = back[item.key].pop()
            else:
                (seq,) = self.take_in(item.message, {}, admit_as(item), added).members
                self.items[seq] = item
            order.append(seq)
        self.order, self.keys = order, keys
        now = set(order)
        self.gone = (self.gone | (before - now)) - now
        if before and not before & now:
            self.clear(keeping=now)
        self.apply(self.levels(self.fidelity), *self.rendered(self.fidelity, self.shown_by))
        return added

    def removed(self) -> dict[str, list[int]]:
        """The entries that the host took out since the chat was cleared, by their keys, oldest last."""
        found: dict[str, list[int]] = {}
        for seq in sorted(self.gone - self.forgotten, reverse=True):
            if seq >= self.floor:
                found.setdefault(self.items[seq].key, []).append(seq)
        return found

    def clear(self, *, keeping: set[int] | None = None) -> None:
        """Note that the history was dropped: nothing older comes back unless asked for."""
        super().clear(keeping=keeping)
        if keeping is None:
            self.order, self.keys = [], []

    def all_entries(self) -> list[Entry]:
        """The entries in the host's order, hidden ones included; what must stand counts as pinned."""
        held = self.held()
        entries = [self.entries[seq] for seq in self.order]
        return [replace(e, pinned=True) if e.seq in held and not e.pinned else e for e in entries]

    def sequence(self, pieces: Sequence[Piece], *, is_done: bool) -> list[Entry]:
        """All entries belong to the current list."""
        return [] if is_done else self.all_entries()

    def question(self) -> Entry | None:
        """What the user said last; None where the user said nothing."""
        last: Entry | None = None
        for seq in reversed(self.order):
            entry = self.entries[seq]
            if self.kind(seq) is Kind.SAID and entry.role == "user":
                last = last or entry
                if entry.source.kind is SourceKind.TYPED:
                    return entry
        return last

    def kind(self, seq: int) -> Kind:
        return self.items[seq].kind

    def held(self) -> frozenset[int]:
        """The entries that stand in their places whatever happens: instructions, what the user said last, and
        the last message, or the call whose results it is among."""
        held = {seq for seq in self.order if self.kind(seq) is Kind.FIXED}
        asked = self.question()
        held |= {asked.seq} if asked else set()
        at = len(self.order) - 1
        while at > 0 and self.kind(self.order[at]) is Kind.RESULT:
            at -= 1
        held |= set(self.order[at : at + 1])
        return frozenset(held - self.forgotten)

    def units(self) -> Iterator[Unit]:
        """The entries by what stands or falls together."""
        unit: Unit = []
        for seq in self.order:
            if unit and not (self.kind(seq) is Kind.RESULT and self.kind(unit[0].seq) is Kind.CALLS):
                yield unit
                unit = []
            unit.append(self.entries[seq])
        if unit:
            yield unit

    def levels(self, fidelity: Mapping[int, Fidelity]) -> dict[int, Fidelity]:
        """The fidelities with what was decided about single entries; what must stand is whole."""
        held = self.held()
        levels = super().levels({seq: level for seq, level in fidelity.items() if seq in self.entries})
        kept = {seq: Fidelity.COMPRESSED for seq in held & self.throttled if seq in levels}
        return {seq: level for seq, level in levels.items() if seq not in held} | kept

    def rendered(self, fidelity: dict[int, Fidelity], text_of: TextOf) -> tuple[list[Piece], list[Piece]]:
        """The list as it would stand with the given fidelities; the first of both lists is always empty."""
        levels = Levels(self.levels(fidelity), frozenset(self.undone), frozenset(self.throttled))
        drawing = Drawing(levels, text_of)
        held, units = self.held(), list(self.units())
        for unit, after in zip_longest(units, units[1:]):
            first = unit[0]
            followed = after is None or levels.in_place(after[0])
            must = first.seq in held or not self.is_words(first)
            if levels.in_place(first) and (must or drawing.reads_well(first, followed=followed)):
                drawing.stand(self.piece(entry, levels, text_of) for entry in unit)
            else:
                drawing.leave(unit)
        drawing.flush()
        return with_hint([], drawing.pieces, self.hint)

    def is_words(self, entry: Entry) -> bool:
        """Whether an entry is text alone, which a note may show as well as a message of its own."""
        return self.kind(entry.seq) is Kind.SAID and not entry.pinned and not self.items[entry.seq].images

    def piece(self, entry: Entry, levels: Levels, text_of: TextOf) -> Piece:
        """An entry in its own place; a result that is hidden leaves a mark, for its call must be answered."""
        level = levels.of(entry)
        role = "tool" if self.kind(entry.seq) is Kind.RESULT else entry.role
        text = mark(entry, text_of) if level is Fidelity.HIDDEN else text_of(entry, level)
        return Piece(role, text, (entry.seq,))


def aligned(known: Sequence[str], keys: Sequence[str]) -> list[int | None]:
    """For each key its place among those known, in order; None for a new one."""
    result: list[int | None] = [None] * len(keys)
    start = 0
    while start < min(len(known), len(keys)) and known[start] == keys[start]:
        result[start] = start
        start += 1
    old, new = known[start:], keys[start:]
    if old and new:
        for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            for offset in range(block.size):
                result[start + block.b + offset] = start + block.a + offset
    return result
