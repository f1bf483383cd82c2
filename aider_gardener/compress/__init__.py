"""Compression by class: one module per kind of text, chosen through a registry.

`compress_text` serves one text of one class, `compress_message` a whole message by its segments,
`line_form` gives a message's one-line form. All are pure: same arguments, same result, no I/O.
"""

from __future__ import annotations

from aider_gardener.compress.base import Compressor, Context
from aider_gardener.compress.line import line_form
from aider_gardener.compress.message import compress_message
from aider_gardener.compress.registry import compress_text

__all__ = ["Compressor", "Context", "compress_message", "compress_text", "line_form"]
