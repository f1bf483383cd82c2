"""The server's tables, built by numbered migrations, and who may read and write what.

Everything lies in the schema `gardener`. A row belongs to a project and an author, the role that wrote it;
row- level security lets members of the project read, and owners write and delete rows of their own. The role
that made the tables is not bound by it.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.shared.server import ServerError

if TYPE_CHECKING:
    from aider_gardener.archive.shared.server import Connection

LOCK = 0x41474431
"""The advisory lock under which the tables are made."""
INDEXED_DIMENSIONS = (384, 512)
"""Lengths of vectors that have an HNSW index: that of `use`, and one that many other models have. Others
are compared one by one."""
LEAST_EXTENSION = (0, 8)
"""pgvector before 0.8 stops a search too early when rows are filtered."""
NO_EXTENSION = (
    "the server has no pgvector: install it there and let an administrator run CREATE EXTENSION vector"
)
OLD_EXTENSION = (
    "the server's pgvector is {found}, 0.8 is needed: let an administrator run ALTER EXTENSION vector UPDATE"
)
MAY_NOT_EXTEND = "let an administrator of the database run CREATE EXTENSION vector: {role} may not"
MAY_NOT_MAKE = (
    "{role} may not make the gardener's tables in this database: let its owner run"
    " `gardener store share --prepare`"
)
NOT_PREPARED = "nothing is shared on this server yet: `gardener store share` begins"
TOO_NEW = "the server's tables are of a newer aider-gardener (version {found}): upgrade to use it"
TOO_OLD = (
    "the server's tables are of an older aider-gardener: let their owner run `gardener store share --prepare`"
)

FIRST = (
    "CREATE SCHEMA gardener",
    "CREATE TABLE gardener.about (server text NOT NULL, version int NOT NULL)",
    """CREATE TABLE gardener.projects (
        number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL,
        creator text NOT NULL, made_at timestamptz NOT NULL DEFAULT now(), UNIQUE (creator, name))""",
    """CREATE TABLE gardener.members (
        project int NOT NULL, member text NOT NULL, may_write boolean NOT NULL,
        PRIMARY KEY (project, member))""",
    "CREATE SEQUENCE gardener.changes",
    """CREATE TABLE gardener.sessions (
        project int NOT NULL, author text NOT NULL, id text NOT NULL, payload text NOT NULL,
        PRIMARY KEY (project, author, id))""",
    """CREATE TABLE gardener.entries (
        project int NOT NULL, author text NOT NULL, hash text NOT NULL, payload text NOT NULL,
        cls text NOT NULL, words tsvector NOT NULL, PRIMARY KEY (project, author, hash))""",
    "CREATE INDEX entries_words ON gardener.entries USING gin (words)",
    """CREATE TABLE gardener.occurrences (
        change bigint NOT NULL DEFAULT nextval('gardener.changes'), project int NOT NULL,
        author text NOT NULL, machine text NOT NULL, session text NOT NULL, seq bigint NOT NULL,
        hash text NOT NULL, at float8 NOT NULL, payload text NOT NULL,
        PRIMARY KEY (project, author, session, seq, hash))""",
    "CREATE INDEX occurrences_by_change ON gardener.occurrences (project, change)",
    "CREATE INDEX occurrences_by_hash ON gardener.occurrences (project, author, hash)",
    """CREATE TABLE gardener.tombstones (
        change bigint NOT NULL DEFAULT nextval('gardener.changes'), project int NOT NULL,
        author text NOT NULL, kind text NOT NULL, key text NOT NULL, entry text NOT NULL, at float8 NOT NULL,
        PRIMARY KEY (project, author, kind, key, at))""",
    "CREATE INDEX tombstones_by_change ON gardener.tombstones (project, change)",
    """CREATE TABLE gardener.vectors (
        project int NOT NULL, author text NOT NULL, hash text NOT NULL, "start" int NOT NULL,
        "end" int NOT NULL, embedder text NOT NULL, dimensions int NOT NULL, vector {vector} NOT NULL,
        PRIMARY KEY (project, author, hash, "start", "end", embedder))""",
    *(
        f"""CREATE INDEX vectors_of_{each} ON gardener.vectors
            USING hnsw ((vector::{{vector}}({each})) {{ops}}) WHERE dimensions = {each}"""
        for each in INDEXED_DIMENSIONS
    ),
    """CREATE FUNCTION gardener.readable() RETURNS SETOF int LANGUAGE sql STABLE SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp AS $$
        SELECT m.project FROM gardener.members m JOIN pg_roles r ON r.rolname = m.member
        WHERE pg_has_role(session_user, r.oid, 'MEMBER') $$""",
    """CREATE FUNCTION gardener.writable() RETURNS SETOF int LANGUAGE sql STABLE SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp AS $$
        SELECT m.project FROM gardener.members m JOIN pg_roles r ON r.rolname = m.member
        WHERE m.may_write AND pg_has_role(session_user, r.oid, 'MEMBER') $$""",
    """CREATE FUNCTION gardener.make_project(wanted text) RETURNS int LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp AS $$
        DECLARE made int;
        BEGIN
            INSERT INTO gardener.projects (name, creator) VALUES (wanted, session_user)
            RETURNING number INTO made;
            INSERT INTO gardener.members VALUES (made, session_user, true);
            RETURN made;
        END $$""",
    """CREATE FUNCTION gardener.admit(wanted int, role text, writes boolean) RETURNS void
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            IF wanted NOT IN (SELECT gardener.writable()) THEN
                RAISE insufficient_privilege USING MESSAGE = 'only an owner of the project admits others';
            END IF;
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
                RAISE invalid_parameter_value USING MESSAGE = format('there is no role %s', role);
            END IF;
            INSERT INTO gardener.members VALUES (wanted, role, writes)
            ON CONFLICT (project, member) DO UPDATE SET may_write = excluded.may_write;
        END $$""",
    """CREATE FUNCTION gardener.begin_write(wanted int) RETURNS void LANGUAGE sql
        SET search_path = pg_catalog, pg_temp AS $$ SELECT pg_advisory_xact_lock(1095189553, wanted) $$""",
    """CREATE FUNCTION gardener.find_words(asked tsquery, among int, most int)
        RETURNS TABLE (project int, author text, hash text, score real)
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        SELECT e.project, e.author, e.hash, ts_rank(e.words, asked) FROM (
            SELECT * FROM gardener.entries f
            WHERE f.words @@ asked AND f.project = ANY (ARRAY(SELECT gardener.readable())) LIMIT among) e
        ORDER BY 4 DESC, 3 LIMIT most $$""",
    """CREATE FUNCTION gardener.find_near(asked text, wanted text, length int, most int)
        RETURNS TABLE (project int, author text, hash text, "start" int, "end" int, distance float8)
        LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            RETURN QUERY EXECUTE format(
                'SELECT v.project, v.author, v.hash, v."start", v."end",
                        ((v.vector::{vector}(%1$s)) OPERATOR({space}.<#>) $1::{vector}(%1$s))::float8
                 FROM gardener.vectors v
                 WHERE v.dimensions = %1$s AND v.embedder = $2 AND v.project = ANY ($3)
                 ORDER BY (v.vector::{vector}(%1$s)) OPERATOR({space}.<#>) $1::{vector}(%1$s) LIMIT $4',
                length) USING asked, wanted, ARRAY(SELECT gardener.readable()), most;
        END $$""",
    *(
        statement
        for table in ("sessions", "entries", "occurrences", "tombstones", "vectors")
        for statement in (
            f"ALTER TABLE gardener.{table} ENABLE ROW LEVEL SECURITY",
            f"""CREATE POLICY read ON gardener.{table} FOR SELECT
                USING (project = ANY (ARRAY(SELECT gardener.readable())))""",
            f"""CREATE POLICY write ON gardener.{table} FOR INSERT WITH CHECK (
                author = session_user AND project = ANY (ARRAY(SELECT gardener.writable())))""",
            f"""CREATE POLICY forget ON gardener.{table} FOR DELETE USING (
                author = session_user AND project = ANY (ARRAY(SELECT gardener.writable())))""",
            f"GRANT SELECT, INSERT, DELETE ON gardener.{table} TO PUBLIC",
        )
    ),
    "ALTER TABLE gardener.projects ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY read ON gardener.projects USING (number = ANY (ARRAY(SELECT gardener.readable())))",
    "ALTER TABLE gardener.members ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY read ON gardener.members USING (project = ANY (ARRAY(SELECT gardener.readable())))",
    "GRANT USAGE ON SCHEMA gardener TO PUBLIC",
    "GRANT SELECT ON gardener.about, gardener.projects, gardener.members TO PUBLIC",
    "GRANT USAGE, SELECT ON SEQUENCE gardener.changes TO PUBLIC",
)
"""Rows hold what `gardener store export` writes, as JSON in ASCII: PostgreSQL keeps no NUL and no lone
surrogate.

`change` grows in the order of commits: who writes to a project holds its lock. Words and vectors are
searched by functions that look at the project themselves, because under row-level security no index would
be used."""

SECOND = (
    """CREATE FUNCTION gardener.hold_members(wanted int) RETURNS void LANGUAGE plpgsql
        SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            PERFORM FROM gardener.projects WHERE number = wanted FOR UPDATE;
            IF wanted NOT IN (SELECT gardener.writable()) THEN
                RAISE insufficient_privilege USING
                    MESSAGE = 'only an owner of the project admits others, or takes their access away';
            END IF;
        END $$""",
    """CREATE FUNCTION gardener.keep_an_owner(wanted int) RETURNS void LANGUAGE plpgsql
        SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            IF NOT EXISTS (SELECT FROM gardener.members m JOIN pg_roles r ON r.rolname = m.member
                           WHERE m.project = wanted AND m.may_write) THEN
                RAISE insufficient_privilege USING
                    MESSAGE = 'the last owner of a project stays: make another role an owner first';
            END IF;
        END $$""",
    "REVOKE ALL ON FUNCTION gardener.hold_members(int), gardener.keep_an_owner(int) FROM PUBLIC",
    """CREATE OR REPLACE FUNCTION gardener.admit(wanted int, role text, writes boolean) RETURNS void
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            PERFORM gardener.hold_members(wanted);
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
                RAISE invalid_parameter_value USING MESSAGE = format('there is no role %s', role);
            END IF;
            IF NOT writes AND role <> session_user
               AND EXISTS (SELECT FROM gardener.projects WHERE number = wanted AND creator = role) THEN
                RAISE insufficient_privilege USING
                    MESSAGE = format('%s made the project, and stays its owner', role);
            END IF;
            INSERT INTO gardener.members VALUES (wanted, role, writes)
            ON CONFLICT (project, member) DO UPDATE SET may_write = excluded.may_write;
            PERFORM gardener.keep_an_owner(wanted);
        END $$""",
    """CREATE FUNCTION gardener.dismiss(wanted int, role text) RETURNS SETOF text
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            PERFORM gardener.hold_members(wanted);
            IF role <> session_user
               AND EXISTS (SELECT FROM gardener.projects WHERE number = wanted AND creator = role) THEN
                RAISE insufficient_privilege USING
                    MESSAGE = format('%s made the project, and stays its owner', role);
            END IF;
            DELETE FROM gardener.members WHERE project = wanted AND member = role;
            IF NOT FOUND THEN
                RAISE invalid_parameter_value USING
                    MESSAGE = format('%s is no member of the project by that name', role);
            END IF;
            PERFORM gardener.keep_an_owner(wanted);
            RETURN QUERY SELECT m.member FROM gardener.members m JOIN pg_roles g ON g.rolname = m.member
                JOIN pg_roles r ON r.rolname = role
                WHERE m.project = wanted AND pg_has_role(r.oid, g.oid, 'MEMBER') ORDER BY 1;
        END $$""",
)
"""An owner takes a member's access away. Who changes the members holds the project's row, so that two owners
cannot remove each other at once; roles that the server no longer has are no owners. `dismiss` gives the
groups as whose member the role still has access."""

THIRD = (
    """CREATE TABLE gardener.copies (
        number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, owner text NOT NULL DEFAULT session_user,
        name text NOT NULL, UNIQUE (owner, name))""",
    """CREATE TABLE gardener.lines (
        copy int NOT NULL REFERENCES gardener.copies ON DELETE CASCADE, file text NOT NULL,
        number bigint NOT NULL, part int NOT NULL, data bytea NOT NULL,
        PRIMARY KEY (copy, file, number, part))""",
    "ALTER TABLE gardener.copies ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE gardener.lines ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY own ON gardener.copies USING (owner = session_user)",
    """CREATE POLICY own ON gardener.lines USING (
        copy IN (SELECT number FROM gardener.copies WHERE owner = session_user))""",
    "GRANT SELECT, INSERT, DELETE ON gardener.copies, gardener.lines TO PUBLIC",
)
"""Archives that are kept whole, each read and written by one role: `data` is a line of the archive's, or a
part of one."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (FIRST, SECOND, THIRD)
"""Migration n brings the tables from version n to n + 1. Never edit one that was released: append."""
VERSION = len(MIGRATIONS)


def check(connection: Connection) -> str:
    """Which server this is, by a random name that its tables were given. Raises ServerError unless its tables
    are there, of this version, and pgvector is."""
    version, server = found(connection)
    if not version:
        raise ServerError(NOT_PREPARED)
    if version > VERSION:
        raise ServerError(TOO_NEW.format(found=version))
    if version < VERSION:
        raise ServerError(TOO_OLD)
    _extension(connection)
    return server


def prepare(connection: Connection, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> str:
    """Make the tables, or bring them to this version, all or nothing; then as `check`. Raises ServerError."""
    import psycopg

    version, _ = found(connection)
    if version > len(migrations):
        raise ServerError(TOO_NEW.format(found=version))
    if version < len(migrations):
        role = str(_one(connection, "SELECT session_user"))
        try:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
                _migrate(connection, migrations, role)
        except psycopg.errors.InsufficientPrivilege:
            raise ServerError(MAY_NOT_MAKE.format(role=role)) from None
    return check(connection)


def found(connection: Connection) -> tuple[int, str]:
    """The version of the server's tables, 0 for none, and which server it says it is."""
    if _one(connection, "SELECT to_regclass('gardener.about')") is None:
        return 0, ""
    row = connection.execute("SELECT version, server FROM gardener.about").fetchone()
    return (int(row[0]), str(row[1])) if row else (0, "")


def pgvector(connection: Connection) -> str:
    """The version of the server's pgvector. Raises ServerError where it is missing or too old."""
    _extension(connection)
    return str(_one(connection, "SELECT extversion FROM pg_extension WHERE extname = 'vector'"))


def _migrate(connection: Connection, migrations: Sequence[Sequence[str]], role: str) -> None:
    version, _ = found(connection)
    if not version:
        _make_extension(connection, role)
    space = _extension(connection)
    names = {"vector": f"{space}.vector", "ops": f"{space}.vector_ip_ops", "space": space}
    for number, statements in enumerate(migrations[version:], version):
        for statement in statements:
            for name, value in names.items():
                statement = statement.replace("{" + name + "}", value)
            connection.execute(statement.encode())
        if number:
            connection.execute("UPDATE gardener.about SET version = %s", (number + 1,))
        else:
            connection.execute("INSERT INTO gardener.about VALUES (%s, 1)", (uuid.uuid4().hex,))


def vector_type(connection: Connection) -> str:
    """The name of pgvector's type, with its schema. Raises ServerError where it is missing or too old."""
    return f"{_extension(connection)}.vector"


def _make_extension(connection: Connection, role: str) -> None:
    import psycopg

    if _one(connection, "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'") is None:
        raise ServerError(NO_EXTENSION)
    if _one(connection, "SELECT 1 FROM pg_extension WHERE extname = 'vector'") is None:
        try:
            connection.execute("CREATE EXTENSION vector SCHEMA public")
        except psycopg.errors.InsufficientPrivilege:
            raise ServerError(MAY_NOT_EXTEND.format(role=role)) from None


def _extension(connection: Connection) -> str:
    """The schema that pgvector lies in, quoted. Raises ServerError where it is missing or too old."""
    row = connection.execute(
        """SELECT quote_ident(n.nspname), e.extversion FROM pg_extension e
           JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"""
    ).fetchone()
    if row is None:
        raise ServerError(NO_EXTENSION)
    if tuple(int(part) for part in str(row[1]).split(".")[:2]) < LEAST_EXTENSION:
        raise ServerError(OLD_EXTENSION.format(found=row[1]))
    return str(row[0])


def _one(connection: Connection, sql: str) -> Any:
    row = connection.execute(sql.encode()).fetchone()
    return None if row is None else row[0]
