"""Where the whole of an output is that was printed in short: an entry of the project's archive, or a file
that only its owner may read. Neither has the secrets of the output in it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from aider_gardener import files
from aider_gardener.cli.child import Output
from aider_gardener.cli.root import archive_directory, open_archive, tell, working_project
from aider_gardener.errors import GardenerError, StoreError, UsageError

PIECE_BYTES = 4_000_000
"""Secrets are looked for in so much of a text at once."""


def keep(output: Output, text: str, command: str) -> str:
    """Keep a whole output, of which `text` is what was read; how to get at it, "" where it could not be kept.

    It goes into the archive of the project where there is one and it is no longer than what is read, else
    into a temporary file; but not beside an archive that its owner had encrypted.
    """
    try:
        directory: Path | None = archive_directory()[0]
    except GardenerError:
        directory = None
    if directory and text and output.is_read_whole:
        try:
            return f"gardener restore {_archived(text, command)}"
        except (GardenerError, OSError) as problem:
            tell(str(problem))
    return "" if directory and _is_encrypted(directory) else _in_temporary_file(output)


def _archived(text: str, command: str) -> str:
    """Store an output in the project's archive; the id of its entry."""
    from aider_gardener.archive.archive import Archive
    from aider_gardener.archive.sessions import RUNS
    from aider_gardener.compress.shorten import source_of
    from aider_gardener.messages import Message
    from aider_gardener.tokens import default_counter

    store = open_archive()
    if not store.persistent:
        raise StoreError("the archive cannot be written; the whole is kept elsewhere")
    archive = Archive(
        store,
        session=RUNS + secrets.token_hex(8),
        project=str(working_project()),
        count=default_counter(),
        clock=time.time,
        host="gardener run",
        hold=False,
    )
    source = source_of(text, command)
    return archive.log(Message("user", text), turn=1, seq=1, source=source, at=time.time()).id


def _is_encrypted(directory: Path) -> bool:
    from aider_gardener.archive.store.location import MARKER_NAME

    return (directory / MARKER_NAME).exists()


def _in_temporary_file(output: Output) -> str:
    from tempfile import mkstemp

    with suppress(OSError):
        handle, name = mkstemp(prefix="gardener-", suffix=".bin" if output.binary else ".txt")
        with open(handle, "wb") as file:
            _write_clean(output, file)
        return name
    return ""


def new_file(path: Path) -> IO[bytes]:
    """The file that the user named for the whole, begun before the command is, so that what is wrong with it
    is told first. Raises UsageError."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise UsageError(f"{path} is no plain file; name another for --out")
    try:
        path.unlink(missing_ok=True)
        return files.open_private(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}); name another for --out") from None


def write(output: Output, file: IO[bytes]) -> None:
    """Write the whole to the file that the user named."""
    try:
        with file:
            _write_clean(output, file)
    except OSError as error:
        tell(f"{file.name} holds only a part ({error.strerror})")


def _write_clean(output: Output, file: IO[bytes]) -> None:
    if output.binary:
        output.copy_to(file)
        return
    from aider_gardener.archive.store.redact import Redactor

    redact = Redactor()
    for piece in _pieces(output.held):
        file.write(redact(piece.decode("utf-8", "replace")).text.encode("utf-8", "replace"))


def _pieces(held: IO[bytes]) -> Iterator[bytes]:
    """A text in pieces of whole lines, which part no private key."""
    from aider_gardener.archive.store.secrets import KEY_CHARS

    held.seek(0)
    rest = b""
    while chunk := held.read(PIECE_BYTES):
        data = rest + chunk
        end = data.rfind(b"\n") + 1 or len(data)
        key = data.rfind(b"-----BEGIN ", max(0, end - KEY_CHARS), end)
        end = key if key >= 0 and data.find(b"-----END ", key, end) < 0 else end
        yield data[:end]
        rest = data[end:]
    yield rest
