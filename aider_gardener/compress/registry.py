"""Which compressor serves which class, and the guard that all of them stand behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

from aider_gardener.compress.base import Compressor, Context, is_shorter, unchanged
from aider_gardener.errors import tolerating
from aider_gardener.messages import Compressed, ContentClass

BY_CLASS: dict[ContentClass, Callable[[], Compressor]] = {
    ContentClass.PROMPT: lambda: import_module("aider_gardener.compress.prose").compress_prompt,
    ContentClass.PROSE: lambda: import_module("aider_gardener.compress.prose").compress,
    ContentClass.CODE: lambda: import_module("aider_gardener.compress.code").compress,
    ContentClass.EDIT: lambda: import_module("aider_gardener.compress.edits").compress,
}
"""Gives the compressor of a class, imported when the class first comes up; what is not here is the output of
programs, which is shortened by its shape."""


def compressor_for(cls: ContentClass) -> Compressor:
    """The compressor of a class."""
    if cls in BY_CLASS:
        return BY_CLASS[cls]()
    from aider_gardener.compress import shapes

    return shapes.compress


def compress_text(text: str, cls: ContentClass, ctx: Context) -> Compressed:
    """The compressed form of a text of one class: never longer, and stable when compressed again.

    The compressor runs until its output no longer shrinks, so a second call finds nothing to do. One that
    raises has come to its end: what it made before stands, else the text, and `failed` says so.
    """
    best = unchanged(text, cls)
    while best.text:
        result = best
        with tolerating(f"compressor of {cls.value}") as faults:
            result = compressor_for(cls)(best.text, ctx)
        if faults:
            return replace(best, failed=faults[0])
        if not is_shorter(result.text, best.text, ctx.count):
            break
        best = replace(result, cls=cls, engine=result.engine or best.engine, lossless=False)
    return best
