"""The noisy-neighbour throttle: one oversized message enters the chat as its compressed form.

The whole is in the archive before anything is cut. What stands in the message's own place is the
compressed form (whose markers name the id of the whole), cut in its middle where even that is too long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from aider_gardener.compress.base import omitted
from aider_gardener.gardener.compactions import THROTTLE, show
from aider_gardener.gardener.state import ChatState
from aider_gardener.messages import Entry, Level, Rendition, SourceKind, TokenCounter
from aider_gardener.plan.goals import WARNING_AT
from aider_gardener.plan.planner import note_rendition, piece_tokens
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

LEAST_TOKENS, UNKNOWN_ROOM = 1_024, 4_000
LEAST_SAVED_SHARE = 0.2
"""A message that would not get shorter by so much is left whole: the cut costs more than it gives."""
HEAD_SHARE = 0.6
"""Of what a cut leaves, so much is the head; the rest is the tail, where questions and totals stand."""
CUT_ROUNDS = 12
LEAST_ROOM_TOKENS = 200
"""A message is not cut below this, or its share of the room, by more than a fifth: what is left would say
nothing."""

OUTPUTS = frozenset({SourceKind.COMMAND, SourceKind.TEST, SourceKind.LINT, SourceKind.WEB})
"""What programs and pages said. Words that the user typed or pasted are never cut as they enter."""


class Throttled(NamedTuple):
    """One message that was cut: its entry, its tokens after, and whether the window has room for the
    whole."""

    entry: Entry
    tokens_after: int
    fits: bool

    def line(self) -> str:
        """What the user is told."""
        what = {"typed": "your message", "web": "the page"}.get(self.entry.source.kind.value, "the output")
        part = f"{self.tokens_after:,} of {self.entry.tokens:,} tokens of {what} in the chat"
        name = self.entry.id
        back = f"/restore {name} brings it back" if self.fits else "/recall WORDS brings parts of it back"
        return f"kept {part}; the whole is {name}: {back}"


def throttle_outputs(state: ChatState, added: Iterable[Entry]) -> list[Throttled]:
    """Cut what is oversized among the outputs that have just entered; returns what was cut. The lists
    to show afterwards are the gardener's `pieces`.

    The limit is the setting, else what the window has room for below its first threshold beside the rest, but
    1,024 tokens at least.
    """
    new = list(added)
    if not (state.acts and any(entry.source.kind in OUTPUTS for entry in new)):
        return []  # before anything is counted
    other_tokens = piece_tokens(state.chat.pieces, state.count) - sum(entry.tokens for entry in new)
    room = max(LEAST_TOKENS, int(WARNING_AT * state.frame.window) - state.frame.tokens - other_tokens)
    limit = state.settings.throttle_tokens or (room if state.frame.window else UNKNOWN_ROOM)
    large = [entry for entry in new if entry.source.kind in OUTPUTS and entry.tokens > limit]
    return _cut(state, {entry.seq: limit for entry in large})


def fit_open(state: ChatState) -> list[Throttled]:
    """Before a prompt is sent that cannot fit: cut the message that waits for an answer, if that helps."""
    return throttle_open(state, state.open_room) if 0 < state.open_room < state.open_used else []


def throttle_open(state: ChatState, most_tokens: int) -> list[Throttled]:
    """Cut the messages that wait for an answer, the largest first, until together they take at most
    `most_tokens`; returns what was cut. Only for a prompt that could not be sent otherwise: what the
    user typed is cut here too, the last of it where it takes more than half; an agent's instructions never
    are, nor what the model said: its calls stand beside its words, and would not get shorter with them."""
    now, room = state.chat.open_exchange, max(most_tokens, LEAST_ROOM_TOKENS)
    pieces = [piece for piece in state.chat.cur if now.intersection(piece.levels)]
    typed = [p for p in pieces if state.chat.entries[p.members[0]].source.kind is SourceKind.TYPED][-1:]
    last = piece_tokens(typed, state.count)
    if 2 * last <= room:
        pieces, room = [piece for piece in pieces if piece not in typed], room - last
    over = piece_tokens(pieces, state.count) - room
    least = min(LEAST_ROOM_TOKENS, room // (len(pieces) + 1) - MESSAGE_OVERHEAD_TOKENS)
    limits: dict[int, int] = {}
    for piece in sorted(pieces, key=lambda piece: -len(piece.content)):
        tokens, (seq, *more) = piece.tokens(state.count), piece.levels
        stays = piece["role"] == "assistant" or state.chat.entries[seq].source.kind is SourceKind.NOTICE
        if over > 0 and tokens > least and not (more or stays):
            limits[seq] = min(max(least, tokens - over), int((1 - LEAST_SAVED_SHARE) * tokens))
            over -= tokens - limits[seq]
    return _cut(state, limits)


def _cut(state: ChatState, limits: Mapping[int, int]) -> list[Throttled]:
    """Show entries, by sequence number, by short forms of at most so many tokens, in their own places."""
    archive, count = state.archive, state.count
    cut: list[Throttled] = []
    for seq, limit in limits.items():
        entry = state.chat.entries[seq]
        rendition = archive.renditions(entry).get(Level.COMPRESSED)
        short = short_form(archive.without_secrets(entry), rendition, limit, count=count)
        if short is not None:
            archive.put_rendition(entry, short)
            cut.append(Throttled(entry, count(short.text), entry.tokens <= state.room))
    if cut:
        seqs = [item.entry.seq for item in cut]
        state.chat = replace(state.chat, throttled=state.chat.throttled.union(seqs))
        show(state, {**state.chat.levels, **dict.fromkeys(seqs, Level.COMPRESSED)}, THROTTLE)
    return cut


def short_form(
    entry: Entry, form: Rendition | None, token_limit: int, *, count: TokenCounter
) -> Rendition | None:
    """The rendition that stands for an oversized entry, at most `token_limit` tokens; it names the whole.

    None when it would not be at least a fifth shorter than the entry.
    """
    pointer = omitted("compressed", entry.id)
    text = bounded(form.text if form else entry.content, token_limit, count=count, entry_id=entry.id)
    if entry.id not in text:
        room = token_limit - count(pointer) - 1
        text = bounded(text, room, count=count, entry_id=entry.id)
        text = text if entry.id in text else f"{text.rstrip()}\n{pointer}"
    short = note_rendition(entry, Level.COMPRESSED, text, count)
    return short if count(text) <= (1 - LEAST_SAVED_SHARE) * entry.tokens else None


def bounded(text: str, token_limit: int, *, count: TokenCounter, entry_id: str) -> str:
    """The text, or its head and tail around a marker that names the whole, in at most `token_limit` tokens;
    both end at a line's end where one is near. A limit too small for the marker gives the marker alone."""
    total = count(text)
    if total <= token_limit:
        return text
    marker = omitted("cut here", entry_id)
    chars = len(text) * max(0, token_limit - count(marker)) / total
    for _round in range(CUT_ROUNDS):
        head, tail = int(chars * HEAD_SHARE), int(chars * (1 - HEAD_SHARE))
        start = len(text) - tail
        end, line = text.rfind("\n", head // 2, head), text.find("\n", start, start + max(tail // 2, 1))
        first = text[: end if end > 0 else head].rstrip("\n")
        last = text[line + 1 if line >= 0 else start :].strip("\n") if tail else ""
        shortened = "\n".join(part for part in (first, marker, last) if part)
        if count(shortened) <= token_limit:
            return shortened
        chars *= 0.85
    return marker
