"""Sessions, events, state and marks in SQLite: everything beside the originals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import apsw

from aider_gardener.archive.retention import CONFIDENCE_FLOOR, CONFIDENCE_GAIN, CONFIDENCE_LOSS_PER_HOUR
from aider_gardener.archive.store import schema, search
from aider_gardener.archive.store.base import Event, SessionInfo, StoreStats


def open_session(
    db: apsw.Connection, session: str, project: str, started_at: float, provider: str, model: str
) -> None:
    """Begin a session; one known by name only (it got entries first) is completed."""
    db.execute(
        """INSERT INTO sessions (id, project, started_at, provider, model) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (id) DO UPDATE SET
               project = iif(project = '', excluded.project, project),
               started_at = iif(started_at = 0, excluded.started_at, started_at),
               provider = iif(excluded.provider = '', provider, excluded.provider),
               model = iif(excluded.model = '', model, excluded.model)""",
        (session, project, started_at, provider, model),
    )


def sessions(db: apsw.Connection, project: str) -> list[SessionInfo]:
    sql = """
        SELECT s.id, s.project, s.started_at, s.provider, s.model, count(n.number),
               coalesce(max(n.turn), 0), coalesce(max(n.at), s.started_at)
        FROM sessions s LEFT JOIN occurrences n ON n.session = s.number
        WHERE s.project = ? GROUP BY s.number ORDER BY s.started_at, s.number"""
    return [SessionInfo(*row) for row in db.execute(sql, (project,))]


def touch(db: apsw.Connection, ids: Iterable[str], at: float) -> None:
    """Count an access; confidence decays up to it and gains by it (see `retention`)."""
    hours = "max(0.0, ?1 - accessed_at) / 3600.0"
    decayed = f"max({CONFIDENCE_FLOOR}, confidence - {CONFIDENCE_LOSS_PER_HOUR} * {hours})"
    db.executemany(
        f"""UPDATE originals SET confidence = min(1.0, {decayed} + {CONFIDENCE_GAIN}),
            accessed_at = max(accessed_at, ?1), access_count = access_count + 1 WHERE id = ?2""",
        [(at, stored_id) for stored_id in dict.fromkeys(ids)],
    )


def pin(db: apsw.Connection, stored_id: str, pinned: bool) -> None:
    db.execute("UPDATE originals SET pinned = ? WHERE id = ?", (int(pinned), stored_id))


def set_active(db: apsw.Connection, ids: Iterable[str], active: bool) -> None:
    db.executemany("UPDATE originals SET active = ? WHERE id = ?", [(int(active), each) for each in ids])


def record_event(
    db: apsw.Connection, session: str, turn: int, kind: str, data: Mapping[str, object], at: float
) -> None:
    db.execute(
        "INSERT INTO events (session, turn, kind, data, at) VALUES (?, ?, ?, ?, ?)",
        (session, turn, kind, json.dumps(data, default=str, sort_keys=True), at),
    )
    number = db.last_insert_rowid()
    db.executemany(
        "INSERT OR IGNORE INTO event_entries (entry, event) VALUES (?, ?)",
        [(stored_id, number) for stored_id in entries_of(data)],
    )


def entries_of(data: Mapping[str, object]) -> list[str]:
    """The ids an event is about: its keys `entry_id` and `entry_ids`."""
    one, many = data.get("entry_id"), data.get("entry_ids")
    found = [one] if isinstance(one, str) else []
    if isinstance(many, (list, tuple)):
        found += [each for each in many if isinstance(each, str)]
    return found


def events(db: apsw.Connection, session: str | None, kind: str | None, stored_id: str | None) -> list[Event]:
    conditions, values = [], []
    for column, value in (("session", session), ("kind", kind)):
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(value)
    if stored_id is not None:
        conditions.append("number IN (SELECT event FROM event_entries WHERE entry = ?)")
        values.append(stored_id)
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    sql = f"SELECT number, session, turn, kind, data, at FROM events {where} ORDER BY number"
    return [
        Event(number, own, turn, word, json.loads(data), at)
        for number, own, turn, word, data, at in db.execute(sql, values)
    ]


def set_state(db: apsw.Connection, session: str, key: str, value: str) -> None:
    db.execute(
        "INSERT INTO state (session, key, value) VALUES (?, ?, ?) "
        "ON CONFLICT (session, key) DO UPDATE SET value = excluded.value",
        (session, key, search.encode(value)),
    )


def get_state(db: apsw.Connection, session: str, key: str) -> str | None:
    value = db.execute("SELECT value FROM state WHERE session = ? AND key = ?", (session, key)).get
    return None if value is None else search.decode(value)


def stats(db: apsw.Connection, path: Path | None) -> StoreStats:
    shown = "coalesce(r.tokens, o.tokens)"
    rows: list[Any] = db.execute(
        f"""SELECT o.cls, count(*), sum(o.tokens), sum({shown}), sum(o.pinned), sum(o.redactions != '[]')
            FROM originals o LEFT JOIN renditions r ON r.original = o.number AND r.fidelity = 'compressed'
            GROUP BY o.cls ORDER BY o.cls"""
    ).fetchall()

    def count(table: str, condition: str = "1") -> int:
        return int(db.execute(f"SELECT count(*) FROM {table} WHERE {condition}").get)

    return StoreStats(
        entries=sum(row[1] for row in rows),
        occurrences=count("occurrences"),
        sessions=count("sessions"),
        chunks=count("chunks", "fidelity = ''"),
        vectors=count("vectors"),
        events=count("events"),
        redacted=sum(row[5] for row in rows),
        pinned=sum(row[4] for row in rows),
        original_tokens=sum(row[2] for row in rows),
        rendition_tokens=sum(row[3] for row in rows),
        bytes=_bytes(path),
        by_class={row[0]: (row[1], row[2], row[3]) for row in rows},
        path=str(path) if path else "",
        schema=schema.version_of(db),
    )


def _bytes(path: Path | None) -> int:
    files = [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")] if path else []
    return sum(file.stat().st_size for file in files if file.exists())
