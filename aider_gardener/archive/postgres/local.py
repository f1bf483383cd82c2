"""The side of the archive on this machine: how a project is shared, what is to be sent, what came.

What the archive holds went through redaction as it was stored, and nothing else is sent. What another wrote
is trusted no further than it must be: a text must be that of its hash, it goes into a session that names its
author, and it stands in no chat.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from aider_gardener.archive.postgres.lines import Row, digest_of, record_of
from aider_gardener.archive.providers import SHARED
from aider_gardener.archive.sessions import HOST_KEY
from aider_gardener.archive.store import entries, records, schema, sessions, words
from aider_gardener.archive.store.entries import ENTRY, SHARE
from aider_gardener.archive.store.location import user_directory
from aider_gardener.archive.store.records import (
    FORGET,
    FORGET_SESSION,
    NOT_READ,
    SAID,
    as_json,
)
from aider_gardener.errors import StoreError
from aider_gardener.messages import content_hash

if TYPE_CHECKING:
    from aider_gardener.archive.store.sqlite import Store

ROWS, VECTORS = 100, 1_000
"""At most so many messages or deletions in one batch; vectors."""
INDEXED_CHARS = 200_000
"""Of a longer text only both ends are found by words on the server."""
WORD_BYTES, WORDS_BYTES = 200, 500_000
UNREADABLE = (*NOT_READ, apsw.ConstraintError)
"""What a line raises that is not what it says."""
FORGET_ALL = "forget all"
"""The kind of a line that takes away all copies of what its author said, not what is the author's own."""
ID, HOST = re.compile(r"g[0-9a-f]{9,64}"), re.compile(r"[a-z][a-z0-9 _-]{0,30}")

OWN = f"s.project = ? AND s.id NOT LIKE '{SHARED}%'"
LEAVING = f"{OWN} AND may_leave(n.provider)"


Pulled = tuple[int, str, str, str, str, float, bytes | None]
"""A line of the server's: change, author, kind, session, hash, at, and the payload, None for one's own."""


@dataclass(frozen=True)
class Share:
    """One project that is shared, by its path on this machine as a column takes it.

    `number` and `name` are the project's on the server that says it is `server`; `author` is this user's role
    there, who only reads if not `may_write`; `machine` tells this archive from the author's others. `sent` is
    the last occurrence that was looked at, known again by `sent_mark`: rows that are cut off give their
    numbers to others. `vectors_sent` is the last vector, `told` the last tombstone; `seen` is the last change
    of the server's that is here, `since` the last before the project was shared from here. `active_at` is
    when a sync last began in the background or went on, in seconds since the epoch; `named_as` how the
    environment named the server when its user agreed to share.
    """

    project: str
    name: str
    number: int
    server: str
    author: str
    may_write: bool
    machine: str
    sent: int = 0
    sent_mark: str = ""
    vectors_sent: int = 0
    told: int = 0
    seen: int = 0
    since: int = 0
    synced_at: float = 0.0
    problem: str = ""
    active_at: float = 0.0
    named_as: str = ""


def agreement(share: Share) -> Path:
    """The file of this user's, in no project's folder, that says that what is said may be sent unasked: only
    `share` makes it."""
    agreed = f"{share.machine}:{share.server}:{share.number}:{share.author}"
    return user_directory() / "shared" / hashlib.sha256(agreed.encode()).hexdigest()[:32]


def share_of(db: apsw.Connection, project: str) -> Share | None:
    found = sessions.get_state(db, schema.OWN, SHARE + project)
    return Share(**json.loads(found)) if found else None


def save_share(db: apsw.Connection, share: Share, *, is_own: bool = False) -> None:
    """Keep how a project is shared. An archive that is its own holds nothing else, whatever the project was
    called before it was moved."""
    for table in ("sessions", "tombstones") if is_own else ():
        db.execute(f"UPDATE {table} SET project = ?", (share.project,))
    sessions.set_state(db, schema.OWN, SHARE + share.project, json.dumps(asdict(share)))


def drop(db: apsw.Connection, project: str) -> None:
    """Share a project no more. What came from the server stays."""
    project = sessions.column(project)
    db.execute("DELETE FROM state WHERE session = ? AND key = ?", (schema.OWN, SHARE + project))
    db.execute("DELETE FROM tombstones WHERE project = ?", (project,))


def note(store: Store, project: str, **marks: Any) -> Share | None:
    """Change marks of a share; what it is then, None if the project is not shared any more."""

    def step(db: apsw.Connection) -> Share | None:
        share = share_of(db, project)
        if share is not None and marks:
            share = replace(share, **marks)
            save_share(db, share)
        return share

    return store.database.write(step)


def _digests(db: apsw.Connection, where: str, *given: object) -> dict[int, str]:
    """What messages are known by on the server, by their numbers."""
    sql = f"SELECT n.number, s.id, n.seq, lower(hex(o.hash)), n.at {entries.PLACES} WHERE {where}"
    return {number: digest_of(*row) for number, *row in db.execute(sql, given)}


def unsent(db: apsw.Connection, share: Share) -> tuple[list[Row], list[Row], dict[str, Any]]:
    """The next messages that the server may lack, what was forgotten and it is to hear of, and the marks once
    it has both. What is not as it was stored is left out, until `gardener store verify` has mended it."""
    is_there = _digests(db, "n.number = ?", share.sent).get(share.sent, "") == share.sent_mark
    where = f"n.number > ? AND {LEAVING} ORDER BY n.number LIMIT ?"
    digests = _digests(db, where, share.sent if is_there else 0, share.project, ROWS)
    rows = [row for number, once in digests.items() for row in _message(db, number, once)]
    last = max(digests, default=share.sent)
    stones, told = _tombstones(db, share)
    return rows, stones, {"sent": last, "sent_mark": digests.get(last, share.sent_mark), "told": told}


def _message(db: apsw.Connection, number: int, once: str) -> Iterator[Row]:
    """A message, unless it is forgotten meanwhile, or damaged."""
    with suppress(*NOT_READ):
        for record in entries.records_where(db, "n.number = ?", number):
            name, key = record["session"], content_hash(record["role"], record["content"])
            started_at = db.execute("SELECT started_at FROM sessions WHERE id = ?", (name,)).get
            begun = {"kind": "session", "id": name, "project": "", "started_at": started_at}
            record["begun"] = {**begun, "host": sessions.get_state(db, name, HOST_KEY) or ""}
            record |= {"pinned": False, "active": False, "access_count": 0, "accessed_at": 0.0}
            found_by = json.dumps(indexed(record["content"]), ensure_ascii=False)
            yield Row(SAID, as_json(record | {"renditions": []}), record["at"], once, name, key, found_by)


def indexed(text: str) -> list[str]:
    """The distinct words that a text is found by on the server, cut as the archive cuts them."""
    half = INDEXED_CHARS // 2
    shown = text if len(text) <= INDEXED_CHARS else f"{text[:half]} {text[-half:]}"
    found: dict[str, None] = {}
    room_bytes = WORDS_BYTES
    for word in words.index_words(shown):
        coded = word.encode("utf-8", "replace")
        if coded and b"\0" not in coded and len(coded) <= min(WORD_BYTES, room_bytes):
            room_bytes -= 0 if coded.decode() in found else len(coded)
            found[coded.decode()] = None
    return list(found)


def _tombstones(db: apsw.Connection, share: Share) -> tuple[list[Row], int]:
    sql = """SELECT seq, kind, key, entry, at FROM tombstones
             WHERE project = ? AND seq > ? AND is_own ORDER BY seq LIMIT ?"""
    found = list(db.execute(sql, (share.project, share.told, ROWS)))
    rows = []
    for _, kind, key, stored_id, at in found:
        if kind == ENTRY:
            row = Row(FORGET, as_json({"kind": FORGET, "ids": [stored_id]}), at, hash=key)
        else:
            row = Row(FORGET_SESSION, as_json({"kind": FORGET_SESSION, "session": key}), at, session=key)
        rows.append(replace(row, once=digest_of(row.kind, key, at)))
    return rows, found[-1][0] if found else share.told


def vectors(db: apsw.Connection, share: Share) -> tuple[list[tuple[object, ...]], int]:
    """The next vectors, each as hash, start, end, embedder, length and the vector of length 1, and the number
    of the last: before the first whose text is not sent yet. What may not leave is passed over."""
    sql = f"""SELECT v.number, lower(hex(o.hash)), c.start, c."end", e.name, v.vector, (
                  SELECT min(n.number) FROM occurrences n JOIN sessions s ON s.number = n.session
                  WHERE n.original = o.number AND {LEAVING})
              FROM vectors v JOIN embedders e ON e.number = v.embedder JOIN chunks c ON c.number = v.chunk
              JOIN originals o ON o.number = c.original WHERE v.number > ? ORDER BY v.number LIMIT ?"""
    found: list[tuple[object, ...]] = []
    last = share.vectors_sent
    given = (share.project, share.vectors_sent, VECTORS)
    for number, key, start, end, embedder, value, first in db.execute(sql, given):
        if first is not None and first > share.sent:
            break
        last = number
        if first is not None:
            numbers = struct.unpack(f"{len(value)}b", value)
            length = math.hypot(*numbers) or 1.0
            vector = [each / length for each in numbers]
            found.append((key, start, end, embedder, len(numbers), vector))
    return found, last


def waiting(db: apsw.Connection, share: Share) -> tuple[int, int]:
    sql = f"SELECT count(*) {entries.PLACES} WHERE n.number > ? AND {LEAVING}"
    stones = "SELECT count(*) FROM tombstones WHERE project = ? AND seq > ? AND is_own"
    to_send = db.execute(sql, (share.sent, share.project)).get
    return int(to_send), int(db.execute(stones, (share.project, share.told)).get)


def staying(db: apsw.Connection, share: Share) -> int:
    """How many of the project's messages never leave this machine: said to a local model, or sent to none."""
    sql = f"SELECT count(*) {entries.PLACES} WHERE {OWN} AND NOT may_leave(n.provider)"
    return int(db.execute(sql, (share.project,)).get)


def apply_lines(
    db: apsw.Connection, project: str, rows: Sequence[Pulled], now: float
) -> tuple[dict[str, int], list[str]]:
    """Write a batch of rows in the order of their changes. Returns how many were fetched, refused and heard,
    and the ids of entries that are gone. What the user took back on another machine is shared no more from
    here."""
    share, done, dead_ids = share_of(db, project), {"fetched": 0, "refused": 0, "heard": 0}, list[str]()
    for change, author, kind, session, key, at, payload in rows if share else ():
        assert share is not None
        if payload is None or (kind == SAID and _is_known(db, share, author, session, key, at)):
            continue
        if kind == SAID:
            here = f"{SHARED}{author}:{session}"
            done["fetched" if _take_message(db, project, here, key, at, payload, now) else "refused"] += 1
        elif kind == FORGET_ALL and author == share.author:
            if change > share.since:
                drop(db, project)
                return done, dead_ids
        else:
            numbers = _places_of(db, share, author, kind, session, key, at)
            done["heard"] += bool(numbers)
            dead_ids += entries.forget_places(db, numbers) if numbers else ()
    if done["heard"]:
        emptied = f"id LIKE '{SHARED}%' AND number NOT IN (SELECT session FROM occurrences)"
        db.execute(f"DELETE FROM sessions WHERE {emptied}")
    if share is not None and rows:
        save_share(db, replace(share, seen=rows[-1][0]))
    return done, dead_ids


def _is_known(db: apsw.Connection, share: Share, author: str, session: str, key: str, at: float) -> bool:
    """Whether a message was said here, in any project, or forgotten here since, or fetched already."""
    here, is_own = f"{SHARED}{author}:{session}", author == share.author
    if is_own and db.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).get is not None:
        return True
    sql = f"""SELECT 1 FROM tombstones WHERE project = ? AND key IN (?, ?) AND at >= ? UNION ALL
              SELECT 1 {entries.PLACES} WHERE o.hash = unhex(?)
              AND (s.id NOT LIKE '{SHARED}%' OR (s.id = ? AND n.at = ?))"""
    given = (share.project, key, session if is_own else here, at, key, here, at)
    return db.execute(sql, given).get is not None


def _take_message(
    db: apsw.Connection, project: str, here: str, key: str, at: float, payload: bytes, now: float
) -> bool:
    """Write what another said; whether it was. It is trusted no further than it must be: the text is that of
    its hash, and short forms are made anew."""
    try:
        record = record_of(payload, key or "")
        begun, size = record.pop("begun"), len(record["content"])
        if not ID.fullmatch(record["id"]) or not all(
            0 <= start < end <= size for start, end in record["chunks"]
        ):
            raise ValueError("no id, or a passage that lies outside its text")
        record |= {"kind": SAID, "session": here, "at": float(at), "accessed_at": now, "access_count": 0}
        record |= {"renditions": [], "pinned": False, "active": False}
        found = [{**begun, "kind": "session", "id": here, "project": project}, record]
        if HOST.fullmatch(begun["host"]):
            found.append({"kind": "state", "session": here, "key": HOST_KEY, "value": begun["host"]})
        with db:
            records.add_all(db, found, "no record")
    except (*UNREADABLE, StoreError):
        return False
    return True


def _places_of(
    db: apsw.Connection, share: Share, author: str, kind: str, session: str, key: str, at: float
) -> list[int]:
    """The occurrences that a line forgets: the author's, said up to its time."""
    given = {"project": share.project, "mine": f"{SHARED}{author}:", "session": session, "key": key, "at": at}
    whose = "substr(s.id, 1, length(:mine)) = :mine"
    if author == share.author:
        whose += f" OR s.id NOT LIKE '{SHARED}%'"
    what = {
        FORGET: "o.hash = unhex(:key) AND n.at <= :at",
        FORGET_SESSION: "s.id IN (:session, :mine || :session) AND n.at <= :at",
        FORGET_ALL: "1",
    }.get(kind, "0")
    sql = f"SELECT n.number {entries.PLACES} WHERE s.project = :project AND ({whose}) AND {what}"
    return [row[0] for row in db.execute(sql, given)]
