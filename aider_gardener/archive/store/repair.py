"""A damaged file is set aside, never deleted, and what can still be read goes into a new one."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import apsw

from aider_gardener.archive.store import encryption, search
from aider_gardener.archive.store.database import Database, explain
from aider_gardener.errors import StoreError
from aider_gardener.messages import content_hash

TABLES_BY_ROW = ("sessions", "originals", "bodies", "occurrences", "chunks", "events")
TABLES_BY_KEY = ("renditions", "event_entries", "state")
DERIVED_COLUMN = "embedded"
"""Says that a chunk has a vector: vectors are not saved but made anew."""
ROWS_TRIED_ONE_BY_ONE = 500
ORPHANS = "lost"
"""The session of originals that were saved without their place in a session."""
ENDINGS = ("", "-wal", "-shm", "-journal")


def begin_anew(database: Database, path: Path, now: float) -> str:
    """Set a damaged file aside, open a new one with what can be saved; returns the line for the user."""
    try:
        is_own = database.is_own(path)
        aside = set_aside(path, now)
        database.connect()
        saved = database.write(lambda db: salvage(db, aside, database.key)) if is_own else 0
    except (OSError, apsw.Error) as error:
        reason = explain(error, path) if isinstance(error, apsw.Error) else error.strerror
        raise StoreError(f"{path} is damaged and could not be set aside ({reason})") from error
    return f"{path} was damaged: it was set aside as {aside.name}, and {saved} of its entries were saved"


def set_aside(path: Path, now: float, why: str = "damaged") -> Path:
    """Rename a database with its log; returns the new name, which says why. Raises OSError."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    for number in range(1, 1_000):
        name = path.with_name(f"{path.name}.{why}-{stamp}" + (f"-{number}" if number > 1 else ""))
        if not name.exists():
            break
    os.replace(path, name)
    for ending in ENDINGS[1:]:
        with contextlib.suppress(FileNotFoundError):
            os.replace(path.with_name(path.name + ending), name.with_name(name.name + ending))
    return name


def salvage(db: apsw.Connection, damaged: Path, key: str = "") -> int:
    """Copy every row of a damaged file that can be read into an empty one; returns the entries saved.

    An original whose text is missing or not the one that was stored is left behind, and with it
    all that belongs to it. Runs within the caller's transaction.
    """
    try:
        old = apsw.Connection(str(damaged), flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.Error:
        return 0
    encryption.unlock(old, key)
    try:
        for table in (*TABLES_BY_ROW, *TABLES_BY_KEY):
            _copy(old, db, table)
    finally:
        with contextlib.suppress(apsw.Error):
            old.close()
    _drop_unsound(db)
    search.rebuild(db)
    return int(db.execute("SELECT count(*) FROM originals").get)


def _copy(old: apsw.Connection, new: apsw.Connection, table: str) -> None:
    held = _columns(old, table)
    columns = [f'"{name}"' for name in _columns(new, table) if name in held and name != DERIVED_COLUMN]
    if not columns:
        return
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    rows = _rows_by_number(old, table, names) if table in TABLES_BY_ROW else _rows_by_key(old, table, names)
    for row in rows:
        new.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", row)


def _rows_by_number(old: apsw.Connection, table: str, names: str) -> Iterator[tuple[object, ...]]:
    """All readable rows of a table. Over a damaged page it goes row by row, then in growing steps."""
    # A damaged page fails for every row on it, and rows of a page are neighbours: first each is tried, then
    # the steps grow, so that a hole of a million rows costs some 1,500 tries.
    last, failures = -1, 0
    top = _highest(old, table)
    while last < top:
        try:
            for number, *row in old.execute(
                f"SELECT rowid, {names} FROM {table} WHERE rowid > ? ORDER BY rowid", (last,)
            ):
                last, failures = number, 0
                yield tuple(row)
            return
        except (apsw.Error, UnicodeDecodeError):
            failures += 1
            last += 1 if failures <= ROWS_TRIED_ONE_BY_ONE else failures


def _highest(old: apsw.Connection, table: str) -> int:
    """The highest row number, or a bound for it where the last page is damaged."""
    try:
        return int(old.execute(f"SELECT coalesce(max(rowid), 0) FROM {table}").get)
    except apsw.Error:
        return 100_000


def _rows_by_key(old: apsw.Connection, table: str, names: str) -> Iterator[tuple[object, ...]]:
    """The rows before the first damaged page and after the last one."""
    key = (
        next(row[1] for row in old.execute(f"PRAGMA table_info({table})") if row[5])
        if _columns(old, table)
        else ""
    )
    if not key:
        return
    # Without row numbers there is no way in behind a damaged page: it is read up to from either end.
    for order in ("ASC", "DESC"):
        try:
            for row in old.execute(f"SELECT {names} FROM {table} ORDER BY {key} {order}"):
                yield tuple(row)
            return
        except (apsw.Error, UnicodeDecodeError):
            continue


def _columns(db: apsw.Connection, table: str) -> list[str]:
    try:
        return [str(row[1]) for row in db.execute(f"PRAGMA table_info({table})")]
    except apsw.Error:
        return []


def _drop_unsound(db: apsw.Connection) -> None:
    sql = (
        "SELECT o.number, o.role, o.hash, b.body FROM originals o LEFT JOIN bodies b ON b.original = o.number"
    )
    unsound = [(row[0],) for row in db.execute(sql) if not _is_sound(*row[1:])]
    db.executemany("DELETE FROM originals WHERE number = ?", unsound)
    for table in ("bodies", "occurrences", "chunks", "renditions"):
        db.execute(f"DELETE FROM {table} WHERE original NOT IN (SELECT number FROM originals)")
    db.execute(
        "INSERT INTO sessions (number, id, project, started_at, provider, model) "
        "SELECT DISTINCT session, 'lost-' || session, '', 0, '', '' FROM occurrences "
        "WHERE session NOT IN (SELECT number FROM sessions)"
    )
    _place_orphans(db)


def _place_orphans(db: apsw.Connection) -> None:
    """Give the originals whose occurrences are lost a place of their own, so that they can be found."""
    orphans = "number NOT IN (SELECT original FROM occurrences)"
    if not db.execute(f"SELECT count(*) FROM originals WHERE {orphans}").get:
        return
    db.execute(
        "INSERT OR IGNORE INTO sessions (id, project, started_at, provider, model) VALUES (?, '', 0, '', '')",
        (ORPHANS,),
    )
    db.execute(
        f"""INSERT INTO occurrences (session, seq, turn, original, source, detail, provider, at)
            SELECT s.number, o.number, 0, o.number, 'unknown', '', '', o.accessed_at
            FROM originals o JOIN sessions s ON s.id = ? WHERE o.{orphans} ORDER BY o.number""",
        (ORPHANS,),
    )


def _is_sound(role: object, stored_hash: object, body: object) -> bool:
    if not isinstance(body, bytes) or not isinstance(stored_hash, bytes) or not isinstance(role, str):
        return False
    try:
        return content_hash(role, search.decode(body)) == stored_hash.hex()
    except UnicodeDecodeError:
        return False
