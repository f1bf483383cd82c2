"""The view: which rendition of each entry is in the prompt, and the messages that makes.

Whatever a view shows must be legal for aider and for strict providers; `legal` is the last step wherever a
view is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, dropwhile, pairwise
from typing import Any

from aider_gardener.messages import Entry, Fidelity, Message, SourceKind, TokenCounter
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
NOTHING: Mapping[int, Fidelity] = {}


class Piece(dict[str, Any]):
    """A message in a list of the host, with the entries that it shows: `levels` has the level of each by its
    sequence number. One with a single entry whole is the host's own message; one with others is a note
    (`is_note`), an abridged transcript in the user's role; one with none only keeps the roles alternating.

    `mark` tells of which chat it is. A copy of it is a plain dict: what was copied is a new message.
    """

    def __init__(
        self,
        message: Mapping[str, Any],
        levels: Mapping[int, Fidelity] = NOTHING,
        mark: object = None,
        *,
        is_note: bool = False,
    ) -> None:
        super().__init__(message)
        self.levels, self.mark, self.is_note = levels, mark, is_note
        self._made = message["content"]
        self._counted: tuple[TokenCounter, int] | None = None

    @property
    def role(self) -> str:
        return str(self["role"])

    @property
    def content(self) -> str:
        """Its text; content that is no text (never in a history) as its repr."""
        return self._made if isinstance(self._made, str) else repr(dict(self))

    @property
    def members(self) -> tuple[int, ...]:
        """The sequence numbers of the entries that it shows."""
        return tuple(self.levels)

    @property
    def message(self) -> Message:
        return Message(self.role, self.content)

    def is_of(self, mark: object) -> bool:
        """Whether it is a message of this chat as that made it: a host may write into its own messages."""
        return self.mark is mark and self["content"] == self._made

    def tokens(self, count: TokenCounter) -> int:
        """The tokens of its text, counted once."""
        if self._counted is None or self._counted[0] is not count:
            self._counted = count, count(self.content)
        return self._counted[1]

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        return dict, (dict(self),)


def members(pieces: Iterable[Piece]) -> list[int]:
    """The sequence numbers of the entries shown, in the order of the chat."""
    return [seq for piece in pieces for seq in piece.levels]


def is_filler(entry: Entry) -> bool:
    """Whether the entry says nothing: the host's own acknowledgement in the assistant's voice."""
    return entry.role == "assistant" and entry.content.strip() in ("Ok.", "Ok", "")


def exchanges(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Split entries into exchanges: one or more user messages and the assistant messages after them."""
    found: list[list[Entry]] = []
    for entry in entries:
        if not found or (entry.role == "user" and found[-1][-1].role == "assistant"):
            found.append([])
        found[-1].append(entry)
    return found


def failed_edits(entries: Iterable[Entry]) -> frozenset[int]:
    """The replies whose edit blocks the host could not apply, as it said in the message after them."""
    pairs = pairwise(entries)
    return frozenset(
        reply.seq for reply, after in pairs if reply.role == "assistant" and is_failed_edit(after.content)
    )


def note_line(entry: Entry, text: str, label: str = "") -> str:
    """How a note shows one entry: turn, what it was (or the given label), the text."""
    return f"[{entry.turn}] {label or LABELS.get(entry.source.kind, entry.role)}: {text.strip()}"


def note(parts: Sequence[tuple[Entry, str]], labels: Mapping[int, str]) -> str:
    """The text of a note that shows the given renditions, in the order of the chat."""
    return "\n".join(
        [NOTE_HEAD, *(note_line(entry, text, labels.get(entry.seq, "")) for entry, text in parts)]
    )


@dataclass(frozen=True)
class Levels:
    """At which fidelity each entry is shown (full where none is given), and what is special about some.

    `undone` are replies whose edit was undone; `throttled` are user messages whose compressed form stands in
    their own place, not in a note, as long as the rest of their exchange is whole. `mark` is that of the chat
    whose messages are made.
    """

    fidelity: Mapping[int, Fidelity]
    undone: frozenset[int] = frozenset()
    throttled: frozenset[int] = frozenset()
    mark: object = None

    def of(self, entry: Entry) -> Fidelity:
        return self.fidelity.get(entry.seq, Fidelity.FULL)

    def piece(self, role: str, content: str, *entries: Entry, is_note: bool = False) -> Piece:
        """The message that shows these entries."""
        levels = {entry.seq: self.of(entry) for entry in entries}
        return Piece({"role": role, "content": content}, levels, self.mark, is_note=is_note)

    def in_place(self, entry: Entry) -> bool:
        """Whether the entry's text, whole or throttled, is a message of its own."""
        cut = entry.seq in self.throttled and self.of(entry) is Fidelity.COMPRESSED
        return cut or self.of(entry) is Fidelity.FULL


def render(entries: Sequence[Entry], levels: Levels, text_of: TextOf, *, answers: bool = True) -> list[Piece]:
    """The messages that show `entries` at the given levels.

    Exchanges that are shown in full stay the host's own messages. The others become notes; notes that follow
    each other are one message. Hidden entries, and fillers beside them, are left out. What the assistant
    said never stands in its role below full: a model would imitate it. `answers`: a reply may begin the list;
    not so where the list before this one holds its question, out of sight, and ends in a reply too.
    """
    pieces: list[Piece] = []
    pending: list[Entry] = []

    def shown(entry: Entry) -> bool:
        return levels.of(entry) is not Fidelity.HIDDEN

    def add_whole(whole: Sequence[Entry]) -> None:
        pieces.extend(levels.piece(entry.role, text_of(entry, levels.of(entry)), entry) for entry in whole)

    def add_note(*, fill: bool) -> None:
        noted = [entry for entry in pending if shown(entry)]
        if noted:
            text = note([(entry, text_of(entry, levels.of(entry))) for entry in noted], labels)
            pieces.append(levels.piece("user", text, *noted, is_note=True))
            pieces.extend([levels.piece("assistant", FILLER)] if fill else [])
        pending.clear()

    # In a long chat nearly all of its beginning is hidden: nothing there is looked at twice.
    groups = list(dropwhile(lambda group: not any(map(shown, group)), exchanges(entries)))
    labels = dict.fromkeys(failed_edits(chain.from_iterable(groups)), FAILED_LABEL)
    labels |= dict.fromkeys(levels.undone, UNDONE_LABEL)
    for exchange in groups:
        replies = [entry for entry in exchange if entry.role == "assistant"]
        asked = [entry for entry in exchange if entry.role != "assistant"]
        keeps_reply = all(levels.of(entry) is Fidelity.FULL and not is_filler(entry) for entry in replies)
        if (asked or answers) and all(levels.in_place(entry) for entry in exchange):
            add_note(fill=True)
            add_whole(exchange)
        elif replies and keeps_reply and any(map(shown, [*asked, *pending])):
            pending += asked
            add_note(fill=False)
            add_whole(replies)
        else:
            pending += [entry for entry in exchange if not is_filler(entry)]
    add_note(fill=True)
    return pieces


def problems(messages: Sequence[Message | Entry | Piece]) -> list[str]:
    """Everything that aider or a strict provider would not take of a history; [] when it is legal."""
    found = []
    if strange := sorted({message.role for message in messages} - {"user", "assistant"}):
        found.append(f"roles {', '.join(strange)} in a history")  # some providers hoist them to the top
    if messages and messages[0].role == "assistant":
        found.append("begins with the assistant")
    same = [at for at, (one, other) in enumerate(pairwise(messages), 1) if one.role == other.role]
    found += [f"messages {at} and {at + 1} are both the {messages[at].role}'s" for at in same[:1]]
    empty = [at for at, message in enumerate(messages, 1) if not message.content.strip()]
    found += [f"message {at} is empty" for at in empty[:1]]
    return found


def legal(
    done: list[Piece], cur: list[Piece], originals: Sequence[Entry], levels: Levels
) -> tuple[list[Piece], list[Piece]]:
    """Both lists of a view as one history in which user and assistant take turns. Where a view would break
    that, a filler or an empty note is put between; where the `originals` in full break it already, nothing of
    ours would mend it, and the view stays."""
    if not problems([*done, *cur]) or problems(originals):
        return done, cur
    found: tuple[list[Piece], list[Piece]] = ([], [])
    last_role = "assistant"
    for pieces, mended in zip((done, cur), found, strict=True):
        for piece in pieces:
            if piece.role == last_role == "user":
                mended.append(levels.piece("assistant", FILLER))
            elif piece.role == last_role:
                mended.append(levels.piece("user", NOTE_HEAD, is_note=True))
            mended.append(piece)
            last_role = piece.role
    return found
