"""The frame that every parser of a tool's output stands in: its lines, its room, and what others wrote."""

from __future__ import annotations

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import allowance, estimate, framed, untouched
from aider_gardener.compress.logs.excerpt import put_excerpt
from aider_gardener.compress.pieces import LARGE_SHARE, SMALL_SHARE, Reader, chosen
from aider_gardener.messages import Compressed, ContentClass
from aider_gardener.reading.output import lines_of

FOREIGN_SHARE, FOREIGN_TOKENS = 0.3, 300
"""What another program wrote among the lines may take so much of its tokens, and so many at least."""


def read_with(reader: Reader, text: str, ctx: Context, cls: ContentClass, kind: str) -> Compressed | None:
    """The compressed form by one reader, or None when the reader did not know the text."""
    whole = untouched(text, ctx, cls, kind)
    if whole:
        return whole
    reading = reader([line.rstrip() for line in lines_of(text)], ctx)
    if reading is None:
        return None
    budget = allowance(estimate(text, ctx.count), LARGE_SHARE, SMALL_SHARE)
    budget = round(budget * reading.room)
    if reading.foreign:
        tokens = estimate("\n".join(line for _, line in reading.foreign), ctx.count)
        room = max(FOREIGN_TOKENS, allowance(tokens, LARGE_SHARE, FOREIGN_SHARE))
        put_excerpt(reading, reading.foreign, min(room, tokens), ctx)
        budget += min(room, tokens)
    body = chosen(reading, budget - ctx.count(reading.summary) - 12, ctx)
    return framed(text, f"{kind}: {reading.summary}", body, ctx, cls, kind, reading.kept)
