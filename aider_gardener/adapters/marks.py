"""What a hook looks for in a transcript before it imports anything to read it with."""

from __future__ import annotations

LARGE_TOKENS = 4_000
"""The result of a tool is shortened above so many tokens, unless a setting says otherwise."""
SHORTENED_MARK, BOUNDARY_MARKS = "[shortened by aider-gardener: ", (b'"compact_boundary"', b'"compacted"')
"""What stands in a result's place, and where a compaction was, in Claude Code and in Codex. Without either
all of the chat stands in its host's context."""
