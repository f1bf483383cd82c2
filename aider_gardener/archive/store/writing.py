"""Files for people, put in place in one go: a reader finds the old one or the new one, whole.

What the package makes is readable by its owner only. A file of the user's is changed only if it still is what
was read, byte for byte, and keeps its mode. Links are never followed.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from aider_gardener.archive.store import files
from aider_gardener.archive.store.location import open_private
from aider_gardener.errors import StoreError

PEOPLE_BYTES = 4 * 1024 * 1024
"""A list or page that people keep by hand is no larger."""
_one_at_a_time = threading.Lock()
"""The file beside, which takes the other's place, is named by the process."""
CHANGED = "{path} was changed meanwhile; it was left as it is: try again"


def read_bytes(path: Path) -> bytes | None:
    """What stands in a plain file of at most PEOPLE_BYTES, None where there is none. Raises StoreError."""
    try:
        return files.read(path, PEOPLE_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror})") from error


def write_private(path: Path, text: str, check: Callable[[], None] = lambda: None) -> None:
    """Make a file, or put another in its place, that only its owner may read. `check` is called at the last
    moment; what it raises leaves everything as it is. Raises StoreError."""
    with _failing(path):
        _refuse_others(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        _put(path, text.encode("utf-8", "replace"), 0o600, check)


def write_if_unchanged(path: Path, before: bytes | None, after: bytes) -> None:
    """Put other bytes into a file that still holds `before` (None: is not there). It keeps its mode; a new
    one is readable by its owner only. Raises StoreError, and nothing is changed then."""

    def check() -> None:
        if read_bytes(path) != before:
            raise StoreError(CHANGED.format(path=path))

    with _failing(path):
        _refuse_others(path)
        check()
        mode = 0o600 if before is None else stat.S_IMODE(os.stat(path).st_mode)
        _put(path, after, mode, check)


def remove_if_unchanged(path: Path, held: bytes) -> None:
    """Remove a file that still holds these bytes. Raises StoreError, and it stays then."""
    with _failing(path):
        if read_bytes(path) != held:
            raise StoreError(CHANGED.format(path=path))
        path.unlink()


def _refuse_others(path: Path) -> None:
    """Raise OSError for a link, and for what is there and no plain file."""
    if os.path.lexists(path):
        files.check_plain(path)


def _put(path: Path, data: bytes, mode: int, check: Callable[[], None]) -> None:
    """Write beside the file, then put that in its place; `check` is called at the last moment."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with _one_at_a_time:
        part.unlink(missing_ok=True)
        try:
            with open_private(part) as handle, open(handle.fileno(), "wb", closefd=False) as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            if os.name == "posix":
                os.chmod(part, mode)
            check()
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def _failing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror}); name another file") from error
