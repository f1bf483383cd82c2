"""What was forgotten of shared projects: noted as it goes, so that the other machines hear of it.

How a project is shared is a small value of the archive itself, beside its number: neither exported nor
imported, so that nobody shares what another archive shared. The archive knows no more of it than its author.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from aider_gardener.archive.providers import SHARED, may_go
from aider_gardener.archive.store import schema, search, sessions

if TYPE_CHECKING:
    import apsw

KEY = "share:"
"""Before a project's path, the key under which it is kept how the project is shared."""
ENTRY, SESSION = "entry", "session"


def note_entries(db: apsw.Connection, numbers: Iterable[int], *, told: bool) -> None:
    """Note, before originals are deleted, those of shared projects; other machines hear of the user's own.

    Without `told` they hear only of what was said on this machine: what was fetched was pruned here alone.
    What was said to a local model was never sent, so nothing of it is told either.
    """
    authors = _authors(db)
    sql = """SELECT s.project, s.id, n.provider, lower(hex(o.hash)), o.id FROM occurrences n
             JOIN sessions s ON s.number = n.session JOIN originals o ON o.number = n.original
             WHERE o.number = ?"""
    for number in numbers if authors else ():
        noted: dict[tuple[str, str, str], bool] = {}
        for project, session, provider, *named in db.execute(sql, (number,)):
            if project in authors:
                key = (project, named[0], named[1])
                noted[key] = noted.get(key, False) or _is_told(authors[project], session, provider, told)
        for (project, name, stored_id), is_own in noted.items():
            _note(db, project, ENTRY, name, stored_id, is_own)


def note_session(db: apsw.Connection, session: str) -> None:
    """Note, before a session of a shared project is deleted, that it is; the same of what is told holds."""
    authors = _authors(db)
    sql = """SELECT s.project, n.provider FROM sessions s LEFT JOIN occurrences n ON n.session = s.number
             WHERE s.id = ?"""
    found = list(db.execute(sql, (session,)))
    project = found[0][0] if found else ""
    if project in authors:
        is_own = any(_is_told(authors[project], session, provider or "", True) for _, provider in found)
        key = session.removeprefix(f"{SHARED}{authors[project]}:")
        _note(db, project, SESSION, key, "", is_own)


def begin_again(db: apsw.Connection) -> None:
    """Let the next sync send and fetch everything once more: rows of the archive may have been lost."""
    for project in _authors(db):
        share = json.loads(sessions.get_state(db, schema.OWN, KEY + project) or "{}")
        share |= {"sent": 0, "vectors_sent": 0, "told": 0, "seen": 0}
        sessions.set_state(db, schema.OWN, KEY + project, json.dumps(share))


def _authors(db: apsw.Connection) -> dict[str, str]:
    """The shared projects, each with this user's role on the server."""
    sql = "SELECT key, value FROM state WHERE session = ? AND key >= ? AND key < ? ORDER BY key"
    rows = db.execute(sql, (schema.OWN, KEY, KEY[:-1] + ";"))
    return {key[len(KEY) :]: json.loads(search.decode(value))["author"] for key, value in rows}


def _is_told(author: str, session: str, provider: str, told: bool) -> bool:
    if session.startswith(SHARED):
        return told and session.startswith(f"{SHARED}{author}:")
    return may_go(provider, "server")


def _note(db: apsw.Connection, project: str, kind: str, key: str, stored_id: str, is_own: bool) -> None:
    db.execute(
        "INSERT INTO tombstones (project, kind, key, entry, at, is_own) VALUES (?, ?, ?, ?, ?, ?)",
        (project, kind, key, stored_id, time.time(), int(is_own)),
    )
