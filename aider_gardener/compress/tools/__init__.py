"""Outputs of tools that are read by a parser of their own, one small file each, on a common frame."""

from __future__ import annotations

from collections.abc import Mapping

from aider_gardener.compress.base import Context, unchanged
from aider_gardener.compress.pieces import Reader
from aider_gardener.compress.tools import sanitizers, threads, valgrind
from aider_gardener.compress.tools.frame import read_with
from aider_gardener.messages import Compressed
from aider_gardener.reading.tools import CLASSES

READERS: Mapping[str, Reader] = {
    "sanitizer": sanitizers.read,
    "threads": threads.read,
    "valgrind": valgrind.read,
}
"""The reader of each kind that `reading.tools` can tell."""


def compress(text: str, ctx: Context) -> Compressed:
    """The output of a known tool by its parser; whole where the parser does not know it after all."""
    cls = CLASSES[ctx.kind]
    return read_with(READERS[ctx.kind], text, ctx, cls, ctx.kind) or unchanged(text, cls, ctx.kind)


__all__ = ["READERS", "compress"]
