"""Passages: the small spans of an original that full text finds and recall quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.archive.store.base import Chunk
from aider_gardener.messages import LONG_CHARS, ContentClass, Segment
from aider_gardener.reading.excerpt import ends

PASSAGE_CHARS = 360
"""About 80 tokens: two or three sentences, or three to five lines of a log."""
LEAST_CHARS = 50
"""Less than that is a heading or an opening: it stays with what follows."""
LINE_CHARS = 600
"""A longer line is cut at sentence ends, or at this length."""
STRETCH_CHARS = 4_000
"""No passage is so long: a longer span is a part of an original that is yet to be cut into some."""

SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|(?<=[。！？；])")
BREAKS_BEFORE = re.compile(r"\s*(?:[-*+]\s|\d+[.)]\s|#{1,6}\s|\|)")
VERBATIM = frozenset(
    {ContentClass.CODE, ContentClass.DIFF, ContentClass.LOG, ContentClass.LISTING, ContentClass.ERROR}
)


def chunk(entry_id: str, content: str, segments: Sequence[Segment]) -> list[Chunk]:
    """Cut a text into passages along its structure; they are in order and miss only white space.
    The middle of one longer than LONG_CHARS is one stretch, to be cut as it is indexed.

    A passage never crosses a segment. In prose it ends at a blank line, a list item or a heading; in
    logs and code at a line end; a long line is cut at a sentence end.
    """
    if len(content) <= LONG_CHARS:
        return cut(entry_id, content, segments, 0, len(content))
    head, tail = ends(content)
    first = cut(entry_id, content, segments, 0, head)
    return [*first, Chunk(entry_id, head, tail), *cut(entry_id, content, segments, tail, len(content))]


def cut(entry_id: str, content: str, segments: Sequence[Segment], begin: int, stop: int) -> list[Chunk]:
    """The passages of a part of a text."""
    found: list[Chunk] = []
    for segment in segments or (Segment(0, len(content), ContentClass.PROSE),):
        verbatim = segment.cls in VERBATIM
        start = end = max(begin, segment.start)
        for line_start, line_end in spans(content, start, min(stop, segment.end)):
            line = content[line_start:line_end]
            full = line_end - start > PASSAGE_CHARS
            breaks = not verbatim and (not line.strip() or BREAKS_BEFORE.match(line) is not None)
            if full or (breaks and end - start >= LEAST_CHARS):
                add(found, entry_id, content, start, end)
                start = line_start
            end = line_end
        add(found, entry_id, content, start, end)
    return found


def add(found: list[Chunk], entry_id: str, content: str, start: int, end: int) -> None:
    """Append the span without the white space around it, unless nothing is left."""
    if end <= start:
        return
    text = content[start:end]
    stripped = text.strip()
    if stripped:
        lead = len(text) - len(text.lstrip())
        found.append(Chunk(entry_id, start + lead, start + lead + len(stripped)))


def spans(content: str, start: int, end: int) -> list[tuple[int, int]]:
    """The lines of a span; one longer than a passage is cut at sentence ends, else at LINE_CHARS."""
    found: list[tuple[int, int]] = []
    at = start
    while at < end:
        line_end = content.find("\n", at, end)
        line_end = end if line_end < 0 else line_end + 1
        if line_end - at <= PASSAGE_CHARS:
            found.append((at, line_end))
        else:
            found += long_line(content, at, line_end)
        at = line_end
    return found


def long_line(content: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut one long line into spans of at most LINE_CHARS."""
    found: list[tuple[int, int]] = []
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
