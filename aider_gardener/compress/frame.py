"""The frame that every compressor of terminal output shares: allowance, marker line, what fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log

from aider_gardener.compress.base import MARKER, Context, omitted, unchanged
from aider_gardener.messages import Compressed, ContentClass, Focus, TokenCounter
from aider_gardener.reading.output import MANY_LINES

SMALL_TOKENS = 120
"""Outputs up to this size are left whole: a marker would cost more than it saves."""


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
    """The summary as a marker line, then the body. The registry keeps the original where that is shorter."""
    shown = [line for line in body if line.strip()]
    total = original.count("\n") + 1
    part = " (read in part)" if total > MANY_LINES else ""
    head = omitted(f"{' '.join(summary.split())}; {total} lines{part}", ctx.entry_id)
    return Compressed(text="\n".join([head, *shown]), cls=cls, kind=kind, kept=dict(kept))


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
