"""The noisy-neighbour throttle: one oversized message enters the chat as its compressed form.

The whole is in the archive before anything is cut. What stands in the message's own place is the
compressed form (whose markers name the id of the whole), cut in its middle where even that is too long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from aider_gardener.compress.base import omitted
from aider_gardener.gardener.compactions import show
from aider_gardener.gardener.state import ChatState
from aider_gardener.messages import Entry, Fidelity, Rendition, SourceKind, TokenCounter
from aider_gardener.plan.goals import WARNING_AT, Frame
from aider_gardener.plan.planner import note_rendition, open_exchange, piece_tokens

LEAST_TOKENS, UNKNOWN_ROOM = 1_024, 4_000
LEAST_SAVED_SHARE = 0.2
"""A message that would not get shorter by so much is left whole: the cut costs more than it gives."""
HEAD_SHARE = 0.6
"""Of what a cut leaves, so much is the head; the rest is the tail, where questions and totals stand."""
CUT_ROUNDS = 12
LEAST_ROOM_TOKENS = 200
"""A message is not cut below this: what is left would say nothing."""

SUMMARY = re.compile(r"^\[… ([^\[\];\n]{1,60}?\d[^\[\];\n]{0,100})[;\]]", re.MULTILINE)
"""The line in which a compressed form sums up the whole."""

OUTPUTS = frozenset({SourceKind.COMMAND, SourceKind.TEST, SourceKind.LINT, SourceKind.WEB})
"""What programs and pages said. Words that the user typed or pasted are never cut as they enter."""


@dataclass(frozen=True)
class Throttled:
    """One message that was cut: its entry, its tokens before and after, and what the short form keeps."""

    entry: Entry
    tokens_before: int
    tokens_after: int
    kept: str = ""

    def line(self) -> str:
        """What the user is told."""
        what = {"typed": "your message", "web": "the page"}.get(self.entry.source.kind.value, "the output")
        kept = f" ({self.kept})" if self.kept else ""
        return (
            f"kept {self.tokens_after:,} of {self.tokens_before:,} tokens of {what} in the chat{kept};"
            f" the whole is {self.entry.id}: /restore {self.entry.id} brings it back"
        )


def limit_for(setting: int, room: int | None) -> int:
    """The most tokens of one output that enters the chat: the setting, else what the window has room for
    below its first threshold, but 1,024 at least. `room` None: the window is unknown."""
    return setting or (UNKNOWN_ROOM if room is None else max(room, LEAST_TOKENS))


def room_below(frame: Frame, standing_tokens: int, added: Sequence[Entry]) -> int | None:
    """Tokens of the window's first 70 % that are free for what was just added, which is among what stands;
    None: window unknown."""
    if not frame.window:
        return None
    new = sum(entry.tokens for entry in added)
    return int(WARNING_AT * frame.window) - frame.around - standing_tokens + new


def bounded(text: str, token_limit: int, *, count: TokenCounter, entry_id: str) -> str:
    """The text, or its head and tail around a marker that names the whole, in at most `token_limit` tokens.

    A limit too small for the marker gives the marker alone.
    """
    total = count(text)
    if total <= token_limit:
        return text
    marker = omitted("cut here", entry_id)
    chars = len(text) * max(0, token_limit - count(marker)) / total
    for _round in range(CUT_ROUNDS):
        head, tail = text_head(text, int(chars * HEAD_SHARE)), text_tail(text, int(chars * (1 - HEAD_SHARE)))
        made = "\n".join(part for part in (head, marker, tail) if part)
        if count(made) <= token_limit:
            return made
        chars *= 0.85
    return marker


def text_head(text: str, chars: int) -> str:
    """The beginning of a text, up to a line's end where one is near."""
    end = text.rfind("\n", chars // 2, chars)
    return text[: end if end > 0 else chars].rstrip("\n")


def text_tail(text: str, chars: int) -> str:
    """The end of a text, from a line's beginning where one is near."""
    start = max(0, len(text) - chars)
    line = text.find("\n", start, start + max(chars // 2, 1))
    return text[line + 1 if line >= 0 else start :].strip("\n") if chars else ""


def short_form(
    entry: Entry, made: Rendition | None, token_limit: int, *, count: TokenCounter
) -> Rendition | None:
    """The rendition that stands for an oversized entry, at most `token_limit` tokens; it names the whole.

    None when it would not be at least a fifth shorter than the entry.
    """
    pointer = omitted("compressed", entry.id)
    text = bounded(made.text if made else entry.content, token_limit, count=count, entry_id=entry.id)
    if entry.id not in text:
        room = token_limit - count(pointer) - 1
        text = bounded(text, room, count=count, entry_id=entry.id)
        text = text if entry.id in text else f"{text.rstrip()}\n{pointer}"
    short = note_rendition(entry, Fidelity.COMPRESSED, text, count)
    return short if count(text) <= (1 - LEAST_SAVED_SHARE) * entry.tokens else None


def throttle_outputs(state: ChatState, added: Iterable[Entry]) -> list[Throttled]:
    """Cut what is oversized among the outputs that have just entered; returns what was cut. The lists
    to show afterwards are the gardener's `pieces`."""
    if not state.acts:
        return []
    new = list(added)
    limit = limit_for(
        state.settings.throttle_tokens,
        room_below(state.frame, piece_tokens(state.chat.pieces, state.count), new),
    )
    large = [entry for entry in new if entry.source.kind in OUTPUTS and entry.tokens > limit]
    return throttle(state, large, lambda _entry: limit)


def throttle_open(state: ChatState, most_tokens: int) -> list[Throttled]:
    """Cut the messages that wait for an answer, the largest first, until together they take at most
    `most_tokens`; returns what was cut. Only for a prompt that could not be sent otherwise: what the
    user typed is cut here too."""
    chat = state.chat
    now = open_exchange(chat)
    pieces = [piece for piece in chat.cur if now.intersection(piece.levels)]
    over = piece_tokens(pieces, state.count) - max(most_tokens, LEAST_ROOM_TOKENS)
    limits: dict[int, int] = {}
    for piece in sorted(pieces, key=lambda piece: -len(piece.content)):
        tokens = piece.tokens(state.count)
        if over > 0 and tokens > LEAST_ROOM_TOKENS and len(piece.levels) == 1:
            (seq,) = piece.levels
            limits[seq] = max(LEAST_ROOM_TOKENS, tokens - over)
            over -= tokens - limits[seq]
    rows = [chat.entries[seq] for seq in limits]
    return throttle(state, rows, lambda entry: limits[entry.seq])


def throttle(state: ChatState, rows: Sequence[Entry], limit_of: Callable[[Entry], int]) -> list[Throttled]:
    """Show the entries by short forms of at most so many tokens, in their own places."""
    archive = state.archive
    cut: list[Throttled] = []
    for entry in rows:
        made = archive.renditions(entry).get(Fidelity.COMPRESSED)
        whole = archive.without_secrets(entry)
        short = short_form(whole, made, limit_of(entry), count=state.count)
        if short is not None:
            archive.put_rendition(entry, short)
            kept = summed_up(short.text, archive.kept.get(entry.seq, {})) if is_made(made, short) else ""
            cut.append(Throttled(entry, entry.tokens, state.count(short.text), kept))
    if cut:
        seqs = [item.entry.seq for item in cut]
        state.chat = replace(state.chat, throttled=state.chat.throttled.union(seqs))
        show(state, {**state.chat.fidelity, **dict.fromkeys(seqs, Fidelity.COMPRESSED)}, "throttle")
    return cut


def is_made(made: Rendition | None, short: Rendition) -> bool:
    """Whether the short form is the compressed one, whole."""
    return made is not None and made.text == short.text


def summed_up(text: str, kept: dict[str, int]) -> str:
    """What a compressed form says of the whole, in the words that the model reads; where it sums up nothing,
    what it keeps."""
    found = SUMMARY.search(text)
    return found[1].strip() if found else facts_kept(kept)


def facts_kept(kept: dict[str, int]) -> str:
    """What a compressed form keeps, in a few words: "25 failures, 3 errors"."""
    return ", ".join(
        f"{number:,} {name.removesuffix('s') if number == 1 else name}"
        for name, number in kept.items()
        if number
    )
