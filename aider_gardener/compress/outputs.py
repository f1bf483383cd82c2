"""The compressed form of an output: a head that says how much is shown, then the lines that are quoted."""

from __future__ import annotations

from aider_gardener.compress.base import MARKER, Context, omitted, unchanged
from aider_gardener.compress.outline import GAP, NOISE
from aider_gardener.compress.shapes import SMALL_TOKENS, explained, shortened
from aider_gardener.messages import Compressed, ContentClass
from aider_gardener.reading.output import lines_of
from aider_gardener.tokens import sampled

EXACT_CHARS = 40_000
SAMPLES, SAMPLE_CHARS = 8, 4_000
"""Texts up to this size are counted exactly, longer ones by so many samples of so many characters."""

GIST_CHARS = 20_000
"""Of longer outputs so much of each end is searched for the lines that tell most."""


def compress(text: str, ctx: Context) -> Compressed:
    """The lines worth most; short outputs and forms made before stay."""
    cls = ContentClass.LOG  # the caller's is put in its place
    if MARKER.match(text.partition("\n")[0]) or len(text) <= SMALL_TOKENS:
        return unchanged(text, cls)
    tokens = ctx.count(text) if len(text) <= EXACT_CHARS else sampled(text, ctx.count, SAMPLES, SAMPLE_CHARS)
    if tokens <= SMALL_TOKENS:
        return unchanged(text, cls)
    form = shortened(text, ctx.count, ctx.focus, tokens, counts=not ctx.left_out)
    shown = sum(line not in ("", GAP) for line in form.text.split("\n"))
    if not shown:
        return unchanged(text, cls)
    whole = text.rstrip("\n").count("\n") + 1 + ctx.left_out
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
