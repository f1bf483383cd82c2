"""The archive's tables, built by numbered migrations, each in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, cast

from aider_gardener.archive.store import search, sums

if TYPE_CHECKING:
    import apsw

APPLICATION_ID = 0x41474431
"""Written into the file's header: tells our files from any other SQLite file."""

FIRST = (
    """CREATE TABLE sessions (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, project TEXT NOT NULL,
        started_at REAL NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL)""",
    "CREATE INDEX sessions_by_project ON sessions (project, started_at)",
    """CREATE TABLE originals (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, hash BLOB NOT NULL, role TEXT NOT NULL,
        cls TEXT NOT NULL, segments TEXT NOT NULL, redactions TEXT NOT NULL, tokens INTEGER NOT NULL,
        pinned INTEGER NOT NULL DEFAULT 0, active INTEGER NOT NULL DEFAULT 1,
        accessed_at REAL NOT NULL, access_count INTEGER NOT NULL DEFAULT 0)""",
    "CREATE INDEX originals_by_hash ON originals (hash)",
    "CREATE TABLE bodies (original INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    """CREATE TABLE occurrences (
        number INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL,
        turn INTEGER NOT NULL, original INTEGER NOT NULL, source TEXT NOT NULL, detail TEXT NOT NULL,
        provider TEXT NOT NULL, at REAL NOT NULL, UNIQUE (session, seq))""",
    "CREATE INDEX occurrences_by_original ON occurrences (original, session, seq)",
    """CREATE TABLE chunks (
        number INTEGER PRIMARY KEY, original INTEGER NOT NULL, start INTEGER NOT NULL,
        "end" INTEGER NOT NULL, fidelity TEXT NOT NULL DEFAULT '', indexed INTEGER NOT NULL DEFAULT 1)""",
    "CREATE INDEX chunks_waiting ON chunks (number) WHERE indexed = 0",
    "CREATE INDEX chunks_by_original ON chunks (original, fidelity)",
    """CREATE TABLE renditions (
        original INTEGER NOT NULL, fidelity TEXT NOT NULL, text BLOB NOT NULL,
        tokens INTEGER NOT NULL, PRIMARY KEY (original, fidelity)) WITHOUT ROWID""",
    """CREATE TABLE rendition_hashes (
        hash BLOB NOT NULL PRIMARY KEY, original INTEGER NOT NULL) WITHOUT ROWID""",
    "CREATE INDEX rendition_hashes_by_original ON rendition_hashes (original)",
    """CREATE TABLE events (
        number INTEGER PRIMARY KEY, session TEXT NOT NULL, turn INTEGER NOT NULL, kind TEXT NOT NULL,
        data TEXT NOT NULL, at REAL NOT NULL)""",
    "CREATE INDEX events_by_session ON events (session, kind)",
    """CREATE TABLE event_entries (
        entry TEXT NOT NULL, event INTEGER NOT NULL, PRIMARY KEY (entry, event)) WITHOUT ROWID""",
    "CREATE INDEX event_entries_by_event ON event_entries (event)",
    """CREATE TABLE state (
        session TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
        PRIMARY KEY (session, key)) WITHOUT ROWID""",
    """
CREATE VIRTUAL TABLE word_index USING fts5(
    words, stems, gloss, content='', contentless_delete=1,
    tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co' tokenchars '_'")
""",
    "INSERT INTO word_index(word_index, rank) VALUES ('rank', 'bm25(1.0, 0.35, 0.3)')",
)

VECTORS = (
    """CREATE TABLE embedders (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dim INTEGER NOT NULL,
        removed INTEGER NOT NULL DEFAULT 0)""",
    """CREATE TABLE vectors (
        number INTEGER PRIMARY KEY AUTOINCREMENT, chunk INTEGER NOT NULL, embedder INTEGER NOT NULL,
        vector BLOB NOT NULL, UNIQUE (chunk, embedder))""",
    "ALTER TABLE chunks ADD COLUMN embedded INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX chunks_unembedded ON chunks (number) WHERE embedded = 0 AND fidelity = ''",
)
"""`vectors.number` only grows, so that what is new can be told.
`chunks.embedded` is 1 once a chunk has a vector of any embedder."""

UPKEEP = (
    "ALTER TABLE originals ADD COLUMN confidence REAL NOT NULL DEFAULT 1.0",
    "ALTER TABLE embedders DROP COLUMN removed",
    """CREATE TABLE holders (
        session TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, started TEXT NOT NULL,
        at REAL NOT NULL, PRIMARY KEY (session, host, pid)) WITHOUT ROWID""",
    """CREATE TABLE removed_vectors (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, embedder INTEGER NOT NULL, number INTEGER NOT NULL)""",
    "CREATE TABLE codes (number INTEGER PRIMARY KEY, embedder INTEGER NOT NULL, code BLOB NOT NULL)",
)
"""`holders` are the processes that hold a session open. `removed_vectors` and `codes` go with `BYTES`, so
that nothing fills them any more."""

NO_HASHES = ("DROP TABLE rendition_hashes",)
"""Hashes of texts before redaction: nothing asks for them, and they say more than the archive should."""

TOMBSTONES = (
    """CREATE TABLE tombstones (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, project TEXT NOT NULL, kind TEXT NOT NULL,
        key TEXT NOT NULL, entry TEXT NOT NULL, at REAL NOT NULL, is_own INTEGER NOT NULL)""",
    "CREATE INDEX tombstones_by_key ON tombstones (project, key)",
)
"""What was forgotten of shared projects (see `forgotten`). `key` is the hash of an original's stored text, as
hex, or the id of a session. What is said after `at` is new. `is_own`: a server hears of it; else only this
archive keeps to it."""

BYTES = (
    "DROP TABLE codes",
    "DROP TABLE removed_vectors",
    "ALTER TABLE embedders ADD COLUMN removed INTEGER NOT NULL DEFAULT 0",
)
"""A vector has a byte a number (see `vectors`). `embedders.removed` grows whenever vectors are deleted, which
tells copies in memory."""

ORIGINALS_ONLY = (
    "DELETE FROM chunks WHERE fidelity != ''",
    "DROP INDEX chunks_by_original",
    "DROP INDEX chunks_unembedded",
    "ALTER TABLE chunks DROP COLUMN fidelity",
    "CREATE INDEX chunks_by_original ON chunks (original)",
    "CREATE INDEX chunks_unembedded ON chunks (number) WHERE embedded = 0",
)
"""Only originals have chunks: what stands in short forms alone (ids, counts) is not looked for."""

CONVERTED_ROWS = 2_000

Migration = Callable[["apsw.Connection"], None]


def _statements(statements: Sequence[str]) -> Migration:
    def run(db: apsw.Connection) -> None:
        for statement in statements:
            db.execute(statement)

    return run


def _sums(db: apsw.Connection) -> None:
    """Sums for all rows, and no short forms of texts with private keys: lines of the keys stood in them.
    Their words leave the index with `_originals_only`."""
    with_keys = "SELECT number FROM originals WHERE redactions LIKE '%\"private-key\"%'"
    db.execute(f"DELETE FROM renditions WHERE original IN ({with_keys})")
    sums.add_columns(db)


def _bytes(db: apsw.Connection) -> None:
    """Vectors in half precision become bytes. One whose length a disk altered stays: none reads it."""
    sql = """SELECT v.number, v.vector FROM vectors v JOIN embedders e ON e.number = v.embedder
             WHERE v.number > ? AND length(v.vector) = 2 * e.dim ORDER BY v.number LIMIT ?"""
    last = 0
    while rows := cast("list[tuple[int, bytes]]", db.execute(sql, (last, CONVERTED_ROWS)).fetchall()):
        import numpy as np

        from aider_gardener.archive.store.vectors import packed

        values = [(packed(np.frombuffer(blob, dtype="<f2")).tobytes(), number) for number, blob in rows]
        db.executemany("UPDATE vectors SET vector = ? WHERE number = ?", values)
        last = rows[-1][0]
    _statements(BYTES)(db)


def _originals_only(db: apsw.Connection) -> None:
    """The index is built anew, without the words that short forms alone have."""
    _statements(ORIGINALS_ONLY)(db)
    search.rebuild(db)


MIGRATIONS: tuple[Migration, ...] = (
    _statements(FIRST),
    _statements(VECTORS),
    _statements(UPKEEP),
    _statements(NO_HASHES),
    _sums,
    _statements(TOMBSTONES),
    _bytes,
    _originals_only,
)
"""Migration n brings a file from version n to n + 1. Never edit one that was released: append. Each changes
the tables, by which a header that a disk altered is told from that of another version."""

VERSION = len(MIGRATIONS)


def version_of(db: apsw.Connection) -> int:
    """The schema version of a file, 0 for an empty one."""
    return int(db.pragma("user_version") or 0)


def application_of(db: apsw.Connection) -> int:
    """The application id in a file's header, 0 when none was set."""
    return int(db.pragma("application_id") or 0)


def is_empty(db: apsw.Connection) -> bool:
    """Whether the file has no table at all."""
    return not db.execute("SELECT count(*) FROM sqlite_schema").get


def distrust(db: apsw.Connection) -> None:
    """Let nothing that stands in the file act by itself: no trigger, no view, no function, no bent page."""
    import apsw

    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    db.pragma("cell_size_check", True)


def is_exact(db: apsw.Connection) -> bool:
    """Whether a file has the tables and indexes of its version to the letter, and nothing else.

    A trigger, a view, a column that is computed or a constraint that calls something would run in our name.
    """
    return version_of(db) in range(VERSION + 1) and _parts(db) == _expected(version_of(db))


def has_newest_tables(db: apsw.Connection) -> bool:
    """Whether the tables are those of the newest version, whatever the file's header says."""
    return _parts(db) == _expected(VERSION)


@cache
def _expected(version: int) -> frozenset[tuple[object, ...]]:
    import apsw

    db = apsw.Connection(":memory:")
    migrate(db, MIGRATIONS[:version])
    return _parts(db)


def _parts(db: apsw.Connection) -> frozenset[tuple[object, ...]]:
    return frozenset(db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"))


def migrate(
    db: apsw.Connection, migrations: Sequence[Migration] = MIGRATIONS, *, sign: Migration | None = None
) -> None:
    """Bring a file to the newest version, one transaction a step; safe from several processes.

    `sign` is run with the first step: there is no moment at which a new file has tables and is not signed.
    """
    while version_of(db) < len(migrations):
        db.execute("BEGIN IMMEDIATE")
        try:
            version = version_of(db)
            if version < len(migrations):
                migrations[version](db)
                if sign is not None and not version:
                    sign(db)
                db.pragma("application_id", APPLICATION_ID)
                db.pragma("user_version", version + 1)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
