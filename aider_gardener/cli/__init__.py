"""`gardener`: the command line beside the chat, a module for each group of commands."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """The command line, before anything is imported that a hook can do without. A hook goes past all else:
    its host waits for it, and takes the exit code of a usage error for a wish to block."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed: its number would be that of the next file
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
            os.set_inheritable(getattr(sys, name).fileno(), True)
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv):
        from aider_gardener.adapters.claude_code.client import main as hook

        os._exit(hook(*(sys.argv[2:4] or [""])))  # nothing is left to clear away, and that would take time
    for each in ("SIGTERM", "SIGHUP"):  # as an exit, so that no part of a file or of the chats stays behind
        number = getattr(signal, each, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    try:
        from aider_gardener.cli.root import main as command

        command()
    except KeyboardInterrupt:  # while it is imported; later click says the same
        sys.exit("\nAborted!")
