"""A real terminal of so many columns and lines: a program runs in a pseudo-terminal, keys are typed, and what
a person would see is read off the screen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pexpect
import pyte

COLUMNS, LINES = 80, 24
HISTORY_LINES = 2_000
SETTLED_SECONDS = 0.4
"""Nothing more is written for so long: the program waits."""

ENTER = "\r"


class Terminal:
    """One program in a terminal. `said` gives every line since the terminal was opened, `screen` those that
    are seen now."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environ: Mapping[str, str],
        columns: int = COLUMNS,
        lines: int = LINES,
        seconds: float = 120.0,
    ) -> None:
        self.seen = pyte.HistoryScreen(columns, lines, history=HISTORY_LINES, ratio=0.5)
        self._stream = pyte.Stream(self.seen)
        self._seconds = seconds
        environ = {**os.environ, "TERM": "xterm-256color", **environ}
        environ |= {"COLUMNS": str(columns), "LINES": str(lines)}
        self.process = pexpect.spawn(
            command[0],
            list(command[1:]),
            cwd=str(cwd),
            env=environ,
            encoding="utf-8",
            codec_errors="replace",
            dimensions=(lines, columns),
        )

    def keys(self, text: str) -> None:
        """Type without a line's end."""
        self.process.send(text)

    def type(self, line: str, until: str) -> str:
        """Type a line and wait until these words are seen behind it; what was written since."""
        before = len(self.said)
        self.keys(line + ENTER)
        self.wait(lambda: until in "\n".join(self.said[max(before - 1, 0) :]))
        return "\n".join(self.said[max(before - 1, 0) :])

    def paste(self, text: str) -> None:
        """Put in a text of several lines as a terminal does, then enter it."""
        self.keys(f"\x1b[200~{text}\x1b[201~")
        self.wait(lambda: True)
        self.keys(ENTER)

    @property
    def last(self) -> str:
        """The last line that says something."""
        return next((line for line in reversed(self.screen) if line), "")

    def wait(self, seen: Callable[[], bool]) -> None:
        """Read until something is seen and the program has settled. Raises TimeoutError with the screen."""
        deadline, quiet = time.monotonic() + self._seconds, time.monotonic()
        while time.monotonic() < deadline:
            try:
                text = self.process.read_nonblocking(65_536, timeout=0.1)
            except pexpect.TIMEOUT:
                if time.monotonic() - quiet > SETTLED_SECONDS and seen():
                    return
                continue
            except pexpect.EOF:
                if seen():
                    return
                break
            self._answer(text)
            self._stream.feed(text)
            quiet = time.monotonic()
        raise TimeoutError("not seen; the terminal shows:\n" + "\n".join(self.said[-60:]))

    def _answer(self, text: str) -> None:
        """What a program asks of its terminal: where the cursor is."""
        for _each in range(text.count("\x1b[6n")):
            self.process.send(f"\x1b[{self.seen.cursor.y + 1};{self.seen.cursor.x + 1}R")

    @property
    def screen(self) -> list[str]:
        """The lines that are seen now."""
        return [line.rstrip() for line in self.seen.display]

    @property
    def said(self) -> list[str]:
        """Every line so far, those that were scrolled away too."""
        past = ["".join(row[at].data for at in range(self.seen.columns)) for row in self.seen.history.top]
        lines = [line.rstrip() for line in (*past, *self.screen)]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def close(self) -> int:
        """End the program; its exit status, -1 where it was killed."""
        self.process.close(force=True)
        return self.process.exitstatus if self.process.exitstatus is not None else -1
