"""What `gardener run` and `gardener compress` share: bytes to a standard output that may be closed, and
counts of tokens that take no longer than the work."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from aider_gardener.errors import StoreError
from aider_gardener.messages import TokenCounter
from aider_gardener.terminal import VisibleBytes
from aider_gardener.tokens import approximate, counter_name, default_counter

BINARY_HEAD_BYTES = 8_000
ESTIMATED_CHARS = 20_000
"""Up to this size tokens are estimated where nobody asks for them: the encoding takes longer to load than the
text to be made short."""


def is_binary(head: bytes) -> bool:
    """Whether what begins so is no text: a zero byte near its beginning tells, as for git."""
    return b"\0" in head[:BINARY_HEAD_BYTES]


def affordable_counter(text: str) -> TokenCounter:
    """What counts while a text is made short."""
    return approximate if len(text) <= ESTIMATED_CHARS else default_counter()


def figures(before: str, after: str, count: TokenCounter | None = None) -> dict[str, Any]:
    """How many tokens two texts have, and how they were counted: exactly, where no `count` is given."""
    count = count or (default_counter() if before else approximate)
    tokens = count(before)
    return {
        "tokens_before": tokens,
        "tokens_after": tokens if before == after else count(after),
        "counter": counter_name(count),
    }


@contextmanager
def printing() -> Iterator[BinaryIO]:
    """A context that gives standard output. That nobody reads it ends the printing and nothing else.

    Raises StoreError where it cannot be written for another reason.
    """
    try:
        stdout = standard_output()
        yield stdout
        stdout.flush()
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EINVAL):  # the second is Windows'
            raise StoreError(f"standard output cannot be written ({error.strerror})") from error
        nobody_reads()


def standard_output() -> BinaryIO:
    """Standard output, for bytes: as they are into a pipe or a file, visible on a terminal."""
    sys.stdout.flush()
    return cast("BinaryIO", VisibleBytes()) if sys.stdout.isatty() else sys.stdout.buffer


def nobody_reads() -> None:
    """What is left in standard output goes nowhere: at the end of the process it would be an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.buffer.fileno())


def put_bytes(data: bytes) -> None:
    """Print bytes as they are, on a terminal visible."""
    with printing() as stdout:
        stdout.write(data)
