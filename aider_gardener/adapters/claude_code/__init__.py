"""The adapter for Claude Code: what stands in its settings, and what its hooks answer."""
