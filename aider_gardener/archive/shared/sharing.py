"""To share a project, to share it no more, and to say how it stands.

Nothing is shared unless its user says so, project by project.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.shared import outbox, schema, server, sync
from aider_gardener.archive.store import shares
from aider_gardener.archive.store.shares import Share
from aider_gardener.errors import UsageError

if TYPE_CHECKING:
    import apsw

    from aider_gardener.archive.shared.server import Connection
    from aider_gardener.archive.store.sqlite import SqliteStore

IN_MEMORY = "there is no archive on disk to share"
ENCRYPTED = (
    "the archive is encrypted, and the server would hold its texts readable: agree with --readable, or"
    " leave it"
)
ANOTHER_NAME = "this project is shared as {name} already; `gardener store unshare` first"
NO_PROJECT = (
    "there is no project {name} that {role} may see: ask its owner for `gardener store share --owner {role}`"
)
NOT_OWNER = "{role} only reads {name}: its owner admits others"
STATUS_SECONDS = 3
"""How long the server is waited for to say who its project's members are."""


def prepare(environ: Mapping[str, str] | None = None) -> str:
    """Make the server's tables or bring them to this version; which server it is. Raises ServerError."""
    with server.connected(environ) as connection:
        return schema.prepare(connection)


def share(
    store: SqliteStore,
    project: str,
    name: str,
    *,
    owners: Sequence[str] = (),
    readers: Sequence[str] = (),
    readable: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Share:
    """Share a project under a name, or as `CREATOR/NAME` one that another made; admit roles to it.

    `readable`: the user agrees that what is encrypted here is not there. Sends nothing yet. Raises UsageError
    and ServerError.
    """
    environ = os.environ if environ is None else environ
    if not store.persistent:
        raise UsageError(IN_MEMORY)
    if store.database.key and not readable:
        raise UsageError(ENCRYPTED)
    held = store.database.read(lambda db: shares.share_of(db, project))
    if held is not None and name not in (held.name, held.name.rpartition("/")[2]):
        raise UsageError(ANOTHER_NAME.format(name=held.name))
    with server.connected(environ) as connection:
        which = schema.prepare(connection)
        found = _joined(connection, project, held.name if held else name, which)
        _admit(connection, found, owners, readers)
        row = connection.execute("SELECT last_value FROM gardener.changes").fetchone()
        found = replace(found, since=int(row[0]) if row else 0)
    if held is not None and (held.server, held.number) == (found.server, found.number):
        found = replace(held, may_write=found.may_write, author=found.author)
    found = replace(found, named_as=server.named_as(environ))
    store.database.write(lambda db: shares.keep(db, found))
    return found


def _joined(connection: Connection, project: str, name: str, which: str) -> Share:
    """The project of this name on the server: the role's own, made if there is none, or another's that it may
    read. Another's is never meant unless its creator is named."""
    creator, _, short = name.rpartition("/")
    role = str(_row(connection, "SELECT session_user::text")[0])
    row = connection.execute(
        """SELECT number, number IN (SELECT gardener.writable()) FROM gardener.projects
           WHERE name = %s AND creator = %s AND number IN (SELECT gardener.readable())""",
        (short, creator or role),
    ).fetchone()
    if row is None and creator not in ("", role):
        raise UsageError(NO_PROJECT.format(name=name, role=role))
    if row is None:
        with connection.transaction():
            row = (*_row(connection, "SELECT gardener.make_project(%s)", short), True)
    shown = f"{creator or role}/{short}"
    return Share(project, shown, int(row[0]), which, role, bool(row[1]), machine=uuid.uuid4().hex)


def _admit(connection: Connection, found: Share, owners: Sequence[str], readers: Sequence[str]) -> None:
    if (owners or readers) and not found.may_write:
        raise UsageError(NOT_OWNER.format(role=found.author, name=found.name))
    for roles, may_write in ((owners, True), (readers, False)):
        for role in roles:
            connection.execute("SELECT gardener.admit(%s, %s, %s)", (found.number, role, may_write))


def unshare(
    store: SqliteStore,
    project: str,
    *,
    delete: bool = False,
    now: float,
    environ: Mapping[str, str] | None = None,
) -> Share:
    """Share a project no more. With `delete` all that this role shared of it goes from the server, and
    from the archives that fetched it as they sync; what the others wrote stays. Raises UsageError and
    ServerError."""
    held = _held(store, project)
    if delete:
        with server.connected(environ) as connection:
            _check(connection, held)
            sync.withdraw(connection, held, now)
    store.database.write(lambda db: shares.drop(db, project))
    return held


def remove(
    store: SqliteStore, project: str, roles: Sequence[str], environ: Mapping[str, str] | None = None
) -> dict[str, list[str]]:
    """Take the access of these roles to a shared project away, all or none; for each the groups as whose
    member it still has it.

    What they wrote stays on the server, and what they fetched with them. Who removes itself shares the
    project no more from here. Raises UsageError and ServerError, also where the server refuses it: the last
    owner stays, and who made the project is removed by nobody else.
    """
    held = _held(store, project)
    left: dict[str, list[str]] = {}
    with server.connected(environ) as connection:
        _check(connection, held)
        with connection.transaction():
            for role in roles:
                rows = connection.execute("SELECT gardener.dismiss(%s, %s)", (held.number, role)).fetchall()
                left[role] = [str(row[0]) for row in rows]
    if left.get(held.author) == []:
        store.database.write(lambda db: shares.drop(db, project))
    return left


def members(
    store: SqliteStore, project: str, environ: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """Who may read a shared project, as the server says within a few seconds: `member`, `role` (owner or
    reader), `creator` (whether it made the project). Raises UsageError and ServerError."""
    held = _held(store, project)
    with server.connected(environ, seconds=STATUS_SECONDS) as connection:
        _check(connection, held)
        rows = connection.execute(
            """SELECT m.member, m.may_write, m.member = p.creator FROM gardener.members m
               JOIN gardener.projects p ON p.number = m.project
               WHERE m.project = %s ORDER BY 3 DESC, 2 DESC, 1""",
            (held.number,),
        ).fetchall()
    return [
        {"member": name, "role": "owner" if may_write else "reader", "creator": is_creator}
        for name, may_write, is_creator in rows
    ]


def _held(store: SqliteStore, project: str) -> Share:
    """How the project is shared. Raises UsageError where it is not."""
    held = store.database.read(lambda db: shares.share_of(db, project))
    if held is None:
        raise UsageError(sync.NOT_SHARED)
    return held


def _check(connection: Connection, held: Share) -> None:
    """Raise ServerError unless this is the server that the project is shared with."""
    if schema.check(connection) != held.server:
        raise server.ServerError(sync.OTHER_SERVER)


def status(store: SqliteStore, project: str, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """How a project is shared, as plain data, without asking the server.

    `shared` says whether it is; then `name`, `server` (its host), `role` (owner or reader), `author`,
    `waiting` (messages to send), `to_forget`, `synced_at` (seconds since the epoch, None for never) and
    `problem` (one line, "" when the last sync went well).
    """
    environ = os.environ if environ is None else environ

    def step(db: apsw.Connection) -> dict[str, Any]:
        found = shares.share_of(db, project)
        if found is None:
            return {"shared": False}
        said, forgotten = outbox.waiting(db, found) if found.may_write else (0, 0)
        return {
            "shared": True,
            "name": found.name,
            "server": server.host_of(environ) if server.is_named(environ) else "",
            "role": "owner" if found.may_write else "reader",
            "author": found.author,
            "waiting": said,
            "to_forget": forgotten,
            "synced_at": found.synced_at or None,
            "problem": found.problem,
        }

    return store.database.read(step)


def _row(connection: Connection, sql: str, *values: object) -> tuple[Any, ...]:
    row = connection.execute(sql.encode(), values or None).fetchone()
    return row or (None,)
