"""Files that are not a database: read only if they are plain and of a bounded size, written whole, erased.

A link, a FIFO, a device, a directory or a socket is refused before a byte of it is read, so that none of them
can hang the reader, fill its memory or bring in what lies elsewhere. A file is read as far as it went when it
was opened: one that grows has an end, and one of /proc that only says it is plain, and would wait, is empty.
What is written is readable by its owner only, and takes its place in one step. A file of the user's is
changed only if it still is what was read, byte for byte, and keeps its mode.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO

from aider_gardener.errors import StoreError, UsageError

SMALL_BYTES = 64 * 1024
"""Room for what is written by this package and read whole: markers, keys, ignore files."""
NAMED_BYTES = 256 * 1024 * 1024
"""Room for a text that a user names to be shortened."""
RECORDING_BYTES = 64 * 1024 * 1024
"""Room for a recorded session, a history or a result."""
LINE_BYTES = 64 * 1024 * 1024
"""A line of an export is no longer."""
PEOPLE_BYTES = 4 * 1024 * 1024
"""A list or page that people keep by hand is no larger."""
ANY_BYTES = 1 << 46
"""More than SQLite's largest file: for what is not read whole."""
BLOCK_BYTES = 1 << 20
LINK = "a symbolic link"
NOT_PLAIN = "not a regular file"
TOO_LARGE = "larger than {limit:,} bytes"
CHANGED = "{path} was changed meanwhile; it was left as it is: try again"


def in_home(path: str | Path) -> Path:
    """A path, with the home that `~` or `~name` before it stands for. Raises UsageError without one."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise UsageError(f"{path} is in a home that is not known here; name it from the root on") from None


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
        return file.read(os.fstat(file.fileno()).st_size)


def read_text(path: Path, limit: int = SMALL_BYTES, *, errors: str = "strict") -> str:
    """The same as text, with one kind of line end. Raises OSError or ValueError."""
    return read(path, limit).decode("utf-8", errors).replace("\r\n", "\n").replace("\r", "\n")


def lines(file: BinaryIO, most: int = LINE_BYTES) -> Iterator[bytes]:
    """The lines of a plain file that is open, with their ends, as far as it goes now; longer ones in pieces
    of `most` bytes."""
    rest_bytes = os.fstat(file.fileno()).st_size - file.tell()
    while rest_bytes > 0 and (line := file.readline(min(most, rest_bytes))):
        rest_bytes -= len(line)
        yield line


def open_plain(path: Path, limit: int = ANY_BYTES, *, follow: bool = False) -> BinaryIO:
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


def check_plain(path: Path, *, follow: bool = False) -> os.stat_result:
    """What the system says of a plain file. Raises OSError like `read` for anything else."""
    if not follow and is_link(path):
        raise refused(path, LINK)
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        raise refused(path, NOT_PLAIN)
    return found


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


def open_private(path: Path) -> IO[bytes]:
    """Open a new file for writing, mode 0600 whatever the umask. Raises FileExistsError when there is one."""

    def create_private(name: str, flags: int) -> int:
        handle = os.open(name, flags, 0o600)
        give_to_owner(handle, path)
        return handle

    return open(path, "xb", opener=create_private)


def give_to_owner(file: int | Path, path: Path) -> None:
    """Let what root has just made at a path, by its handle or name, belong to whoever the folder around it
    belongs to: under sudo and in containers it would lock its user out."""
    if os.name == "posix" and os.geteuid() == 0:
        with contextlib.suppress(OSError):
            around = os.stat(path.parent)
            os.chown(file, around.st_uid, around.st_gid)


def put(
    path: Path, data: Iterable[bytes], *, mode: int = 0o600, check: Callable[[], None] = lambda: None
) -> None:
    """Write a file whole beside `path`, then give it that name; what `check`, called just before, raises
    leaves all as it is. Raises OSError, also for a link or what is no plain file in its place."""
    part = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        with open_private(part) as out:
            out.writelines(data)
            out.flush()
            os.fsync(out.fileno())
        if os.name == "posix":
            os.chmod(part, mode)
        if os.path.lexists(path):
            check_plain(path)
        check()
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def read_bytes(path: Path) -> bytes | None:
    """What stands in a plain file of at most PEOPLE_BYTES, None where there is none. Raises StoreError."""
    try:
        return read(path, PEOPLE_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror})") from error


def write_private(path: Path, text: str, check: Callable[[], None] = lambda: None) -> None:
    """Make a file, or put another in its place, that only its owner may read; `check` as in `put`. Raises
    StoreError."""
    with _failing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, [text.encode("utf-8", "replace")], check=check)


def check_place(path: Path) -> None:
    """Raise StoreError where `write_private` could not make the file; nothing is made."""
    place = next(each for each in path.absolute().parents if each.exists())
    with _failing(path):
        if not place.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(place, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def write_if_unchanged(path: Path, before: bytes | None, after: bytes) -> None:
    """Put other bytes into a file that still holds `before` (None: is not there). It keeps its mode; a new
    one is readable by its owner only. Raises StoreError, and nothing is changed then."""
    with _failing(path):
        mode = 0o600 if before is None else stat.S_IMODE(os.stat(path).st_mode)
        put(path, [after], mode=mode, check=partial(_check_unchanged, path, before))


def remove_if_unchanged(path: Path, expected: bytes) -> None:
    """Remove a file that still holds these bytes. Raises StoreError, and it stays then."""
    with _failing(path):
        _check_unchanged(path, expected)
        path.unlink()


def _check_unchanged(path: Path, expected: bytes | None) -> None:
    if read_bytes(path) != expected:
        raise StoreError(CHANGED.format(path=path))


@contextlib.contextmanager
def _failing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror}); name another file") from error


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
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
