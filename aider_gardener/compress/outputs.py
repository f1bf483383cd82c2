"""The compressed form of an output: a head that says how much is shown, then the lines that are quoted."""

from __future__ import annotations

from aider_gardener.compress.base import MARKER, Context, omitted, unchanged
from aider_gardener.compress.outline import GAP, NOISE
from aider_gardener.compress.shapes import SMALL_TOKENS, explained, shortened
from aider_gardener.messages import Compressed, ContentClass, TokenCounter
from aider_gardener.reading.output import lines_of

EXACT_CHARS = 40_000
"""Texts up to this size are counted exactly, longer ones by samples."""

GIST_CHARS = 20_000
"""Of longer outputs so much of each end is searched for the lines that tell most."""


def compress(text: str, ctx: Context) -> Compressed:
    """The lines worth most; short outputs and forms made before stay."""
    cls = ContentClass.LOG  # the caller's is put in its place
    if MARKER.match(text.partition("\n")[0]) or len(text) <= SMALL_TOKENS:
        return unchanged(text, cls)
    tokens = estimate(text, ctx.count)
    if tokens <= SMALL_TOKENS:
        return unchanged(text, cls)
    form = shortened(text, ctx.count, ctx.focus, tokens)
    shown = sum(line not in ("", GAP) for line in form.text.split("\n"))
    if not shown:
        return unchanged(text, cls)
    whole = text.rstrip("\n").count("\n") + 1
    head = omitted(f"{shown} of {whole:,} lines", ctx.entry_id)
    return Compressed(f"{head}\n{form.text}", cls, form.engine or "lines")


def gist(text: str, most: int = 2) -> list[str]:
    """The few lines of an output that tell most, the weightiest first."""
    if len(text) > 2 * GIST_CHARS:
        text = f"{text[:GIST_CHARS]}\n{text[-GIST_CHARS:]}"
    lines = lines_of(text)
    notes, _engine = explained(lines)
    rows = (row for row, line in enumerate(lines) if notes[row].worth > NOISE and any(map(str.isalnum, line)))
    return [lines[row] for row in sorted(rows, key=lambda row: -notes[row].worth)[:most]]


def estimate(text: str, count: TokenCounter) -> int:
    """The tokens of a text, from samples where it is long."""
    if len(text) <= EXACT_CHARS:
        return count(text)
    step = len(text) // 8
    parts = [text[at : at + 4_000] for at in range(0, step * 8, step)]
    return round(sum(map(count, parts)) * len(text) / sum(map(len, parts)))
