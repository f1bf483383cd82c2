"""One running chat as the gardener sees it: its entries, what stands where, and how faithfully."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from aider_gardener.messages import Entry, Fidelity, Message, Source, SourceKind
from aider_gardener.plan.folded import FOLDED_CHARS, fold
from aider_gardener.plan.view import (
    FILLER,
    NOTE_HEAD,
    Levels,
    Piece,
    TextOf,
    align,
    from_first_shown,
    legal,
    members,
    render,
    with_hint,
)

Admit = Callable[[Message, int, int], Entry]
"""Makes and stores the entry of a new message, given its turn and sequence number."""


IsOurs = Callable[[Message], bool]
"""Whether a message that this chat did not make is a note of ours from an earlier process."""


def never(_message: Message) -> bool:
    return False


def follows_note(piece: Piece, message: Message) -> bool:
    """Whether the message is the filler that stands behind a note."""
    return piece.is_note and message == Message("assistant", FILLER)


@dataclass
class Chat:
    """The state of one chat: two lists of the host, their layouts, and every entry ever admitted.

    `entries` maps sequence numbers to entries, `fidelity` to the rendition that stands (full where
    none is given). `floor` is the first sequence number that recall may reach unasked: /clear moves
    it. `notes` are all notes that ever stood, with what they show. `gone` are entries that the host
    itself took out of its lists, `undone` replies whose edit the user has undone, `throttled` oversized
    user messages whose compressed form stands in their own place, `forgotten` entries that
    the user had deleted: they keep their place, empty, and are never shown. `hint` stands in the first
    note, below its head. `turn_due`: the next message that is new begins a turn.
    `seq_of` gives the last place of each id, `tokens` are those of all entries whole.
    `unfolded` are long entries whose text is not kept compressed yet.
    `watched` are entries of whose leaving the user is to be told. `typed` is what the user entered last,
    where the host says so.
    """

    entries: dict[int, Entry] = field(default_factory=dict)
    fidelity: dict[int, Fidelity] = field(default_factory=dict)
    done: list[Piece] = field(default_factory=list)
    cur: list[Piece] = field(default_factory=list)
    notes: dict[Message, dict[int, Fidelity]] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    undone: set[int] = field(default_factory=set)
    forgotten: set[int] = field(default_factory=set)
    hint: str = ""
    throttled: set[int] = field(default_factory=set)
    turn: int = 0
    floor: int = 0
    next_seq: int = 0
    typed_this_turn: bool = False
    turn_due: bool = False
    seq_of: dict[str, int] = field(default_factory=dict)
    tokens: int = 0
    unfolded: set[int] = field(default_factory=set)
    watched: set[int] = field(default_factory=set)
    typed: str = ""

    def begin_turn(self) -> None:
        """Count a turn: the user has entered a prompt, or a command that said something in the chat."""
        self.turn += 1
        self.typed_this_turn = self.turn_due = False

    def count_due(self) -> None:
        """Count the turn that is due, if one is: something enters the chat, or a prompt is sent."""
        if self.turn_due:
            self.begin_turn()

    def says(self, message: Message) -> bool:
        """Whether the message is what the host says was typed last, perhaps with pages added behind it."""
        text = message.content
        return (
            message.role == "user"
            and bool(self.typed.strip())
            and (text == self.typed or text.startswith(f"{self.typed}\n\n"))
        )

    def sync(
        self, done: Sequence[Message], cur: Sequence[Message], admit: Admit, is_ours: IsOurs = never
    ) -> list[Entry]:
        """Take in what the host's lists hold now; returns the entries that are new.

        Known messages keep their entries, wherever the host moved them; an original that was swapped
        out and stands again (the host restored an older list) is full again; what the host took out is
        gone. When nothing known is left the chat was cleared.
        """
        # A host has no ids for its messages: role and text are all there is to know them by. Both lists are
        # aligned as one, for hosts move messages from one to the other at the end of a turn.
        known = [*self.done, *self.cur]
        messages = [*done, *cur]
        aligned = align(known, messages)
        kept = [piece for piece in aligned if piece is not None]
        if len(kept) == len(messages) == len(known):
            self.done, self.cur = kept[: len(done)], kept[len(done) :]
            return []
        # A text that was swapped out and stands again is either the old message put back or the same words
        # said once more ("yes"). Put back it is where something known is missing, or before something known;
        # what stands behind all that is known was appended, so it is new, with an entry of its own, and so is
        # a note that the user pastes. Notes of an earlier process come where nothing known stands.
        last_known = max((at for at, piece in enumerate(aligned) if piece), default=-1)
        first_new = len(messages) if len(kept) < len(known) else last_known + 1
        now = (
            len(messages) - 1 if cur and cur[-1].content.startswith(NOTE_HEAD) else -1
        )  # no list of ours ends so
        back = {m for at, m in enumerate(messages[:first_new]) if aligned[at] is None}
        spare = self.spare_originals(kept, back) if back else {}
        added: list[Entry] = []
        pieces: list[Piece] = []
        for at, (message, piece) in enumerate(zip(messages, aligned, strict=True)):
            if piece is None and pieces and follows_note(pieces[-1], message):
                piece = Piece(message.role, message.content)
            elif piece is None and (at < first_new or not kept) and at != now and self.made(message, is_ours):
                piece = self.take_back_note(message)
            elif piece is None:
                piece = self.take_in(message, spare if at < first_new else {}, admit, added)
            pieces.append(piece)
        self.settle(pieces, len(done), had=bool(known), kept=bool(kept))
        return added

    def spare_originals(self, kept: Sequence[Piece], wanted: Collection[Message]) -> dict[Message, list[int]]:
        """Entries that stand in no kept piece, by their original message where it is one of those wanted,
        oldest last (to pop)."""
        standing = set(members(kept))
        sizes = {len(message.content) for message in wanted}
        spare: dict[Message, list[int]] = {}
        for seq in sorted(self.entries, reverse=True):
            if seq not in standing and seq >= self.floor and seq not in self.forgotten:
                entry = self.entries[seq]
                if entry.size not in sizes:
                    continue
                message = Message(entry.role, entry.content)
                if message in wanted:
                    spare.setdefault(message, []).append(seq)
        return spare

    def take_in(
        self, message: Message, spare: dict[Message, list[int]], admit: Admit, added: list[Entry]
    ) -> Piece:
        """The piece of a message that is not in the layout: an original standing again, or a new one."""
        if spare.get(message):
            seq = spare[message].pop()
            self.fidelity.pop(seq, None)
            self.gone.discard(seq)
            return Piece(message.role, message.content, (seq,))
        self.count_due()
        entry = admit(message, self.turn_of_new(), self.next_seq)
        if entry.source.kind is SourceKind.TYPED:
            if self.typed_this_turn or self.turn == 0:
                self.begin_turn()
                entry = replace(entry, turn=self.turn)
            self.typed_this_turn = True
        self.entries[entry.seq] = entry
        self.seq_of[entry.id] = entry.seq
        self.tokens += entry.tokens
        if entry.size >= FOLDED_CHARS:
            self.unfolded.add(entry.seq)
        self.next_seq = entry.seq + 1
        added.append(entry)
        return Piece(message.role, message.content, (entry.seq,))

    def made(self, message: Message, is_ours: IsOurs) -> bool:
        """Whether the message is a note of this chat or of an earlier process, word for word."""
        if message.role != "user" or self.says(message):
            return False
        return message in self.notes or (message.content.startswith(NOTE_HEAD) and is_ours(message))

    def take_back_note(self, message: Message) -> Piece:
        """The piece of a note that stood before and that the host has put back; of a foreign one, empty."""
        levels = self.notes.get(message, {})
        for seq, level in levels.items():
            self.fidelity[seq] = level
            if level is Fidelity.FULL:
                del self.fidelity[seq]
        return Piece(
            message.role, message.content, tuple(levels), is_note=message.content.startswith(NOTE_HEAD)
        )

    def turn_of_new(self) -> int:
        return max(self.turn, 1)

    def settle(self, pieces: list[Piece], done_length: int, *, had: bool, kept: bool) -> None:
        """Record the new layout; mark what is gone, and a cleared chat."""
        revived = any(seq < self.next_seq and seq in self.fidelity for seq in members(pieces))
        before = set(members([*self.done, *self.cur]))
        self.done, self.cur = pieces[:done_length], pieces[done_length:]
        now = set(members(pieces))
        self.gone |= before - now
        self.gone -= now
        if had and not kept and not revived and not before & now:
            self.clear(keeping=now)

    def clear(self, *, keeping: set[int] | None = None) -> None:
        """Note that the user dropped the history: nothing older comes back unless asked for."""
        old = set(self.entries) - (keeping or set())
        self.gone |= old
        self.floor = max(old, default=self.floor - 1) + 1
        for seq in old:
            self.fidelity.pop(seq, None)
        if keeping is None:
            self.done, self.cur = [], []

    def sequence(self, pieces: Sequence[Piece], *, is_done: bool) -> list[Entry]:
        """The entries of one list in the order of the chat, hidden ones in their places."""
        # What is shown keeps the host's order, which is not always that of the sequence numbers (an original
        # that was put back late has a high place and a low number). A hidden entry stands nowhere; its place
        # is before the first shown entry up to which a later number has come.
        shown = members(pieces)
        other = members(self.cur if is_done else self.done)
        border = self.last_done()
        hidden = [
            seq
            for seq, level in self.fidelity.items()
            if level is Fidelity.HIDDEN
            and seq not in self.gone
            and (seq <= border or not self.cur) == is_done
        ]
        taken = set(shown) | set(other)
        highest = list(accumulate(shown, max))
        order, at = [], 0
        for seq in sorted(set(hidden) - taken):  # each goes before the first that is later than it
            behind = max(at, bisect_right(highest, seq))
            order += [*shown[at:behind], seq]
            at = behind
        return [self.entries[seq] for seq in [*order, *shown[at:]]]

    def last_done(self) -> int:
        """The last sequence number of the done list. A hidden reply is on the side of what it answers: no
        list of a host begins with a reply, and a list that ends in a question would be illegal."""
        last = max(members(self.done), default=-1)
        while (
            self.fidelity.get(last + 1) is Fidelity.HIDDEN
            and last + 1 not in self.gone
            and self.entries[last + 1].role == "assistant"
        ):
            last += 1
        return last

    def fold(self) -> None:
        """Keep the long texts among what has entered lately compressed, where they stand in no list."""
        standing = {
            seq
            for piece in [*self.done, *self.cur]
            for seq in piece.members
            if len(piece.members) == 1 and self.fidelity.get(seq) is None
        }
        for seq in self.unfolded - standing:
            self.entries[seq] = fold(self.entries[seq])
        self.unfolded &= standing

    def all_entries(self) -> list[Entry]:
        """The entries of both lists in the order of the chat, hidden ones included."""
        return [*self.sequence(self.done, is_done=True), *self.sequence(self.cur, is_done=False)]

    def rendered(self, fidelity: dict[int, Fidelity], text_of: TextOf) -> tuple[list[Piece], list[Piece]]:
        """Both lists as they would stand with the given fidelities."""
        levels = Levels(self.levels(fidelity), frozenset(self.undone), frozenset(self.throttled))
        before = self.sequence(self.done, is_done=True)
        done = render(from_first_shown(before, levels), levels, text_of)
        asked = bool(before) and bool(done) and done[-1].role == "user"
        after = self.sequence(self.cur, is_done=False)
        cur = render(after, levels, text_of, answers=asked or not before)
        said = (Message(entry.role, entry.content) for entry in [*before, *after])
        return legal(*with_hint(done, cur, self.hint), said)

    def levels(self, fidelity: Mapping[int, Fidelity]) -> dict[int, Fidelity]:
        """The fidelities with what the user decided: pinned entries full, forgotten ones hidden."""
        levels = {seq: level for seq, level in fidelity.items() if not self.entries[seq].pinned}
        return levels | dict.fromkeys(self.forgotten - self.gone, Fidelity.HIDDEN)

    def replace(self, entry: Entry) -> None:
        """Take what is known of an entry anew; its place stays."""
        self.entries[entry.seq] = entry

    def standing(self, entry_id: str) -> list[int]:
        """The sequence numbers at which an original is part of the chat now, at whatever fidelity."""
        return [entry.seq for entry in self.all_entries() if entry.id == entry_id]

    def forget(self, ids: Collection[str], text_of: TextOf) -> int:
        """Empty every entry with one of these ids and show it no more; returns how many there were."""
        seqs = {seq for seq, entry in self.entries.items() if entry.id in ids} - self.forgotten
        for seq in seqs:
            old = self.entries[seq]
            self.seq_of.pop(old.id, None)
            self.tokens -= old.tokens
            self.entries[seq] = replace(
                old, id="", content="", segments=(), tokens=0, pinned=False, source=Source(SourceKind.UNKNOWN)
            )
        self.forgotten |= seqs
        self.notes = {note: levels for note, levels in self.notes.items() if not seqs & set(levels)}
        levels = self.levels(self.fidelity)
        self.apply(levels, *self.rendered(levels, text_of))
        return len(seqs)

    def apply(self, fidelity: dict[int, Fidelity], done: list[Piece], cur: list[Piece]) -> None:
        """Make the rendered lists the layout; what they do not show is hidden."""
        entries = self.all_entries()
        for piece in [*done, *cur]:
            if len(piece.members) != 1 or fidelity.get(piece.members[0], Fidelity.FULL) is not Fidelity.FULL:
                self.notes[piece.message] = {s: fidelity.get(s, Fidelity.FULL) for s in piece.members}
        shown = set(members([*done, *cur]))
        self.fidelity = {
            entry.seq: fidelity.get(entry.seq, Fidelity.FULL) if entry.seq in shown else Fidelity.HIDDEN
            for entry in entries
        }
        self.fidelity = {seq: level for seq, level in self.fidelity.items() if level is not Fidelity.FULL}
        self.done, self.cur = done, cur
