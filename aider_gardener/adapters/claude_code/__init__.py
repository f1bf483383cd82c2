"""Hooks for Claude Code, on the archive that aider fills too."""
