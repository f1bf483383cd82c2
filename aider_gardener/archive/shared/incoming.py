"""What comes from the server into this archive: what others said, and what they forgot or took back.

What another wrote is trusted no further than it must be: a text must be that of its hash, it goes into a
session that names its author, and it stands in no chat.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.sessions import HOST_KEY, SHARED
from aider_gardener.archive.store import entries, sessions, shares, transfer
from aider_gardener.archive.store.shares import ENTRY, SESSION, Share
from aider_gardener.messages import content_hash

if TYPE_CHECKING:
    import apsw

    from aider_gardener.archive.shared.server import Connection

WITHDRAWN = "withdrawn"
"""A tombstone of this kind takes all copies of an author's away from the others, not what is the author's
own."""
FETCHED = 200
"""Messages in one batch, at most."""
PLACE_COLUMNS = 8
ID, HOST = re.compile(r"g[0-9a-f]{9,64}"), re.compile(r"[a-z][a-z0-9 _-]{0,30}")

FETCH_PLACES = """
    SELECT o.change, o.author, o.session, o.hash, o.at, s.payload, e.payload, o.payload
    FROM gardener.occurrences o
    JOIN gardener.entries e USING (project, author, hash)
    JOIN gardener.sessions s ON s.project = o.project AND s.author = o.author AND s.id = o.session
    WHERE o.project = %s AND o.change > %s AND o.machine <> %s ORDER BY o.change LIMIT %s"""
FETCH_TOMBSTONES = """
    SELECT change, author, kind, key, entry, at FROM gardener.tombstones
    WHERE project = %s AND change > %s AND change <= %s ORDER BY change"""
LAST_CHANGE = """
    SELECT greatest((SELECT max(change) FROM gardener.occurrences WHERE project = %(project)s),
                    (SELECT max(change) FROM gardener.tombstones WHERE project = %(project)s))"""


def fetch(connection: Connection, share: Share, now: float) -> Fetched:
    """The next batch of what others sent of a project; `now` is the time, in seconds."""
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        given = (share.number, share.seen, share.machine, FETCHED)
        places: list[Any] = connection.execute(FETCH_PLACES, given).fetchall()
        is_full = len(places) == FETCHED
        row = connection.execute(LAST_CHANGE, {"project": share.number}).fetchone()
        upto = int(places[-1][0]) if is_full else int(row[0] or 0) if row else 0
        stones: list[Any] = connection.execute(FETCH_TOMBSTONES, (share.number, share.seen, upto)).fetchall()
    rows = sorted([*places, *stones], key=lambda row: int(row[0]))
    return Fetched(share.project, rows, upto, now, is_full=is_full)


@dataclass
class Fetched:
    """A batch from the server: rows of places and tombstones in the order of its changes, all up to the
    change `upto`, and what became of them here. `now` is when they were fetched, in seconds. `is_full`:
    there are more."""

    project: str
    rows: Sequence[Any]
    upto: int
    now: float
    fetched: int = 0
    refused: int = 0
    heard: int = 0
    is_withdrawn: bool = False
    is_full: bool = False

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
        if held is not None:
            shares.keep(db, replace(held, seen=max(held.seen, self.upto)))
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
