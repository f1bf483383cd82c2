"""What of an archive is shared with a server: which projects, how far, and what was forgotten since.

A share is a small value of the archive itself, beside its signature: neither exported nor imported, so that
nobody shares what another archive shared. What came from a server lies in sessions of its own, whose ids name
their author.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.sessions import SHARED, may_go
from aider_gardener.archive.store import ownership, search, sessions

if TYPE_CHECKING:
    import apsw

KEY = "share:"
"""Before a project's path, the key under which its share is kept."""
ENTRY, SESSION = "entry", "session"


@dataclass(frozen=True)
class Share:
    """One project that is shared, by its path on this machine.

    `number` and `name` are the project's on the server that says it is `server`; `author` is this user's role
    there, who only reads if not `may_write`; `machine` tells this archive from the author's others. `sent` is
    the last occurrence that the server has, `vectors_sent` the last vector, `told` the last tombstone; `seen`
    is the last change of the server's that is here, `since` the last before the project was shared from here.
    `cuts` counts how often the rows here were cut off, after which row numbers are given anew. `active_at` is
    when a sync last began or went on, in seconds since the epoch; `named_as` how the environment named the
    server when its user agreed to share.
    """

    project: str
    name: str
    number: int
    server: str
    author: str
    may_write: bool
    machine: str
    sent: int = 0
    vectors_sent: int = 0
    told: int = 0
    seen: int = 0
    since: int = 0
    cuts: int = 0
    synced_at: float = 0.0
    problem: str = ""
    active_at: float = 0.0
    named_as: str = ""


@dataclass(frozen=True)
class Tombstone:
    """What was forgotten: an original by its hash (and id), or a session by its id; `at` is when, in
    seconds."""

    seq: int
    kind: str
    key: str
    entry: str
    at: float


def session_here(author: str, session: str) -> str:
    """The id that a session of the server's has in this archive."""
    return f"{SHARED}{author}:{session}"


def share_of(db: apsw.Connection, project: str) -> Share | None:
    """How a project is shared, None if it is not."""
    found = sessions.get_state(db, ownership.SESSION, KEY + project)
    return Share(**json.loads(found)) if found else None


def all_shares(db: apsw.Connection) -> list[Share]:
    """The shared projects of the archive."""
    sql = "SELECT value FROM state WHERE session = ? AND key >= ? AND key < ? ORDER BY key"
    rows = db.execute(sql, (ownership.SESSION, KEY, KEY[:-1] + ";"))
    return [Share(**json.loads(search.decode(value))) for (value,) in rows]


def is_due(share: Share, now: float, seconds: float) -> bool:
    """Whether no process began a sync, or went on with one, within so many seconds."""
    return not 0 <= now - share.active_at < seconds


def may_begin(db: apsw.Connection, project: str, now: float, seconds: float) -> bool:
    """Whether a sync of a project is due, in which case it is noted that one begins."""
    share = share_of(db, project)
    if share is None or not is_due(share, now, seconds):
        return False
    keep(db, replace(share, active_at=now))
    return True


def note_active(db: apsw.Connection, project: str, now: float) -> None:
    """Note that a sync of a project goes on."""
    share = share_of(db, project)
    if share is not None:
        keep(db, replace(share, active_at=now))


def keep(db: apsw.Connection, share: Share) -> None:
    """Write how a project is shared."""
    sessions.set_state(db, ownership.SESSION, KEY + share.project, json.dumps(asdict(share)))


def drop(db: apsw.Connection, project: str) -> None:
    """Share a project no more. What came from the server stays."""
    db.execute("DELETE FROM state WHERE session = ? AND key = ?", (ownership.SESSION, KEY + project))
    db.execute("DELETE FROM tombstones WHERE project = ?", (project,))


def begin_again(db: apsw.Connection) -> None:
    """Send and fetch everything once more: the archive's rows may have other numbers than before."""
    for share in all_shares(db):
        keep(db, replace(share, sent=0, vectors_sent=0, told=0, seen=0, cuts=share.cuts + 1))


def tombstones(db: apsw.Connection, project: str, after: int, limit: int) -> list[Tombstone]:
    """What the server is to hear of, in order."""
    sql = """SELECT seq, kind, key, entry, at FROM tombstones
             WHERE project = ? AND seq > ? AND is_own ORDER BY seq LIMIT ?"""
    return [Tombstone(*row) for row in db.execute(sql, (project, after, limit))]


def is_forgotten(db: apsw.Connection, project: str, key: str, at: float) -> bool:
    """Whether what was said then was forgotten in this archive since."""
    sql = "SELECT 1 FROM tombstones WHERE project = ? AND key = ? AND at >= ?"
    return db.execute(sql, (project, key, at)).get is not None


def note_entries(db: apsw.Connection, numbers: Iterable[int], *, told: bool) -> None:
    """Note, before originals are deleted, those of shared projects; the server hears of the user's own.

    Without `told` it hears only of what was said on this machine: what was fetched was pruned here alone.
    What was said to a local model was never sent, so nothing of it is told either.
    """
    shared = {share.project: share for share in all_shares(db)}
    if not shared:
        return
    now = time.time()
    sql = """SELECT s.project, s.id, n.provider, o.hash, o.id FROM occurrences n
             JOIN sessions s ON s.number = n.session JOIN originals o ON o.number = n.original
             WHERE o.number = ?"""
    for number in numbers:
        rows: list[Any] = db.execute(sql, (number,)).fetchall()
        noted: dict[str, tuple[str, str, bool]] = {}
        for project, session, provider, stored_hash, stored_id in rows:
            share = shared.get(project)
            if share is not None:
                is_own = _is_told(share, session, provider, told) or noted.get(project, ("", "", False))[2]
                noted[project] = (stored_hash.hex(), stored_id, is_own)
        for project, (key, stored_id, is_own) in noted.items():
            _note(db, project, ENTRY, key, stored_id, now, is_own)


def _is_told(share: Share, session: str, provider: str, told: bool) -> bool:
    if session.startswith(SHARED):
        return told and session.startswith(session_here(share.author, ""))
    return may_leave(provider)


def note_session(db: apsw.Connection, session: str) -> None:
    """Note, before a session of a shared project is deleted, that it is; the same of what is told holds."""
    sql = "SELECT number, project FROM sessions WHERE id = ?"
    rows: list[Any] = db.execute(sql, (session,)).fetchall()
    for number, project in rows:
        share = share_of(db, project)
        if share is None:
            continue
        providers = db.execute("SELECT DISTINCT provider FROM occurrences WHERE session = ?", (number,))
        is_own = any(_is_told(share, session, str(row[0]), True) for row in providers.fetchall())
        own = session_here(share.author, "")
        _note(db, project, SESSION, session.removeprefix(own), "", time.time(), is_own)


def _note(
    db: apsw.Connection, project: str, kind: str, key: str, stored_id: str, at: float, is_own: bool
) -> None:
    db.execute(
        "INSERT INTO tombstones (project, kind, key, entry, at, is_own) VALUES (?, ?, ?, ?, ?, ?)",
        (project, kind, key, stored_id, at, int(is_own)),
    )


def note_cut(db: apsw.Connection) -> None:
    """Note, after occurrences were deleted, that the numbers above the last one will be given anew."""
    last = int(db.execute("SELECT coalesce(max(number), 0) FROM occurrences").get)
    for share in all_shares(db):
        keep(db, replace(share, sent=min(share.sent, last), cuts=share.cuts + 1))


def may_leave(provider: str) -> bool:
    """Whether what was first sent to a provider may go to a server; never what stayed on this machine."""
    return may_go(provider, "server")
