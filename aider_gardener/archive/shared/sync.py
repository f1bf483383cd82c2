"""What is new goes to the server and comes from it, in batches that may be cut short anywhere.

A batch is one transaction there; how far it got is written here only afterwards. What is sent again is known
by its hash and place and changes nothing, so a client or server that dies loses nothing and doubles nothing.
What was forgotten goes the same way: a tombstone deletes on the server, and in every archive that fetches it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.sessions import HOST_KEY, SHARED
from aider_gardener.archive.shared import outbox, schema
from aider_gardener.archive.shared.outbox import Said, SentVector
from aider_gardener.archive.shared.server import Away, ServerError, connected
from aider_gardener.archive.store import entries, sessions, shares, transfer
from aider_gardener.archive.store.shares import ENTRY, SESSION, Share, Tombstone
from aider_gardener.errors import UsageError
from aider_gardener.messages import content_hash

if TYPE_CHECKING:
    import apsw

    from aider_gardener.archive.shared.server import Connection
    from aider_gardener.archive.store.sqlite import SqliteStore

WITHDRAWN = "withdrawn"
"""A tombstone of this kind takes all copies of an author's away from the others, not what is the author's
own."""
SENT, FETCHED = 500, 200
"""Messages in one transaction, at most."""
NOT_SHARED = "this project is not shared; `gardener store share` shares it"
OTHER_SERVER = (
    "this project is shared with another server than the one of the address: correct the address, or"
    " `gardener store unshare` first"
)
NO_MEMBER = "{author} is no member of {name} any more: ask its owner, or `gardener store unshare`"
GONE = "you took {name} back from the server on another machine: it is no longer shared from here"
PLACE_COLUMNS = 8
ENDLESS = (1 << 63) - 1
ID, HOST = re.compile(r"g[0-9a-f]{9,64}"), re.compile(r"[a-z][a-z0-9 _-]{0,30}")

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
FETCH_PLACES = """
    SELECT o.change, o.author, o.session, o.hash, o.at, s.payload, e.payload, o.payload
    FROM gardener.occurrences o
    JOIN gardener.entries e USING (project, author, hash)
    JOIN gardener.sessions s ON s.project = o.project AND s.author = o.author AND s.id = o.session
    WHERE o.project = %s AND o.change > %s AND o.machine <> %s ORDER BY o.change LIMIT %s"""
FETCH_TOMBSTONES = """
    SELECT change, author, kind, key, entry, at FROM gardener.tombstones
    WHERE project = %s AND change > %s AND change <= %s ORDER BY change"""


@dataclass(frozen=True)
class Report:
    """What one sync did: messages sent and fetched, deletions told and heard, rows that were refused.

    `problem` is one line, "" when all went well: what was done before it counts nevertheless.
    """

    sent: int = 0
    fetched: int = 0
    told: int = 0
    heard: int = 0
    refused: int = 0
    problem: str = ""

    def plus(self, **more: int) -> Report:
        return replace(self, **{name: getattr(self, name) + count for name, count in more.items()})


Progress = Callable[[Report], None]


def sync(
    store: SqliteStore,
    project: str,
    environ: Mapping[str, str] | None = None,
    *,
    clock: Callable[[], float] = time.time,
    progress: Progress = lambda _report: None,
) -> Report:
    """Fetch what is new of a shared project, then send. Raises UsageError where nothing is shared.

    Trouble with the server is the report's `problem`; what waits goes with the next sync. `progress` hears of
    every batch.
    """
    share = store.database.read(lambda db: shares.share_of(db, project))
    if share is None:
        raise UsageError(NOT_SHARED)
    report = [Report()]

    def note(**more: int) -> None:
        report[0] = report[0].plus(**more)
        progress(report[0])

    problem = ""
    try:
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


def send_said(connection: Connection, share: Share, said: Sequence[Said]) -> None:
    """Write a batch within the caller's transaction, which holds the project's lock."""
    own_sessions = {each.session: each.session_line for each in said}
    connection.execute(SEND_SESSIONS, (share.number, list(own_sessions), list(own_sessions.values())))
    originals: dict[str, Said] = {}
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
        connection.execute(TELL, (share.number, WITHDRAWN, "", "", at))


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
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        given = (share.number, share.seen, share.machine, FETCHED)
        places: list[Any] = connection.execute(FETCH_PLACES, given).fetchall()
        is_full = len(places) == FETCHED
        upto = int(places[-1][0]) if is_full else ENDLESS
        stones: list[Any] = connection.execute(FETCH_TOMBSTONES, (share.number, share.seen, upto)).fetchall()
    found = Fetched(share.project, sorted([*places, *stones], key=lambda row: int(row[0])), clock())
    forgotten = store.database.write(found.take_in)
    if forgotten:
        store.scrub()
    note(fetched=found.fetched, refused=found.refused, heard=found.heard)
    if found.is_withdrawn:
        raise ServerError(GONE.format(name=share.name))
    return is_full


@dataclass
class Fetched:
    """A batch from the server: rows of places and tombstones in the order of its changes, and what became of
    them here. `now` is when they were fetched, in seconds."""

    project: str
    rows: Sequence[Any]
    now: float
    fetched: int = 0
    refused: int = 0
    heard: int = 0
    is_withdrawn: bool = False

    def take_in(self, db: apsw.Connection) -> list[str]:
        """Write the batch, and that it is here; returns the ids of entries that were deleted for good."""
        self.fetched = self.refused = self.heard = 0
        share = shares.share_of(db, self.project)
        gone: list[str] = []
        if share is None:
            return gone
        for row in self.rows:
            if len(row) == PLACE_COLUMNS:
                self._place(db, share, row)
            elif row[1] == share.author and row[2] == WITHDRAWN:
                if row[0] > share.since:
                    self.is_withdrawn = True
                    shares.drop(db, self.project)
                    return gone
            else:
                gone += self._tombstone(db, share, row)
        held = shares.share_of(db, self.project)
        if held is not None and self.rows:
            shares.keep(db, replace(held, seen=max(held.seen, int(self.rows[-1][0]))))
        return gone

    def _place(self, db: apsw.Connection, share: Share, row: Any) -> None:
        """Take in one message, unless it was said or forgotten here; count it where it is no such thing."""
        _, author, session, key, at, *texts = row
        if author == share.author and _has_session(db, session):
            return
        here = shares.session_here(author, session)
        forgotten = (key, session if author == share.author else here)
        if any(shares.is_forgotten(db, self.project, each, at) for each in forgotten):
            return
        if _is_said_here(db, key) or _is_fetched(db, here, key, at):
            return
        try:
            lines = _read_lines(key, texts)
            lines[0] |= {"id": here, "project": self.project}
            lines[1]["accessed_at"] = self.now
            lines[2] |= {"session": here, "at": float(at)}
            with db:
                transfer.take_in(db, *lines)
                if HOST.fullmatch(lines[0].get("host", "")):
                    sessions.set_state(db, here, HOST_KEY, lines[0]["host"])
            self.fetched += 1
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            self.refused += 1

    def _tombstone(self, db: apsw.Connection, share: Share, row: Any) -> list[str]:
        """Delete what an author forgot, or withdrew; returns the ids of entries that are gone."""
        _, author, kind, key, stored_id, at = row
        numbers = _places_of(db, share, author, kind, key, stored_id, at)
        self.heard += bool(numbers)
        return entries.forget_places(db, numbers) if numbers else []


def _read_lines(key: str, texts: Sequence[str]) -> list[dict[str, Any]]:
    """The lines of a session, an original and its place, as far as another's can be trusted: the text must be
    that of its hash, and short forms are made anew. Raises ValueError and the like."""
    session, entry, place = (json.loads(text) for text in texts)
    content, spans = entry["content"], entry["chunks"]
    if content_hash(entry["role"], content) != key or not ID.fullmatch(entry["id"]):
        raise ValueError("not the text of its hash")
    if not all(0 <= start < end <= len(content) for start, end in spans):
        raise ValueError("a passage that lies outside its text")
    entry |= {"kind": "entry", "renditions": [], "pinned": 0, "access_count": 0}
    session |= {"kind": "session", "started_at": float(session["started_at"])}
    place |= {
        "kind": "occurrence",
        "entry": entry["id"],
        "turn": int(place["turn"]),
        "seq": int(place["seq"]),
    }
    return [session, entry, place]


def _has_session(db: apsw.Connection, session: str) -> bool:
    return db.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).get is not None


def _is_said_here(db: apsw.Connection, key: str) -> bool:
    """Whether a text stands in a session of this archive's own: it is found there."""
    sql = """SELECT 1 FROM originals o JOIN occurrences n ON n.original = o.number
             JOIN sessions s ON s.number = n.session WHERE o.hash = ? AND s.id NOT LIKE ? || '%'"""
    return db.execute(sql, (bytes.fromhex(key), SHARED)).get is not None


def _is_fetched(db: apsw.Connection, session: str, key: str, at: float) -> bool:
    """Whether a message was fetched before."""
    sql = """SELECT 1 FROM originals o JOIN occurrences n ON n.original = o.number
             JOIN sessions s ON s.number = n.session WHERE o.hash = ? AND s.id = ? AND n.at = ?"""
    return db.execute(sql, (bytes.fromhex(key), session, at)).get is not None


def _places_of(
    db: apsw.Connection, share: Share, author: str, kind: str, key: str, stored_id: str, at: float
) -> list[int]:
    """The occurrences that a tombstone is of: the author's, said up to its time."""
    given = {"project": share.project, "mine": shares.session_here(author, ""), "key": key, "at": at}
    whose = "substr(s.id, 1, length(:mine)) = :mine"
    if author == share.author:
        whose += " OR s.id NOT LIKE 'shared:%'"
    if kind == ENTRY:
        what = "(o.hash = unhex(:key) OR o.id = :entry) AND n.at <= :at"
        given["entry"] = stored_id
    elif kind == SESSION:
        what = "s.id IN (:key, :mine || :key) AND n.at <= :at"
    else:
        what = "1"
    sql = f"""SELECT n.number FROM occurrences n JOIN sessions s ON s.number = n.session
              JOIN originals o ON o.number = n.original
              WHERE s.project = :project AND ({whose}) AND {what}"""
    return [row[0] for row in db.execute(sql, given)]


def _keep(store: SqliteStore, project: str, problem: str, now: float) -> None:
    """Note how the last sync went."""

    def step(db: apsw.Connection) -> None:
        share = shares.share_of(db, project)
        if share is not None:
            shares.keep(db, replace(share, problem=problem, synced_at=share.synced_at if problem else now))

    store.database.write(step)
