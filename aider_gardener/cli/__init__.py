"""`gardener`: the command line beside the chat, a module for each group of commands."""

from __future__ import annotations

from aider_gardener.cli.start import main

__all__ = ["main"]
