"""Hooks for Claude Code, on the archive that aider fills too."""

from __future__ import annotations

LARGE_TOKENS = 4_000
"""The result of a tool is shortened above so many tokens."""
SHORTENED_MARK, BOUNDARY_MARK = "[shortened by aider-gardener: ", b'"compact_boundary"'
"""In a transcript: what stands in a result's place, and where a compaction was. Without either all of the
chat stands in its host's context."""
