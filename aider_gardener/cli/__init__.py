"""`gardener`: the command line beside the chat, a module for each group of commands."""

from __future__ import annotations

import sys


def main() -> None:
    """The command line. A hook goes past all else: its host waits for it."""
    if len(sys.argv) == 3 and sys.argv[1] == "hook" and sys.argv[2].isalpha():
        from aider_gardener.adapters.claude_code.client import main as hook

        sys.exit(hook(sys.argv[2]))
    from aider_gardener.cli.root import main as command

    command()
