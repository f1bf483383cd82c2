"""The server's tables (see `tables.sql`), all in the schema `gardener`: whether they are there, and how they
are made."""

from __future__ import annotations

import uuid
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.postgres.server import ServerError

if TYPE_CHECKING:
    from aider_gardener.archive.postgres.server import Connection

VERSION = 1
LOCK = 0x41474431
"""The advisory lock under which the tables are made, and with an archive's number its lines written."""
LEAST_EXTENSION = (0, 8)
"""pgvector before 0.8 stops a search too early when rows are filtered."""
NO_EXTENSION = (
    "the server's pgvector is {found}, 0.8 is needed: install it there and let an administrator run CREATE"
    " EXTENSION vector, or ALTER EXTENSION vector UPDATE"
)
MAY_NOT_MAKE = (
    "{role} may not make the gardener's tables in this database: let its owner run `gardener store share"
    " --prepare`, and an administrator CREATE EXTENSION vector"
)
NOT_PREPARED = "nothing is shared on this server yet: `gardener store share` begins"
OTHER_VERSION = "the server's tables are of another aider-gardener (version {found}, this one has {own})"


def check(connection: Connection) -> str:
    """Which server this is, by a random name that its tables were given. Raises ServerError unless its tables
    are there, of this version, and pgvector is."""
    if _one(connection, "SELECT to_regclass('gardener.about')") is None:
        raise ServerError(NOT_PREPARED)
    row = connection.execute("SELECT version, server FROM gardener.about").fetchone() or (0, "")
    if row[0] != VERSION:
        raise ServerError(OTHER_VERSION.format(found=row[0], own=VERSION))
    _extension(connection)
    return str(row[1])


def prepare(connection: Connection) -> str:
    """Make the tables if there are none, all or nothing; then as `check`. Raises ServerError."""
    import psycopg

    role = str(_one(connection, "SELECT session_user"))
    try:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            if _one(connection, "SELECT to_regclass('gardener.about')") is None:
                _make(connection)
    except psycopg.errors.InsufficientPrivilege:
        raise ServerError(MAY_NOT_MAKE.format(role=role)) from None
    return check(connection)


def _make(connection: Connection) -> None:
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    tables = files(__package__).joinpath("tables.sql").read_text("utf-8")
    for name, value in (("space", _extension(connection)), ("lock", str(LOCK))):
        tables = tables.replace("{" + name + "}", value)
    connection.execute(tables.encode())
    connection.execute("INSERT INTO gardener.about VALUES (%s, %s)", (uuid.uuid4().hex, VERSION))


def _extension(connection: Connection) -> str:
    """The schema that pgvector lies in, quoted. Raises ServerError where it is missing or too old."""
    row = connection.execute(
        """SELECT quote_ident(n.nspname), e.extversion FROM pg_extension e
           JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"""
    ).fetchone()
    space, version = row or ("", "missing")
    if row is None or tuple(int(part) for part in str(version).split(".")[:2]) < LEAST_EXTENSION:
        raise ServerError(NO_EXTENSION.format(found=version))
    return str(space)


def _one(connection: Connection, sql: str) -> Any:
    row = connection.execute(sql.encode()).fetchone()
    return None if row is None else row[0]
