"""An archive's lines on a server: how records become rows, and a store whose records are kept there.

What is pushed of a shared project and what is copied of a whole archive are the same rows, each known by what
it says, so that none is there twice.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.postgres import schema, server
from aider_gardener.archive.postgres.server import Address
from aider_gardener.archive.sessions import SHARED, may_go
from aider_gardener.archive.store import tiers
from aider_gardener.archive.store.database import Database
from aider_gardener.archive.store.journal import JournalLines
from aider_gardener.archive.store.lines import UNREADABLE, ArchiveLine, FoundLines, LinesFile
from aider_gardener.archive.store.records import IMPORT, SAID, Numbered, Record, without, without_forgotten
from aider_gardener.archive.store.sessions import Owner
from aider_gardener.archive.store.sqlite import SqliteStore
from aider_gardener.archive.store.tiers import Copied
from aider_gardener.archive.store.transfer import Line
from aider_gardener.errors import StoreError, UsageError
from aider_gardener.messages import content_hash

if TYPE_CHECKING:
    from aider_gardener.archive.postgres.server import Connection

AT_ONCE = 2_000
"""Rows in one statement."""
NONE_THERE = "{address} holds no archive: `gardener store copy --to` makes one"
LEFT_OUT = "{count} of the chats were held with a local model: they stay on this machine"
STAYS = "what was said to a local model, or to none, goes to no server"
ENCRYPTED = (
    "the archive is encrypted, and the server would hold its texts readable: agree with --readable, or"
    " leave it"
)

ADD = """
    INSERT INTO gardener.lines (archive, machine, kind, payload, at, once, session, hash, words)
    SELECT %s, %s, t.kind, t.payload, t.at, t.once, t.session, t.hash,
           array_to_tsvector(ARRAY(SELECT jsonb_array_elements_text(t.words::jsonb)))
    FROM unnest(%s::text[], %s::bytea[], %s::float8[], %s::text[], %s::text[], %s::text[], %s::text[])
         WITH ORDINALITY AS t (kind, payload, at, once, session, hash, words, number) ORDER BY t.number
    ON CONFLICT (once, archive, author) DO NOTHING RETURNING change"""
LACKING = """
    SELECT w.once FROM unnest(%s::text[]) AS w (once)
    WHERE NOT EXISTS (SELECT FROM gardener.lines l
                      WHERE l.archive = %s AND l.author = session_user AND l.once = w.once)"""


@dataclass(frozen=True)
class Row:
    """A record as a row of the server's, see `schema`. `words` is a JSON array of those it is found by."""

    kind: str
    payload: bytes
    at: float
    once: str | None = None
    session: str | None = None
    hash: str | None = None
    words: str | None = None


def as_json(value: object) -> bytes:
    """A value as JSON. Texts stay as they are, lone surrogates and all."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "surrogatepass")


def from_json(data: bytes) -> Any:
    """The value of JSON as `as_json` makes it. Raises ValueError."""
    return json.loads(data.decode("utf-8", "surrogatepass"))


def known_by(*parts: object) -> str:
    """What a line is known by on the server."""
    return hashlib.sha256(as_json(parts)).hexdigest()[:32]


def add(connection: Connection, archive: int, machine: str, rows: Sequence[Row]) -> list[int]:
    """Append rows within the caller's transaction; returns the changes of those that were not there yet."""
    changes: list[int] = []
    names = ("kind", "payload", "at", "once", "session", "hash", "words")
    for start in range(0, len(rows), AT_ONCE):
        columns = [[getattr(row, name) for row in rows[start : start + AT_ONCE]] for name in names]
        found = connection.execute(ADD, (archive, machine, *columns)).fetchall()
        changes += [int(row[0]) for row in found]
    return changes


def lacking(connection: Connection, archive: int, wanted: Sequence[str]) -> set[str]:
    """Which of these lines of this role the server has not."""
    return {str(row[0]) for row in connection.execute(LACKING, (list(wanted), archive)).fetchall()}


def rows_of(record: Record, at: float) -> Iterator[Row]:
    """A record, written at a time in seconds, as rows; what was imported is a row for each thing that it
    says."""
    if record["kind"] == IMPORT:
        yield from _imported(record["lines"], at)
    elif record["kind"] == SAID:
        key = content_hash(record["role"], record["content"])
        yield Row(SAID, as_json(record), record["at"], _known_by_place(record, key), hash=key)
    else:
        yield Row(record["kind"], as_json(record), at)


def _known_by_place(place: Line, key: str) -> str:
    return known_by(place["session"], place["seq"], key, place["at"])


def _imported(lines: Iterable[Line], at: float) -> Iterator[Row]:
    originals: dict[str, tuple[Line, str]] = {}
    times: Counter[str] = Counter()
    for line in lines:
        kind, held, key = line["kind"], [line], None
        if kind == "entry":
            originals[line["id"]] = (line, content_hash(line["role"], line["content"]))
            continue
        if kind == "occurrence":
            entry, key = originals[line["entry"]]
            held = [entry, line]
            once = _known_by_place(line, key)
        elif kind == "event":
            once = known_by(line)
            times[once] += 1
            once = known_by(once, times[once])
        elif kind in ("session", "state"):
            once = known_by(kind, line.get("id"), line.get("session"), line.get("key"))
        else:
            continue
        yield Row(IMPORT, as_json({"kind": IMPORT, "lines": held}), line.get("at", at), once, hash=key)


def record_of(payload: bytes, key: str | None) -> Record:
    """The record of a row. Raises ValueError and the like if its text is not that of its hash."""
    record: Record = from_json(payload)
    if key is not None:
        said = record if record["kind"] == SAID else record["lines"][-2]
        if content_hash(said["role"], said["content"]) != key:
            raise ValueError("not the text of its hash")
    return record


def leaving(lines: Iterable[Line]) -> tuple[Callable[[Line], Line | None], int]:
    """What may go to a server of the lines of an export, and how many chats may not: nothing of a chat that
    began with a local model or in which anything was said to one, nothing that came from a server; of the
    rest what was sent to a model."""
    lines = list(lines)
    places = [line for line in lines if line["kind"] == "occurrence"]
    begun = [(line["id"], line["provider"]) for line in lines if line["kind"] == "session"]
    said = [(line["session"], line["provider"]) for line in places]
    local = {name for name, provider in (*begun, *said) if provider and not may_go(provider, "server")}
    gone = local | {name for name, _ in (*begun, *said) if name.startswith(SHARED)}
    sent = {
        line["entry"] for line in places
        if line["session"] not in gone and may_go(line["provider"], "server")
    }  # fmt: skip
    unsent = {line["id"] for line in lines if line["kind"] == "entry"} - sent
    return lambda line: without(line, unsent, gone), len(local)


class ServerLines:
    """The records of an archive that a server keeps whole; each call is a connection of its own, and one
    transaction. What fails raises ServerError, and nothing of it is kept. `problems` are lines for the user.

    What may not leave the machine does not get in, whichever way it comes.
    """

    def __init__(
        self, address: Address, *, made: bool = False, clock: Callable[[], float] = time.time
    ) -> None:
        self.address = address
        self.problems: list[str] = []
        self._clock = clock
        self._held: set[int] = set()
        with server.connected(address.environ) as connection:
            self._number = _found(connection, address, made=made)

    def read(self) -> list[Record]:
        """All records, in the order written; what was imported one after the other is one."""
        sql = "SELECT change, payload, hash FROM gardener.lines WHERE archive = %s ORDER BY change"
        with server.connected(self.address.environ) as connection:
            rows: list[Any] = connection.execute(sql, (self._number,)).fetchall()
        self._held = set()
        records: list[Record] = []
        for change, payload, key in rows:
            try:
                record = record_of(payload, key)
                if record["kind"] == IMPORT and records and records[-1]["kind"] == IMPORT:
                    records[-1]["lines"] += record["lines"]
                else:
                    records.append(record)
                self._held.add(int(change))
            except (ValueError, KeyError, TypeError, AttributeError, IndexError):
                continue
        unreadable = len(rows) - len(self._held)
        self.problems = [UNREADABLE.format(name=self.address, count=unreadable)] if unreadable else []
        return records

    def append(self, record: Record) -> None:
        """Keep a record: committed when it returns."""
        self._held |= self._put([], [record])

    def replace(self, records: Iterable[Record]) -> None:
        """Keep these records in place of all that was read and written here; what another machine appended
        since stays."""
        self._held = self._put(self._held, records)

    def _put(self, gone: Iterable[int], records: Iterable[Record]) -> set[int]:
        rows: list[Row] = []
        for record in records:
            is_said, provider = record["kind"] == SAID, record.get("provider", "")
            if (is_said or provider) and not may_go(provider, "server"):
                raise StoreError(STAYS)
            if record["kind"] == IMPORT:
                left, _ = leaving(record["lines"])
                record = {**record, "lines": [each for line in record["lines"] if (each := left(line))]}
            rows += rows_of(record, self._clock())
        with server.connected(self.address.environ) as connection, connection.transaction():
            connection.execute("DELETE FROM gardener.lines WHERE change = ANY (%s)", (list(gone),))
            new = lacking(connection, self._number, [row.once for row in rows if row.once])
            rows = [row for row in rows if row.once is None or row.once in new]
            return set(add(connection, self._number, "", rows))

    @property
    def bytes(self) -> int:
        """What the records take on the server."""
        sql = "SELECT coalesce(sum(length(payload)), 0) FROM gardener.lines WHERE archive = %s"
        with server.connected(self.address.environ) as connection:
            row = connection.execute(sql, (self._number,)).fetchone()
        return int(row[0]) if row else 0

    def remove(self) -> None:
        """Delete the archive from the server."""
        with server.connected(self.address.environ) as connection:
            connection.execute("DELETE FROM gardener.archives WHERE number = %s", (self._number,))

    def close(self) -> None:
        """Nothing is open between two calls."""


def _found(connection: Connection, address: Address, *, made: bool) -> int:
    """The number of an archive that is kept whole, made if need be. Raises UsageError if it is not there."""
    schema.prepare(connection) if made else schema.check(connection)
    sql = "SELECT number FROM gardener.archives WHERE whole AND creator = session_user AND name = %s"
    row = connection.execute(sql, (address.name,)).fetchone()
    if row is None and made:
        row = connection.execute("SELECT gardener.make_archive(%s, true)", (address.name,)).fetchone()
    if row is None:
        raise UsageError(NONE_THERE.format(address=address))
    return int(row[0])


class KeptOnServer(JournalLines):
    """`ServerLines` as the lines of a store."""

    def __init__(self, kept: ServerLines, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self.kept = kept
        self.leaving = self._leaving

    def _leaving(self, lines: Iterable[Line]) -> Callable[[Line], Line | None]:
        left, local = leaving(lines)
        self.told = LEFT_OUT.format(count=local) if local else ""
        return left

    def begin(self) -> None:
        self.is_tier = True

    def read(self) -> FoundLines:
        name = str(self.kept.address)
        held = [ArchiveLine(Numbered(name, at, record), 0.0) for at, record in enumerate(self.kept.read(), 1)]
        problems = self.kept.problems
        return FoundLines((LinesFile(Path(name), name, Owner("", 0, ""), 0, False, held, problems),))

    @property
    def shown(self) -> str:
        return str(self.kept.address)

    @property
    def bytes(self) -> int:
        return self.kept.bytes

    def keep(self, record: Record) -> None:
        self.kept.append(record)

    def keep_all(self, record: Record) -> None:
        self.kept.append(record)

    def forget(self, record: Record) -> list[str]:
        self.kept.append(record)
        self.kept.replace(each for each in without_forgotten(self.kept.read()) if each is not None)
        return []


def open_on_server(
    address: Address,
    *,
    made: bool = False,
    read_only: bool = False,
    clock: Callable[[], float] = time.time,
) -> SqliteStore:
    """The archive that a server keeps whole under a name, held in memory; every write goes to the server
    before it counts. `made`: it is begun if it is not there. Raises UsageError and ServerError."""
    kept = ServerLines(address, made=made, clock=clock)
    store = SqliteStore(Database(None), clock=clock)
    store.fallback.begin_in(KeptOnServer(kept, clock))
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
    """Push all of an archive that may leave this machine to the one at an address, begun if it is not there.

    `readable`: the user agrees that what is encrypted here is not there. All or nothing. Raises UsageError,
    StoreError or ServerError.
    """
    with closing(tiers.opened_on_disk(directory, key_source, user)) as source:
        if source.database.key and not readable:
            raise UsageError(ENCRYPTED)
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
