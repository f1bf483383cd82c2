"""Compression by class: one module per kind of text, chosen through a registry.

`compress_text` serves one text of one class, `compress_message` a whole message by its segments,
`line_form` gives a message's one-line form. All are pure: same arguments, same result, no I/O. Each is
imported when it is first asked for: all compressors together take a third of a second.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aider_gardener.compress.base import Compressor, Context
    from aider_gardener.compress.line import line_form
    from aider_gardener.compress.message import compress_message
    from aider_gardener.compress.registry import compress_text

__all__ = ["Compressor", "Context", "compress_message", "compress_text", "line_form"]

_HOMES = {
    "Compressor": "base",
    "Context": "base",
    "compress_message": "message",
    "compress_text": "registry",
    "line_form": "line",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
