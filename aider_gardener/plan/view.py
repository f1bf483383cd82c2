"""The view: which rendition of each entry stands in the chat, and the messages that makes.

The host holds a list of messages. The gardener keeps, for each list, a layout: one `Piece` a message,
naming the entries (by their sequence number) that it shows. A piece with one member in full is the
host's own message; a piece with other members is a note: an abridged transcript in the user's role;
a piece with no members is a filler that keeps the roles alternating.

Whatever a view shows must be legal for aider and for strict providers: `RULES` has a small class each,
and `legal` is the last step wherever a view is made.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Protocol

from aider_gardener.messages import Entry, Fidelity, Message, SourceKind
from aider_gardener.reading.source import is_failed_edit

NOTE_HEAD = (
    "(Notes on the earlier chat, kept by aider-gardener; [n] is the turn, g… the id of a whole original.)"
)
FILLER = "Ok."
FAILED_LABEL = "reply, its edit was not applied"
UNDONE_LABEL = "reply, its edit was undone later"
LABELS = {
    SourceKind.TYPED: "user",
    SourceKind.REPLY: "reply",
    SourceKind.COMMAND: "shell",
    SourceKind.TEST: "shell",
    SourceKind.LINT: "lint",
    SourceKind.WEB: "page",
    SourceKind.NOTICE: "aider",
    SourceKind.FILE: "file",
    SourceKind.SUMMARY: "the host's summary",
    SourceKind.REMEMBERED: "an agent's note",
}

TextOf = Callable[[Entry, Fidelity], str]
"""Gives the text of an entry's rendition."""
Seqs = frozenset[int]
NONE: Seqs = frozenset()


@dataclass(frozen=True)
class Piece:
    """One message of a host's list and the entries it shows, by sequence number. `is_note`: we made it."""

    role: str
    content: str
    members: tuple[int, ...] = ()
    is_note: bool = field(default=False, compare=False)

    @property
    def message(self) -> Message:
        return Message(self.role, self.content)


def is_filler(entry: Entry) -> bool:
    """Whether the entry says nothing: the host's own acknowledgement in the assistant's voice."""
    return entry.role == "assistant" and entry.content.strip() in ("Ok.", "Ok", "")


def exchanges(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Split entries into exchanges: one or more user messages and the assistant messages after them."""
    found: list[list[Entry]] = []
    for entry in entries:
        starts = not found or (entry.role == "user" and found[-1][-1].role == "assistant")
        if starts:
            found.append([])
        found[-1].append(entry)
    return found


def from_first_shown(entries: Sequence[Entry], levels: Levels) -> Sequence[Entry]:
    """The entries without the exchanges at their beginning of which nothing is shown: a view is the same
    without them, and in a long chat they are nearly all."""
    start = 0
    for at, entry in enumerate(entries):
        if at and entry.role == "user" and entries[at - 1].role == "assistant":
            start = at
        if levels.of(entry) is not Fidelity.HIDDEN:
            return entries[start:]
    return []


def note_line(entry: Entry, text: str, label: str = "") -> str:
    """How one entry stands in a note: turn, what it was (or the given label), the text."""
    return f"[{entry.turn}] {label or LABELS.get(entry.source.kind, entry.role)}: {text.strip()}"


def note(parts: Sequence[tuple[Entry, str]], labels: Mapping[int, str] | None = None) -> str:
    """The text of a note that shows the given renditions, in the order of the chat."""
    lines = [note_line(entry, text, (labels or {}).get(entry.seq, "")) for entry, text in parts]
    return "\n".join([NOTE_HEAD, *lines])


def with_hint(done: list[Piece], cur: list[Piece], hint: str) -> tuple[list[Piece], list[Piece]]:
    """Both lists with a line below the head of their first note; as they are when there is no hint."""
    for pieces in (done, cur) if hint else ():
        for at, piece in enumerate(pieces):
            if piece.is_note:
                text = f"{NOTE_HEAD}\n{hint}{piece.content[len(NOTE_HEAD) :]}"
                pieces[at] = replace(piece, content=text)
                return done, cur
    return done, cur


def failed_edits(entries: Sequence[Entry]) -> frozenset[int]:
    """The replies whose edit blocks the host could not apply, as it said in the message after them."""
    pairs = pairwise(entries)
    return frozenset(
        reply.seq for reply, after in pairs if reply.role == "assistant" and is_failed_edit(after.content)
    )


@dataclass(frozen=True)
class Levels:
    """Which fidelity each entry stands at (full where none is given), and what is special about some.

    `undone` are replies whose edit was undone; `throttled` are user messages whose compressed form
    stands in their own place, not in a note, as long as the rest of their exchange is whole.
    """

    fidelity: Mapping[int, Fidelity]
    undone: Seqs = NONE
    throttled: Seqs = NONE

    def of(self, entry: Entry) -> Fidelity:
        return self.fidelity.get(entry.seq, Fidelity.FULL)

    def in_place(self, entry: Entry) -> bool:
        """Whether the entry's text, whole or throttled, stands as a message of its own."""
        cut = entry.seq in self.throttled and self.of(entry) is Fidelity.COMPRESSED
        return cut or self.of(entry) is Fidelity.FULL


def render(entries: Sequence[Entry], levels: Levels, text_of: TextOf, *, answers: bool = True) -> list[Piece]:
    """The messages that show `entries` at the given levels.

    Exchanges that stand in full stay the host's own messages. The others become notes; notes that follow
    each other are one message. Hidden entries, and fillers beside them, are left out. What the assistant
    said never stands in its role below full: a model would imitate it. `answers`: a reply may begin the list;
    not so where the list before this one holds its question, out of sight, and ends in a reply too.
    """
    pieces: list[Piece] = []
    pending: list[Entry] = []
    labels = dict.fromkeys(failed_edits(entries), FAILED_LABEL) | dict.fromkeys(levels.undone, UNDONE_LABEL)

    def as_they_stand(shown: Sequence[Entry]) -> list[Piece]:
        return [Piece(entry.role, text_of(entry, levels.of(entry)), (entry.seq,)) for entry in shown]

    def flush(*, fill: bool) -> None:
        shown = [(e, text_of(e, levels.of(e))) for e in pending if levels.of(e) is not Fidelity.HIDDEN]
        if shown:
            seqs = tuple(entry.seq for entry, _text in shown)
            pieces.append(Piece("user", note(shown, labels), seqs, is_note=True))
            pieces.extend([Piece("assistant", FILLER)] if fill else [])
        pending.clear()

    for exchange in exchanges(entries):
        replies = [entry for entry in exchange if entry.role == "assistant"]
        asked = [entry for entry in exchange if entry.role != "assistant"]
        keeps_reply = all(levels.of(entry) is Fidelity.FULL and not is_filler(entry) for entry in replies)
        visible = any(levels.of(entry) is not Fidelity.HIDDEN for entry in [*asked, *pending])
        if (asked or answers) and all(levels.in_place(entry) for entry in exchange):
            flush(fill=True)
            pieces += as_they_stand(exchange)
        elif replies and keeps_reply and visible:
            pending += asked
            flush(fill=False)
            pieces += as_they_stand(replies)
        else:
            pending += [entry for entry in exchange if not is_filler(entry)]
    flush(fill=True)
    return pieces


def align(known: Sequence[Piece], messages: Sequence[Message]) -> list[Piece | None]:
    """For each message of the host, the known piece that it is, or None for a new message.

    Pieces are matched in order by role and text; the common beginning costs one comparison a message.
    """
    result: list[Piece | None] = [None] * len(messages)
    start = 0
    while start < min(len(known), len(messages)) and known[start].message == messages[start]:
        result[start] = known[start]
        start += 1
    old, new = list(known[start:]), list(messages[start:])
    if old and new:
        matcher = SequenceMatcher(None, [piece.message for piece in old], new, autojunk=False)
        for block in matcher.get_matching_blocks():
            for offset in range(block.size):
                result[start + block.b + offset] = old[block.a + offset]
    return result


def members(pieces: Iterable[Piece]) -> list[int]:
    """The sequence numbers of the entries shown, in the order of the chat."""
    return [seq for piece in pieces for seq in piece.members]


class Rule(Protocol):
    """A rule finds what is wrong with a history, in words; "" when it is kept."""

    def broken(self, messages: Sequence[Message]) -> str: ...


class KnownRoles:
    """A history holds user and assistant messages only; a system message there is hoisted by some
    providers, which breaks the whole cache."""

    def broken(self, messages: Sequence[Message]) -> str:
        strange = sorted({m.role for m in messages} - {"user", "assistant"})
        return f"roles {', '.join(strange)} in a history" if strange else ""


class UserFirst:
    """A history begins with the user: some providers refuse another beginning."""

    def broken(self, messages: Sequence[Message]) -> str:
        return "begins with the assistant" if messages and messages[0].role == "assistant" else ""


class RolesAlternate:
    """User and assistant take turns: aider checks it, some providers demand it."""

    def broken(self, messages: Sequence[Message]) -> str:
        for at, (first, second) in enumerate(itertools.pairwise(messages)):
            if first.role == second.role:
                return f"messages {at + 1} and {at + 2} are both the {first.role}'s"
        return ""


class NothingEmpty:
    """Every message has content: some providers refuse an empty one."""

    def broken(self, messages: Sequence[Message]) -> str:
        empty = next((at for at, m in enumerate(messages) if not m.content.strip()), None)
        return f"message {empty + 1} is empty" if empty is not None else ""


RULES: tuple[Rule, ...] = (KnownRoles(), UserFirst(), RolesAlternate(), NothingEmpty())


def problems(messages: Sequence[Message]) -> list[str]:
    """Everything that is wrong with a history; [] when it is legal."""
    return [found for rule in RULES if (found := rule.broken(messages))]


def legal(done: list[Piece], cur: list[Piece], said: Iterable[Message]) -> tuple[list[Piece], list[Piece]]:
    """Both lists of a view as one history in which user and assistant take turns. Where a view would break
    that, a filler or an empty note is put between; where what was `said`, the host's own messages in full,
    breaks it already, nothing of ours would mend it, and the view stays."""
    if not problems([piece.message for piece in [*done, *cur]]) or problems(list(said)):
        return done, cur
    first = taking_turns(done, after="assistant")
    return first, taking_turns(cur, after=first[-1].role if first else "assistant")


def taking_turns(pieces: Iterable[Piece], *, after: str) -> list[Piece]:
    """The pieces with what is missing between two of the same role; `after` is the role before them."""
    found: list[Piece] = []
    for piece in pieces:
        if piece.role == after:
            empty = Piece("user", NOTE_HEAD, is_note=True)
            found.append(Piece("assistant", FILLER) if after == "user" else empty)
        found.append(piece)
        after = piece.role
    return found
