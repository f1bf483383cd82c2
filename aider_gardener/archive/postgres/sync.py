"""A shared project: agreed to by its user, synced by pushing and pulling lines, and shared no more.

First what is new on the server is pulled, then what it lacks is pushed, each in batches: one is a transaction
of the server's, and what it has is marked afterwards. A line that is pushed twice is known again there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.archive.postgres import lines, local, server
from aider_gardener.archive.postgres.lines import Row
from aider_gardener.archive.postgres.local import FORGET_ALL, Share
from aider_gardener.archive.postgres.server import ServerError, connected, is_named, named_as
from aider_gardener.archive.store import entries, sessions
from aider_gardener.archive.store.records import as_json
from aider_gardener.errors import GardenerError, StoreError, UsageError
from aider_gardener.files import write_private

if TYPE_CHECKING:
    from aider_gardener.archive.postgres.server import Connection
    from aider_gardener.archive.store.sqlite import Store

SECONDS = 60.0
"""Between the last sign of one sync of a project and the beginning of the next, by whichever process."""
PULLED = 200
"""Lines in one batch, at most."""
STATUS_SECONDS = 3
"""How long the server is waited for, at each of its addresses, to say how it stands."""
ENCRYPTED = (
    "the archive is encrypted, and the server would hold its texts readable: agree with --readable, or"
    " leave it"
)
IN_MEMORY = "there is no archive on disk to share"
NOT_SHARED = "this project is not shared; `gardener store share` shares it"
ANOTHER_NAME = "this project is shared as {name} already; `gardener store unshare` first"
NO_PROJECT = (
    "there is no project {name} that {role} may see: ask its owner for `gardener store share --owner {role}`"
)
OTHER_SERVER = (
    "this project is shared with another server than the one of the address: correct the address, or"
    " `gardener store unshare` first"
)
OTHERWISE = (
    "the server is named otherwise here than when this project was shared, or your user agreed to it in"
    " another home, and nothing goes there unasked: `gardener store share` agrees to it"
)
NO_MEMBER = "{author} is no member of {name} any more: ask its owner, or `gardener store unshare`"
UNSHARED = "{name} is no longer shared from here: you unshared it, or took it back on another machine"

PULL = """
    SELECT change, author, kind, session, hash, at, CASE WHEN machine <> %s THEN payload END
    FROM gardener.lines WHERE archive = %s AND change > %s ORDER BY change LIMIT %s"""
SET_MEMBER = "SELECT gardener.set_member(%s, %s, %s)"
PUT_PASSAGE = """
    INSERT INTO gardener.passages (archive, hash, "start", "end", embedder, dimensions, vector)
    SELECT l.archive, l.hash, %s, %s, %s, %s, %s::float4[] FROM gardener.lines l
    WHERE l.archive = %s AND l.author = session_user AND l.hash = %s AND l.words IS NOT NULL LIMIT 1
    ON CONFLICT DO NOTHING"""


def begin(given: Sequence[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Begin a process away from the repository, where nothing of it can be imported, and from the
    terminal."""
    return subprocess.Popen(
        list(given),
        env=dict(environ),
        cwd=Path(sys.executable).parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def sync_if_due(
    store: Store,
    project: str,
    environ: Mapping[str, str],
    *,
    clock: Callable[[], float] = time.time,
    start: Callable[[Sequence[str], Mapping[str, str]], object] = begin,
) -> bool:
    """Begin to sync a project in a process of its own if none does and the last is a minute ago; whether one
    was begun. A sync that goes on says so with each batch. A project that is not shared costs one look, and
    nothing that goes wrong here is the host's. `clock` gives seconds since the epoch."""
    if not is_named(environ) or not store.is_file:
        return False
    now = clock()
    try:
        share = store.database.read(lambda db: local.share_of(db, project))
        if share is None or 0 <= now - share.active_at < SECONDS:
            return False
        local.note(store, project, active_at=now)
        silent = ["--store", str(store.directory or ""), "--project", project, "--unasked"]
        start([sys.executable, "-m", "aider_gardener.cli", "store", "sync", *silent], environ)
    except (OSError, StoreError):
        return False
    return True


@dataclass
class SyncReport:
    """What one sync did: messages sent and fetched, deletions told and heard, lines that were refused.

    `problem` is one line, "" when all went well: what was done before it counts nevertheless.
    """

    sent: int = 0
    fetched: int = 0
    told: int = 0
    heard: int = 0
    refused: int = 0
    problem: str = ""


def sync(
    store: Store,
    project: str,
    environ: Mapping[str, str] = os.environ,
    *,
    unasked: bool = False,
    clock: Callable[[], float] = time.time,
) -> SyncReport:
    """Pull what is new of a shared project, then push. Raises UsageError where nothing is shared.

    Trouble with the server is the report's `problem`; what waits goes with the next sync. `unasked`: a host
    began it and not its user, so that no server is called but the one that the user named as the project was
    shared, and for no archive that only says that it is: one may come with a project's files.
    """
    exchange = _Exchange(store, share_of(store, project), clock)
    try:
        project_share = exchange.share
        if unasked and not (
            project_share.named_as == named_as(environ) and local.agreement(project_share).is_file()
        ):
            raise ServerError(OTHERWISE)
        with _reached(exchange.share, environ) as connection:
            exchange.run(connection)
        local.note(store, project, problem="", synced_at=clock())
    except ServerError as error:
        exchange.report.problem = str(error)
        local.note(store, project, problem=str(error))
    return exchange.report


def share_of(store: Store, project: str) -> Share:
    share = store.database.read(lambda db: local.share_of(db, project))
    if share is None:
        raise UsageError(NOT_SHARED)
    return share


class _Exchange:
    """One sync, with what it did so far. Every step is a batch, and says whether there may be more."""

    def __init__(self, store: Store, share: Share, clock: Callable[[], float]) -> None:
        self.store = store
        self.share = share
        self.report = SyncReport()
        self._clock = clock

    def run(self, connection: Connection) -> None:
        """All of it over an open connection. Raises ServerError."""
        self._check(connection)
        steps = (self._push, self._push_passages) if self.share.may_write else ()
        for step in (self._pull, *steps):
            while step(connection):
                pass

    def _note(self, **marks: object) -> None:
        """Keep marks, and that the sync goes on. Raises ServerError where the project is not shared any
        more."""
        share = local.note(self.store, self.share.project, active_at=self._clock(), **marks)
        if share is None:
            raise ServerError(UNSHARED.format(name=self.share.name))
        self.share = share

    def _check(self, connection: Connection) -> None:
        share = self.share
        row = connection.execute(
            """SELECT session_user, %(number)s IN (SELECT gardener.open_to_role(true)),
               %(number)s IN (SELECT gardener.open_to_role(false)),
               (SELECT last_value FROM gardener.changes)""",
            {"number": share.number},
        ).fetchone()
        author, may_write, may_read, last = row or ("", False, False, 0)
        if author != share.author or not may_read:
            raise ServerError(NO_MEMBER.format(author=author, name=share.name))
        if int(last) < share.seen:  # the server was put back from an older copy
            self.store.database.write(entries.share_again)
        self._note(may_write=bool(may_write))

    def _pull(self, connection: Connection) -> bool:
        share, now = self.share, self._clock()
        given = (share.machine, share.number, share.seen, PULLED)
        rows = connection.execute(PULL, given).fetchall()
        done, dead_ids = self.store.database.write(lambda db: local.apply_lines(db, share.project, rows, now))
        if dead_ids:
            self.store.scrub()
        for name, count in done.items():
            setattr(self.report, name, getattr(self.report, name) + count)
        self._note()
        return len(rows) == PULLED

    def _push(self, connection: Connection) -> bool:
        rows, stones, marks = self.store.database.read(lambda db: local.unsent(db, self.share))
        is_new = replace(self.share, **marks) != self.share
        if is_new:
            with connection.transaction():
                sent, _ = (
                    lines.add(connection, self.share.number, self.share.machine, each)
                    for each in (rows, stones)
                )
            self.report.sent += len(sent)
            self.report.told += len(stones)
            self._note(**marks)
        return is_new

    def _push_passages(self, connection: Connection) -> bool:
        found, last = self.store.database.read(lambda db: local.vectors(db, self.share))
        is_new = last > self.share.vectors_sent
        put_passages(connection, self.share.number, found)
        self._note(vectors_sent=last)
        return is_new


def put_passages(connection: Connection, archive: int, found: Sequence[Sequence[object]]) -> None:
    """Write vectors as `local.vectors` gives them, of texts that are there."""
    with connection.transaction(), connection.cursor() as cursor:
        cursor.executemany(PUT_PASSAGE, [(*passage, archive, key) for key, *passage in found])


def share(
    store: Store,
    project: str,
    name: str = "",
    *,
    owners: Sequence[str] = (),
    readers: Sequence[str] = (),
    readable: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> Share:
    """Share a project under a name, or as `CREATOR/NAME` one that another made; admit roles to it.

    Without a name it is the one that the project is shared under, else its folder's.
    `readable`: the user agrees that what is encrypted here is not there. Sends nothing yet. Raises UsageError
    and ServerError.
    """
    if not store.is_file:
        raise UsageError(IN_MEMORY)
    if store.database.key and not readable:
        raise UsageError(ENCRYPTED)
    before = store.database.read(lambda db: local.share_of(db, project))
    if before is not None and name not in ("", before.name, before.name.rpartition("/")[2]):
        raise UsageError(ANOTHER_NAME.format(name=before.name))
    with connected(environ) as connection:
        which = server.prepare(connection)
        found = _joined(
            connection, project, before.name if before else name or os.path.basename(project), which
        )
        for role in (*owners, *readers):
            connection.execute(SET_MEMBER, (found.number, role, role in owners))
    if before is not None and (before.server, before.number) == (found.server, found.number):
        found = replace(before, may_write=found.may_write, author=found.author)
    found = replace(found, named_as=named_as(environ))
    is_own = store.directory is not None and Path(project).resolve() == store.directory.resolve().parent
    store.database.write(lambda db: local.save_share(db, found, is_own=is_own))
    with suppress(StoreError):  # where there is no place for it, each sync is asked for
        write_private(local.agreement(found), "")
    return found


def _joined(connection: Connection, project: str, name: str, which: str) -> Share:
    """The project of this name on the server: the role's own, made if there is none, or another's that it may
    read. Another's is never meant unless its creator is named."""
    creator, _, short = name.rpartition("/")
    ((role, last),) = connection.execute("SELECT session_user::text, last_value FROM gardener.changes")
    sql = """SELECT number, number IN (SELECT gardener.open_to_role(true)) FROM gardener.archives
             WHERE name = %s AND creator = %s AND NOT whole"""
    row = connection.execute(sql, (short, creator or role)).fetchone()
    if row is None and creator not in ("", role):
        raise UsageError(NO_PROJECT.format(name=name, role=role))
    if row is None:
        (row,) = connection.execute("SELECT gardener.make_archive(%s, false), true", (short,))
    shown = f"{creator or role}/{short}"
    path = sessions.column(project)
    return Share(path, shown, int(row[0]), which, role, bool(row[1]), uuid.uuid4().hex, since=int(last))


def unshare(
    store: Store,
    project: str,
    *,
    delete: bool = False,
    now: float,
    environ: Mapping[str, str] = os.environ,
) -> Share:
    """Share a project no more. With `delete` all that this role shared of it goes from the server, and
    from the archives that fetched it as they sync; what the others wrote stays. Raises UsageError and
    ServerError."""
    project_share = share_of(store, project)
    if delete:
        with _reached(project_share, environ) as connection, connection.transaction():
            row = Row(FORGET_ALL, as_json({"kind": FORGET_ALL}), now)
            lines.add(connection, project_share.number, project_share.machine, [row])
    store.database.write(lambda db: local.drop(db, project))
    with suppress(OSError):
        local.agreement(project_share).unlink()
    return project_share


def remove(store: Store, project: str, roles: Sequence[str], environ: Mapping[str, str] = os.environ) -> None:
    """Take the access of these roles to a shared project away, all or none; as members of a group they may
    still have it.

    What they wrote stays on the server, and what they fetched with them. Raises UsageError and ServerError,
    also where the server refuses it: the last owner stays, and nobody else removes who made the project.
    """
    project_share = share_of(store, project)
    with _reached(project_share, environ) as connection, connection.transaction():
        for role in roles:
            connection.execute(SET_MEMBER, (project_share.number, role, None))


def members(store: Store, project: str, environ: Mapping[str, str] = os.environ) -> dict[str, object]:
    """Who may read a shared project, as the server says within a few seconds: `members`, each with `member`,
    `role` (owner or reader) and `creator` (whether it made the project); or in `members_problem` why that is
    not known. Raises UsageError where nothing is shared."""
    project_share = share_of(store, project)
    try:
        with _reached(project_share, environ, seconds=STATUS_SECONDS) as connection:
            rows = connection.execute(
                """SELECT m.member, m.may_write, m.member = a.creator FROM gardener.members m
                   JOIN gardener.archives a ON a.number = m.archive
                   WHERE a.number = %s ORDER BY 3 DESC, 2 DESC, 1""",
                (project_share.number,),
            ).fetchall()
    except GardenerError as error:
        return {"members": [], "members_problem": str(error)}
    found = [
        {"member": name, "role": "owner" if may_write else "reader", "creator": is_creator}
        for name, may_write, is_creator in rows
    ]
    return {"members": found, "members_problem": ""}


def status(store: Store, project: str, environ: Mapping[str, str] = os.environ) -> dict[str, object]:
    """How a project is shared, as plain data, without asking the server.

    `shared` says whether it is; then `name`, `server` (its host), `role` (owner or reader), `author`,
    `waiting` (messages to send), `staying` (those that never are), `to_forget`, `synced_at` (seconds since
    the epoch, None for never) and `problem` (one line, "" when the last sync went well).
    """
    found = store.database.read(lambda db: local.share_of(db, project)) if store.is_file else None
    if found is None:
        return {"shared": False}
    to_send, forgotten = (
        store.database.read(lambda db: local.waiting(db, found)) if found.may_write else (0, 0)
    )
    return {
        "shared": True,
        "name": found.name,
        "server": server.host_of(environ) if is_named(environ) else "",
        "role": "owner" if found.may_write else "reader",
        "author": found.author,
        "waiting": to_send,
        "staying": store.database.read(lambda db: local.staying(db, found)),
        "to_forget": forgotten,
        "synced_at": found.synced_at or None,
        "problem": found.problem,
    }


@contextmanager
def _reached(share: Share, environ: Mapping[str, str], *, seconds: int = 0) -> Iterator[Connection]:
    """A connection to the server that a project is shared with. Raises ServerError if it is another."""
    with connected(environ, seconds=seconds) as connection:
        if server.check(connection) != share.server:
            raise ServerError(OTHER_SERVER)
        yield connection
