"""What commands share that print a text: bytes to a standard output that may be closed, counts of tokens, how
far a work is."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any, BinaryIO, cast

import click

from aider_gardener.messages import TokenCounter
from aider_gardener.terminal import VisibleBytes, bare
from aider_gardener.tokens import ENCODING, ESTIMATE, approximate

BINARY_HEAD_BYTES = 8_000


def is_binary(head: bytes) -> bool:
    """Whether what begins so is no text: a zero byte near its beginning tells, as for git."""
    return b"\0" in head[:BINARY_HEAD_BYTES]


def figures(before: str, after: str, count: TokenCounter) -> dict[str, Any]:
    """How many tokens two texts have, and how they were counted."""
    tokens = count(before)
    return {
        "tokens_before": tokens,
        "tokens_after": tokens if before == after else count(after),
        "counter": ESTIMATE if count is approximate else ENCODING,
    }


def progress_bar(length: int, label: str, *, by_time: bool = True) -> Any:
    """A context with `update`, which shows on a terminal's standard error how far a work is: the time that is
    left, or how many are done."""
    shown = bare(sys.stderr) if sys.stderr.isatty() else StringIO()
    return click.progressbar(length=length, label=label, file=shown, show_eta=by_time, show_pos=not by_time)


@contextmanager
def printing() -> Iterator[BinaryIO]:
    """A context that gives standard output. That nobody reads it ends the printing and nothing else. Raises
    OSError where it cannot be written for another reason."""
    try:
        stdout = standard_output()
        yield stdout
        stdout.flush()
    except OSError as error:
        if not is_unread(error):
            raise
        nobody_reads()


def is_unread(error: OSError) -> bool:
    """Whether what could not be printed has nobody who reads it."""
    return error.errno in (errno.EPIPE, errno.EINVAL)  # the second is Windows'


def standard_output() -> BinaryIO:
    """Standard output, for bytes: as they are into a pipe or a file, visible on a terminal."""
    sys.stdout.flush()
    return cast("BinaryIO", VisibleBytes()) if sys.stdout.isatty() else sys.stdout.buffer


def nobody_reads() -> None:
    """What is left in standard output goes nowhere: at the end of the process it would be an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.buffer.fileno())


def put_bytes(data: bytes) -> None:
    """Print bytes as they are, on a terminal visible and with a line's end."""
    end = b"\n" if data and sys.stdout.isatty() and not data.endswith(b"\n") else b""
    with printing() as stdout:
        stdout.write(data + end)
