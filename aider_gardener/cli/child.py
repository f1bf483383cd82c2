"""A command run as a child, its output held until it ends.

Both of its streams are one pipe, so what it prints stands in the order in which it was written, and a program
sees a pipe, not a terminal. Its input is ours. What is held is in memory up to a megabyte, then in a file
without a name that ends with the process.
"""

from __future__ import annotations

import errno
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from tempfile import SpooledTemporaryFile
from types import FrameType
from typing import IO, BinaryIO

from aider_gardener.cli.pipe import BINARY_HEAD_BYTES, is_binary
from aider_gardener.terminal import bare, visible

STEP_BYTES, STEP_SECONDS = 1 << 16, 0.1
MEMORY_BYTES = 1 << 20
SPOOL_BYTES = 1_000_000_000
"""What comes after so much is read and dropped: a command that never ends must not fill the disk."""
READ_BYTES = 32_000_000
"""Of a longer output the two ends are read."""
SILENT_SECONDS = 2.0
"""What a process in the background, which outlives the command, is waited for behind what it printed last, or
behind the command where a signal came."""
PROGRESS_SECONDS = 1.0
LAST_LINE_BYTES = 400
NOT_FOUND, NOT_RUNNABLE = 127, 126
DROPPED = "the output is not held from line {lines:,} on ({why}); write it to a file to have it whole"


class Output:
    """What a command prints. It is held; a binary one is passed on to `through` as it comes, where that is
    given.

    `passed` tells that it was, `fault` why nothing can be written there any more (often nobody reads there),
    `problem` what the user is to know.
    """

    def __init__(self, through: BinaryIO | None = None) -> None:
        self.spool: SpooledTemporaryFile[bytes] = SpooledTemporaryFile(MEMORY_BYTES)  # noqa: SIM115 - it lives as long as this
        self.size = self.lines = self.spool_bytes = 0
        self.binary = self.passed = self.closed = False
        self._end = b""
        self.last_at = time.monotonic()
        self.problem = ""
        self.fault: OSError | None = None
        self._through = through
        self._lock = threading.Lock()

    def take(self, source: IO[bytes]) -> None:
        """Read to the end, or until nobody takes what is passed on: the closed pipe tells the child."""
        unended = False
        with source:
            while not self.closed and (chunk := os.read(source.fileno(), STEP_BYTES)):
                unended = not chunk.endswith(b"\n")
                with self._lock:
                    if not self.closed:
                        self._put(chunk)
        self.lines += unended

    def end(self) -> None:
        """Take no more, though the pipe is still open."""
        with self._lock:
            self.closed = True

    def check_reader(self) -> None:
        """Take no more once nobody reads what would be printed, as behind `| head`."""
        if self._through and hasattr(select, "poll"):
            watch = select.poll()
            with suppress(OSError):  # a terminal's: it has no descriptor, and hangs up by a signal
                watch.register(self._through.fileno(), 0)
            if watch.poll(0):
                self.fault, self.closed = BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)), True

    def _put(self, chunk: bytes) -> None:
        self.binary |= self.size < BINARY_HEAD_BYTES and is_binary(chunk)
        self.size += len(chunk)
        self.lines += chunk.count(b"\n")
        self._end = (self._end + chunk)[-LAST_LINE_BYTES:]
        self.last_at = time.monotonic()
        if self.binary and self._through and not self.passed:
            self.passed = True
            self.spool.seek(0)
            self._print(self.spool.read())
        if self.passed:
            self._print(chunk)
        elif not self.problem:
            self._buffer(chunk)

    def _buffer(self, chunk: bytes) -> None:
        try:
            self.spool.write(chunk)
            self.spool.flush()
            self.spool_bytes += len(chunk)
        except OSError as error:
            self.problem = DROPPED.format(lines=self.lines, why=error.strerror)
        if self.spool_bytes > SPOOL_BYTES:
            self.problem = DROPPED.format(lines=self.lines, why="it is over a gigabyte")

    def _print(self, chunk: bytes) -> None:
        if self._through and not self.fault:
            try:
                self._through.write(chunk)
                self._through.flush()
            except OSError as error:
                self.fault, self.closed = error, True

    @property
    def last_line(self) -> str:
        """What it printed last, for a terminal."""
        last = self._end.rstrip(b"\r\n").rpartition(b"\n")[2]
        return " ".join(visible(last.decode("utf-8", "replace")).split())

    def copy_to(self, out: IO[bytes]) -> None:
        """Write what is held, byte for byte."""
        self.spool.seek(0)
        shutil.copyfileobj(self.spool, out)

    @property
    def is_read_whole(self) -> bool:
        """Whether `text` is all of it."""
        return self.size <= READ_BYTES and self.spool_bytes == self.size

    def text(self) -> str:
        """The output as text; of a very long one both ends. What is not UTF-8 is replaced."""
        self.spool.seek(0)
        if self.spool_bytes <= READ_BYTES:
            return self.spool.read().decode("utf-8", "replace")
        half = READ_BYTES // 2
        head = self.spool.read(half)
        self.spool.seek(self.spool_bytes - half)
        tail = self.spool.read()
        end, start = head.rfind(b"\n", half // 2), tail.find(b"\n", 0, half // 2) + 1  # a longer line is cut
        return b"\n".join((head[:end] if end > 0 else head, tail[start:])).decode("utf-8", "replace")


def run(command: Sequence[str], output: Output) -> int:
    """Run a command to its end, and take its output; its exit status, 128 and the signal for one that ended
    it. On a terminal a line says from its first second on how far it is and what it printed last, so that a
    question it asks is seen. Raises OSError where it cannot be started."""
    program = (shutil.which(command[0]) if os.name == "nt" else None) or command[0]  # npm is npm.cmd there
    is_shown = sys.stderr is not None and sys.stderr.isatty()
    drawn_at = began = time.monotonic()
    ended = 0.0
    with _signals_for() as (started, signals):
        process = subprocess.Popen(
            [program, *command[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0
        )
        started.append(process)
        assert process.stdout is not None
        reader = threading.Thread(target=output.take, args=(process.stdout,), daemon=True)
        reader.start()
        while reader.is_alive():
            reader.join(STEP_SECONDS)
            now = time.monotonic()
            if is_shown and not output.passed and now - drawn_at >= PROGRESS_SECONDS:
                drawn_at = now
                _draw(f"{now - began:.0f} s, {output.lines:,} lines: {output.last_line}")
            output.check_reader()
            ended = ended or (now if process.poll() is not None else 0.0)
            if ended and now - (ended if signals else max(ended, output.last_at)) > SILENT_SECONDS:
                output.end()
                cause = f"{command[0]} left a process behind"
                output.problem = f"{cause}; what it prints from now on is not shown"
                break
        status = process.wait()
    if drawn_at > began:
        _draw("")
    return 128 - status if status < 0 else status


def _draw(line: str) -> None:
    """Put a line in place of the one on the terminal."""
    stream = bare(sys.stderr)
    stream.write(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")
    stream.flush()


@contextmanager
def _signals_for() -> Iterator[tuple[list[subprocess.Popen[bytes]], list[int]]]:
    """Within it what would end us is told to the processes of the first list instead: the end is theirs. The
    second has what came."""
    started, signals = list[subprocess.Popen[bytes]](), list[int]()

    def hand_on(number: int, _frame: FrameType | None) -> None:
        signals.append(number)
        if os.name == "nt" or (number == signal.SIGINT and _is_in_foreground()):
            return  # the terminal has told the child too
        for process in started:
            with suppress(OSError):
                process.send_signal(number)

    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {one: handler for one in numbers if (handler := signal.getsignal(one)) is not signal.SIG_IGN}
    for one in before:
        signal.signal(one, hand_on)
    try:
        yield started, signals
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _is_in_foreground() -> bool:
    """Whether Ctrl-C at the terminal goes to us, and so to the child, which is of our group."""
    if sys.platform == "win32":
        return True
    try:
        with open("/dev/tty", "rb") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False
