"""An archive kept whole on a server: its lines as rows that nobody but the role that wrote them may read.

Sharing sends what is said as it is said; this keeps an archive with views, marks and all, to take it to
another machine or to have it twice. What may not leave the machine is left out.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.archive.sessions import SHARED
from aider_gardener.archive.shared import schema, server, sharing
from aider_gardener.archive.store import lines, shares, tiers
from aider_gardener.archive.store.database import Database
from aider_gardener.archive.store.entries import Place
from aider_gardener.archive.store.journal import JournalLines
from aider_gardener.archive.store.lines import FoundLines, LinesFile
from aider_gardener.archive.store.records import SAID, Record, without, without_forgotten
from aider_gardener.archive.store.sessions import Owner
from aider_gardener.archive.store.sqlite import SqliteStore
from aider_gardener.archive.store.tiers import Copied
from aider_gardener.archive.store.transfer import Line
from aider_gardener.errors import StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aider_gardener.archive.shared.server import Connection

SCHEMES = ("postgresql://", "postgres://")
NAME = "archive"
"""What an archive is called on a server if its address says nothing."""
LOCK = schema.LOCK + 1
"""With an archive's number, the lock under which it is written."""
PART_BYTES = 8_000_000
"""A longer line is cut into parts: a server takes a row in one piece."""
NOT_AN_ADDRESS = "an archive on a server is postgresql://ROLE@HOST/DATABASE#NAME"
NONE_THERE = "{address} holds no archive: `gardener store copy --to` makes one"
LEFT_OUT = "{count} of the chats were held with a local model: they stay on this machine"
STAYS = "what was said to a local model, or to none, goes to no server"


@dataclass(frozen=True)
class Address:
    """Where a server keeps an archive whole: how the server is reached, and the archive's name there."""

    url: str = field(repr=False)
    name: str = NAME

    @classmethod
    def of(cls, text: str) -> Address:
        """The address in postgresql://ROLE@HOST/DATABASE#NAME. Raises UsageError for any other text."""
        url, _, name = text.partition("#")
        if not url.startswith(SCHEMES) or not (name or NAME).isprintable():
            raise UsageError(NOT_AN_ADDRESS)
        return cls(url, name or NAME)

    @property
    def environ(self) -> dict[str, str]:
        """The environment in which this is the server."""
        return {**os.environ, server.VARIABLE: self.url}

    def __str__(self) -> str:
        """Host and name, without role and password."""
        return f"postgresql://{server.host_of(self.environ)}#{self.name}"


class CopiedRows(JournalLines):
    """The lines of one archive on a server. Each call is a connection of its own; what fails raises
    ServerError, and nothing of it is kept. What may not leave the machine does not get in, whichever way it
    comes."""

    def __init__(self, address: Address, clock: Callable[[], float] = time.time) -> None:
        super().__init__(clock)
        self.address = address
        self.leaving = self._leaving
        self._token = secrets.token_hex(16)
        self._last = 0
        self._copy = 0
        self._loaded: list[Place] = []
        self._loaded_at = 0.0

    def find(self, *, made: bool) -> None:
        """Find the archive, or make it. Raises UsageError if it is not there."""
        with server.connected(self.address.environ) as connection:
            if made:
                schema.prepare(connection)
                connection.execute(
                    "INSERT INTO gardener.copies (name) VALUES (%s) ON CONFLICT DO NOTHING",
                    (self.address.name,),
                )
            else:
                schema.check(connection)
            row = connection.execute(
                "SELECT number FROM gardener.copies WHERE owner = session_user AND name = %s",
                (self.address.name,),
            ).fetchone()
        if row is None:
            raise UsageError(NONE_THERE.format(address=self.address))
        self._copy = int(row[0])

    def begin(self) -> None:
        self.is_tier = True

    @property
    def shown(self) -> str:
        return str(self.address)

    @property
    def bytes(self) -> int:
        with server.connected(self.address.environ) as connection:
            row = connection.execute(
                "SELECT coalesce(sum(length(data)), 0) FROM gardener.lines WHERE copy = %s", (self._copy,)
            ).fetchone()
        return int(row[0]) if row else 0

    def read(self) -> FoundLines:
        with server.connected(self.address.environ) as connection:
            found = self._read(connection)
        self._loaded = [line.place for file in found.files for line in file.lines]
        self._loaded_at = max((line.at for file in found.files for line in file.lines), default=0.0)
        return found

    def _read(self, connection: Connection) -> FoundLines:
        cursor = connection.execute(
            "SELECT file, number, data FROM gardener.lines WHERE copy = %s ORDER BY file, number, part",
            (self._copy,),
        )
        raw: dict[str, dict[int, bytearray]] = {}
        for name, number, data in cursor:
            raw.setdefault(str(name), {}).setdefault(int(number), bytearray()).extend(data)
        return FoundLines(tuple(self._file(name, held.values()) for name, held in raw.items()))

    def _file(self, name: str, held: Collection[bytearray]) -> LinesFile:
        sizes = sum(map(len, held))
        file = LinesFile(Path(name), name, Owner("", 0, ""), sizes, is_alive=False)
        for each in held:
            lines.take_line(file, lines.unframed(bytes(each)))
        if file.unreadable:
            file.problems.append(lines.UNREADABLE.format(name=self.address, count=file.unreadable))
        return file

    def _leaving(self, lines: Iterable[Line]) -> Callable[[Line], Line | None]:
        """Lets through what may go to a server: nothing of a chat that began with a local model or in which
        anything was said to one, nothing that came from a server; of the rest what was sent to a model."""
        entries: set[str] = set()
        local: set[str] = set()
        places: list[Line] = []
        for line in lines:
            if line["kind"] == "entry":
                entries.add(line["id"])
            elif line["kind"] == "session" and _is_local(line["provider"]):
                local.add(line["id"])
            elif line["kind"] == "occurrence":
                places.append(line)
        local |= {line["session"] for line in places if _is_local(line["provider"])}
        gone = local | {line["session"] for line in places if line["session"].startswith(SHARED)}
        sent = {
            line["entry"]
            for line in places
            if line["session"] not in gone and shares.may_leave(line["provider"])
        }
        self.told = LEFT_OUT.format(count=len(local)) if local else ""
        unsent = entries - sent
        return lambda line: without(line, unsent, gone)

    def keep(self, record: Record) -> None:
        if record["kind"] == SAID and not shares.may_leave(record["provider"]):
            raise StoreError(STAYS)
        with self._writing() as connection:
            self._add(connection, record, self._clock())

    def keep_all(self, record: Record) -> None:
        """Put one record in place of all that was read: it holds that, and more."""
        with self._writing() as connection:
            _delete(connection, self._copy, self._loaded)
            place = self._add(connection, record, self._loaded_at)
        self._loaded = [place]

    def forget(self, record: Record) -> list[str]:
        with self._writing() as connection:
            self._add(connection, record, self._clock())
            found = self._read(connection)
            when = {line.place: line.at for file in found.files for line in file.lines}
            held = found.records()
            for each, left in zip(held, without_forgotten([one.record for one in held]), strict=True):
                place = (each.file, each.number)
                if left != each.record:
                    _delete(connection, self._copy, [place])
                if left is not None and left != each.record:
                    _insert(connection, self._copy, place, left, when[place])
        return []

    def _add(self, connection: Connection, record: Record, at: float) -> Place:
        self._last += 1
        place = (self._token, self._last)
        _insert(connection, self._copy, place, record, at)
        self._loaded.append(place)
        return place

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A transaction beside which nobody else writes to this archive."""
        with server.connected(self.address.environ) as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCK, self._copy))
            yield connection

    def remove(self) -> None:
        """Delete the archive from the server."""
        with self._writing() as connection:
            connection.execute("DELETE FROM gardener.copies WHERE number = %s", (self._copy,))

    def close(self) -> None:
        """Nothing is open between two calls."""


def _is_local(provider: str) -> bool:
    return bool(provider) and not shares.may_leave(provider)


def _insert(connection: Connection, copy: int, place: Place, record: Record, at: float) -> None:
    file, number = place
    data = lines.framed({"n": number, "written_at": at, **record}).rstrip(b"\n")
    for part, start in enumerate(range(0, len(data), PART_BYTES)):
        connection.execute(
            "INSERT INTO gardener.lines (copy, file, number, part, data) VALUES (%s, %s, %s, %s, %s)",
            (copy, file, number, part, data[start : start + PART_BYTES]),
        )


def _delete(connection: Connection, copy: int, places: Sequence[Place]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(
            "DELETE FROM gardener.lines WHERE copy = %s AND file = %s AND number = %s",
            [(copy, file, number) for file, number in places],
        )


def open_on_server(
    address: Address,
    *,
    made: bool = False,
    read_only: bool = False,
    clock: Callable[[], float] = time.time,
) -> SqliteStore:
    """The archive that a server keeps under a name, held in memory; every write goes to the server before it
    counts. `made`: it is begun if it is not there. Raises UsageError and ServerError."""
    rows = CopiedRows(address, clock)
    rows.find(made=made)
    store = SqliteStore(Database(None), clock=clock)
    store.fallback.begin_in(rows)
    store.database.read_only = read_only
    return store


def copy_to(
    directory: Path,
    address: Address,
    key_source: str = "",
    user: Path | None = None,
    *,
    readable: bool = False,
) -> Copied:
    """Add all of an archive that may leave this machine to the one at an address, begun if it is not there.

    `readable`: the user agrees that what is encrypted here is not there. All or nothing. Raises UsageError,
    StoreError or ServerError.
    """
    with closing(tiers.opened_on_disk(directory, key_source, user)) as source:
        if source.database.key and not readable:
            raise UsageError(sharing.ENCRYPTED)
        with closing(open_on_server(address, made=True)) as target:
            count = target.copy_from(source)
            told = [source.notice, target.notice, server.warning(address.environ)]
    return Copied(str(address), tiers.POSTGRESQL, count, tuple(filter(None, told)))


def copy_from(address: Address, directory: Path, key_source: str = "", user: Path | None = None) -> Copied:
    """Add all of the archive at an address to that of a directory, begun if there is none. All or nothing.
    Raises UsageError, StoreError or ServerError."""
    with closing(open_on_server(address, read_only=True)) as source:
        with closing(tiers.opened_on_disk(directory, key_source, user)) as target:
            count = target.copy_from(source)
            told = [source.notice, target.notice]
        tier = tiers.SQLITE if target.is_file else tiers.LINES
    return Copied(str(directory), tier, count, tuple(filter(None, told)))


def remove(address: Address) -> None:
    """Delete the archive at an address from the server. Raises UsageError and ServerError."""
    rows = CopiedRows(address)
    rows.find(made=False)
    rows.remove()
