"""What retention reads and leaves behind: how entries were used, which sessions live, room given back."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from typing import Any

import apsw

from aider_gardener.archive.store import liveness
from aider_gardener.archive.store.values import Holding

QUIET_SECONDS = 24 * 3_600.0
"""A session in which something was said within this time counts as live, whatever its process does."""
FOREIGN_SECONDS = 30 * 24 * 3_600.0
"""So long a process of another machine (the archive lies on a shared disk) is believed to go on."""
VACUUM_SHARE = 0.05
"""Free pages below this share of the file stay for reuse."""
INCREMENTAL = 2


def hold(db: apsw.Connection, session: str, at: float) -> None:
    """Note that this process holds a session open."""
    pid = os.getpid()
    db.execute(
        "INSERT OR REPLACE INTO holders (session, host, pid, started, at) VALUES (?, ?, ?, ?, ?)",
        (session, liveness.this_host(), pid, liveness.start_of(pid), at),
    )


def let_go(db: apsw.Connection) -> None:
    """Note that this process holds no session open any more, and clear away those that died."""
    host = liveness.this_host()
    rows: list[Any] = db.execute(
        "SELECT DISTINCT pid, started FROM holders WHERE host = ?", (host,)
    ).fetchall()
    gone = [pid for pid, started in rows if pid == os.getpid() or not liveness.is_running(pid, started)]
    db.executemany("DELETE FROM holders WHERE host = ? AND pid = ?", [(host, pid) for pid in gone])


def live_sessions(db: apsw.Connection, now: float) -> frozenset[str]:
    """The sessions that a process holds open, or in which something was said in the last 24 hours."""
    recent = db.execute(
        """SELECT s.id FROM sessions s WHERE s.started_at > ?1 OR EXISTS (
               SELECT 1 FROM occurrences n WHERE n.session = s.number AND n.at > ?1)""",
        (now - QUIET_SECONDS,),
    )
    found = {str(row[0]) for row in recent}
    host = liveness.this_host()
    rows: list[Any] = db.execute("SELECT session, host, pid, started, at FROM holders").fetchall()
    for session, own, pid, started, at in rows:
        if own == host:
            if liveness.is_running(pid, started):
                found.add(session)
        elif at > now - FOREIGN_SECONDS:
            found.add(session)
    return frozenset(found)


def holdings(db: apsw.Connection) -> list[Holding]:
    """Every original as retention sees it, oldest first."""
    sql = """
        SELECT o.id, o.cls, o.tokens, length(b.body), max(n.at), max(o.accessed_at, max(n.at)),
               o.access_count, o.confidence, o.pinned, json_group_array(DISTINCT s.id)
        FROM originals o JOIN bodies b ON b.original = o.number
        LEFT JOIN occurrences n ON n.original = o.number LEFT JOIN sessions s ON s.number = n.session
        GROUP BY o.number ORDER BY o.number"""
    rows: list[Any] = db.execute(sql).fetchall()
    names = [field.name for field in fields(Holding)]
    found = []
    for row in rows:
        values = dict(zip(names, row, strict=True))
        sessions = tuple(each for each in json.loads(row[-1]) if each)
        found.append(Holding(**values | {"pinned": bool(values["pinned"]), "sessions": sessions}))
    return found


def size_bytes(db: apsw.Connection) -> int:
    """What the archive takes, its free pages left out."""
    used = int(db.pragma("page_count")) - int(db.pragma("freelist_count"))
    return used * int(db.pragma("page_size"))


def compact(db: apsw.Connection) -> None:
    """Give the file's free pages back to the disk. Needs no other process; a busy file keeps them."""
    pages, free = int(db.pragma("page_count")), int(db.pragma("freelist_count"))
    if free <= pages * VACUUM_SHARE:
        return
    if db.pragma("auto_vacuum") == INCREMENTAL:
        db.execute("PRAGMA incremental_vacuum").fetchall()
        return
    db.pragma("auto_vacuum", INCREMENTAL)
    db.execute("VACUUM")
