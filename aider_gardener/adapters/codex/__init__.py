"""Codex: its rollouts are read."""
