"""What a hook knows, and looks for in a transcript, before it imports anything to read it with."""

from __future__ import annotations

START, PROMPT, TOOL, STOP = "SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"
"""Claude Code's names of the events that other hosts tell too."""
LARGE_TOKENS = 4_000
"""The result of a tool is shortened above so many tokens, unless a setting says otherwise."""
SHORTENED_MARK, SNAPSHOT_MARK = "[shortened by aider-gardener: ", b'"text":"<state_snapshot>'
BOUNDARY_MARKS = (b'"compact_boundary"', b'"compacted"', SNAPSHOT_MARK)
"""What stands in a result's place, and where a compaction was, in Claude Code, Codex and Gemini. Without
either all of the chat stands in its host's context."""
