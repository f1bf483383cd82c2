"""Passages: the small spans of an original that full text finds and recall quotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from aider_gardener.messages import ContentClass, Segment
from aider_gardener.reading.late import late

PASSAGE_CHARS = 360
"""About 80 tokens: two or three sentences, or three to five lines of a log."""
LEAST_CHARS = 50
"""Less than that is a heading or an opening: it stays with what follows."""
LINE_CHARS = 600
"""A longer line is cut at sentence ends, or at this length."""

BLOCK_CHARS, ENDS = 8_000, 3
"""A long text is cut into blocks of so much at most, and so many at either end at once into passages; what is
between is when it is indexed."""

Span = tuple[int, int]
"""The start and end of a passage in its text."""
SENTENCE_END = late(r"[.!?;:]\s+|[。！？；]")
BREAKS_BEFORE = late(r"\s*(?:[-*+]\s|\d+[.)]\s|#{1,6}\s|\|)")
VERBATIM = frozenset(
    {ContentClass.CODE, ContentClass.DIFF, ContentClass.LOG, ContentClass.LISTING, ContentClass.ERROR}
)


def spans(content: str, segments: Sequence[Segment]) -> list[Span]:
    """What is written of a text as it enters: its passages, but of a long one whole blocks (see `is_block`)
    between those of its ends."""
    blocks = list(_blocks(content))
    if len(blocks) <= 2 * ENDS:
        return chunk(content, segments)
    head, tail = blocks[ENDS][0], blocks[-ENDS][0]
    ends = chunk_part(content[:head], 0, segments), chunk_part(content[tail:], tail, segments)
    return [*ends[0], *blocks[ENDS:-ENDS], *ends[1]]


def is_block(span: Span) -> bool:
    """Whether a span is no passage, but a block that is still to be cut into some."""
    return span[1] - span[0] > BLOCK_CHARS // 2


def chunk_part(part: str, at: int, segments: Sequence[Segment]) -> list[Span]:
    """The passages of the part of a text that begins `at` an offset; they and the segments are spans of the
    whole."""
    end = at + len(part)
    inside = [each for each in segments if each.start < end and each.end > at]
    own = [replace(each, start=max(at, each.start) - at, end=min(end, each.end) - at) for each in inside]
    return [(start + at, stop + at) for start, stop in chunk(part, own)]


def _blocks(content: str) -> Iterator[Span]:
    """A text in blocks, at line ends where any are near; none is so short as to be taken for a passage."""
    at = 0
    while len(content) - at > BLOCK_CHARS:
        end = content.rfind("\n", at + BLOCK_CHARS // 2, at + BLOCK_CHARS) + 1 or at + BLOCK_CHARS
        yield at, end
        at = end
    yield at, len(content)


def chunk(content: str, segments: Sequence[Segment]) -> list[Span]:
    """Cut a text into passages along its structure; they are in order and miss only white space.

    A passage never crosses a segment. In prose it ends at a blank line, a list item or a heading; in
    logs and code at a line end; a long line is cut at a sentence end.
    """
    found: list[Span] = []
    for segment in segments or (Segment(0, len(content), ContentClass.PROSE),):
        verbatim = segment.cls in VERBATIM
        start = end = segment.start
        for line_start, line_end in _lines(content, start, segment.end):
            line = content[line_start:line_end]
            full = line_end - start > PASSAGE_CHARS
            breaks = not verbatim and (not line.strip() or BREAKS_BEFORE.match(line) is not None)
            if full or (breaks and end - start >= LEAST_CHARS):
                _add(found, content, start, end)
                start = line_start
            end = line_end
        _add(found, content, start, end)
    return found


def _add(found: list[Span], content: str, start: int, end: int) -> None:
    """Append the span without the white space around it, unless nothing is left."""
    text = content[start:end]
    if stripped := text.strip():
        lead = len(text) - len(text.lstrip())
        found.append((start + lead, start + lead + len(stripped)))


def _lines(content: str, start: int, end: int) -> list[Span]:
    """The lines of a span; one longer than a passage is cut at sentence ends, else at LINE_CHARS."""
    found: list[Span] = []
    at = start
    while at < end:
        line_end = content.find("\n", at, end)
        line_end = end if line_end < 0 else line_end + 1
        if line_end - at <= PASSAGE_CHARS:
            found.append((at, line_end))
        else:
            found += _long_line(content, at, line_end)
        at = line_end
    return found


def _long_line(content: str, start: int, end: int) -> list[Span]:
    """Cut one long line into spans of at most LINE_CHARS."""
    found: list[Span] = []
    cuts = [match.end() for match in SENTENCE_END.finditer(content, start, end)]
    at = start
    for cut in [*cuts, end]:
        while cut - at > LINE_CHARS:
            found.append((at, at + LINE_CHARS))
            at += LINE_CHARS
        # Sentences shorter than half a passage stay together.
        if cut - at >= PASSAGE_CHARS // 2 or cut == end:
            if cut > at:
                found.append((at, cut))
            at = cut
    return found
