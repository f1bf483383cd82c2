"""Sessions, events, state and marks in SQLite: everything beside the originals.

For retention: how entries were used, which sessions live (told by the process that holds one open, in a way
that is safe on every system), and room given back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import apsw

from aider_gardener.archive.store import search
from aider_gardener.archive.store.base import (
    CONFIDENCE_FLOOR,
    CONFIDENCE_GAIN,
    CONFIDENCE_LOSS_PER_HOUR,
    Event,
    Holding,
    SessionInfo,
    StoreStats,
)

QUIET_SECONDS = 24 * 3_600.0
"""A session in which something was said within this time counts as live, whatever its process does."""
FOREIGN_SECONDS = 30 * 24 * 3_600.0
"""So long a process of another machine (the archive lies on a shared disk) is believed to go on."""
VACUUM_SHARE = 0.05
"""Free pages below this share of the file stay for reuse."""
CLOCK_SECONDS = 60.0
"""A process's start moves as far as the clock is set meanwhile: it is counted from the system's own."""


class Owner(NamedTuple):
    """A process: its machine, its number and when it was started."""

    host: str
    pid: int
    started: str


def column(project: str) -> str:
    """A project's path, or a key with it, as a column takes it: what is no UTF-8 is written by its bytes."""
    return project.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def open_session(db: apsw.Connection, session: str, project: str, started_at: float) -> None:
    """Begin a session; one known by name only (it got entries first) is completed."""
    db.execute(
        """INSERT INTO sessions (id, project, started_at) VALUES (?, ?, ?)
           ON CONFLICT (id) DO UPDATE SET
               project = iif(project = '', excluded.project, project),
               started_at = iif(started_at = 0, excluded.started_at, started_at)
               WHERE (project = '' AND excluded.project != '')
                   OR (started_at = 0 AND excluded.started_at != 0)""",
        (session, column(project), started_at),
    )


def sessions(db: apsw.Connection, project: str | None) -> list[SessionInfo]:
    """The sessions of a project, None for all. One begins with the first that was said in it, where that was
    before it was opened here: it was imported."""
    sql = """
        SELECT s.id, s.project, iif(min(n.at) < s.started_at OR s.started_at = 0, min(n.at), s.started_at),
               count(n.number) FILTER (WHERE n.source NOT IN ('stub', 'notice')),
               coalesce(max(n.turn), 0), coalesce(max(n.at), s.started_at)
        FROM sessions s LEFT JOIN occurrences n ON n.session = s.number
        WHERE ?1 IS NULL OR s.project = ?1 GROUP BY s.number ORDER BY s.number"""
    found = []
    for session, own, started_at, *more in db.execute(sql, (project and column(project),)):
        found.append(SessionInfo(session, own, started_at or 0.0, *more))
    return found


def touch(db: apsw.Connection, ids: Iterable[str], at: float, *, again: bool = False) -> None:
    """Count an access; confidence decays up to it and gains by it (see `retention`). `again`: unless it, or a
    later one, is counted already."""
    hours = "max(0.0, ?1 - accessed_at) / 3600.0"
    decayed = f"max({CONFIDENCE_FLOOR}, confidence - {CONFIDENCE_LOSS_PER_HOUR} * {hours})"
    db.executemany(
        f"""UPDATE originals SET confidence = min(1.0, {decayed} + {CONFIDENCE_GAIN}),
            accessed_at = max(accessed_at, ?1), access_count = access_count + 1
            WHERE id = ?2 AND (NOT ?3 OR accessed_at < ?1)""",
        [(at, stored_id, again) for stored_id in dict.fromkeys(ids)],
    )


def record_event(db: apsw.Connection, record: Mapping[str, object], *, again: bool = False) -> None:
    """Append an event, or `again` only if the very same is not there yet."""
    data = json.dumps(record["data"], default=str, sort_keys=True)
    db.execute(
        """INSERT INTO events (session, turn, kind, data, at) SELECT :session, :turn, :event, :data, :at
           WHERE NOT :again OR NOT EXISTS (
               SELECT 1 FROM events WHERE session = :session AND turn = :turn AND kind = :event
               AND data = :data AND at = :at)""",
        {**record, "data": data, "again": again},
    )


def events(db: apsw.Connection, session: str | None, kind: str | None, stored_id: str | None) -> list[Event]:
    conditions, values = [], []
    for column, value in (("session", session), ("kind", kind)):
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(value)
    if stored_id is not None:
        conditions.append("instr(data, ?)")  # an id by itself is one: within a text its quotes are escaped
        values.append(f'"{stored_id}"')
    where = " AND ".join(["1", *conditions])
    sql = f"SELECT session, turn, kind, data, at FROM events WHERE {where} ORDER BY number"
    return [
        Event(own, turn, word, json.loads(data), at) for own, turn, word, data, at in db.execute(sql, values)
    ]


def set_state(db: apsw.Connection, session: str, key: str, value: str) -> None:
    db.execute(
        "INSERT INTO state (session, key, value) VALUES (?, ?, ?) "
        "ON CONFLICT (session, key) DO UPDATE SET value = excluded.value",
        (session, column(key), search.encode(value)),
    )


def get_state(db: apsw.Connection, session: str, key: str) -> str | None:
    value = db.execute("SELECT value FROM state WHERE session = ? AND key = ?", (session, column(key))).get
    return None if value is None else search.decode(value)


def stats(db: apsw.Connection, path: Path | None) -> StoreStats:
    shown = "coalesce(r.tokens, o.tokens)"
    rows = list(
        db.execute(
            f"""SELECT o.cls, count(*), sum(o.tokens), sum({shown}), sum(o.pinned), sum(o.redactions != '[]')
            FROM originals o LEFT JOIN renditions r ON r.original = o.number AND r.fidelity = 'compressed'
            GROUP BY o.cls ORDER BY o.cls"""
        )
    )
    files = [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")] if path else []
    return StoreStats(
        entries=sum(row[1] for row in rows),
        redacted=sum(row[5] for row in rows),
        pinned=sum(row[4] for row in rows),
        original_tokens=sum(row[2] for row in rows),
        rendition_tokens=sum(row[3] for row in rows),
        bytes=sum(file.stat().st_size for file in files if file.exists()) if path else size_bytes(db),
        by_class={row[0]: (row[1], row[2], row[3]) for row in rows},
        path=str(path) if path else "",
    )


def add_holder(db: apsw.Connection, session: str, at: float) -> None:
    """Note that this process holds a session open."""
    db.execute(
        "INSERT OR REPLACE INTO holders (session, host, pid, started, at) VALUES (?, ?, ?, ?, ?)",
        (session, *this_process(), at),
    )


def remove_holders(db: apsw.Connection) -> None:
    """Note that this process holds no session open any more, and clear away those that died."""
    pids = [row[2] for row in _holders(db) if row[2] == os.getpid() or not is_running(*row[2:4])]
    db.executemany("DELETE FROM holders WHERE host = ? AND pid = ?", [(this_host(), pid) for pid in pids])


def _holders(db: apsw.Connection, *, here: bool = True) -> list[tuple[str, str, int, str, float]]:
    """Who holds a session open on this machine, or on another: session, host, pid, started, at."""
    sql = "SELECT session, host, pid, started, at FROM holders WHERE (host = ?) = ?"
    return list(db.execute(sql, (this_host(), here)))


def live_sessions(db: apsw.Connection, now: float) -> frozenset[str]:
    recent = db.execute(
        """SELECT s.id FROM sessions s WHERE s.started_at BETWEEN ?1 AND ?2 OR EXISTS (
               SELECT 1 FROM occurrences n WHERE n.session = s.number AND n.at BETWEEN ?1 AND ?2)""",
        (now - QUIET_SECONDS, now + QUIET_SECONDS),
    )
    found = {str(row[0]) for row in recent}
    found.update(row[0] for row in _holders(db) if is_running(*row[2:4]))
    found.update(row[0] for row in _holders(db, here=False) if abs(now - row[4]) < FOREIGN_SECONDS)
    return frozenset(found)


def open_elsewhere(db: apsw.Connection) -> frozenset[str]:
    holders = _holders(db)
    return frozenset(row[0] for row in holders if row[2] != os.getpid() and is_running(*row[2:4]))


def holdings(db: apsw.Connection) -> list[Holding]:
    sql = """
        SELECT o.id, o.cls, o.tokens, length(b.body), max(o.accessed_at, max(n.at)),
               o.access_count, o.confidence, o.pinned, json_group_array(DISTINCT s.id)
        FROM originals o JOIN bodies b ON b.original = o.number
        LEFT JOIN occurrences n ON n.original = o.number LEFT JOIN sessions s ON s.number = n.session
        GROUP BY o.number ORDER BY o.number"""
    found = []
    for *values, pinned, ids in db.execute(sql):
        sessions = tuple(each for each in json.loads(ids) if each)
        found.append(Holding._make((*values, bool(pinned), sessions)))
    return found


def size_bytes(db: apsw.Connection) -> int:
    used = int(db.pragma("page_count")) - int(db.pragma("freelist_count"))
    return used * int(db.pragma("page_size"))


def compact(db: apsw.Connection) -> None:
    pages, free = int(db.pragma("page_count")), int(db.pragma("freelist_count"))
    if free > pages * VACUUM_SHARE:
        db.execute("PRAGMA incremental_vacuum").fetchall()


@lru_cache(maxsize=1)
def this_host() -> str:
    """Names this machine; inside a container that is the container."""
    import platform  # late: most that look up name no machine

    return platform.node()


def this_process() -> Owner:
    return Owner(this_host(), os.getpid(), start_of(os.getpid()))


def start_of(pid: int) -> str:
    """When a process was started, in seconds since the epoch; "" where the system does not say."""
    import psutil

    try:
        return str(psutil.Process(pid).create_time())
    except psutil.Error:
        return ""


def is_running(pid: int, started: str) -> bool:
    """Whether the process still runs; where nothing can be learnt the answer is yes. One that was killed does
    not, also before its parent has asked after it.

    `started` is what `start_of` said of it then: another process may have its number by now.
    """
    import psutil

    if pid <= 0 or not psutil.pid_exists(pid):
        return False
    with suppress(psutil.Error):
        if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return False
    now = start_of(pid)
    return not (started and now) or abs(float(now) - float(started)) < CLOCK_SECONDS
