"""The one-line form of a message: as much of what it states as fits, with the id of the original."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from aider_gardener.compress.edits import merged, read_edits
from aider_gardener.compress.prose import rank
from aider_gardener.compress.shapes import gist
from aider_gardener.messages import ContentClass, Focus, Segment, Source, SourceKind, TokenCounter
from aider_gardener.reading.excerpt import excerpt
from aider_gardener.reading.late import late
from aider_gardener.reading.output import message_without_codes
from aider_gardener.reading.segments import segment
from aider_gardener.reading.sentences import units, worth
from aider_gardener.tokens import approximate

LINE_CHARS = 480
"""No line form is longer, whatever its token limit."""

SCAN_CHARS = 20_000
"""Of longer words only this much from the head is searched for sentences worth naming."""

COMMAND_CHARS = 90
"""So much of a command line is named, so that its outcome has room too."""

MARKUP = late(r"^[\s>#*•-]+|[*`]{2,}|\s+")
NOISE = late(r"^(?:\W*(?:\d+\W*)?|[-=_~*#. ]{3,}|(?:```|~~~).*)$")


def line_form(
    content: str,
    source: Source,
    *,
    segments: Sequence[Segment] | None = None,
    entry_id: str = "",
    count: TokenCounter = approximate,
    token_limit: int = 60,
) -> str:
    """One informative line, at most `token_limit` tokens, ending with the id in brackets.

    For a command its line, outcome and first failure; for typed words and replies the sentences that
    state most; for edits the files and symbols touched.
    """
    tail = f" [{entry_id}]" if entry_id else ""
    whole_text, content = content, excerpt(content)
    if segments is None or content is not whole_text:
        segments = segment(content, source)
    content, parts = message_without_codes(content, segments)
    pieces = _pieces(content, source, parts, 4 * token_limit)
    return fitted(pieces, tail, count, token_limit)


def on_one_line(text: str) -> str:
    """The text on one line, without list marks and doubled markup."""
    return " ".join(MARKUP.sub(" ", line).strip() for line in text.splitlines() if line.strip()).strip()


def _pieces(content: str, source: Source, parts: Sequence[Segment], chars: int) -> list[str]:
    if source.kind in (SourceKind.COMMAND, SourceKind.TEST):
        command = on_one_line(source.detail)
        if len(command) > COMMAND_CHARS:
            command = command[:COMMAND_CHARS].rsplit(" ", 1)[0] + " …"
        return [f"ran {command}:" if command else "ran a command:", *_outcome(content, parts)]
    if source.kind is SourceKind.LINT:
        return ["lint:", *_outcome(content, parts)]
    if source.kind is SourceKind.WEB:
        return [f"page {source.detail}:", *_sentences(content, parts, chars)]
    if source.kind in (SourceKind.NOTICE, SourceKind.STUB):
        return [on_one_line(content[:SCAN_CHARS])]
    pieces = []
    edits = _edited(content, parts)
    sentences = _sentences(content, parts, chars)
    if source.kind is SourceKind.REPLY:
        pieces.append("reply:")
    pieces += sentences[:1]
    if edits:
        pieces.append(edits)
    pieces += sentences[1:]
    pasted = [
        part for part in parts if part.cls not in (ContentClass.PROMPT, ContentClass.PROSE, ContentClass.EDIT)
    ]
    for part in pasted[:2]:
        lines = content.count("\n", part.start, part.end) + 1
        first = _outcome(content, (part,))[:1]
        pieces.append(f"[{part.kind or part.cls.value}, {lines} lines{': ' + first[0] if first else ''}]")
    return pieces or [on_one_line(content[:SCAN_CHARS])]


def _edited(content: str, parts: Sequence[Segment]) -> str:
    """The files of all edit blocks with the symbols touched."""
    found = merged(
        edit
        for part in parts
        if part.cls is ContentClass.EDIT
        for edit in read_edits(content[part.start : part.end], part.kind)
    )
    if not found:
        return ""
    named = []
    for edit in found[:4]:
        symbols = ", ".join(list(dict.fromkeys(edit.symbols))[:3])
        named.append(edit.path.rsplit("/", 1)[-1] + (f" ({symbols})" if symbols else ""))
    more = f" +{len(found) - 4} files" if len(found) > 4 else ""
    return f"edited {', '.join(named)}{more}."


def _sentences(content: str, parts: Sequence[Segment], chars: int) -> list[str]:
    """About `chars` of the words in a message: the weightiest sentences, in their order."""
    spoken = [
        part
        for part in parts
        if part.cls in (ContentClass.PROMPT, ContentClass.PROSE) and part.kind != "wrapper"
    ]
    text = "\n\n".join(content[part.start : part.end].strip("\n") for part in spoken)[:SCAN_CHARS]
    found = [
        unit
        for unit in units(text)
        if unit.kind not in ("heading", "code") and not NOISE.match(text[unit.start : unit.end].strip())
    ]
    if not found:
        return []
    scores = rank(text, found, Focus())
    telling = [i for i, unit in enumerate(found) if worth(text[unit.start : unit.end]) >= 0] or range(
        len(found)
    )
    order = sorted(telling, key=lambda i: (-scores[i] / (0.5 + (found[i].end - found[i].start) / 160), i))
    chosen, used = [], 0
    for i in order:
        if used < chars:
            chosen.append(i)
            used += found[i].end - found[i].start
    return [on_one_line(text[found[i].start : found[i].end]) for i in sorted(chosen)]


def _outcome(content: str, parts: Sequence[Segment]) -> list[str]:
    """The lines that tell most of the largest part of an output."""
    for part in sorted(parts, key=lambda part: part.start - part.end):
        if part.kind != "wrapper":
            return [on_one_line(line) for line in gist(content[part.start : part.end])]
    return ["no output"]


def fitted(pieces: Sequence[str], tail: str, count: TokenCounter, token_limit: int) -> str:
    """As many of the pieces as fit, the last one cut at a word, and the tail always."""
    room = max(token_limit - count(tail), 4)
    line = ""
    for piece in pieces:
        longer = f"{line} {piece}".strip()
        if len(longer) > LINE_CHARS or count(longer) > room:
            cut = cut_at_word(longer, count, room)
            if len(cut) > len(line) + 12 or not line:
                line = cut
            continue
        line = longer
    return line + tail


def cut_at_word(text: str, count: TokenCounter, room: int) -> str:
    """The longest head of the text, at a word's end, that fits in `room` tokens with an ellipsis."""
    text = text[:LINE_CHARS]
    longer = range(1, len(text) + 1)
    end = bisect_right(longer, room, key=lambda size: count(text[:size] + " …"))
    space = text.rfind(" ", 0, end)
    return text[: space if space > end // 2 else end].rstrip() + " …"
