"""The archive as lines of JSON, where SQLite cannot write: what is said goes to the end of a file.

Each process appends to a file of its own, so that nothing has to be locked, and a line is on the disk (fsync)
before its write counts as done. Each line begins with a check sum. What a process left behind is taken in by
the next one that opens the archive."""

from __future__ import annotations

import contextlib
import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from aider_gardener import files
from aider_gardener.archive.store import location, sessions
from aider_gardener.archive.store.records import (
    FORGET,
    FORGET_SESSION,
    FORMAT,
    Record,
    as_json,
)
from aider_gardener.phrases import counted

NAME = re.compile(re.escape(location.FILE_NAME) + r"\.lines-[0-9a-f]{32}\.jsonl\Z")
CLOSED = "closed"
HEAD, SUM_BYTES = b'{"sum":"', 16
QUIET_SECONDS = 24 * 3_600.0
"""A file of another machine counts as left behind when nothing was written to it for so long."""

CUT_OFF = "the last line of {name} was cut off as it was written and is left out"
UNREADABLE = "{name}: left out, for not being what was written: {lines}"
ASIDE = "{name} was set aside as {aside}"
STRANGERS = "{names} are none that this version wrote for you: they are left alone"
IN_USE = "a running chat still holds it in {names}: it goes when that ends"


class Lines(ABC):
    """Where the records of an archive are kept that is held in memory: in a `directory` or elsewhere, at a
    `place` that is named to people.

    `fault` is why the last ones are not kept yet, "" if they are: they come with the next. `problems` are
    lines for the user, of those that were read last."""

    fault = ""
    directory: Path | None = None
    problems: Sequence[str] = ()

    @property
    @abstractmethod
    def place(self) -> str: ...

    @abstractmethod
    def read(self) -> list[Record]:
        """All records that are kept there, by other processes too, in the order in which they were written.
        Raises StoreError."""

    @abstractmethod
    def append(self, record: Record) -> None:
        """Keep a record: it outlives the process when this returns without a fault. Raises StoreError if it
        cannot be kept at all."""

    def admitted(self, records: Iterable[Record]) -> Iterable[Record]:
        """What of another archive's records may be kept here."""
        return records

    @abstractmethod
    def replace(self, records: Iterable[Record]) -> list[str]:
        """Put other records in place of all, so that nothing else is left; returns lines for the user. Raises
        OSError or StoreError."""

    def close(self) -> None:  # noqa: B027  # reason: what keeps nothing open has nothing to do
        """Leave them to whoever comes next."""


@dataclass
class LinesFile:
    """A file as it was read: `size` bytes of it; its process may still be at it (`is_alive`).
    `problems` are lines for the user; with `unreadable` there is something in it that must not be deleted."""

    path: Path
    size: int
    is_alive: bool
    records: list[Record] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unreadable: int = 0


class FoundLines(NamedTuple):
    """The files of lines in a directory: those of the archive, and a line for what was left alone."""

    files: tuple[LinesFile, ...] = ()
    refused: str = ""

    @property
    def problems(self) -> list[str]:
        """What is wrong with them, one line each."""
        found = [each for file in self.files for each in file.problems]
        return [*found, self.refused] if self.refused else found

    @property
    def records(self) -> list[Record]:
        """All records in the order in which they were written; at one moment, what is said comes before what
        is forgotten. Within a file the order of the lines counts, whatever the clock said."""
        found = []
        for file in self.files:
            last = (0.0, False)
            for record in file.records:
                last = max(last, (record["written_at"], record["kind"] in (FORGET, FORGET_SESSION)))
                found.append((last, record))
        return [record for _, record in sorted(found, key=itemgetter(0))]


def names(directory: Path) -> list[str]:
    """The names of the files of lines in a directory, whoever made them."""
    return location.names_in(directory, NAME)


def read(directory: Path, now: float) -> FoundLines:
    """Read the files of lines of a directory that are the user's; nothing is changed."""
    found, strangers = [], []
    for name in names(directory):
        try:
            found.append(_read_file(directory / name, now))
        except FileNotFoundError:  # taken in by another process meanwhile
            continue
        except (OSError, ValueError, KeyError, TypeError):
            strangers.append(name)
    return FoundLines(tuple(found), STRANGERS.format(names=", ".join(strangers)) if strangers else "")


def _read_file(path: Path, now: float) -> LinesFile:
    """Read one file. Raises OSError or ValueError for another's and for what is none of this version."""
    with files.open_plain(path) as source:
        status = os.fstat(source.fileno())
        if location.is_anothers(status):
            raise OSError("another user's")
        head = source.readline(files.SMALL_BYTES)
        first = _unframed(head[:-1], path) if head.endswith(b"\n") else None
        if first is None or first["kind"] != "meta" or first["format"] != FORMAT:
            raise ValueError("no first line of this version")
        if first["host"] == sessions.this_host():
            is_alive = sessions.is_running(int(first["pid"]), str(first["started"]))
        else:
            is_alive = now - status.st_mtime < QUIET_SECONDS
        file, is_cut = LinesFile(path, len(head), is_alive), False
        for line in files.lines(source):
            file.size += len(line)
            is_cut = not line.endswith(b"\n")
            if is_cut:
                continue
            record = _unframed(line[:-1], path)
            if record is None:
                file.unreadable += 1
            elif record["kind"] == CLOSED:
                file.is_alive = False
            else:
                file.records.append({**record, "written_at": float(record["written_at"])})
    if is_cut and not file.is_alive:
        file.problems.append(CUT_OFF.format(name=path.name))
    if file.unreadable:
        file.problems.append(UNREADABLE.format(name=path.name, lines=counted(file.unreadable, "line")))
    return file


def _framed(record: Record, path: Path) -> bytes:
    """A record as a line with its check."""
    body = as_json(record)[1:]
    return HEAD + _sum(body, path) + b'",' + body + b"\n"


def _unframed(raw: bytes, path: Path) -> Record | None:
    """The record of a line, None for one that is not as it was written to this file."""
    start = len(HEAD) + 2 * SUM_BYTES
    body = raw[start + 2 :]
    if raw[: len(HEAD)] != HEAD or raw[len(HEAD) : start] != _sum(body, path):
        return None
    found = json.loads(b"{" + body)
    return found if isinstance(found, dict) and isinstance(found.get("kind"), str) else None


def _sum(body: bytes, path: Path) -> bytes:
    import hashlib  # late: as in messages

    digest = hashlib.blake2b(path.name.encode() + b"\0" + body, digest_size=SUM_BYTES)
    return digest.hexdigest().encode()


def dismiss(file: LinesFile, *, whole: bool) -> list[str]:
    """Remove a file whose records are in the archive, unless more was written to it since; one of which not
    all could be taken (not `whole`, or some unreadable) is set aside. Returns lines for the user."""
    try:
        if file.path.stat().st_size != file.size:
            return []
        if whole and not file.unreadable:
            files.erase(file.path)
            return []
        aside = file.path.with_name(
            file.path.name.replace(".lines-", ".damaged-lines-").removesuffix(".jsonl")
        )
        os.replace(file.path, aside)
    except OSError:
        return []
    return [ASIDE.format(name=file.path.name, aside=aside.name)]


class FileLines(Lines):
    """The lines of one process, begun when the first record comes. What the disk does not take is kept in
    memory and comes with the next record, in a new file; without a `directory` all is. See `Lines`."""

    def __init__(self, directory: Path | None, clock: Callable[[], float]) -> None:
        self.path: Path | None = None
        self.directory = directory
        self._clock = clock
        self._handle = -1
        self.records: list[Record] = []  # all that were appended; after a fault not all are on the disk
        self.found = FoundLines()

    @property
    def place(self) -> str:
        return str(self.path or self.directory or "")

    def read(self) -> list[Record]:
        if self.directory is not None:
            self.found = read(self.directory, self._clock())
        self.problems = self.found.problems
        return self.found.records

    def append(self, record: Record) -> None:
        self.records.append(self._stamped(record))
        if self.directory is None:
            return
        try:
            if self._handle >= 0 and location.identity(self._handle) != location.identity(
                self.path or Path()
            ):
                self._close()
                self.path = None  # taken away: its process is thought to have ended
            if self._handle < 0:
                self.begin(self.records)
            else:
                self._write(self.records[-1])
        except OSError as error:
            self._close()
            self.fault = error.strerror or str(error)
        else:
            self.fault = ""

    def replace(self, records: Iterable[Record]) -> list[str]:
        own, self.records = self.path, [self._stamped(record) for record in records]
        self.begin(self.records)
        return [line for file in self.found.files if file.path != own for line in dismiss(file, whole=True)]

    def remove(self) -> None:
        """Close and remove the file: all of it is in the archive, or there is nothing in it."""
        self._close()
        self.records, self.fault = [], ""
        if self.path is not None:
            with contextlib.suppress(OSError):
                files.erase(self.path)
        self.path = None

    def close(self) -> None:
        if self.records and self.directory is not None:
            with contextlib.suppress(OSError):
                if self._handle < 0:
                    self.begin(self.records)
                self._write({"kind": CLOSED})
            self.path = None
        self.remove()

    def begin(self, records: Iterable[Record] = ()) -> None:
        """Make a new file with some records: whole, then under its name; the one before it goes, which may be
        torn. Raises OSError."""
        self._close()
        assert self.directory is not None
        former, path = self.path, self.directory / f"{location.FILE_NAME}.lines-{os.urandom(16).hex()}.jsonl"
        meta = {"kind": "meta", "format": FORMAT, **sessions.this_process()._asdict()}
        files.put(path, (_framed(each, path) for each in chain([meta], records)))
        files.synced(self.directory)
        flags = os.O_WRONLY | os.O_APPEND | files.NO_LINK | getattr(os, "O_CLOEXEC", 0)
        self._handle, self.path = os.open(path, flags | getattr(os, "O_BINARY", 0)), path
        if former is not None:
            with contextlib.suppress(OSError):
                files.erase(former)

    def _stamped(self, record: Record) -> Record:
        """A record with when it was written."""
        return {"written_at": self._clock(), **record}

    def _write(self, record: Record) -> None:
        """Bring a line to the disk."""
        data = _framed(record, self.path or Path())
        while data:
            data = data[os.write(self._handle, data) :]
        os.fsync(self._handle)

    def _close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
