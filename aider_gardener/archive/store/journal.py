"""What a process writes as lines: all of its chat where there is no database, else what waits for one.

The file is begun when it is first needed and removed when the archive holds what is in it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from aider_gardener.archive.store import files, lines, ownership, sessions
from aider_gardener.archive.store.entries import NOWHERE, Place
from aider_gardener.archive.store.records import FORGET, FORGET_SESSION, Record
from aider_gardener.archive.store.transfer import Leaving

MOST_FILES = 16
"""Where more were left behind, the next process that writes lines puts them into its own file."""


class Journal:
    """The file to which this process appends. `number` is that of the last record in it.

    A write that fails raises OSError; what it left of a line is cut off, or told from the next one.
    """

    def __init__(self, directory: Path, key: bytes | None, *, clock: Callable[[], float] = time.time) -> None:
        self.directory = directory
        self._key = key
        self._clock = clock
        self._handle = -1
        self._lock = threading.RLock()
        self._begin()

    def _begin(self, carried: Sequence[lines.ArchiveLine] = ()) -> None:
        """Make a new file: whole, then under its name. Raises OSError."""
        self.token = secrets.token_hex(16)
        self.path = lines.path_of(self.directory, self.token)
        self.number = 0
        self.is_empty = not carried
        self._is_torn = False
        part = self.path.with_name(self.path.name + lines.PART_ENDING)
        try:
            lines.write_new(part, self._meta(), carried, self.token)
            os.replace(part, self.path)
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink()
            raise
        files.synced(self.directory)
        self._open()

    def _open(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        flags = os.O_WRONLY | os.O_APPEND | files.NO_LINK | getattr(os, "O_CLOEXEC", 0)
        self._handle = os.open(self.path, flags | getattr(os, "O_BINARY", 0))

    def _meta(self) -> bytes:
        owner = ownership.signature(self.token.encode(), self._key).decode() if self._key else ""
        meta = {"kind": "meta", "format": lines.FORMAT, "token": self.token, "owner": owner}
        return lines.framed({**meta, **sessions.this_process()._asdict()})

    def append(self, record: Record) -> Place:
        """Bring a record to the disk; returns where it stands. Raises OSError."""
        with self._lock:
            if not self._is_in_place():  # taken away while this process was thought to have ended
                self._begin()
            self._write({"n": self.number + 1, "written_at": self._clock(), **record})
            self.number += 1
            self.is_empty = False
            return self.token, self.number

    def _is_in_place(self) -> bool:
        try:
            there, own = os.stat(self.path), os.fstat(self._handle)
        except OSError:
            return False
        return (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino)

    def _write(self, record: Record) -> None:
        data = (b"\n" if self._is_torn else b"") + lines.framed(record)
        size = os.fstat(self._handle).st_size
        try:
            written = 0
            while written < len(data):
                written += os.write(self._handle, data[written:])
            os.fsync(self._handle)
        except OSError:
            self._is_torn = True
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, size)
                self._is_torn = False
            raise
        self._is_torn = False

    def forget(self) -> list[str]:
        """Take what the lines forget out of this file and those that were left behind; see `lines.clean`."""
        with self._lock:
            in_use = lines.clean(lines.read(self.directory, self._key, self._clock()), self.token)
            self._open()
        return in_use

    def take_over(self, left: Sequence[lines.LinesFile]) -> None:
        """Begin with the lines of files that were left behind, which are removed then. Raises OSError.

        Whoever is quicker takes them in: each record keeps the file and the number that it had.
        """
        empty = self.path
        self._begin([line for file in left for line in file.lines])
        for each in left:
            if not each.unreadable:
                files.erase(each.path)
        files.erase(empty)

    def remove(self) -> None:
        """Close and remove the file: all of it is in the archive, or there is nothing in it."""
        self._close()
        with contextlib.suppress(OSError):
            files.erase(self.path)

    def close(self) -> None:
        """Close the file for good, so that everybody may take it in; one without a record is removed."""
        if self._handle < 0:
            return
        if self.is_empty:
            self.remove()
            return
        with contextlib.suppress(OSError):
            self._write({"kind": lines.CLOSED})
        self._close()

    def _close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


class JournalLines:
    """The lines of one store. In the tier of lines (`is_tier`) every write goes to them, else those that
    cannot be made; a store in memory that may not write any has no `directory`.

    What not even they can take is kept in memory and comes with the next write. `fault` says why. `leaving`,
    if there is one, says what of an import may go to where they are, and `told` what it left out.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.directory: Path | None = None
        self.is_tier = False
        self.fault = ""
        self.told = ""
        self.leaving: Leaving | None = None
        self._key: bytes | None = None
        self._clock = clock
        self._journal: Journal | None = None
        self._unwritten: list[Record] = []

    def allow(self, directory: Path, key: bytes | None) -> None:
        """Let lines be written to a directory from now on. `key` is this user's."""
        self.directory, self._key = directory, key

    def begin(self) -> None:
        """Be the tier from now on; the file is made at once. Raises OSError."""
        journal, found = self._opened(), self.read()
        if len(found.left_behind) > MOST_FILES:
            journal.take_over(found.left_behind)
        if any(each.record["kind"] in (FORGET, FORGET_SESSION) for each in found.records()):
            journal.forget()
        self.is_tier = True

    def read(self) -> lines.FoundLines:
        """The files of lines in the directory, those of other processes too."""
        if self.directory is None or not lines.names(self.directory):
            return lines.FoundLines()
        return lines.read(self.directory, self._key, self._clock())

    def show(self, directory: Path) -> None:
        """Be the tier of an archive that is only read."""
        self.directory, self.is_tier = directory, True

    @property
    def path(self) -> Path | None:
        """The file of this process, or while it has begun none the directory."""
        return self._journal.path if self._journal else self.directory

    @property
    def shown(self) -> str:
        """Where they are, for people."""
        return str(self.path)

    @property
    def bytes(self) -> int:
        """What all files of lines in the directory take."""
        if self.directory is None:
            return 0
        sizes = 0
        for name in lines.names(self.directory):
            with contextlib.suppress(OSError):
                sizes += (self.directory / name).stat().st_size
        return sizes

    def _opened(self) -> Journal:
        if self._journal is None:
            if self.directory is None:
                raise OSError("there is no directory for lines")
            lines.clear_parts(self.directory, self._clock())
            self._journal = Journal(self.directory, self._key, clock=self._clock)
        return self._journal

    def keep(self, record: Record) -> None:
        """Write a record and what could not be written before it. Never raises: see `fault`."""
        self._unwritten.append(record)
        try:
            self._catch_up()
        except OSError as error:
            self.fault = error.strerror or str(error)
        else:
            self.fault = ""

    def _catch_up(self) -> None:
        while self._unwritten:
            self._opened().append(self._unwritten[0])
            del self._unwritten[0]

    def keep_all(self, record: Record) -> None:
        """Write a record that holds all that the store holds."""
        self.keep(record)

    def place(self, record: Record) -> Place:
        """Write a record that waits for the database; returns where, NOWHERE if that is impossible."""
        try:
            return self._opened().append(record)
        except OSError:
            return NOWHERE

    def forget(self, record: Record) -> list[str]:
        """Take out of all files what a record forgets, and keep that it was forgotten; returns the names of
        those that hold something of it and are in use. Raises OSError."""
        if self._journal is None:
            return lines.clean(self.read(), last=record)
        self.keep(record)
        if self.fault:
            raise OSError(errno.EIO, self.fault)
        return self._journal.forget()

    def settle(self) -> None:
        """The database holds all that waited: remove the lines."""
        if self._journal is not None and not self.is_tier:
            self._journal.remove()
            self._journal = None

    def close(self) -> None:
        """Leave the file to whoever comes next."""
        if self._journal is not None:
            with contextlib.suppress(OSError):
                self._catch_up()
            self._journal.close()
            self._journal = None
