"""Terminal output as plain lines: without control sequences, overwritten lines and a CI runner's stamps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from aider_gardener.messages import Segment
from aider_gardener.reading.excerpt import excerpt
from aider_gardener.reading.late import late

LINE_CHARS = 6_000
"""What is read of one line: a line beyond this is data, not a message."""

ANSI = late(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~]|[@-Z\\-_])")
STRETCH_CHARS, FEW_CHARACTERS = 100, 11
"""A stretch of a line with fewer different characters than that is dull: a rule, filler, a dump of digits.
A list of numbers has more."""

CI_PREFIX = late(
    r"^(?:[\w ./()-]+\t[\w ./()-]+\t)?\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z(?: |$)|"
    r"^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\] "
)
LEVEL = late(r"\W{0,3}(?:trace|debug|info|notice|warn(?:ing)?|error|fatal|critical)\b", re.IGNORECASE)
"""Stands behind the stamp in a program's own log; a CI runner's stamp stands before whatever was printed."""
FENCE = late(r"^\s*(?:```|~~~)[\w+-]*\s*$")


def without_codes(text: str) -> str:
    """The text without a terminal's control sequences, as it is read."""
    return ANSI.sub("", text) if "\x1b" in text else text


def message_without_codes(content: str, segments: Sequence[Segment]) -> tuple[str, tuple[Segment, ...]]:
    """The same of a whole message, its segments moved along."""
    if "\x1b" not in content:
        return content, tuple(segments)
    texts, moved, at = list[str](), list[Segment](), 0
    for part in segments:
        texts.append(without_codes(content[part.start : part.end]))
        moved.append(replace(part, start=at, end=at + len(texts[-1])))
        at += len(texts[-1])
    return "".join(texts), tuple(moved)


def plain(text: str) -> str:
    """The text without terminal control sequences, with line feeds only and CI time stamps cut off.

    A line that was overwritten by carriage returns (progress bars) keeps what stood last.
    """
    text = without_codes(text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r\r\n", "\n")
        if "\r" in text:
            text = "\n".join(_last_written(line) for line in text.split("\n"))
    return _without_ci_times(text)


def lines_of(text: str) -> list[str]:
    """The plain lines of a text without fences, legible; of lines beyond LINE_CHARS only both ends."""
    text = plain(excerpt(text))
    lines = [clip(legible(line), LINE_CHARS) for line in text.split("\n")]
    is_fenced = "```" in text or "~~~" in text
    return [line for line in lines if not FENCE.match(line)] if is_fenced else lines


def legible(line: str) -> str:
    """The line without the middle of its dull stretches.

    Patterns that look for two things in a line take quadratic time on a run of what both may consist of.
    Nobody reads such a run, so of each no more than three STRETCH_CHARS are left, with an ellipsis between.
    """
    if len(line) <= 3 * STRETCH_CHARS:
        return line
    parts = [line[at : at + STRETCH_CHARS] for at in range(0, len(line), STRETCH_CHARS)]
    dull = [True, *(len(set(part)) < FEW_CHARACTERS for part in parts), False]
    inside = zip(dull, dull[1:], dull[2:], strict=False)
    omitted = [bool(at) and all(run) for at, run in enumerate(inside)]
    if not any(omitted):
        return line
    shown = [" … " if out else part for part, out in zip(parts, omitted, strict=False)]
    return "".join(part for at, part in enumerate(shown) if not (omitted[at] and omitted[at - 1]))


def _last_written(line: str) -> str:
    if "\r" not in line:
        return line
    written = [part for part in line.split("\r") if part.strip()]
    return written[-1] if written else ""


def _without_ci_times(text: str) -> str:
    """The text without a CI runner's stamps; a log's own, most of them before a level, stay."""
    head = text[:4_000].split("\n")[:40]
    stamps = [(line, found) for line in head if (found := CI_PREFIX.match(line))]
    levels = sum(1 for line, found in stamps if LEVEL.match(line, found.end()))
    if len(stamps) * 10 < len(head) * 8 or levels * 2 > len(stamps):
        return text
    return "\n".join(CI_PREFIX.sub("", line, count=1) for line in text.split("\n"))


def squeeze(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())


def clipped(text: str, chars: int) -> str:
    """A text on one line of at most so many characters, cut at a word; at a sign where words are written
    without spaces."""
    line = squeeze(text)
    head, _, rest = line[:chars].rpartition(" ")
    is_unspaced = len(rest) > chars // 2 and not rest.isascii()
    return line if len(line) <= chars else f"{head if head and not is_unspaced else line[:chars]} …"


def flat(text: str, chars: int = 300) -> str:
    """A text on one line of at most so many characters, cut at a word, without what is not seen."""
    from aider_gardener.terminal import UNSEEN  # late: a hook shows nothing

    line = clipped(UNSEEN.sub("", without_codes(text[: 8 * chars])), chars)
    return line if len(text) <= 8 * chars or line.endswith(" …") else f"{line} …"


def clip(line: str, size: int) -> str:
    """The line, its middle replaced by an ellipsis when it is longer than `size` characters."""
    if len(line) <= size:
        return line
    head = size * 2 // 3
    return f"{line[:head]} … {line[len(line) - (size - head - 3) :]}"
