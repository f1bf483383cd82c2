"""What is read of a very long text: its head, its tail, and the lines between that tell of trouble or that
the user is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aider_gardener.messages import LONG_CHARS, Segment, remembered, text_key
from aider_gardener.reading.seeking import seeker

MANY_LINES = 30_000
"""A text of more lines is a very long one too."""
SHARE_CHARS, SHARE_LINES = 50_000, 5_000
"""So much of the head, of the tail and of the lines between is read."""
LINE_CHARS = 400
"""So much of a line that tells of trouble is read, around the word that does: as much as is shown of one."""
SEARCHED_CHARS = 2_000_000
"""So much before the tail is searched for such lines: what ends a run is told near its end."""
ERROR_MARKS = frozenset("rror|ERR|FAIL|Fail|fail|xception|panic|FATAL|fatal|Traceback|not ok|✖|✗".split("|"))
WARNS = frozenset(("WARN", "Warn", "warn"))
GAP = "…"
"""The line that stands where something is left out."""


def is_long(text: str) -> bool:
    """Whether only an excerpt of a text is read."""
    return len(text) > LONG_CHARS or text.count("\n") > MANY_LINES


@remembered(8, key=lambda text, words=frozenset(): (text_key(text), words))
def excerpt(text: str, words: frozenset[str] = frozenset()) -> str:
    """What is read of a text: all of it, or of a very long one at most three shares, with gaps between. The
    `words`, which are lower-case, are looked for as well."""
    if not is_long(text):
        return text
    head, tail = ends(text)
    shown, at = list[str](), 0
    for start, end in [(0, head), *_telling(text, head, tail, words), (tail, len(text))]:
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
    shown_parts = [part for part in parts if part.start < head or part.start >= behind]
    starts = [part.start + (len(text) - len(short)) * (part.start >= behind) for part in shown_parts]
    stops = [*starts[1:], len(text)]
    return tuple(
        replace(part, start=start, end=end)
        for part, start, end in zip(shown_parts, starts, stops, strict=True)
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


def _telling(text: str, start: int, end: int, words: frozenset[str]) -> list[tuple[int, int]]:
    """The lines between that tell of trouble or have one of the words, in their order: as many as a share has
    room for, first those that tell of errors, warnings last. Of very long lines what stands around."""
    stop = max(start, end - SEARCHED_CHARS)
    found = list[tuple[int, int, int]]()
    searched, shift = text[stop:end], stop
    places = seeker(searched, ERROR_MARKS | WARNS, words)
    ranks = dict.fromkeys(words, 1) | dict.fromkeys(WARNS, 2) | dict.fromkeys(ERROR_MARKS, 0)
    for at, less in sorted((shift + at, rank) for word, rank in ranks.items() for at in places(word)):
        if at < stop:
            found[-1] = (min(found[-1][0], less), *found[-1][1:])
            continue
        near = max(stop, at - LINE_CHARS)
        begin, stop = text.rfind("\n", near, at) + 1 or near, min(at + LINE_CHARS, end)
        line_end = text.find("\n", at, stop)
        stop = stop if line_end < 0 else line_end
        if stop - begin > LINE_CHARS:
            begin = max(begin, min(at - LINE_CHARS // 2, stop - LINE_CHARS))
            stop = begin + LINE_CHARS
        found.append((less, begin, stop))
    room, shown = SHARE_CHARS, list[tuple[int, int]]()
    for _less, begin, stop in sorted(found):
        room -= stop - begin + 3
        if room < 0:
            break
        shown.append((begin, stop))
    return sorted(shown)
