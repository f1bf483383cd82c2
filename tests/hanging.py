"""How long a test lets a function work on a text that is made to be slow."""

from __future__ import annotations

HANGS_SECONDS = 60.0
"""Of processor time. What is linear takes a few, what is quadratic many minutes."""
