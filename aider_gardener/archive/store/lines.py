"""The archive as lines of JSON: what is said goes to the end of a file where SQLite cannot write.

Each process appends to a file of its own, so that nothing has to be locked, and a line is on the disk (fsync)
before its write counts as done. A file begins with who writes it and a signature as archives have one; every
line has a check sum. What is forgotten is taken out by writing the file anew and putting that in its place.
"""

from __future__ import annotations

import contextlib
import hashlib
import heapq
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from aider_gardener.archive.store import files, location, ownership, sessions
from aider_gardener.archive.store.entries import Place
from aider_gardener.archive.store.records import FORGET, FORGET_SESSION, Numbered, Record, without_forgotten
from aider_gardener.archive.store.sessions import Owner

FORMAT = 1
NAME = re.compile(re.escape(location.FILE_NAME) + r"\.lines-([0-9a-f]{32})\.jsonl")
PART_ENDING = ".part"
CLOSED = "closed"
HEAD, SUM_HEX = b'{"sum":"', 16
PART_SECONDS = 3_600.0
QUIET_SECONDS = 24 * 3_600.0
"""A file of another machine counts as left behind when nothing was written to it for so long."""

CUT_OFF = "the last line of {name} was cut off as it was written and is left out"
UNREADABLE = "{name}: {count} lines are not what was written and are left out"
ASIDE = "{name} was set aside as {aside}"
STRANGERS = "{names} were not made by you on this machine: they are left alone"
NEWER = "{name} was written by a newer aider-gardener: it is left alone; upgrade to read it"


class ArchiveLine(NamedTuple):
    """A record of a file, and when it was written, in seconds since the epoch; never before the one above."""

    numbered: Numbered
    at: float

    @property
    def place(self) -> Place:
        """The file that the record was first written to, and its number in that."""
        return (self.numbered.file, self.numbered.number)

    @property
    def order(self) -> tuple[float, bool]:
        """Sorts lines of several files: at one moment, what is said comes before what is forgotten."""
        return (self.at, self.numbered.record["kind"] in (FORGET, FORGET_SESSION))


@dataclass
class LinesFile:
    """A file of lines as it was read: `size` bytes of it, by its owner, who may still be at it (`is_alive`).

    `problems` are lines for the user; with `unreadable` there is something in it that must not be deleted.
    """

    path: Path
    token: str
    owner: Owner
    size: int
    is_alive: bool
    lines: list[ArchiveLine] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unreadable: int = 0


@dataclass(frozen=True)
class FoundLines:
    """The files of lines in a directory: those of this user, and a line for what was left alone."""

    files: tuple[LinesFile, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def problems(self) -> list[str]:
        """What is wrong with them, one line each."""
        return [*(each for file in self.files for each in file.problems), *self.refused]

    @property
    def left_behind(self) -> list[LinesFile]:
        """Those to which nobody writes any more."""
        return [file for file in self.files if not file.is_alive]

    def records(self) -> list[Numbered]:
        """All records in the order in which they were written, each with its process if that still runs."""
        streams = [[(line, file) for line in file.lines] for file in self.files]
        merged = heapq.merge(*map(_ordered, streams), key=lambda each: each[0])
        return [
            line.numbered._replace(owner=file.owner if file.is_alive else None) for _, (line, file) in merged
        ]


Ordered = tuple[tuple[float, bool], tuple[ArchiveLine, LinesFile]]


def _ordered(stream: list[tuple[ArchiveLine, LinesFile]]) -> Iterator[Ordered]:
    """The lines of one file with keys that never fall: within a file the order of the lines counts."""
    last = (0.0, False)
    for each in stream:
        last = max(last, each[0].order)
        yield last, each


def path_of(directory: Path, token: str) -> Path:
    """Where the file of a token lies."""
    return directory / f"{location.FILE_NAME}.lines-{token}.jsonl"


def names(directory: Path) -> list[str]:
    """The names of the files of lines in a directory, whoever made them."""
    try:
        return sorted(name for name in os.listdir(directory) if NAME.fullmatch(name))
    except OSError:
        return []


def read(directory: Path, key: bytes | None, now: float) -> FoundLines:
    """Read the files of lines of a directory that this user made; nothing is changed.

    `key` is this user's, None where there is none: then only their owner in the file system is looked at.
    """
    found, strangers, refused = [], [], []
    for name in names(directory):
        path = directory / name
        try:
            file = read_file(path, key, now)
        except FileNotFoundError:  # taken in by another process meanwhile
            continue
        except _Newer:
            refused.append(NEWER.format(name=name))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            strangers.append(name)
        else:
            found.append(file)
    if strangers:
        refused.append(STRANGERS.format(names=", ".join(strangers)))
    return FoundLines(tuple(found), tuple(refused))


class _Newer(Exception):
    """A file of a format that is not known yet."""


def read_file(path: Path, key: bytes | None, now: float) -> LinesFile:
    """Read one file. Raises OSError or ValueError for one that this user did not make."""
    with files.open_plain(path, location.LARGEST_BYTES) as source:
        status = os.fstat(source.fileno())
        if os.name == "posix" and status.st_uid != os.geteuid():
            raise OSError("another user's")
        raw = source.read()
    *whole, rest = raw.split(b"\n")
    first = unframed(whole[0]) if whole else None
    if first is None or first["kind"] != "meta":
        raise ValueError("no first line")
    if first["format"] > FORMAT:
        raise _Newer
    token = str(first["token"])
    is_own = path == path_of(path.parent, token)
    if not is_own or (
        key is not None and not ownership.is_signature(first["owner"].encode(), token.encode(), key)
    ):
        raise ValueError("another user's")
    owner = Owner(str(first["host"]), int(first["pid"]), str(first["started"]))
    file = LinesFile(path, token, owner, len(raw), is_alive=_is_alive(owner, now - status.st_mtime))
    for line in map(unframed, filter(None, whole[1:])):
        take_line(file, line)
    if rest and not file.is_alive:
        file.problems.append(CUT_OFF.format(name=path.name))
    if file.unreadable:
        file.problems.append(UNREADABLE.format(name=path.name, count=file.unreadable))
    return file


def take_line(file: LinesFile, line: Record | None) -> None:
    """Add a record to those of its file; None is one that could not be read."""
    if line is None:
        file.unreadable += 1
    elif line["kind"] == CLOSED:
        file.is_alive = False
    else:
        own, number, at = line.pop("of", file.token), int(line.pop("n")), float(line.pop("written_at"))
        file.lines.append(ArchiveLine(Numbered(own, number, line), at))


def _is_alive(owner: Owner, silent_seconds: float) -> bool:
    if owner.host != sessions.this_host():
        return silent_seconds < QUIET_SECONDS
    return sessions.is_running(owner.pid, owner.started)


def framed(record: Record) -> bytes:
    """A record as a line with its check sum. Texts stay as they are, lone surrogates and all."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), default=str)
    body = text.encode("utf-8", "surrogatepass")[1:]
    return HEAD + _sum_of(body) + b'",' + body + b"\n"


def unframed(raw: bytes) -> Record | None:
    """The record of a line, None for one that is not as it was written."""
    start = len(HEAD) + SUM_HEX
    body = raw[start + 2 :]
    if raw[: len(HEAD)] != HEAD or raw[len(HEAD) : start] != _sum_of(body):
        return None
    found = json.loads("{" + body.decode("utf-8", "surrogatepass"))
    return found if isinstance(found, dict) else None


def _sum_of(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=SUM_HEX // 2).hexdigest().encode()


def rewrite(file: LinesFile, changed: Mapping[Place, Record | None]) -> None:
    """Write a file anew with other records in the places named, or none. Raises OSError.

    The new one takes the place of the old one in one step, and the old bytes are overwritten.
    """
    kept = []
    for line in file.lines:
        record = changed.get(line.place, line.numbered.record)
        if record is not None:
            kept.append(ArchiveLine(line.numbered._replace(record=record), line.at))
    part = file.path.with_name(file.path.name + PART_ENDING)
    with contextlib.suppress(FileNotFoundError):
        part.unlink()
    with files.open_plain(file.path, location.LARGEST_BYTES) as source:
        meta = source.readline()
    try:
        write_new(part, meta, kept, file.token)
        with files.overwritten(file.path):
            os.replace(part, file.path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    files.synced(file.path.parent)
    file.lines = kept


def clean(found: FoundLines, own: str = "", *, last: Record | None = None) -> list[str]:
    """Take what the lines, or a `last` record behind them, forget out of the files that were left behind and
    the own one, named by its token.

    Returns the names of those that other processes write, and that hold something of it. Raises OSError.
    """
    records = found.records()
    left = without_forgotten([*(each.record for each in records), *([last] if last else [])])
    changed = {
        (each.file, each.number): record
        for each, record in zip(records, left, strict=False)
        if record != each.record
    }
    in_use = []
    for file in found.files:
        if changed.keys().isdisjoint(line.place for line in file.lines):
            continue
        if file.is_alive and file.token != own:
            in_use.append(file.path.name)
        else:
            rewrite(file, changed)
    return in_use


def dismiss(file: LinesFile, *, whole: bool) -> list[str]:
    """Remove a file whose lines are in the archive, unless more was written to it since; one of which not all
    could be taken (not `whole`, or some unreadable) is set aside. Returns lines for the user."""
    try:
        if file.path.stat().st_size != file.size:
            return []
        if whole and not file.unreadable:
            files.erase(file.path)
            return []
        aside = file.path.with_name(f"{location.FILE_NAME}.damaged-lines-{file.token}")
        os.replace(file.path, aside)
    except OSError:
        return []
    return [ASIDE.format(name=file.path.name, aside=aside.name)]


def clear_parts(directory: Path, now: float) -> None:
    """Remove what was left of files that a process was writing as it ended."""
    with contextlib.suppress(OSError):
        for path in directory.glob(f"{location.FILE_NAME}.lines-*{PART_ENDING}"):
            if now - path.lstat().st_mtime > PART_SECONDS:
                path.unlink()


def write_new(path: Path, meta: bytes, lines: Sequence[ArchiveLine], token: str) -> None:
    """Write a file of lines under a name that is free. Raises OSError."""
    with location.open_private(path) as handle, open(handle.fileno(), "wb", closefd=False) as out:
        out.write(meta)
        for line in lines:
            own, number, record, _ = line.numbered
            head = {"n": number, "written_at": line.at} | ({"of": own} if own != token else {})
            out.write(framed({**head, **record}))
        out.flush()
        os.fsync(out.fileno())
