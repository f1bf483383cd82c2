"""One running chat as a value: its entries in order, the level each is shown at, and the messages that makes.

Every change gives another `Chat`; whoever holds the old one has the chat as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from aider_gardener.messages import Entry, Fidelity, Message, Source, SourceKind
from aider_gardener.plan.folded import FOLDED_CHARS, fold
from aider_gardener.plan.view import Levels, Piece, TextOf, laid_out, members, with_hint

Admit = Callable[["Chat", Message], Entry]
"""Makes and stores the entry of a message that is new in a chat: of its turn, with its next sequence
number."""

Layout = Callable[["Chat", Levels, TextOf], tuple[list[Piece], list[Piece]]]
"""Gives the messages of both lists of a chat at the given levels."""


def two_lists(chat: Chat, levels: Levels, text_of: TextOf) -> tuple[list[Piece], list[Piece]]:
    """aider's layout: finished exchanges in one list, the current ones in another."""
    entries = chat.all_entries()
    return laid_out(entries[: chat.border], entries[chat.border :], levels, text_of)


@dataclass(frozen=True)
class Chat:
    """`entries` are all that ever entered, by sequence number; `order` are those that are part of the chat
    now, shown or hidden, the first `border` of them in the list of finished exchanges. `fidelity` is the
    level of each that does not stand whole; `done` and `cur` are the messages that this makes.

    `undone` are replies whose edit the user has undone, `throttled` messages whose compressed form stands in
    their own place, `forgotten` entries that the user had deleted: they keep their place, empty, and are
    never shown. `held` stand in their places whatever happens. `floor` is the first sequence number that
    recall may reach unasked: /clear moves it. `hint` stands below the head of the first note.

    `turn` counts from 1. `turn_due`: the next message that is new begins one; `typed` is what the user
    entered last, where the host says so, `typed_this_turn` whether a prompt has entered since the turn began.
    `mark` tells the messages of this chat from others'.
    """

    entries: dict[int, Entry] = field(default_factory=dict)
    order: tuple[int, ...] = ()
    border: int = 0
    fidelity: Mapping[int, Fidelity] = field(default_factory=dict)
    done: Sequence[Piece] = ()
    cur: Sequence[Piece] = ()
    undone: frozenset[int] = frozenset()
    throttled: frozenset[int] = frozenset()
    forgotten: frozenset[int] = frozenset()
    held: frozenset[int] = frozenset()
    floor: int = 0
    hint: str = ""
    turn: int = 0
    turn_due: bool = False
    typed: str = ""
    typed_this_turn: bool = False
    layout: Layout = field(default=two_lists, compare=False, repr=False)
    mark: object = field(default_factory=object, compare=False, repr=False)

    # What follows from it

    @property
    def pieces(self) -> list[Piece]:
        """The messages of both lists."""
        return [*self.done, *self.cur]

    @property
    def next_seq(self) -> int:
        return max(self.entries, default=-1) + 1

    @cached_property
    def gone(self) -> frozenset[int]:
        """The entries that the host itself took out of its lists."""
        return frozenset(self.entries.keys() - set(self.order))

    @cached_property
    def seq_of(self) -> dict[str, int]:
        """The last place of each id."""
        return {entry.id: seq for seq, entry in self.entries.items() if entry.id}

    def all_entries(self) -> list[Entry]:
        """The entries in the order of the chat, hidden ones included; what is held counts as pinned."""
        entries = (self.entries[seq] for seq in self.order)
        return [replace(e, pinned=True) if e.seq in self.held and not e.pinned else e for e in entries]

    def current_entries(self) -> list[Entry]:
        """Those of the current exchanges."""
        return self.all_entries()[self.border :]

    def places(self, entry_id: str) -> list[int]:
        """The sequence numbers at which an original is part of the chat now, at whatever level."""
        return [seq for seq in self.order if self.entries[seq].id == entry_id]

    def says(self, message: Message) -> bool:
        """Whether the message is what the host says was typed last, perhaps with pages added behind it."""
        typed, text = self.typed, message.content
        is_typed = bool(typed.strip()) and (text == typed or text.startswith(f"{typed}\n\n"))
        return message.role == "user" and is_typed

    # What enters and leaves

    def counted(self) -> Chat:
        """With the turn begun that is due, if one is: something enters the chat, or a prompt is sent."""
        return self.next_turn() if self.turn_due else self

    def next_turn(self) -> Chat:
        return replace(self, turn=self.turn + 1, typed_this_turn=False, turn_due=False)

    def enter(self, message: Message, admit: Admit) -> tuple[Chat, Entry]:
        """The chat with a new message at its end, and the entry of that, which stands nowhere yet."""
        chat = self.counted()
        entry = admit(chat, message)
        if entry.source.kind is SourceKind.TYPED:
            if chat.typed_this_turn or chat.turn == 0:
                chat = chat.next_turn()
                entry = replace(entry, turn=chat.turn)
            chat = replace(chat, typed_this_turn=True)
        return replace(chat, entries={**chat.entries, entry.seq: entry}), entry

    def sync(self, lists: Sequence[list[dict[str, Any]]], admit: Admit) -> tuple[Chat, list[Entry]]:
        """The chat as the host's two lists hold it now, and the entries that are new.

        A message without this chat's mark is new, whatever it says: it gets one, in its place in the list.
        Marked ones are known wherever the host moved them, at the level at which they show what they show.
        What the host took out is gone; when nothing known is left the chat was cleared.
        """
        chat, added = self, list[Entry]()
        found: list[list[Piece]] = []
        taken: set[int] = set()
        for messages in lists:
            found.append([])
            for message in messages:
                piece = message if isinstance(message, Piece) and message.is_of(self.mark) else None
                if piece is None or not taken.isdisjoint(piece.levels):
                    content = message["content"]
                    text = content if isinstance(content, str) else repr(dict(message))
                    chat, entry = chat.enter(Message(message["role"], text), admit)
                    added.append(entry)
                    piece = Piece(message, {entry.seq: Fidelity.FULL}, self.mark)
                taken.update(piece.levels)
                found[-1].append(piece)
        for messages, pieces in zip(lists, found, strict=True):
            messages[:] = pieces  # only now: where the archive refuses one, none is marked
        done, cur = found
        if not added and done == self.done and cur == self.cur:
            return self, added
        return chat.standing(done, cur), added

    def standing(self, done: list[Piece], cur: list[Piece]) -> Chat:
        """The chat with these messages in its lists."""
        levels = dict(self.fidelity)
        for piece in [*done, *cur]:
            levels.update(piece.levels)
        shown = members([*done, *cur])
        was = set(members(self.pieces))
        now = set(shown)
        hidden = [s for s in self.order if s not in now and s not in was]
        order = in_places(shown, hidden, self.order)
        chat = replace(
            self,
            order=tuple(order),
            border=self.border_of(order, members(done), bool(cur), levels),
            fidelity={
                seq: levels[seq] for seq in order if levels.get(seq, Fidelity.FULL) is not Fidelity.FULL
            },
            done=done,
            cur=cur,
        )
        return chat.cleared(keeping=now) if was and not was & now else chat

    def border_of(
        self, order: Sequence[int], done: Sequence[int], has_current: bool, levels: Mapping[int, Fidelity]
    ) -> int:
        """How many of the entries belong to the finished exchanges. A hidden reply is on the side of what it
        answers: no list of a host begins with a reply."""
        if not has_current:
            return len(order)
        at = max((place + 1 for place, seq in enumerate(order) if seq in set(done)), default=0)
        while (
            at < len(order)
            and levels.get(order[at]) is Fidelity.HIDDEN
            and self.entries[order[at]].role == "assistant"
        ):
            at += 1
        return at

    def cleared(self, *, keeping: Collection[int] = ()) -> Chat:
        """The chat after the user dropped its history: nothing older comes back unless asked for."""
        old = [seq for seq in self.entries if seq not in keeping]
        order = tuple(seq for seq in self.order if seq in keeping)
        return replace(
            self,
            order=order,
            border=sum(seq in keeping for seq in self.order[: self.border]),
            floor=max(old, default=self.floor - 1) + 1,
            fidelity={seq: level for seq, level in self.fidelity.items() if seq in keeping},
            done=self.done if keeping else (),
            cur=self.cur if keeping else (),
        )

    def forgetting(self, ids: Collection[str], text_of: TextOf) -> Chat:
        """The chat with every entry that has one of these ids emptied and shown no more."""
        seqs = {seq for seq, entry in self.entries.items() if entry.id in ids}
        emptied = {
            seq: replace(
                self.entries[seq], id="", content="", segments=(), tokens=0, pinned=False, source=Source()
            )
            for seq in seqs
        }
        chat = replace(self, entries={**self.entries, **emptied}, forgotten=self.forgotten | seqs)
        return chat.shown_at(chat.fidelity, text_of)

    def with_entry(self, entry: Entry) -> Chat:
        """The chat with what is known of an entry anew; its place stays."""
        return replace(self, entries={**self.entries, entry.seq: entry})

    def folded(self) -> Chat:
        """The chat with the long texts that do not stand whole kept compressed."""
        whole = {seq for piece in self.pieces for seq in piece.levels if seq not in self.fidelity}
        long = [e for seq, e in self.entries.items() if e.size >= FOLDED_CHARS and seq not in whole]
        made = {entry.seq: folded for entry in long if (folded := fold(entry)) is not entry}
        return replace(self, entries={**self.entries, **made}) if made else self

    # What is shown

    def allowed(self, fidelity: Mapping[int, Fidelity]) -> dict[int, Fidelity]:
        """The levels with what the user decided: pinned and held entries whole, forgotten ones hidden."""
        levels = {
            seq: level
            for seq, level in fidelity.items()
            if not self.entries[seq].pinned and (seq not in self.held or seq in self.throttled)
        }
        return levels | dict.fromkeys(self.forgotten.intersection(self.order), Fidelity.HIDDEN)

    def rendered(self, fidelity: Mapping[int, Fidelity], text_of: TextOf) -> tuple[list[Piece], list[Piece]]:
        """Both lists as they would stand with the given levels. What stands as it did is the same object."""
        levels = Levels(self.allowed(fidelity), self.undone, self.throttled, self.mark)
        done, cur = with_hint(*self.layout(self, levels, text_of), self.hint)
        known = {(piece.content, *piece.levels.items()): piece for piece in self.pieces}

        def same(pieces: Iterable[Piece]) -> list[Piece]:
            return [known.get((piece.content, *piece.levels.items()), piece) for piece in pieces]

        return same(done), same(cur)

    def shown_at(self, fidelity: Mapping[int, Fidelity], text_of: TextOf) -> Chat:
        """The chat with its entries at the given levels."""
        return self.showing(*self.rendered(fidelity, text_of))

    def showing(self, done: list[Piece], cur: list[Piece]) -> Chat:
        """The chat with these messages; what they do not show is hidden."""
        shown: dict[int, Fidelity] = {}
        for piece in [*done, *cur]:
            shown.update(piece.levels)
        levels = {seq: shown.get(seq, Fidelity.HIDDEN) for seq in self.order}
        fidelity = {seq: level for seq, level in levels.items() if level is not Fidelity.FULL}
        return replace(self, fidelity=fidelity, done=done, cur=cur)


def in_places(shown: Sequence[int], hidden: Sequence[int], order: Sequence[int]) -> list[int]:
    """The entries shown, with the hidden ones between them where they stood: each before the first that stood
    behind it and still does, and what entered since at the end."""
    place = {seq: at for at, seq in enumerate(order)}
    waiting = list(reversed(hidden))
    last = max((at for at, seq in enumerate(shown) if seq in place), default=-1)
    result: list[int] = []
    for at, seq in enumerate(shown):
        while waiting and (at > last or place[waiting[-1]] < place.get(seq, -1)):
            result.append(waiting.pop())
        result.append(seq)
    return [*result, *reversed(waiting)]
