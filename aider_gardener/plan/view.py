"""What a chat's messages are: the host's own, notes on what is not shown whole, and fillers between."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from aider_gardener.messages import ContentClass, Entry, Level, Message, SourceKind, TokenCounter
from aider_gardener.reading.source import INTERRUPTION, failed_edit

NOTE_HEAD = (
    "(Notes on the earlier chat, kept by aider-gardener; [n] is the turn, g… the id of a whole original.)"
)
FILLER = "Ok."
UNDONE = "undone or not made"
EDIT_WAS = "reply, its edit was "
EDITED = re.compile(r"\[… ((?:edited|wrote|created|deleted) .+?)(?:; whole: \w+)?\]$", re.MULTILINE)
"""The line that stands for the edit blocks of a file in a short form."""
LABELS = {
    SourceKind.TYPED: "user",
    SourceKind.REPLY: "reply",
    SourceKind.COMMAND: "shell",
    SourceKind.TEST: "shell",
    SourceKind.LINT: "lint",
    SourceKind.WEB: "page",
    SourceKind.STUB: "note",
    SourceKind.FILE: "file",
    SourceKind.SUMMARY: "the host's summary",
    SourceKind.REMEMBERED: "an agent's note",
}

TextOf = Callable[[Entry, Level], str]
"""Gives the text of an entry's rendition."""
NOTHING: Mapping[int, Level] = {}


class Piece(dict[str, Any]):
    """A message in a list of the host, with the entries that it shows: `levels` has the level of each by its
    sequence number. One with a single entry whole is the host's own message; one with others is a note
    (`is_note`), an abridged transcript in the user's role; one with none only keeps the roles alternating.

    `mark` tells of which chat it is, `image_tokens` are those of its pictures. A copy of it is a
    plain dict: what was copied is a new message.
    """

    image_tokens = 0

    def __init__(
        self,
        message: Mapping[str, Any],
        levels: Mapping[int, Level] = NOTHING,
        mark: object = None,
        *,
        is_note: bool = False,
    ) -> None:
        super().__init__(message)
        self.levels, self.mark, self.is_note = levels, mark, is_note
        self.role, self._given = str(message["role"]), message["content"]
        self.content = self._given if isinstance(self._given, str) else repr(self)  # never so in a history
        self._counted: tuple[TokenCounter, int] | None = None

    @property
    def members(self) -> tuple[int, ...]:
        """The sequence numbers of the entries that it shows."""
        return tuple(self.levels)

    @property
    def message(self) -> Message:
        return Message(self.role, self.content)

    def is_of(self, mark: object) -> bool:
        """Whether it is a message of this chat as that made it: a host may write into its own messages. That
        the user interrupted its answer makes no other message of it."""
        return self.mark is mark and self["content"] in (self._given, f"{self._given}\n{INTERRUPTION}")

    def tokens(self, count: TokenCounter) -> int:
        """Its tokens; those of its text are counted once."""
        if self._counted is None or self._counted[0] is not count:
            self._counted = count, count(self.content)
        return self._counted[1] + self.image_tokens

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        return dict, (dict(self),)


def members(pieces: Iterable[Piece]) -> list[int]:
    """The sequence numbers of the entries shown, in the order of the chat."""
    return [seq for piece in pieces for seq in piece.levels]


def is_filler(entry: Entry) -> bool:
    """Whether the entry says nothing: the host's own acknowledgement in the assistant's voice."""
    return entry.role == "assistant" and entry.content.strip() in ("Ok.", "Ok", "")


def has_edit(entry: Entry) -> bool:
    """Whether it is a reply with an edit block."""
    return entry.role == "assistant" and any(segment.cls is ContentClass.EDIT for segment in entry.segments)


def outcome(edited: object) -> str:
    """What became of an edit of which only that in a list of files was made, by what an event has of it."""
    files = ", ".join(map(str, edited)) if isinstance(edited, list) else ""
    return f"made in {files} alone" if files else UNDONE


def edit_line(entry: Entry, text_of: TextOf) -> str:
    """The files that a reply edited, by its short form if it has one, as told behind what it answered."""
    try:
        files = EDITED.findall(text_of(entry, Level.COMPRESSED))
    except KeyError:
        files = []
    return f" → {', '.join(files) or 'an edit'}"


def exchanges(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Split entries into exchanges: one or more user messages and the assistant messages after them."""
    found: list[list[Entry]] = []
    for entry in entries:
        if not found or (entry.role == "user" and found[-1][-1].role == "assistant"):
            found.append([])
        found[-1].append(entry)
    return found


def failed_edits(entries: Iterable[Entry]) -> dict[int, str]:
    """What became of edits that the host could not apply, or only in part, by the sequence number of the
    reply: it says so before the next one, behind what it says of a commit and acknowledges itself."""
    found, reply = dict[int, str](), -1
    for entry in entries:
        if entry.role == "assistant" and not is_filler(entry):
            reply = entry.seq
        elif entry.source.kind is SourceKind.NOTICE and reply >= 0 and (what := failed_edit(entry.content)):
            found[reply] = what
    return found


def note_line(entry: Entry, text: str, label: str = "") -> str:
    """How a note shows one entry: turn, what it was (or the given label), the text."""
    return f"[{entry.turn}] {label or label_of(entry)}: {text.strip()}"


def label_of(entry: Entry, host: str = "aider") -> str:
    """What an entry was, in a word; what its `host` wrote itself has the host's name."""
    is_hosts = entry.source.kind is SourceKind.NOTICE
    return host if is_hosts else LABELS.get(entry.source.kind, entry.role)


def is_legal(messages: Sequence[Message | Entry | Piece]) -> bool:
    """Whether aider and strict providers take a history: user and assistant take turns, the user first, and
    nothing is empty. Other roles some providers hoist to the top."""
    roles = [message.role for message in messages]
    take_turns = all(role == ("assistant" if at % 2 else "user") for at, role in enumerate(roles))
    return take_turns and all(message.content.strip() for message in messages)
