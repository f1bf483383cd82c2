"""Which compressor serves which class, and the guard that all of them stand behind."""

from __future__ import annotations

from dataclasses import replace

from aider_gardener.compress import code, edits, prose, shapes
from aider_gardener.compress.base import Compressor, Context, is_shorter, unchanged
from aider_gardener.errors import tolerating
from aider_gardener.messages import Compressed, ContentClass

BY_CLASS: dict[ContentClass, Compressor] = {
    ContentClass.PROMPT: prose.compress_prompt,
    ContentClass.PROSE: prose.compress,
    ContentClass.CODE: code.compress,
    ContentClass.EDIT: edits.compress,
}
"""The compressor of a class; what is not here is the output of programs, which is shortened by its shape."""


def compress_text(text: str, cls: ContentClass, ctx: Context) -> Compressed:
    """The compressed form of a text of one class: never longer, and stable when compressed again.

    The compressor runs until its output no longer shrinks, so a second call finds nothing to do. One that
    raises has come to its end: what it made before stands, else the text, and `failed` says so.
    """
    compressor, best = BY_CLASS.get(cls, shapes.compress), unchanged(text, cls)
    while best.text:
        result = best
        with tolerating(f"compressor of {cls.value}") as faults:
            result = compressor(best.text, ctx)
        if faults:
            return replace(best, failed=faults[0])
        if not is_shorter(result.text, best.text, ctx.count):
            break
        best = replace(result, cls=cls, engine=result.engine or best.engine, lossless=False)
    return best
