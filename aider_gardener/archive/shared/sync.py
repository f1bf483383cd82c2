"""What is new goes to the server and comes from it, in batches that may be cut short anywhere.

A batch is one transaction there; how far it got is written here only afterwards. What is sent again is known
by its hash and place and changes nothing, so a client or server that dies loses nothing and doubles nothing.
What was forgotten goes the same way: a tombstone deletes on the server, and in every archive that fetches it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aider_gardener.archive.shared import incoming, outbox, schema
from aider_gardener.archive.shared.outbox import OutgoingEntry, SentVector
from aider_gardener.archive.shared.server import Away, ServerError, connected, named_as
from aider_gardener.archive.store import shares
from aider_gardener.archive.store.shares import ENTRY, SESSION, Share, Tombstone
from aider_gardener.errors import UsageError

if TYPE_CHECKING:
    import apsw

    from aider_gardener.archive.shared.server import Connection
    from aider_gardener.archive.store.sqlite import SqliteStore

SENT = 500
"""Messages in one transaction, at most."""
NOT_SHARED = "this project is not shared; `gardener store share` shares it"
OTHER_SERVER = (
    "this project is shared with another server than the one of the address: correct the address, or"
    " `gardener store unshare` first"
)
OTHERWISE = (
    "the server is named otherwise here than when this project was shared, and nothing goes there unasked:"
    " `gardener store share` agrees to it"
)
NO_MEMBER = "{author} is no member of {name} any more: ask its owner, or `gardener store unshare`"
GONE = "you took {name} back from the server on another machine: it is no longer shared from here"

SEND_SESSIONS = """
    INSERT INTO gardener.sessions (project, author, id, payload)
    SELECT %s, session_user, t.id, t.payload FROM unnest(%s::text[], %s::text[]) AS t (id, payload)
    ON CONFLICT DO NOTHING"""
SEND_ENTRIES = """
    INSERT INTO gardener.entries (project, author, hash, payload, cls, words)
    SELECT %(project)s, session_user, t.hash, t.payload, t.cls, array_to_tsvector(
        ARRAY(SELECT jsonb_array_elements_text(t.words::jsonb)))
    FROM unnest(%(hashes)s::text[], %(payloads)s::text[], %(classes)s::text[], %(words)s::text[],
                %(ats)s::float8[]) AS t (hash, payload, cls, words, at)
    WHERE NOT EXISTS (SELECT FROM gardener.tombstones d WHERE d.project = %(project)s
                      AND d.author = session_user AND d.kind = 'entry' AND d.key = t.hash AND d.at >= t.at)
    ON CONFLICT DO NOTHING"""
SEND_PLACES = """
    INSERT INTO gardener.occurrences (project, author, machine, session, seq, hash, at, payload)
    SELECT %(project)s, session_user, %(machine)s, t.session, t.seq, t.hash, t.at, t.payload
    FROM unnest(%(sessions)s::text[], %(seqs)s::bigint[], %(hashes)s::text[], %(ats)s::float8[],
                %(payloads)s::text[]) AS t (session, seq, hash, at, payload)
    WHERE NOT EXISTS (SELECT FROM gardener.tombstones d WHERE d.project = %(project)s
                      AND d.author = session_user AND d.at >= t.at
                      AND ((d.kind = 'entry' AND d.key = t.hash)
                           OR (d.kind = 'session' AND d.key = t.session)))
    ON CONFLICT DO NOTHING"""
SEND_VECTORS = """
    INSERT INTO gardener.vectors (project, author, hash, "start", "end", embedder, dimensions, vector)
    SELECT %(project)s, session_user, t.hash, t.first, t.last, t.embedder, t.dimensions, t.vector::{vector}
    FROM unnest(%(hashes)s::text[], %(starts)s::int[], %(ends)s::int[], %(embedders)s::text[],
                %(dimensions)s::int[], %(vectors)s::text[])
         AS t (hash, first, last, embedder, dimensions, vector)
    WHERE EXISTS (SELECT FROM gardener.entries e
                  WHERE e.project = %(project)s AND e.author = session_user AND e.hash = t.hash)
    ON CONFLICT DO NOTHING"""
TELL = """
    INSERT INTO gardener.tombstones (project, author, kind, key, entry, at)
    VALUES (%s, session_user, %s, %s, %s, %s) ON CONFLICT DO NOTHING"""
DELETE_PLACES = {
    ENTRY: """DELETE FROM gardener.occurrences
              WHERE project = %s AND author = session_user AND hash = %s AND at <= %s RETURNING hash""",
    SESSION: """DELETE FROM gardener.occurrences
                WHERE project = %s AND author = session_user AND session = %s AND at <= %s RETURNING hash""",
}
DELETE_TEXTS = """
    DELETE FROM gardener.{table} t WHERE t.project = %s AND t.author = session_user AND t.hash = ANY (%s)
    AND NOT EXISTS (SELECT FROM gardener.occurrences o
                    WHERE o.project = t.project AND o.author = t.author AND o.hash = t.hash)"""
DELETE_SESSION = """
    DELETE FROM gardener.sessions t WHERE t.project = %s AND t.author = session_user AND t.id = %s
    AND NOT EXISTS (SELECT FROM gardener.occurrences o
                    WHERE o.project = t.project AND o.author = t.author AND o.session = t.id)"""


@dataclass(frozen=True)
class SyncReport:
    """What one sync did: messages sent and fetched, deletions told and heard, rows that were refused.

    `problem` is one line, "" when all went well: what was done before it counts nevertheless.
    """

    sent: int = 0
    fetched: int = 0
    told: int = 0
    heard: int = 0
    refused: int = 0
    problem: str = ""

    def plus(self, **more: int) -> SyncReport:
        return replace(self, **{name: getattr(self, name) + count for name, count in more.items()})


Progress = Callable[[SyncReport], None]


def sync(
    store: SqliteStore,
    project: str,
    environ: Mapping[str, str] | None = None,
    *,
    unasked: bool = False,
    clock: Callable[[], float] = time.time,
    progress: Progress = lambda _report: None,
) -> SyncReport:
    """Fetch what is new of a shared project, then send. Raises UsageError where nothing is shared.

    Trouble with the server is the report's `problem`; what waits goes with the next sync. `unasked`: a host
    began it and not its user, so that no server is called but the one that the user named as the project was
    shared. `progress` hears of every batch.
    """
    environ = os.environ if environ is None else environ
    share = store.database.read(lambda db: shares.share_of(db, project))
    if share is None:
        raise UsageError(NOT_SHARED)
    report = [SyncReport()]

    def note(**more: int) -> None:
        report[0] = report[0].plus(**more)
        store.database.write(lambda db: shares.note_active(db, project, clock()))
        progress(report[0])

    problem = ""
    try:
        if unasked and share.named_as != named_as(environ):
            raise ServerError(OTHERWISE)
        with connected(environ) as connection:
            _exchange(store, share, connection, note, clock)
    except (Away, ServerError) as error:
        problem = str(error)
    _keep(store, project, problem, clock())
    return replace(report[0], problem=problem)


def _exchange(
    store: SqliteStore,
    share: Share,
    connection: Connection,
    note: Callable[..., None],
    clock: Callable[[], float],
) -> None:
    """All of one sync over an open connection. Raises ServerError."""
    share = _checked(store, share, connection)
    while _fetch(store, share.project, connection, note, clock):
        pass
    if not share.may_write:
        return
    while _send(store, share.project, connection, note):
        pass
    while _tell(store, share.project, connection, note):
        pass
    while _send_vectors(store, share.project, connection):
        pass


def _checked(store: SqliteStore, share: Share, connection: Connection) -> Share:
    """The share as the server sees it: what it may do there, and from where on."""
    if schema.check(connection) != share.server:
        raise ServerError(OTHER_SERVER)
    row = connection.execute(
        """SELECT session_user, %(project)s IN (SELECT gardener.writable()),
           %(project)s IN (SELECT gardener.readable()), (SELECT last_value FROM gardener.changes)""",
        {"project": share.number},
    ).fetchone()
    author, may_write, may_read, last = row or ("", False, False, 0)
    if author != share.author or not may_read:
        raise ServerError(NO_MEMBER.format(author=author, name=share.name))

    def step(db: apsw.Connection) -> Share:
        now = shares.share_of(db, share.project) or share
        now = replace(now, may_write=bool(may_write))
        if int(last) < now.seen:  # the server was put back from an older copy
            now = replace(now, seen=0, sent=0, told=0, vectors_sent=0)
        shares.keep(db, now)
        return now

    return store.database.write(step)


def _share(store: SqliteStore, project: str) -> Share:
    found = store.database.read(lambda db: shares.share_of(db, project))
    if found is None:
        raise ServerError(NOT_SHARED)
    return found


def _send(store: SqliteStore, project: str, connection: Connection, note: Callable[..., None]) -> bool:
    """Send one batch; whether there may be more."""
    share = _share(store, project)
    found = store.database.read(lambda db: outbox.batch(db, share, rows=SENT))
    if found.said:
        with connection.transaction():
            _lock(connection, share)
            send_said(connection, share, found.said)
    store.database.write(lambda db: outbox.moved(db, share, found.upto))
    note(sent=len(found.said))
    return found.more


def send_said(connection: Connection, share: Share, said: Sequence[OutgoingEntry]) -> None:
    """Write a batch within the caller's transaction, which holds the project's lock."""
    own_sessions = {each.session: each.session_line for each in said}
    connection.execute(SEND_SESSIONS, (share.number, list(own_sessions), list(own_sessions.values())))
    originals: dict[str, OutgoingEntry] = {}
    for each in said:
        held = originals.get(each.hash)
        originals[each.hash] = each if held is None or each.at > held.at else held
    found = list(originals.values())
    connection.execute(
        SEND_ENTRIES,
        {
            "project": share.number,
            "hashes": [each.hash for each in found],
            "payloads": [each.entry_line for each in found],
            "classes": [each.cls for each in found],
            "words": [json.dumps(each.words, ensure_ascii=False) for each in found],
            "ats": [each.at for each in found],
        },
    )
    connection.execute(
        SEND_PLACES,
        {
            "project": share.number,
            "machine": share.machine,
            "sessions": [each.session for each in said],
            "seqs": [each.seq for each in said],
            "hashes": [each.hash for each in said],
            "ats": [each.at for each in said],
            "payloads": [each.occurrence_line for each in said],
        },
    )


def _send_vectors(store: SqliteStore, project: str, connection: Connection) -> bool:
    share = _share(store, project)
    found, upto = store.database.read(lambda db: outbox.vectors(db, share))
    if found:
        with connection.transaction():
            _lock(connection, share)
            send_vectors(connection, share, found)
    if upto == share.vectors_sent:
        return False

    def step(db: apsw.Connection) -> None:
        now = shares.share_of(db, project)
        if now is not None and now.cuts == share.cuts:
            shares.keep(db, replace(now, vectors_sent=upto))

    store.database.write(step)
    return True


def send_vectors(connection: Connection, share: Share, found: Sequence[SentVector]) -> None:
    """Write vectors within the caller's transaction, which holds the project's lock."""
    sql = SEND_VECTORS.replace("{vector}", schema.vector_type(connection))
    connection.execute(
        sql.encode(),
        {
            "project": share.number,
            "hashes": [each.hash for each in found],
            "starts": [each.start for each in found],
            "ends": [each.end for each in found],
            "embedders": [each.embedder for each in found],
            "dimensions": [len(each.values) for each in found],
            "vectors": [vector_text(each.values) for each in found],
        },
    )


def vector_text(values: Sequence[float]) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(f"{value:.8g}" for value in values) + "]"


def _tell(store: SqliteStore, project: str, connection: Connection, note: Callable[..., None]) -> bool:
    """Tell the server of one batch of what was forgotten; whether there was any."""
    share = _share(store, project)
    found = store.database.read(lambda db: outbox.told(db, share))
    if not found:
        return False
    with connection.transaction():
        _lock(connection, share)
        for each in found:
            tell(connection, share, each)

    def step(db: apsw.Connection) -> None:
        now = shares.share_of(db, project)
        if now is not None:
            shares.keep(db, replace(now, told=max(now.told, found[-1].seq)))

    store.database.write(step)
    note(told=len(found))
    return True


def tell(connection: Connection, share: Share, tombstone: Tombstone) -> None:
    """Write a tombstone and delete what it is of, within the caller's transaction."""
    connection.execute(TELL, (share.number, tombstone.kind, tombstone.key, tombstone.entry, tombstone.at))
    sql = DELETE_PLACES[tombstone.kind]
    rows = connection.execute(sql.encode(), (share.number, tombstone.key, tombstone.at)).fetchall()
    hashes = list({str(row[0]) for row in rows})
    for table in ("vectors", "entries"):
        connection.execute(DELETE_TEXTS.format(table=table).encode(), (share.number, hashes))
    if tombstone.kind == SESSION:
        connection.execute(DELETE_SESSION, (share.number, tombstone.key))


def withdraw(connection: Connection, share: Share, at: float) -> None:
    """Delete all that this author shared of a project, and the copies that others fetched as they sync."""
    with connection.transaction():
        _lock(connection, share)
        for table in ("vectors", "entries", "occurrences", "sessions"):
            sql = f"DELETE FROM gardener.{table} WHERE project = %s AND author = session_user"
            connection.execute(sql.encode(), (share.number,))
        connection.execute(TELL, (share.number, incoming.WITHDRAWN, "", "", at))


def _lock(connection: Connection, share: Share) -> None:
    connection.execute("SELECT gardener.begin_write(%s)", (share.number,))


def _fetch(
    store: SqliteStore,
    project: str,
    connection: Connection,
    note: Callable[..., None],
    clock: Callable[[], float],
) -> bool:
    """Fetch one batch and take it in, in the order of the server's changes; whether there may be more."""
    share = _share(store, project)
    found = incoming.fetch(connection, share, clock())
    forgotten = store.database.write(found.take_in)
    if forgotten:
        store.scrub()
    note(fetched=found.fetched, refused=found.refused, heard=found.heard)
    if found.is_withdrawn:
        raise ServerError(GONE.format(name=share.name))
    return found.is_full


def _keep(store: SqliteStore, project: str, problem: str, now: float) -> None:
    """Note how the last sync went."""

    def step(db: apsw.Connection) -> None:
        share = shares.share_of(db, project)
        if share is not None:
            shares.keep(db, replace(share, problem=problem, synced_at=share.synced_at if problem else now))

    store.database.write(step)
