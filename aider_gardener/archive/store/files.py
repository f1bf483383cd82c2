"""Files that somebody else may have put there: read only if they are plain files of a bounded size.

A link, a FIFO, a device, a directory or a socket is refused before a byte of it is read, so that none of them
can hang the reader, fill its memory or bring in what lies elsewhere.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

SMALL_BYTES = 64 * 1024
"""Room for what is written by this package and read whole: markers, keys, ignore files."""
RECORDING_BYTES = 1 << 30
"""Room for a recorded session, a history or a result."""
BLOCK_BYTES = 1 << 20
LINK = "a symbolic link"
NOT_PLAIN = "not a regular file"
TOO_LARGE = "larger than {limit:,} bytes"

FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def read(path: Path, limit: int = SMALL_BYTES, *, follow: bool = False) -> bytes:
    """The bytes of a plain file of at most `limit` bytes.

    Raises OSError; its strerror says in a few words what is wrong. `follow` allows a link, for a file that
    the user named.
    """
    with open_plain(path, limit, follow=follow) as file:
        data = file.read(limit + 1)
    if len(data) > limit:  # it grew, or it is one of those that have no size
        raise refused(path, TOO_LARGE.format(limit=limit))
    return data


def read_text(path: Path, limit: int = SMALL_BYTES, *, errors: str = "strict") -> str:
    """The same as text, with one kind of line end. Raises OSError or ValueError."""
    return read(path, limit).decode("utf-8", errors).replace("\r\n", "\n").replace("\r", "\n")


def open_plain(path: Path, limit: int, *, follow: bool = False) -> BinaryIO:
    """A plain file of at most `limit` bytes, open for reading. Raises OSError like `read`."""
    check_plain(path, follow=follow)  # to open some devices is to use them
    handle = os.open(path, FLAGS | (0 if follow else NO_LINK))
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise refused(path, NOT_PLAIN)
        if found.st_size > limit:
            raise refused(path, TOO_LARGE.format(limit=limit))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def check_plain(path: Path, *, follow: bool = False) -> None:
    """Raise OSError like `read` unless a path is a plain file."""
    if not follow and is_link(path):
        raise refused(path, LINK)
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise refused(path, NOT_PLAIN)


def is_link(path: Path) -> bool:
    """Whether a path is a symbolic link, or a junction on Windows."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    attributes = getattr(found, "st_file_attributes", 0)
    reparse = getattr(stat, "FILE_ATTRIBUTE_REPARSE_POINT", 0)
    return stat.S_ISLNK(found.st_mode) or bool(attributes & reparse)


def refused(path: Path, reason: str) -> OSError:
    """The error for a file that is not read."""
    return OSError(errno.EINVAL, reason, str(path))


def erase(path: Path) -> None:
    """Remove a file and overwrite what it held. Raises OSError."""
    with overwritten(path):
        path.unlink()
    synced(path.parent)


@contextlib.contextmanager
def overwritten(path: Path) -> Iterator[None]:
    """Put zeros in place of the bytes of a file, down to the disk, once something else, or nothing, has its
    name."""
    if os.name == "nt":  # a file that is open can be neither replaced nor removed there
        yield
        return
    old = os.open(path, os.O_RDWR | NO_LINK | getattr(os, "O_CLOEXEC", 0))
    try:
        yield
        with contextlib.suppress(OSError):
            size = os.fstat(old).st_size
            for at in range(0, size, BLOCK_BYTES):
                os.pwrite(old, bytes(min(BLOCK_BYTES, size - at)), at)
            os.fsync(old)
    finally:
        os.close(old)


def synced(path: Path) -> None:
    """Bring a file, or a directory's names, to the disk where the system can."""
    try:
        handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    except OSError:
        return
    try:
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)
