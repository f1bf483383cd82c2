"""One running chat as a value: its entries in order, the level each is shown at, and the messages that makes.

Every change gives another `Chat`; whoever holds the old one has the chat as it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import merge
from itertools import dropwhile
from typing import Any

from aider_gardener.messages import Entry, Level, Message, Source, SourceKind
from aider_gardener.plan.view import (
    EDIT_WAS,
    FILLER,
    NOTE_HEAD,
    Piece,
    TextOf,
    edit_line,
    exchanges,
    failed_edits,
    has_edit,
    is_filler,
    is_legal,
    members,
    note_line,
)

Admit = Callable[["Chat", Message], Entry]
"""Makes and stores the entry of a message that is new in a chat: of its turn, with its next sequence
number."""

Layout = Callable[["Chat", TextOf], tuple[list[Piece], list[Piece]]]
"""Makes the messages of both lists of a chat, each entry at its level."""


def two_lists(chat: Chat, text_of: TextOf) -> tuple[list[Piece], list[Piece]]:
    """aider's layout: finished exchanges in one list, the current ones in another. Whatever is shown is legal
    for aider and for strict providers."""
    entries = chat.all_entries()
    before, after = entries[: chat.border], entries[chat.border :]
    done = render(chat, before, text_of)
    is_asked = bool(done) and done[-1].role == "user"
    return legal(chat, done, render(chat, after, text_of, answers=is_asked or not before))


def render(chat: Chat, entries: Sequence[Entry], text_of: TextOf, *, answers: bool = True) -> list[Piece]:
    """The messages that show these entries of a chat, each at its level.

    Exchanges that are shown in full stay the host's own messages, the others go into notes. `answers`: a
    reply may begin the list; not so where the list before this one holds its question, out of sight, and ends
    in a reply too.
    """

    def own(entries: Iterable[Entry]) -> Iterator[Piece]:
        return (chat.piece(entry.role, text_of(entry, chat.level_of(entry)), entry) for entry in entries)

    # In a long chat nearly all of its beginning is hidden: nothing there is looked at twice.
    groups = list(dropwhile(lambda group: not any(map(chat.shows, group)), exchanges(entries)))
    rendering = Rendering(chat, text_of)
    for exchange in groups:
        replies = [entry for entry in exchange if entry.role == "assistant"]
        asked = [entry for entry in exchange if entry.role != "assistant"]
        is_whole = all(chat.level_of(entry) is Level.FULL and not is_filler(entry) for entry in replies)
        if (asked or answers) and all(map(chat.in_place, exchange)):
            rendering.add(own(exchange))
        elif replies and is_whole and any(map(chat.shows, [*asked, *rendering.noted])):
            rendering.pending += asked
            rendering.add(own(replies))
        else:
            rendering.pending += exchange
    rendering.add_note()
    ends_in_note = bool(rendering.pieces) and rendering.pieces[-1].is_note
    return [*rendering.pieces, chat.piece("assistant", FILLER)] if ends_in_note else rendering.pieces


@dataclass
class Rendering:
    """The messages of a chat as they are made. What is `pending` goes into a note before the next of them:
    notes that follow each other are one message, hidden entries and fillers are left out. What the assistant
    said is never shown in its role below full: a model would imitate it.

    `gap`: something between the last message and the next is not there. User and assistant take turns all
    the same, for some providers demand it.
    """

    chat: Chat
    text_of: TextOf
    pieces: list[Piece] = field(default_factory=list)
    pending: list[Entry] = field(default_factory=list)
    gap: bool = False

    @property
    def last_role(self) -> str:
        return self.pieces[-1].role if self.pieces else ""

    @property
    def noted(self) -> list[Entry]:
        """Of what is pending, the entries that a note shows."""
        return [entry for entry in self.pending if self.chat.shows(entry) and not is_filler(entry)]

    def add_note(self) -> None:
        """Put what is pending into a note."""
        self.gap = self.gap or bool(self.pending)
        noted, edits, self.pending = self.noted, self.hidden_edits(), []
        lines, outcomes = [NOTE_HEAD], self.chat.outcomes
        for entry in noted:
            text = self.text_of(entry, self.chat.level_of(entry)).strip() + edits.get(entry.seq, "")
            label = EDIT_WAS + outcomes[entry.seq] if entry.seq in outcomes else ""
            lines.append(note_line(entry, text, label))
        if noted:
            self.add([self.chat.piece("user", "\n".join(lines), *noted, is_note=True)])
            self.gap = True

    def hidden_edits(self) -> dict[int, str]:
        """What is said of edits that no note shows, behind the message that they answered, by its sequence
        number: the files, and whether the edits stand."""
        found, outcomes = dict[int, str](), self.chat.outcomes
        asked = -1
        for entry in self.pending:
            is_hidden = not self.chat.shows(entry)
            if entry.role == "user" and entry.source.kind is not SourceKind.NOTICE:
                asked = -1 if is_hidden else entry.seq
            elif is_hidden and asked >= 0 and has_edit(entry):
                found[asked] = found.get(asked, "") + edit_line(entry, self.text_of)
                found[asked] += f", {outcomes[entry.seq]}" if entry.seq in outcomes else ""
        return found

    def add(self, pieces: Iterable[Piece]) -> None:
        """Add messages that follow each other without a gap, behind what is pending."""
        if self.pending:
            self.add_note()
        first, *rest = pieces
        between = _between(self.chat, self.last_role, first.role) if self.gap else []
        self.pieces += [*between, first, *rest]
        self.gap = False


def legal(chat: Chat, done: list[Piece], cur: list[Piece]) -> tuple[list[Piece], list[Piece]]:
    """Both lists as one history in which user and assistant take turns; where the originals in full do not,
    nothing of ours would mend it."""
    if is_legal([*done, *cur]) or not is_legal(chat.all_entries()):
        return done, cur
    found: tuple[list[Piece], list[Piece]] = ([], [])
    last_role = ""
    for pieces, mended in zip((done, cur), found, strict=True):
        for piece in pieces:
            mended += [*_between(chat, last_role, piece.role), piece]
            last_role = piece.role
    return found


def _between(chat: Chat, last_role: str, role: str) -> list[Piece]:
    """What makes user and assistant take turns where they would not: a filler, or an empty note."""
    if role == "user" and last_role in ("user", "tool"):
        return [chat.piece("assistant", FILLER)]
    if role == "assistant" and last_role in ("", "assistant"):
        return [chat.piece("user", NOTE_HEAD, is_note=True)]
    return []


@dataclass(frozen=True)
class Chat:
    """`entries` are all that ever entered, by sequence number; `order` are those that are part of the chat
    now, shown or hidden, the first `border` of them in the list of finished exchanges. `levels` is the
    level of each that is not shown whole; `done` and `cur` are the messages that this makes.

    `undone` are replies whose edit the user undid or declined, with what became of each; `throttled` messages
    of the user whose compressed form is shown in their own place, not in a note, as long as the rest of their
    exchange is whole; `forgotten` entries that the user had deleted: they keep their place, empty, and are
    never shown; `fixed` are shown in their places whatever happens. `floor` is the first sequence number that
    recall may reach unasked: /clear moves it. `hint` is the line below the head of the first note.

    `turn` counts from 1. `turn_due`: the next message that is new begins one; `typed` is what the user
    entered last, where the host says so, `handed` the originals that the model asked for and was given last
    (they come as the user's message), `typed_this_turn` whether a prompt has entered since the turn began.
    `mark` tells the messages of this chat from others'.
    """

    entries: dict[int, Entry] = field(default_factory=dict)
    order: tuple[int, ...] = ()
    border: int = 0
    levels: Mapping[int, Level] = field(default_factory=dict)
    done: Sequence[Piece] = ()
    cur: Sequence[Piece] = ()
    undone: Mapping[int, str] = field(default_factory=dict)
    throttled: frozenset[int] = frozenset()
    forgotten: frozenset[int] = frozenset()
    fixed: frozenset[int] = frozenset()
    floor: int = 0
    hint: str = ""
    turn: int = 0
    turn_due: bool = False
    typed: str = ""
    handed: str = ""
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
    def removed(self) -> frozenset[int]:
        """The entries that the host itself took out of its lists."""
        return frozenset(self.entries.keys() - set(self.order))

    @cached_property
    def seq_of(self) -> dict[str, int]:
        """The last place of each id."""
        return {entry.id: seq for seq, entry in self.entries.items() if entry.id}

    @cached_property
    def outcomes(self) -> Mapping[int, str]:
        """What became of the edits that do not stand, or not all of them, by the reply."""
        return {**failed_edits(self.entries.values()), **self.undone}

    @cached_property
    def open_exchange(self) -> frozenset[int]:
        """The entries that wait for an answer: the user messages at the end of the current list, before them
        what else was put in since the last reply (outputs, which the host acknowledges itself), and what
        keeps its place whatever happens: an agent's question, while it calls tools."""
        found: list[int] = []
        for piece in reversed(self.cur):
            entry = self.entries[piece.members[0]] if len(piece.levels) == 1 else None
            if entry is None or (entry.role == "assistant" and not is_filler(entry)):
                break
            found += piece.levels
        is_open = any(self.entries[seq].role == "user" for seq in found)
        return self.fixed.union(found) if is_open else frozenset()

    def all_entries(self) -> list[Entry]:
        """The entries in the order of the chat, hidden ones included; what is held counts as pinned."""
        entries = (self.entries[seq] for seq in self.order)
        return [replace(e, pinned=True) if e.seq in self.fixed and not e.pinned else e for e in entries]

    def current_entries(self) -> list[Entry]:
        """Those of the current exchanges."""
        return self.all_entries()[self.border :]

    def asked_of(self) -> list[Entry]:
        """Those that may say what is asked now: the current ones, and those of this turn that the host takes
        for finished, as where it has made an edit and sends back what the linter says of it."""
        rows = enumerate(self.all_entries())
        return [entry for at, entry in rows if at >= self.border or entry.turn == self.turn]

    def places(self, entry_id: str) -> list[int]:
        """The sequence numbers at which an original is part of the chat now, at whatever level."""
        return [seq for seq in self.order if self.entries[seq].id == entry_id]

    def is_typed(self, message: Message) -> bool:
        """Whether the message is what the host says was typed last, perhaps with pages added behind it."""
        typed, text = self.typed, message.content
        is_typed = bool(typed.strip()) and (text == typed or text.startswith(f"{typed}\n\n"))
        return message.role == "user" and is_typed

    # What enters and leaves

    def counted(self) -> Chat:
        """With the turn begun that is due, if one is: something enters the chat, or a prompt is sent."""
        if not self.turn_due:
            return self
        return replace(self, turn=self.turn + 1, typed_this_turn=False, turn_due=False)

    def with_entry(self, entry: Entry) -> Chat:
        """The chat with what is known of an entry, or known anew; its place stays."""
        return replace(self, entries={**self.entries, entry.seq: entry})

    def enter(self, message: Message, admit: Admit) -> tuple[Chat, Entry]:
        """The chat with a new message at its end, and the entry of that, which is in no list yet."""
        chat = self.counted()
        entry = admit(chat, message)
        if entry.source.kind is SourceKind.TYPED:
            chat = replace(chat, turn=entry.turn, typed_this_turn=True)
        return chat.with_entry(entry), entry

    def turn_of(self, source: Source) -> int:
        """The turn of a message that enters: what is typed behind something typed begins one."""
        begins = source.kind is SourceKind.TYPED and self.typed_this_turn
        return max(self.turn + begins, 1)

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
                    piece = Piece(message, {entry.seq: Level.FULL}, self.mark)
                taken.update(piece.levels)
                found[-1].append(piece)
        for messages, pieces in zip(lists, found, strict=True):
            messages[:] = pieces  # only now: where the archive refuses one, none is marked
        done, cur = found
        if not added and done == self.done and cur == self.cur:
            return self, added
        return chat.with_lists(done, cur), added

    def with_lists(self, done: list[Piece], cur: list[Piece]) -> Chat:
        """The chat with these messages in its lists. Hidden entries keep their places: each before the first
        that was behind it and still is, new ones at the end. What was finished stays so, a hidden reply is on
        the side of what it answers, for no list of a host begins with a reply."""
        shown = members([*done, *cur])
        now, was = set(shown), set(members(self.pieces))
        place: dict[int, float] = {seq: at for at, seq in enumerate(self.order)}
        last = max((at for at, seq in enumerate(shown) if seq in place), default=-1)
        for at, seq in enumerate(shown):
            place.setdefault(seq, math.inf if at > last else -1)
        hidden = [seq for seq in self.order if seq not in now and seq not in was]
        order = tuple(merge(shown, hidden, key=place.__getitem__))
        levels = dict(self.levels)
        for piece in [*done, *cur]:
            levels.update(piece.levels)
        lower = {seq: levels[seq] for seq in order if levels.get(seq, Level.FULL) is not Level.FULL}
        border, finished = len(order), set(members(done))
        if cur:
            border = max((at + 1 for at, seq in enumerate(order) if seq in finished), default=0)
            before = set(self.order[: self.border])
            for seq in order[border:]:
                is_finished = seq in before or self.entries[seq].role == "assistant"
                if lower.get(seq) is not Level.HIDDEN or not is_finished:
                    break
                border += 1
        chat = replace(self, order=order, border=border, levels=lower, done=done, cur=cur)
        return chat.cleared(keeping=now) if was and not was & now else chat

    def cleared(self, *, keeping: Collection[int] = ()) -> Chat:
        """The chat after the user dropped its history: nothing older comes back unless asked for."""
        old = [seq for seq in self.entries if seq not in keeping]
        order = tuple(seq for seq in self.order if seq in keeping)
        return replace(
            self,
            order=order,
            border=sum(seq in keeping for seq in self.order[: self.border]),
            floor=max(old, default=self.floor - 1) + 1,
            levels={seq: level for seq, level in self.levels.items() if seq in keeping},
            done=self.done if keeping else (),
            cur=self.cur if keeping else (),
        )

    def forgetting(self, ids: Collection[str], text_of: TextOf) -> Chat:
        """The chat with every entry that has one of these ids emptied and shown no more."""
        emptied = {
            seq: replace(entry, id="", content="", segments=(), tokens=0, pinned=False, source=Source())
            for seq, entry in self.entries.items()
            if entry.id in ids
        }
        chat = replace(self, entries={**self.entries, **emptied}, forgotten=self.forgotten.union(emptied))
        return chat.shown_at(chat.levels, text_of)

    # What is shown

    def level_of(self, entry: Entry) -> Level:
        return self.levels.get(entry.seq, Level.FULL)

    def shows(self, entry: Entry) -> bool:
        return self.level_of(entry) is not Level.HIDDEN

    def in_place(self, entry: Entry) -> bool:
        """Whether the entry's text, whole or throttled, is a message of its own."""
        cut = entry.seq in self.throttled and self.level_of(entry) is Level.COMPRESSED
        return cut or self.level_of(entry) is Level.FULL

    def piece(self, role: str, content: str, *entries: Entry, is_note: bool = False) -> Piece:
        """The message that shows these entries at their levels."""
        levels = {entry.seq: self.level_of(entry) for entry in entries}
        return Piece({"role": role, "content": content}, levels, self.mark, is_note=is_note)

    def shown_at(self, levels: Mapping[int, Level], text_of: TextOf) -> Chat:
        """The chat with its entries at the given levels, but what the user decided: pinned and held ones
        are whole, forgotten ones hidden. A message that is as it was is the same object."""
        allowed = {
            seq: level
            for seq, level in levels.items()
            if not self.entries[seq].pinned and (seq not in self.fixed or seq in self.throttled)
        }
        allowed |= dict.fromkeys(self.forgotten.intersection(self.order), Level.HIDDEN)
        done, cur = self.layout(replace(self, levels=allowed), text_of)
        hinted = _hinted([*done, *cur], self.hint)
        earlier = {(piece.content, *piece.levels.items()): piece for piece in self.pieces}
        pieces = [earlier.get((piece.content, *piece.levels.items()), piece) for piece in hinted]
        shown = {seq: level for piece in pieces for seq, level in piece.levels.items()}
        now = {seq: shown.get(seq, Level.HIDDEN) for seq in self.order}
        return replace(
            self,
            levels={seq: level for seq, level in now.items() if level is not Level.FULL},
            done=pieces[: len(done)],
            cur=pieces[len(done) :],
        )


def _hinted(pieces: list[Piece], hint: str) -> list[Piece]:
    """The messages with a line below the head of their first note; as they are when there is no hint."""
    for at, piece in enumerate(pieces):
        if hint and piece.is_note:
            text = f"{NOTE_HEAD}\n{hint}{piece.content[len(NOTE_HEAD) :]}"
            hinted = Piece({**piece, "content": text}, piece.levels, piece.mark, is_note=True)
            return [*pieces[:at], hinted, *pieces[at + 1 :]]
    return pieces


def question(newest_first: Iterable[Entry]) -> Entry | None:
    """What the user asked in these: the last that was typed, else the last in the user's role."""
    asked = None
    for entry in newest_first:
        if entry.role == "user":
            if entry.source.kind is SourceKind.TYPED:
                return entry
            asked = asked or entry
    return asked
