"""What is read of a very long text: its head, its tail, and the lines between that tell of trouble."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import merge

from aider_gardener.messages import LONG_CHARS, Segment, remembered, text_key
from aider_gardener.reading.seeking import Seek, seeker

MANY_LINES = 30_000
"""A text of more lines is a very long one too."""
SHARE_CHARS, SHARE_LINES = 100_000, 10_000
"""So much of the head, of the tail and of the lines between is read."""
LINE_CHARS = 400
"""So much before and behind what tells of trouble is read of its line."""
ERRORS = (*"rror ERR FAIL Fail fail xception panic FATAL fatal Traceback ✖ ✗".split(), "not ok")
WARNINGS = ("WARN", "Warn", "warn")
GAP = "…"
"""The line that stands where something is left out."""


def is_long(text: str) -> bool:
    """Whether only an excerpt of a text is read."""
    return len(text) > LONG_CHARS or text.count("\n") > MANY_LINES


@remembered(8, key=text_key)
def excerpt(text: str) -> str:
    """What is read of a text: all of it, or of a very long one at most three shares, with gaps between."""
    if not is_long(text):
        return text
    head, tail = ends(text)
    shown, at = list[str](), 0
    for start, end in [(0, head), *_telling(text, head, tail), (tail, len(text))]:
        shown += [GAP] * (start > at + 1)
        shown.append(text[start:end].removesuffix("\n"))
        at = end
    return "\n".join(shown) + text[tail:][len(text[tail:].removesuffix("\n")) :]


def in_whole(parts: Sequence[Segment], short: str, text: str) -> tuple[Segment, ...]:
    """Segments of an excerpt as segments of its text. What is left out belongs to what stands before it."""
    if short is text or not parts:
        return tuple(parts)
    head, tail = ends(text)
    behind = len(short) - (len(text) - tail)
    kept = [part for part in parts if part.start < head or part.start >= behind]
    starts = [part.start + (len(text) - len(short)) * (part.start >= behind) for part in kept]
    stops = [*starts[1:], len(text)]
    return tuple(
        replace(part, start=start, end=end) for part, start, end in zip(kept, starts, stops, strict=True)
    )


def ends(text: str) -> tuple[int, int]:
    """Where the head of a very long text ends and where its tail begins, at line ends where any are near."""
    head, tail = text[:SHARE_CHARS], text[-SHARE_CHARS:]
    half = SHARE_CHARS // 2
    end, start = head.rfind("\n", half) + 1 or SHARE_CHARS, tail.find("\n", 0, half) + 1
    if head.count("\n") > SHARE_LINES:
        end = len(head) - len(head.split("\n", SHARE_LINES)[-1])
    if tail.count("\n") > SHARE_LINES:
        start = len(tail.rsplit("\n", SHARE_LINES)[0]) + 1
    return end, len(text) - len(tail) + start


def _telling(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The lines between that tell of trouble, in their order: as many as a share has room for, first those
    that tell of errors."""
    seek, room, found = seeker(text, (*ERRORS, *WARNINGS)), SHARE_CHARS, set[tuple[int, int]]()
    for words in (ERRORS, WARNINGS):
        for span in _lines_with(text, words, seek, start, end):
            room -= (span[1] - span[0] + 3) * (span not in found)
            if room < 0:
                return sorted(found)
            found.add(span)
    return sorted(found)


def _lines_with(
    text: str, words: Sequence[str], seek: Seek, start: int, end: int
) -> Iterator[tuple[int, int]]:
    """The lines that hold one of these words, of very long ones what stands around it."""

    def places(word: str) -> Iterator[int]:
        at = seek(word, start)
        while 0 <= at < end:
            yield at
            at = seek(word, at + 1)

    stop = start
    for at in merge(*map(places, words)):
        if at >= stop:
            near = max(stop, at - LINE_CHARS)
            begin, stop = text.rfind("\n", near, at) + 1 or near, min(at + LINE_CHARS, end)
            line_end = text.find("\n", at, stop)
            stop = stop if line_end < 0 else line_end
            yield begin, stop
