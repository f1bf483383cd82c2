"""The archive's tables, and how a file of them is opened: every page is checked as it is read.

Each page of a plain file ends in a check sum, which `cksumvfs` keeps, an extension of SQLite's own; each of
an encrypted one in the tag of its cipher. Any SQLite can read a plain file; what another one writes to it
counts as damaged. No other version is read."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import apsw

from aider_gardener.archive.store import search
from aider_gardener.errors import StoreError

APPLICATION_ID = 0x41474431
"""Written into the file's header: tells our files from any other SQLite file."""
VERSION = 11
OWN, NUMBER, FORGOTTEN = "", "owner", "forgotten"
"""The session under which `state` has what is the archive's own, neither exported nor imported, and the keys
of the number that it has in common with its copies alone, and of one that grows by chance with each
forgetting: it tells what is older, and copies that went their own ways."""

CHECKSUMS, CHECKSUM_BYTES = "cksmvfs", 8
"""The name under which files are opened so, and the room that it needs at the end of each page."""
CHECKSUM_PLACE = 20
"""Where a file's header says how much room that is."""
EXTRAS = "sqlite_extra_binaries"
"""Where `apsw.sqlite_extra` finds what it loads. To import that takes a hundredth of a second."""
NO_CHECKSUMS = "SQLite's page check sums are missing: reinstall apsw-sqlite3mc"
CIPHER = "chacha20"
RAW_KEY = re.compile(r"[0-9a-fA-F]{64}")
"""A key of this form is used as it is; any other text is a passphrase, from which SQLite derives one."""

TABLES = (
    """CREATE TABLE sessions (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, project TEXT NOT NULL,
        started_at REAL NOT NULL)""",
    "CREATE INDEX sessions_by_project ON sessions (project, started_at)",
    """CREATE TABLE originals (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, hash BLOB NOT NULL, role TEXT NOT NULL,
        cls TEXT NOT NULL, segments TEXT NOT NULL, redactions TEXT NOT NULL, tokens INTEGER NOT NULL,
        pinned INTEGER NOT NULL DEFAULT 0,
        accessed_at REAL NOT NULL, access_count INTEGER NOT NULL DEFAULT 0,
        confidence REAL NOT NULL DEFAULT 1.0)""",
    "CREATE INDEX originals_by_hash ON originals (hash)",
    "CREATE TABLE bodies (original INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    """CREATE TABLE occurrences (
        number INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL,
        turn INTEGER NOT NULL, original INTEGER NOT NULL, source TEXT NOT NULL, detail TEXT NOT NULL,
        provider TEXT NOT NULL, at REAL NOT NULL, active INTEGER NOT NULL DEFAULT 1,
        UNIQUE (session, seq))""",
    "CREATE INDEX occurrences_by_original ON occurrences (original, session, seq)",
    """CREATE TABLE chunks (
        number INTEGER PRIMARY KEY, original INTEGER NOT NULL, start INTEGER NOT NULL,
        "end" INTEGER NOT NULL, indexed INTEGER NOT NULL DEFAULT 1, embedded INTEGER NOT NULL DEFAULT 0)""",
    "CREATE INDEX chunks_waiting ON chunks (number) WHERE indexed = 0",
    "CREATE INDEX chunks_by_original ON chunks (original)",
    "CREATE INDEX chunks_unembedded ON chunks (number) WHERE embedded = 0",
    """CREATE TABLE renditions (
        original INTEGER NOT NULL, fidelity TEXT NOT NULL, text BLOB NOT NULL,
        tokens INTEGER NOT NULL, PRIMARY KEY (original, fidelity)) WITHOUT ROWID""",
    """CREATE TABLE events (
        number INTEGER PRIMARY KEY, session TEXT NOT NULL, turn INTEGER NOT NULL, kind TEXT NOT NULL,
        data TEXT NOT NULL, at REAL NOT NULL)""",
    "CREATE INDEX events_by_session ON events (session, kind)",
    """CREATE TABLE state (
        session TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
        PRIMARY KEY (session, key)) WITHOUT ROWID""",
    """CREATE TABLE embedders (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dim INTEGER NOT NULL,
        removed INTEGER NOT NULL DEFAULT 0)""",
    """CREATE TABLE vectors (
        number INTEGER PRIMARY KEY AUTOINCREMENT, chunk INTEGER NOT NULL, embedder INTEGER NOT NULL,
        vector BLOB NOT NULL, UNIQUE (chunk, embedder))""",
    """CREATE TABLE holders (
        session TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, started TEXT NOT NULL,
        at REAL NOT NULL, PRIMARY KEY (session, host, pid)) WITHOUT ROWID""",
    """CREATE TABLE tombstones (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, project TEXT NOT NULL, kind TEXT NOT NULL,
        key TEXT NOT NULL, entry TEXT NOT NULL, at REAL NOT NULL, is_own INTEGER NOT NULL)""",
    "CREATE INDEX tombstones_by_key ON tombstones (project, key)",
)
"""`bodies` hold the texts of `originals`, `occurrences` say where these stood, `chunks` are the spans that
are found as one (`embedded` is 1 once one has a vector). `vectors.number` only grows, so that what is new can
be told; `embedders.removed` grows when vectors are deleted, which tells copies in memory. `holders` are the
processes that hold a session open, `tombstones` what was forgotten of shared projects."""


def kind_of(db: apsw.Connection) -> tuple[object, object]:
    """What a file says that it is: the application, and the version of its tables."""
    return db.pragma("application_id"), db.pragma("user_version")


def is_empty(db: apsw.Connection) -> bool:
    return not db.execute("SELECT count(*) FROM sqlite_schema").get


def is_exact(db: apsw.Connection) -> bool:
    """Whether a file is of this version and has its tables and indexes to the letter, and nothing else.

    A trigger, a view, a column that is computed or a constraint that calls something would run in our name.
    """
    return kind_of(db) == (APPLICATION_ID, VERSION) and _parts(db) == _expected()


@cache
def _expected() -> frozenset[tuple[object, ...]]:
    db = apsw.Connection(":memory:")
    create(db)
    return _parts(db)


def _parts(db: apsw.Connection) -> frozenset[tuple[object, ...]]:
    return frozenset(db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"))


def number_of(db: apsw.Connection) -> object:
    """What an archive and its copies have in common; None where that cannot be read."""
    try:
        return db.execute("SELECT value FROM state WHERE session = ? AND key = ?", (OWN, NUMBER)).get
    except (apsw.Error, UnicodeDecodeError):
        return None


def note_forgotten(db: apsw.Connection) -> None:
    """Note that something is forgotten."""
    sql = """INSERT INTO state VALUES (?, ?, 1 + (random() & 0xffffffff))
             ON CONFLICT DO UPDATE SET value = value + excluded.value"""
    db.execute(sql, (OWN, FORGOTTEN))


class Reached(NamedTuple):
    """How far an archive had come: what was said last (None for nothing), and a number that is greater after
    each forgetting, 0 where nothing ever was."""

    number: int | None
    at: float | None
    forgotten: int


def reached(db: apsw.Connection) -> Reached:
    sql = """SELECT max(number), at, ifnull(CAST((SELECT value FROM state WHERE session = ? AND key = ?)
             AS INTEGER), 0) FROM occurrences"""
    return Reached(*db.execute(sql, (OWN, FORGOTTEN)).get)


def is_older(db: apsw.Connection, now: Reached, before: Reached) -> bool:
    """Whether an archive is no longer as far as it was: less was forgotten, or no more and what was said last
    is not there."""
    if now.forgotten != before.forgotten:
        return now.forgotten < before.forgotten
    at = db.execute("SELECT at FROM occurrences WHERE number = ?", (before.number,)).get
    return bool(at != before.at)


def create(db: apsw.Connection) -> bool:
    """Make the tables of an empty file, in one transaction; returns whether it was. Safe from several
    processes. After an error the connection is to be closed, which undoes it."""
    db.execute("BEGIN IMMEDIATE")
    is_new = is_empty(db)
    if is_new:
        for statement in TABLES:
            db.execute(statement)
        db.execute(search.INDEX_TABLE)
        db.execute("INSERT INTO word_index (word_index, rank) VALUES ('pgsz', ?)", (search.LEAF_BYTES,))
        db.pragma("application_id", APPLICATION_ID)
        db.pragma("user_version", VERSION)
        db.execute("INSERT INTO state (session, key, value) VALUES (?, ?, randomblob(16))", (OWN, NUMBER))
    db.execute("COMMIT")
    return is_new


@cache
def checksums() -> str:
    """The name that makes SQLite check each page, for `apsw.Connection`. Raises StoreError without it."""
    usual, db = apsw.vfs_names()[0], apsw.Connection(":memory:")
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1)
    try:
        db.load_extension(str(Path(apsw.__file__).with_name(EXTRAS) / "cksumvfs"))
    except apsw.Error:
        import apsw.sqlite_extra as extra

        try:
            extra.load(db, "cksumvfs")
        except (extra.NotAvailable, LookupError, apsw.Error) as error:
            raise StoreError(NO_CHECKSUMS) from error
    apsw.set_default_vfs(usual)  # an encrypted file has the cipher's own check
    return CHECKSUMS


def opened(path: Path, flags: int, key: str, *, query: str = "") -> apsw.Connection:
    """A connection to a file whose pages are checked; `query` are parameters of SQLite's URIs."""
    name = f"{path.absolute().as_uri()}?{query}"  # takes paths that are no UTF-8, too
    flags |= apsw.SQLITE_OPEN_NOFOLLOW | apsw.SQLITE_OPEN_URI
    db = apsw.Connection(name, flags=flags, vfs=None if key else checksums())
    if not key:
        db.reserve_bytes(reserve=CHECKSUM_BYTES)  # of a file that is begun now
    _distrust(db)
    if key:  # before anything is read
        db.pragma("cipher", CIPHER)
        db.pragma("key", _cipher_key(key))
    return db


def _cipher_key(key: str) -> str:
    return f"raw:{key.lower()}" if RAW_KEY.fullmatch(key) else key


def new_file(path: Path, key: str) -> str:
    """What `VACUUM INTO` is given so that it makes an encrypted file."""
    return f"{path.absolute().as_uri()}?cipher={CIPHER}&key={quote(_cipher_key(key))}"


def _distrust(db: apsw.Connection) -> None:
    """Let nothing that stands in the file act by itself: no trigger, no view, no function, no bent page."""
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    db.pragma("cell_size_check", True)
