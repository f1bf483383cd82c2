"""An archive's lines on a server: how records become rows, and a store whose records are kept there.

What is pushed of a shared project and what is copied of a whole archive are the same rows, each known by what
it says, so that none is there twice.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aider_gardener.archive.postgres import server
from aider_gardener.archive.postgres.server import Address
from aider_gardener.archive.providers import SHARED, may_go
from aider_gardener.archive.store import entries
from aider_gardener.archive.store.lines import UNREADABLE, Lines
from aider_gardener.archive.store.records import NOT_READ, SAID, Record, as_json
from aider_gardener.archive.store.sqlite import Store
from aider_gardener.errors import StoreError, UsageError
from aider_gardener.messages import content_hash
from aider_gardener.phrases import counted

if TYPE_CHECKING:
    from aider_gardener.archive.postgres.server import Connection

AT_ONCE = 2_000
"""Rows in one statement."""
NONE_THERE = "{address} holds no archive: `gardener store copy --to` makes one"
LOCAL_STAY = "{count} of the chats were held with a local model: they stay on this machine"
STAYS = "what was said to a local model, or to none, goes to no server"
ADD = """
    INSERT INTO gardener.lines (archive, machine, kind, payload, at, once, session, hash, words)
    SELECT %s, %s, t.kind, t.payload, t.at, t.once, t.session, t.hash,
           array_to_tsvector(ARRAY(SELECT jsonb_array_elements_text(t.words::jsonb)))
    FROM unnest(%s::text[], %s::bytea[], %s::float8[], %s::text[], %s::text[], %s::text[], %s::text[])
         WITH ORDINALITY AS t (kind, payload, at, once, session, hash, words, number) ORDER BY t.number
    ON CONFLICT (once, archive, author) DO NOTHING RETURNING change"""


@dataclass(frozen=True)
class Row:
    """A record as a row of the server's tables. `words` is a JSON array of those it is found by."""

    kind: str
    payload: bytes
    at: float
    once: str | None = None
    session: str | None = None
    hash: str | None = None
    words: str | None = None


def digest_of(*parts: object) -> str:
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


def rows_of(records: Iterable[Record], now: float, *, once: bool) -> Iterator[Row]:
    """Records, written at a time in seconds, as rows. What was said is known by where it was said and what it
    says; with `once` all else by all that it says, so that none is there twice."""
    for record in records:
        if record["kind"] == SAID:
            key = content_hash(record["role"], record["content"])
            place = digest_of(record["session"], record["seq"], key, record["at"])
            yield Row(SAID, as_json(record), record["at"], place, hash=key)
        elif record["kind"] != "meta":
            yield Row(record["kind"], as_json(record), now, digest_of(record) if once else None)


def record_of(payload: bytes, key: str | None) -> Record:
    """The record of a row. Raises NOT_READ if its text is not that of its hash."""
    record: Record = json.loads(payload)
    if key is not None and content_hash(record["role"], record["content"]) != key:
        raise ValueError("not the text of its hash")
    return record


def leaving(records: Iterable[Record]) -> tuple[list[Record], int]:
    """What may go to a server of the records of an archive, and how many chats may not: nothing of a chat
    in which anything was said to a local model, nothing that came from a server; of
    the rest what was sent to a model."""
    found = list(records)
    messages = [(each["session"], each["provider"], each["id"]) for each in found if each["kind"] == SAID]
    local = {name for name, provider, _ in messages if provider and not may_go(provider, "server")}
    names = {each["id"] for each in found if each["kind"] == "session"}.union(name for name, *_ in messages)
    excluded = local | {name for name in names if name.startswith(SHARED)}
    sent = {
        entry for name, provider, entry in messages if name not in excluded and may_go(provider, "server")
    }
    unsent = dict.fromkeys({entry for _, _, entry in messages} - sent)
    sendable = [each for record in found if (each := _without(record, excluded, unsent))]
    return sendable, len(local)


def _without(record: Record, excluded: set[str], unsent: Mapping[str, None]) -> Record | None:
    """A record without some sessions and entries, None if nothing of it is left."""
    kind = record["kind"]
    name = record["id"] if kind == "session" else record.get("session")
    if name in excluded or (kind == SAID and record["id"] in unsent):
        return None
    if kind == "event":
        data = entries.with_ids(record["data"], unsent)
        return None if data is None else {**record, "data": data}
    return record


class ServerLines(Lines):
    """The records of an archive that a server keeps whole; each call is a connection of its own, and one
    transaction. What fails raises ServerError, and nothing of it is kept.

    What may not leave the machine does not get in, whichever way it comes.
    """

    def __init__(
        self, address: Address, *, create: bool = False, clock: Callable[[], float] = time.time
    ) -> None:
        self.address = address
        self._clock = clock
        self._changes: list[int] = []
        self._notices: list[str] = []
        with server.connected(address.environ) as connection:
            self._number = _found(connection, address, create=create)

    @property
    def place(self) -> str:
        return str(self.address)

    def read(self) -> list[Record]:
        sql = "SELECT change, payload, hash FROM gardener.lines WHERE archive = %s ORDER BY change"
        with server.connected(self.address.environ) as connection:
            rows = connection.execute(sql, (self._number,)).fetchall()
        self._changes = [int(row[0]) for row in rows]
        records: list[Record] = []
        for _, payload, key in rows:
            try:
                records.append(record_of(payload, key))
            except NOT_READ:
                continue
        self.problems = []
        if unreadable := len(rows) - len(records):
            self.problems.append(UNREADABLE.format(name=self.address, lines=counted(unreadable, "line")))
        return records

    def append(self, record: Record) -> None:
        """Keep a record: committed when it returns."""
        if record["kind"] == SAID and not may_go(record["provider"], "server"):
            raise StoreError(STAYS)
        with server.connected(self.address.environ) as connection, connection.transaction():
            rows = list(rows_of([record], self._clock(), once=False))
            self._changes += add(connection, self._number, "", rows)

    def admitted(self, records: Iterable[Record]) -> Iterable[Record]:
        """What of another archive's records may be kept here; how many chats may not is told by `replace`."""
        sendable, local = leaving(records)
        self._notices = [LOCAL_STAY.format(count=local)] if local else []
        return sendable

    def replace(self, records: Iterable[Record]) -> list[str]:
        """Keep these records in place of all that was read and written here; what another machine appended
        since stays. Returns lines for the user."""
        rows = list(rows_of(leaving(records)[0], self._clock(), once=True))
        sql = "SELECT change FROM gardener.lines WHERE archive = %s AND once = ANY (%s)"
        with server.connected(self.address.environ) as connection, connection.transaction():
            connection.execute("DELETE FROM gardener.lines WHERE change = ANY (%s)", (self._changes,))
            add(connection, self._number, "", rows)
            found = connection.execute(sql, (self._number, [row.once for row in rows])).fetchall()
        self._changes = [int(row[0]) for row in found]
        notices, self._notices = self._notices, []
        return notices


def _found(connection: Connection, address: Address, *, create: bool) -> int:
    """The number of an archive that is kept whole, made if need be. Raises UsageError if it is not there."""
    server.prepare(connection) if create else server.check(connection)
    sql = "SELECT number FROM gardener.archives WHERE whole AND creator = session_user AND name = %s"
    row = connection.execute(sql, (address.name,)).fetchone()
    if row is None and create:
        row = connection.execute("SELECT gardener.make_archive(%s, true)", (address.name,)).fetchone()
    if row is None:
        raise UsageError(NONE_THERE.format(address=address))
    return int(row[0])


def open_on_server(
    address: Address,
    *,
    create: bool = False,
    read_only: bool = False,
    clock: Callable[[], float] = time.time,
) -> Store:
    """The archive that a server keeps whole under a name, held in memory; every write goes to the server
    before it counts. `create`: it is begun if it is not there. Raises UsageError and ServerError."""
    server_lines = ServerLines(address, create=create, clock=clock)
    return Store.of_lines(server_lines, clock=clock, read_only=read_only)
