"""Deletion that leaves no bytes behind: rows, index, freed pages and the write-ahead log."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any

import apsw

from aider_gardener.archive.store import search
from aider_gardener.archive.store import vectors as sqlite_vectors
from aider_gardener.archive.store.database import BUSY_MILLISECONDS

CHECKPOINT_TRIES = 20
CHECKPOINT_PAUSE_SECONDS = 0.1
CHECKPOINT_MILLISECONDS = 50


def forget(db: apsw.Connection, ids: Iterable[str]) -> int:
    """Delete entries with all that was derived from them; returns how many there were.

    Their words leave the index with `search.scrub`, which the caller repeats until it is done.
    """
    numbers = []
    for stored_id in dict.fromkeys(ids):
        number = db.execute("SELECT number FROM originals WHERE id = ?", (stored_id,)).get
        if number is not None:
            _forget_entry(db, number, stored_id)
            numbers.append(number)
    if numbers:
        search.begin_scrub(db)
    return len(numbers)


def _forget_entry(db: apsw.Connection, number: int, stored_id: str) -> None:
    chunks = [row[0] for row in db.execute("SELECT number FROM chunks WHERE original = ?", (number,))]
    search.remove(db, chunks)
    sqlite_vectors.remove(db, number)
    for table in ("chunks", "renditions", "rendition_hashes", "occurrences", "bodies"):
        db.execute(f"DELETE FROM {table} WHERE original = ?", (number,))
    db.execute("DELETE FROM originals WHERE number = ?", (number,))
    about = (
        "SELECT number, data FROM events WHERE number IN (SELECT event FROM event_entries WHERE entry = ?)"
    )
    rows: list[Any] = db.execute(about, (stored_id,)).fetchall()
    for event, data in rows:
        left = without(json.loads(data), stored_id)
        if left is None:
            db.execute("DELETE FROM events WHERE number = ?", (event,))
            db.execute("DELETE FROM event_entries WHERE event = ?", (event,))
        else:
            db.execute(
                "UPDATE events SET data = ? WHERE number = ?", (json.dumps(left, sort_keys=True), event)
            )
    db.execute("DELETE FROM event_entries WHERE entry = ?", (stored_id,))


def without(value: Any, stored_id: str) -> Any:
    """An event's data without an entry: an object about it is dropped (None), as is its id in lists."""
    if isinstance(value, dict):
        if value.get("entry_id") == stored_id:
            return None
        return {key: without(each, stored_id) for key, each in value.items() if key != stored_id}
    if isinstance(value, list):
        return [
            without(each, stored_id)
            for each in value
            if each != stored_id and without(each, stored_id) is not None
        ]
    return value


def forget_session(db: apsw.Connection, session: str) -> int:
    """Delete a session, its events and state, and the entries that occur in no other session."""
    number = db.execute("SELECT number FROM sessions WHERE id = ?", (session,)).get
    own: list[str] = []
    if number is not None:
        own = [
            row[0]
            for row in db.execute(
                """SELECT DISTINCT o.id FROM occurrences n JOIN originals o ON o.number = n.original
                   WHERE n.session = ?1 AND NOT EXISTS (
                       SELECT 1 FROM occurrences e WHERE e.original = o.number AND e.session != ?1)""",
                (number,),
            )
        ]
    forgotten = forget(db, own)
    db.execute("DELETE FROM occurrences WHERE session = ?", (number,))
    db.execute("DELETE FROM sessions WHERE id = ?", (session,))
    db.execute("DELETE FROM state WHERE session = ?", (session,))
    db.execute("DELETE FROM events WHERE session = ?", (session,))
    db.execute("DELETE FROM event_entries WHERE event NOT IN (SELECT number FROM events)")
    return forgotten


def empty_log(db: apsw.Connection) -> bool:
    """Move the write-ahead log into the file and cut it to nothing; False if another reader holds it."""
    if db.pragma("journal_mode") != "wal":
        return True
    db.set_busy_timeout(CHECKPOINT_MILLISECONDS)  # with the usual patience all tries would take minutes
    try:
        for _ in range(CHECKPOINT_TRIES):
            try:
                db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                return True
            except apsw.BusyError:
                time.sleep(CHECKPOINT_PAUSE_SECONDS)
        return False
    finally:
        db.set_busy_timeout(BUSY_MILLISECONDS)
