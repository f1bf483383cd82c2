"""The server's tables, and who may read and write what.

Everything lies in the schema `gardener`: an archive is its lines. Row-level security lets members read those
of an archive, and owners write and delete lines of their own. The role that made the tables is not bound by
it.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.postgres.server import ServerError

if TYPE_CHECKING:
    from aider_gardener.archive.postgres.server import Connection

VERSION = 1
LOCK = 0x41474431
"""The advisory lock under which the tables are made, and with an archive's number its lines written."""
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
OTHER_VERSION = "the server's tables are of another aider-gardener (version {found}, this one has {own})"

TABLES = (
    "CREATE SCHEMA gardener",
    "CREATE TABLE gardener.about (server text NOT NULL, version int NOT NULL)",
    """CREATE TABLE gardener.archives (
        number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, creator text NOT NULL,
        whole boolean NOT NULL, UNIQUE (creator, name, whole))""",
    """CREATE TABLE gardener.members (
        archive int NOT NULL REFERENCES gardener.archives ON DELETE CASCADE, member text NOT NULL,
        may_write boolean NOT NULL, PRIMARY KEY (archive, member))""",
    "CREATE SEQUENCE gardener.changes",
    """CREATE TABLE gardener.lines (
        change bigint PRIMARY KEY, archive int NOT NULL REFERENCES gardener.archives ON DELETE CASCADE,
        author text NOT NULL DEFAULT session_user, machine text NOT NULL, kind text NOT NULL,
        once text, session text, hash text, at float8 NOT NULL, payload bytea NOT NULL, words tsvector,
        UNIQUE (archive, author, once))""",
    "CREATE INDEX lines_by_change ON gardener.lines (archive, change)",
    "CREATE INDEX lines_by_hash ON gardener.lines (archive, author, hash)",
    "CREATE INDEX lines_by_words ON gardener.lines USING gin (words)",
    """CREATE TABLE gardener.passages (
        archive int NOT NULL REFERENCES gardener.archives ON DELETE CASCADE,
        author text NOT NULL DEFAULT session_user, hash text NOT NULL, "start" int NOT NULL,
        "end" int NOT NULL, embedder text NOT NULL, dimensions int NOT NULL, vector {vector} NOT NULL,
        PRIMARY KEY (archive, author, hash, "start", "end", embedder))""",
    *(
        f"""CREATE INDEX passages_of_{each} ON gardener.passages
            USING hnsw ((vector::{{vector}}({each})) {{ops}}) WHERE dimensions = {each}"""
        for each in INDEXED_DIMENSIONS
    ),
    """CREATE FUNCTION gardener.come() RETURNS trigger LANGUAGE plpgsql
        SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            PERFORM pg_advisory_xact_lock({lock}, new.archive);
            IF new.kind NOT LIKE 'forget%' AND EXISTS (
                SELECT FROM gardener.lines l WHERE l.archive = new.archive AND l.author = new.author
                AND l.at >= new.at AND ((l.kind = 'forget' AND l.hash = new.hash)
                                        OR (l.kind = 'forget session' AND l.session = new.session))) THEN
                RETURN NULL;
            END IF;
            new.change := nextval('gardener.changes');
            RETURN new;
        END $$""",
    """CREATE FUNCTION gardener.forget() RETURNS trigger LANGUAGE plpgsql
        SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            DELETE FROM gardener.lines l WHERE l.archive = new.archive AND l.author = new.author
            AND l.change < new.change AND CASE new.kind
                WHEN 'forget' THEN l.hash = new.hash AND l.kind <> 'forget' AND l.at <= new.at
                WHEN 'forget session' THEN l.session = new.session AND l.kind <> 'forget session'
                    AND l.at <= new.at
                ELSE true END;
            RETURN NULL;
        END $$""",
    """CREATE FUNCTION gardener.gone() RETURNS trigger LANGUAGE plpgsql
        SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            DELETE FROM gardener.passages p
            WHERE p.archive = old.archive AND p.author = old.author AND p.hash = old.hash
            AND NOT EXISTS (SELECT FROM gardener.lines l WHERE l.archive = old.archive
                AND l.author = old.author AND l.hash = old.hash AND l.kind NOT LIKE 'forget%');
            RETURN NULL;
        END $$""",
    """CREATE TRIGGER come BEFORE INSERT ON gardener.lines
        FOR EACH ROW EXECUTE FUNCTION gardener.come()""",
    """CREATE TRIGGER forget AFTER INSERT ON gardener.lines
        FOR EACH ROW WHEN (new.kind LIKE 'forget%') EXECUTE FUNCTION gardener.forget()""",
    """CREATE TRIGGER gone AFTER DELETE ON gardener.lines
        FOR EACH ROW WHEN (old.hash IS NOT NULL) EXECUTE FUNCTION gardener.gone()""",
    *(
        f"""CREATE FUNCTION gardener.{name}() RETURNS SETOF int LANGUAGE sql STABLE SECURITY DEFINER
            SET search_path = pg_catalog, pg_temp AS $$
            SELECT m.archive FROM gardener.members m JOIN pg_roles r ON r.rolname = m.member
            WHERE {condition} pg_has_role(session_user, r.oid, 'MEMBER') $$"""
        for name, condition in (("readable", ""), ("writable", "m.may_write AND"))
    ),
    """CREATE FUNCTION gardener.make_archive(wanted text, is_whole boolean) RETURNS int
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        DECLARE made int;
        BEGIN
            INSERT INTO gardener.archives (name, creator, whole) VALUES (wanted, session_user, is_whole)
            RETURNING number INTO made;
            INSERT INTO gardener.members VALUES (made, session_user, true);
            RETURN made;
        END $$""",
    """CREATE FUNCTION gardener.set_member(wanted int, role text, writes boolean) RETURNS SETOF text
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        DECLARE found_archive gardener.archives;
        BEGIN
            SELECT * INTO found_archive FROM gardener.archives WHERE number = wanted FOR UPDATE;
            IF found_archive.whole OR wanted NOT IN (SELECT gardener.writable()) THEN
                RAISE insufficient_privilege USING
                    MESSAGE = 'only an owner of the project admits others, or takes their access away';
            END IF;
            IF writes IS NOT TRUE AND role <> session_user AND role = found_archive.creator THEN
                RAISE insufficient_privilege USING
                    MESSAGE = format('%s made the project, and stays its owner', role);
            END IF;
            IF writes IS NULL THEN
                DELETE FROM gardener.members WHERE archive = wanted AND member = role;
                IF NOT FOUND THEN
                    RAISE invalid_parameter_value USING
                        MESSAGE = format('%s is no member of the project by that name', role);
                END IF;
            ELSIF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
                RAISE invalid_parameter_value USING MESSAGE = format('there is no role %s', role);
            ELSE
                INSERT INTO gardener.members VALUES (wanted, role, writes)
                ON CONFLICT (archive, member) DO UPDATE SET may_write = excluded.may_write;
            END IF;
            IF NOT EXISTS (SELECT FROM gardener.members m JOIN pg_roles r ON r.rolname = m.member
                           WHERE m.archive = wanted AND m.may_write) THEN
                RAISE insufficient_privilege USING
                    MESSAGE = 'the last owner of a project stays: make another role an owner first';
            END IF;
            RETURN QUERY SELECT m.member FROM gardener.members m JOIN pg_roles g ON g.rolname = m.member
                JOIN pg_roles r ON r.rolname = role
                WHERE writes IS NULL AND m.archive = wanted AND pg_has_role(r.oid, g.oid, 'MEMBER')
                ORDER BY 1;
        END $$""",
    """CREATE FUNCTION gardener.find_words(asked tsquery, among int, most int)
        RETURNS TABLE (archive int, author text, hash text)
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        SELECT l.archive, l.author, l.hash FROM (
            SELECT * FROM gardener.lines f
            WHERE f.words @@ asked AND f.archive = ANY (ARRAY(SELECT gardener.readable())) LIMIT among) l
        GROUP BY 1, 2, 3 ORDER BY max(ts_rank(l.words, asked)) DESC, 3 LIMIT most $$""",
    """CREATE FUNCTION gardener.find_near(asked text, wanted text, length int, most int)
        RETURNS TABLE (archive int, author text, hash text, "start" int, "end" int, distance float8)
        LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            RETURN QUERY EXECUTE format(
                'SELECT p.archive, p.author, p.hash, p."start", p."end",
                        ((p.vector::{vector}(%1$s)) OPERATOR({space}.<#>) $1::{vector}(%1$s))::float8
                 FROM gardener.passages p
                 WHERE p.dimensions = %1$s AND p.embedder = $2 AND p.archive = ANY ($3)
                 ORDER BY (p.vector::{vector}(%1$s)) OPERATOR({space}.<#>) $1::{vector}(%1$s) LIMIT $4',
                length) USING asked, wanted, ARRAY(SELECT gardener.readable()), most;
        END $$""",
    *(
        statement
        for table in ("lines", "passages")
        for statement in (
            f"""CREATE POLICY write ON gardener.{table} FOR INSERT WITH CHECK (
                author = session_user AND archive = ANY (ARRAY(SELECT gardener.writable())))""",
            f"""CREATE POLICY forget ON gardener.{table} FOR DELETE USING (
                author = session_user AND archive = ANY (ARRAY(SELECT gardener.writable())))""",
            f"GRANT INSERT, DELETE ON gardener.{table} TO PUBLIC",
        )
    ),
    *(
        statement
        for table, key in (
            ("archives", "number"),
            *((t, "archive") for t in ("members", "lines", "passages")),
        )
        for statement in (
            f"ALTER TABLE gardener.{table} ENABLE ROW LEVEL SECURITY",
            f"""CREATE POLICY read ON gardener.{table} FOR SELECT
                USING ({key} = ANY (ARRAY(SELECT gardener.readable())))""",
        )
    ),
    "CREATE POLICY remove ON gardener.archives FOR DELETE USING (whole AND creator = session_user)",
    "GRANT DELETE ON gardener.archives TO PUBLIC",
    "GRANT USAGE ON SCHEMA gardener TO PUBLIC",
    "GRANT SELECT ON ALL TABLES IN SCHEMA gardener TO PUBLIC",
    "GRANT USAGE, SELECT ON SEQUENCE gardener.changes TO PUBLIC",
)
"""An archive is shared with its members, or `whole`: the copy of one, its creator's alone.

`payload` is a record as JSON in bytes: PostgreSQL's texts keep no lone surrogate. `once` is what a line
is known by, so that none is there twice; `machine` tells an author's archives apart; `hash` is that of the
text that was said, `session` where. `change` grows in the order of commits, because a line comes in under its
archive's lock. A line that forgets deletes what it names of its author's, said up to its time, and keeps out
what comes late. Words and vectors are searched by functions that look at the membership themselves, because
under row-level security no index would be used."""


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
                _make(connection, role)
    except psycopg.errors.InsufficientPrivilege:
        raise ServerError(MAY_NOT_MAKE.format(role=role)) from None
    return check(connection)


def _make(connection: Connection, role: str) -> None:
    import psycopg

    if _one(connection, "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'") is None:
        raise ServerError(NO_EXTENSION)
    if _one(connection, "SELECT 1 FROM pg_extension WHERE extname = 'vector'") is None:
        try:
            connection.execute("CREATE EXTENSION vector SCHEMA public")
        except psycopg.errors.InsufficientPrivilege:
            raise ServerError(MAY_NOT_EXTEND.format(role=role)) from None
    space = _extension(connection)
    names = {"vector": f"{space}.vector", "ops": f"{space}.vector_ip_ops", "space": space, "lock": str(LOCK)}
    for statement in TABLES:
        for name, value in names.items():
            statement = statement.replace("{" + name + "}", value)
        connection.execute(statement.encode())
    connection.execute("INSERT INTO gardener.about VALUES (%s, %s)", (uuid.uuid4().hex, VERSION))


def vector_type(connection: Connection) -> str:
    """The name of pgvector's type, with its schema. Raises ServerError where it is missing or too old."""
    return f"{_extension(connection)}.vector"


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
