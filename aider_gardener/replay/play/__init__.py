"""Replaying a session on a real aider, each in a process of its own."""
