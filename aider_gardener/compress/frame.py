"""Terminal output as plain lines, and the frame that every compressor of such output shares."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log

from aider_gardener.compress.base import MARKER, Context, omitted, unchanged
from aider_gardener.messages import Compressed, ContentClass, Focus, TokenCounter
from aider_gardener.tokens import pieces

SMALL_TOKENS = 120
"""Outputs up to this size are left whole: a marker would cost more than it saves."""

SAMPLE_CHARS = 60_000
"""How much of each end of a text the detectors look at."""

LINE_CHARS = 6_000
"""What is read of one line: a line beyond this is data, not a message."""

ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
MANY_LINES = 150_000
TELLING = re.compile(
    r"[Ee]rror|ERR|FAIL|Fail|fail|WARN|Warn|warn|[Ee]xception|panic|FATAL|fatal|Traceback|✖|✗|not ok"
)
LONG_LINE = re.compile(r"[^\n]{6000}")
CI_PREFIX = re.compile(
    r"^(?:[\w ./()-]+\t[\w ./()-]+\t)?\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z ?|"
    r"^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\] "
)
LEVEL = re.compile(r"\W{0,3}(?:trace|debug|info|notice|warn(?:ing)?|error|fatal|critical)\b", re.IGNORECASE)
"""Stands behind the stamp in a program's own log; a CI runner's stamp stands before whatever was printed."""
CONTINUES = re.compile(
    r"^(?!\d+ ?\||\S+\.\w+(?:\(\d+,\d+\)|:\d+(?::\d+)?)(?: -|:)|\S.*?: line \d+, col )"
    r"[a-z0-9./:\])}'\"`,;_&|-]"
)
"""What a line may begin with that a terminal broke: no place of its own, and no capital."""
FENCE = re.compile(r"^\s*(?:```|~~~)[\w+-]*\s*$")


def plain(text: str) -> str:
    """The text without terminal control sequences, with line feeds only and CI time stamps cut off.

    A line that was overwritten by carriage returns (progress bars) keeps what stood last.
    """
    if "\x1b" in text:
        text = ANSI.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r\r\n", "\n")
        if "\r" in text:
            text = "\n".join(_last_written(line) for line in text.split("\n"))
    return _without_ci_times(text)


def lines_of(text: str) -> list[str]:
    """The plain lines of a text without fences; of lines beyond LINE_CHARS only both ends."""
    lines = _thinned(plain(text).split("\n"))
    return [clip(line, LINE_CHARS) for line in lines if not FENCE.match(line)]


def _thinned(lines: list[str]) -> list[str]:
    """Of more than MANY_LINES the beginning, the end, and from the middle what tells of trouble."""
    if len(lines) <= MANY_LINES:
        return lines
    third = MANY_LINES // 3
    middle = [line for line in lines[third:-third] if TELLING.search(line, 0, 400)]
    return [*lines[:third], *middle[:third], *lines[-third:]]


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


def sample(text: str) -> str:
    """Head and tail of a text as plain lines, for detectors."""
    if len(text) > 2 * SAMPLE_CHARS:
        text = text[:SAMPLE_CHARS] + "\n" + text[-SAMPLE_CHARS:]
    seen = plain(text)
    if LONG_LINE.search(seen):
        seen = "\n".join(clip(line, LINE_CHARS // 2) for line in seen.split("\n"))
    return seen


def written_by_us(text: str) -> bool:
    """True when the first line is a compressor's own summary, so that a second pass changes nothing."""
    return text.startswith("[…") and bool(MARKER.match(text.partition("\n")[0]))


def small(text: str, count: TokenCounter) -> bool:
    """True when the text is short enough to be left whole."""
    return len(text) <= SMALL_TOKENS or (len(text) < 12 * SMALL_TOKENS and count(text) <= SMALL_TOKENS)


def untouched(text: str, ctx: Context, cls: ContentClass, kind: str) -> Compressed | None:
    """The result for a text that is not compressed at all, or None when it is worth a try."""
    if written_by_us(text) or small(text, ctx.count):
        return unchanged(text, cls, kind)
    return None


def framed(
    original: str,
    summary: str,
    body: Iterable[str],
    ctx: Context,
    cls: ContentClass,
    kind: str,
    kept: Mapping[str, int],
) -> Compressed:
    """The summary as a marker line, then the body; or the original where that would not be shorter."""
    shown = [line for line in body if line.strip()]
    total = original.count("\n") + 1
    part = " (read in part)" if total > MANY_LINES else ""
    head = omitted(f"{' '.join(summary.split())}; {total} lines{part}", ctx.entry_id)
    text = "\n".join([head, *shown])
    if not saves(original, text, ctx.count):
        return unchanged(original, cls, kind)
    return Compressed(text=text, cls=cls, kind=kind, kept=dict(kept))


def saves(original: str, shorter: str, count: TokenCounter) -> bool:
    """True when `shorter` has fewer characters and tokens; counts no more of the original than needed."""
    if len(shorter) >= len(original):
        return False
    wanted, seen = count(shorter), 0
    for piece in pieces(original):
        seen += count(piece)
        if seen > wanted:
            return True
    return False


def estimate(text: str, count: TokenCounter) -> int:
    """The tokens of a text, from samples where it is long (exact below 40,000 characters)."""
    if len(text) <= 40_000:
        return count(text)
    step = len(text) // 8
    parts = [text[at : at + 4_000] for at in range(0, step * 8, step)]
    return round(sum(map(count, parts)) * len(text) / sum(map(len, parts)))


def allowance(tokens: int, large: float, small_share: float) -> int:
    """How many tokens a text of `tokens` may keep: `small_share` at 3,000, `large` at 50,000.

    Between the two the share falls geometrically; below 3,000 it rises to the whole at SMALL_TOKENS.
    Above 50,000 a fiftieth of what is beyond is added, above 200,000 a 250th: more is not read anyway.
    """
    if tokens <= SMALL_TOKENS:
        return tokens
    if tokens >= 50_000:
        beyond = min(tokens, 200_000) - 50_000
        return round(50_000 * large + beyond * min(large, 0.02) + max(0, tokens - 200_000) * 0.004)
    if tokens >= 3_000:
        share = small_share * (large / small_share) ** _log_part(tokens, 3_000, 50_000)
        return round(float(tokens * share))
    return round(float(tokens * small_share ** _log_part(tokens, SMALL_TOKENS, 3_000)))


def _log_part(value: int, low: int, high: int) -> float:
    return log(value / low) / log(high / low)


def clip(line: str, size: int) -> str:
    """The line, its middle replaced by an ellipsis when it is longer than `size` characters."""
    if len(line) <= size:
        return line
    head = size * 2 // 3
    return f"{line[:head]} … {line[len(line) - (size - head - 3) :]}"


def touches(line: str, focus: Focus) -> bool:
    """True when the line names a path or one of the longer words that the user is about."""
    if not focus.words and not focus.paths:
        return False
    if any(path in line for path in focus.paths):
        return True
    lowered = line.lower()
    return any(len(word) > 3 and word in lowered for word in focus.words)


def plural(number: int, word: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def fitting(variants: Sequence[Callable[[], Sequence[str]]], budget: int, count: TokenCounter) -> list[str]:
    """The first variant (made from the most to the least detailed) within `budget` tokens, else the last.

    A variant of over 8 characters a token is not counted, only weighed: it cannot fit.
    """
    lines: Sequence[str] = ()
    for make in variants:
        lines = make()
        if sum(map(len, lines)) <= 8 * budget and count("\n".join(lines)) <= budget:
            break
    return list(lines)


def cut(lines: Sequence[str], budget: int, count: TokenCounter) -> list[str]:
    """The lines up to `budget` tokens, and a line that says how many more there are."""
    if sum(map(len, lines)) <= 2 * budget:
        return list(lines)
    room = budget
    for at, line in enumerate(lines):
        room -= count(line) + 1
        if room < 0:
            return [*lines[:at], omitted(f"{len(lines) - at} more of {len(lines)} lines")]
    return list(lines)


def unwrapped(lines: Sequence[str]) -> list[str]:
    """Join lines that a terminal broke at its width: widths at which many lines end in mid-word."""
    lengths = Counter(map(len, lines))
    widths = {
        width
        for width, times in lengths.items()
        if 70 <= width <= 240
        and times >= (3 if len(lines) < 300 else 4)
        and times > 2 * max(lengths[width - 1], lengths[width + 1])
    }
    if not widths:
        return list(lines)
    joined: list[str] = []
    open_end = False
    for line in lines:
        if open_end and line and CONTINUES.match(line):
            joined[-1] += line
        else:
            joined.append(line)
        open_end = len(line) in widths and not line.endswith((" ", "=", "_", "-", "~", "^", "─"))
    return joined
