"""Cut a message into spans of one class, and tell from its text where it came from."""

from __future__ import annotations

from aider_gardener.segment.cut import segment
from aider_gardener.segment.host import command_parts, infer_source, is_failed_edit

__all__ = ["command_parts", "infer_source", "is_failed_edit", "segment"]
