"""A damaged file is set aside, never deleted; what can be read of it, and what its copy holds, goes into a
new one. A row that was altered is put back from the copy.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import apsw

from aider_gardener.archive.store import check, copies, encryption, files, forgotten, schema, search, sums
from aider_gardener.archive.store.database import Database, Unavailable, explain

TABLES_BY_ROW = ("sessions", "originals", "bodies", "occurrences", "chunks", "events", "tombstones")
TABLES_BY_KEY = ("renditions", "event_entries", "state")
DERIVED_COLUMN = "embedded"
"""Says that a chunk has a vector: vectors are not saved but made anew."""
OLD_COLUMN = "fidelity"
"""Not "" in the rows of `chunks` that once stood for short forms."""
ROWS_TRIED_ONE_BY_ONE = 500
ORPHANS = "lost"
"""The session of originals that were saved without their place in a session."""
ENDINGS = ("", "-wal", "-shm", "-journal")
HEADER_BYTES, PAGE_BYTES = 100, 4_096
SAME_IN_ALL = (slice(0, 18), slice(20, 24), slice(44, 48), slice(56, 60))
"""Where the header is the same in all archives: format, size and use of the pages, encoding."""
LARGEST_MENDED_BYTES = 512 * 1024 * 1024
"""A file without a readable first page is mended in memory."""
FROM_COPY, ANEW = "it was put back from the copy", "it is made anew when it is needed"
DISPENSABLE = {"renditions": ANEW, "state": "it was taken out", "events": "it was taken out"}
TURNED_BACK = "the one wrong bit was turned back"
MENDED_BYTES, MENDED_TEXTS = 16_384, 10
"""One wrong bit is looked for in so large a text, and in so many: a page of noise has no single one."""
NOT_MENDED = "no copy of it is sound"


def begin_anew(database: Database, path: Path, now: float) -> str:
    """Set a damaged file aside, open a new one with what can be saved; returns the line for the user."""
    try:
        is_own = database.is_own(path)
        copy = own_copy(database, path)
        aside = set_aside(path, now)
        database.connect()
        saved = database.write(lambda db: salvage(db, aside if is_own else None, copy, database.key))
    except (OSError, apsw.Error) as error:
        reason = explain(error, path) if isinstance(error, apsw.Error) else error.strerror
        raise Unavailable(f"{path} is damaged and could not be set aside ({reason})") from error
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


def own_copy(database: Database, path: Path) -> Path | None:
    """The copy of an archive, if there is one that this user made."""
    copy = copies.copy_of(path)
    return copy if copy.is_file() and database.has_signed(copy) else None


def salvage(db: apsw.Connection, damaged: Path | None, copy: Path | None = None, key: str = "") -> int:
    """Bring every row of a damaged file that can be read and is sound into an empty one, and from the copy
    what is missing then; returns the entries saved.

    An original whose text is missing or not the one that was stored is left behind, and with it
    all that belongs to it. Runs within the caller's transaction.
    """
    if damaged is not None:
        with contextlib.suppress(apsw.Error):
            old = apsw.Connection(str(damaged), flags=apsw.SQLITE_OPEN_READWRITE)
            encryption.unlock(old, key)
            _copy_all(old if key else _restated(old), db)
        _drop_altered(db)
        if not key:
            _read_behind_first_page(damaged, copy, db)
    held = copies.opened(copy, key) if copy else None
    if held is not None:
        _copy_all(held, db)
        _drop_altered(db)
    _place(db)
    search.rebuild(db)
    forgotten.begin_again(db)
    return int(db.execute("SELECT count(*) FROM originals").get)


def mend(db: apsw.Connection, copy: Path | None, key: str, stored_id: str | None = None) -> list[str]:
    """Put back what was altered in rows that can be read, of one entry or of all; a line for each.

    What no copy holds stays as it is, or goes if the chat can do without it.
    Runs within the caller's transaction.
    """
    old = copies.opened(copy, key) if copy else None
    told, tries = [], MENDED_TEXTS
    try:
        for fault in list(check.faults(db, stored_id)):
            if old is not None and _put_back(db, old, fault):
                told.append(f"{fault.line}; {FROM_COPY}")
            elif fault.table == "bodies" and (tries := tries - 1) >= 0 and _turn_back(db, fault):
                told.append(f"{fault.line}; {TURNED_BACK}")
            elif fault.table in DISPENSABLE:
                where = " AND ".join(f"{name} = ?" for name in sums.key_of(fault.table))
                db.execute(f"DELETE FROM {fault.table} WHERE {where}", fault.key)
                told.append(f"{fault.line}; {DISPENSABLE[fault.table]}")
            else:
                told.append(f"{fault.line}; {NOT_MENDED}")
    finally:
        if old is not None:
            old.close()
    return told


def _put_back(db: apsw.Connection, old: apsw.Connection, fault: check.StoreFault) -> bool:
    """Write one row as the copy has it, if it is there and sound."""
    if not check.is_sound_row(old, fault.table, fault.key):
        return False
    if fault.table == "bodies" and not _same_original(db, old, fault.key):
        return False
    columns = _columns(db, fault.table)
    key = ("original",) if fault.table == "bodies" else sums.key_of(fault.table)
    where = " AND ".join(f"{name} = ?" for name in key)
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    row = old.execute(f"SELECT {names} FROM {fault.table} WHERE {where}", fault.key).fetchall()[0]
    db.execute(f"INSERT OR REPLACE INTO {fault.table} ({names}) VALUES ({marks})", row)
    return True


def _turn_back(db: apsw.Connection, fault: check.StoreFault) -> bool:
    """Turn one bit of a text back, where its hash tells which."""
    sql = "SELECT o.role, o.hash, b.body FROM originals o JOIN bodies b ON b.original = o.number"
    for role, stored_hash, body in db.execute(f"{sql} WHERE o.number = ?", fault.key).fetchall():
        right = with_bit_turned_back(role, stored_hash, body)
        if right is not None:
            db.execute("UPDATE bodies SET body = ? WHERE original = ?", (right, *fault.key))
            return True
    return False


def with_bit_turned_back(role: object, stored_hash: object, body: object) -> bytes | None:
    """A text in which one bit was turned over, as it was before; None where no single bit explains the hash.

    Every bit is tried: a second for the longest.
    """
    if not isinstance(role, str) or not isinstance(body, bytes) or len(body) > MENDED_BYTES:
        return None
    before = hashlib.sha256(role.encode("utf-8", "surrogatepass") + b"\0")
    for at, byte in enumerate(body):
        rest = body[at + 1 :]
        for bit in range(8):
            changed = bytes([byte ^ 1 << bit])
            whole = before.copy()
            whole.update(changed)
            whole.update(rest)
            if whole.digest() == stored_hash:
                return body[:at] + changed + rest
        before.update(body[at : at + 1])
    return None


def _same_original(db: apsw.Connection, old: apsw.Connection, key: tuple[object, ...]) -> bool:
    sql = "SELECT id FROM originals WHERE number = ?"
    return bool(db.execute(sql, key).get == old.execute(sql, key).get)


def _copy_all(old: apsw.Connection, new: apsw.Connection) -> None:
    """Copy all tables of a file, which is closed then."""
    try:
        for table in (*TABLES_BY_ROW, *TABLES_BY_KEY):
            _copy(old, new, table)
            if table in sums.SUMMED and "sum" not in _columns(old, table):  # written before there were sums
                new.execute(f"UPDATE {table} SET sum = {sums.of_row(table)} WHERE sum IS NULL")
    finally:
        with contextlib.suppress(apsw.Error):
            old.close()


def _restated(old: apsw.Connection) -> apsw.Connection:
    """A file of this version in memory, with its tables stated as they should be where they no longer are;
    else the file itself."""
    with contextlib.suppress(UnicodeDecodeError, apsw.Error):
        if schema.is_exact(old):
            return old
    with contextlib.suppress(apsw.Error):
        pages = int(old.pragma("page_count"))
        if pages * PAGE_BYTES > LARGEST_MENDED_BYTES or schema.version_of(old) != schema.VERSION:
            return old
        data = bytearray(old.serialize("main"))
        data[18:20] = b"\x01\x01"  # without a log
        restated = apsw.Connection(":memory:")
        restated.deserialize("main", bytes(data))
        restated.pragma("writable_schema", True)
        for name, sql in _new().execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"):
            restated.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (sql, name))
        again = apsw.Connection(":memory:")
        again.deserialize("main", restated.serialize("main"))
        old.close()
        return again
    return old


def _read_behind_first_page(damaged: Path, copy: Path | None, new: apsw.Connection) -> None:
    """Copy the tables of a file of which nothing could be read so far, or whose header is not one of ours.

    The header is the same for all archives; the rest of the first page, which says where the tables are, is
    tried as it is, as the copy has it, and as it is in a new archive.
    """
    try:
        data = files.read(damaged, LARGEST_MENDED_BYTES)
        held = files.read(copy, LARGEST_MENDED_BYTES)[:PAGE_BYTES] if copy else b""
    except OSError:
        return
    pages, fresh = len(data) // PAGE_BYTES, _first_page()
    if all(data[part] == fresh[part] for part in SAME_IN_ALL) and _has_any(new):
        return
    firsts = (fresh[:HEADER_BYTES] + data[HEADER_BYTES:PAGE_BYTES], held, fresh)
    for first in firsts:
        if len(first) == PAGE_BYTES and pages > 1:
            first = _with_size(fresh[:HEADER_BYTES] + first[HEADER_BYTES:], pages)
            with contextlib.suppress(apsw.Error):
                old = apsw.Connection(":memory:")
                old.deserialize("main", first + data[PAGE_BYTES : pages * PAGE_BYTES])
                _copy_all(old, new)
            _drop_altered(new)
            if _has_any(new):
                return


def _has_any(db: apsw.Connection) -> bool:
    return bool(db.execute("SELECT count(*) FROM originals").get)


def _new() -> apsw.Connection:
    """A new archive in memory."""
    db = apsw.Connection(":memory:")
    db.pragma("page_size", PAGE_BYTES)
    db.pragma("auto_vacuum", 2)
    schema.migrate(db)
    return db


def _first_page() -> bytes:
    """The first page of a new archive."""
    return bytes(_new().serialize("main")[:PAGE_BYTES])


def _with_size(first: bytes, pages: int) -> bytes:
    """A first page that says how many pages the file has, none of them free, and no log."""
    changed = bytearray(first)
    changed[18:20] = b"\x01\x01"
    changed[24:28] = changed[92:96]
    changed[28:32] = pages.to_bytes(4, "big")
    changed[32:40] = bytes(8)
    return bytes(changed)


def _copy(old: apsw.Connection, new: apsw.Connection, table: str) -> None:
    held = _columns(old, table)
    columns = [f'"{name}"' for name in _columns(new, table) if name in held and name != DERIVED_COLUMN]
    if not columns:
        return
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    wanted = f"{OLD_COLUMN} = ''" if table == "chunks" and OLD_COLUMN in held else "1"
    rows = (
        _rows_by_number(old, table, names, wanted)
        if table in TABLES_BY_ROW
        else _rows_by_key(old, table, names)
    )
    for row in rows:
        new.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", row)


def _rows_by_number(
    old: apsw.Connection, table: str, names: str, wanted: str
) -> Iterator[tuple[object, ...]]:
    """All readable rows of a table that fit a condition. Over a damaged page it goes row by row, then in
    growing steps."""
    # A damaged page fails for every row on it, and rows of a page are neighbours: first each is tried, then
    # the steps grow, so that a hole of a million rows costs some 1,500 tries.
    last, failures = -1, 0
    top = _highest(old, table)
    while last < top:
        try:
            for number, *row in old.execute(
                f"SELECT rowid, {names} FROM {table} WHERE rowid > ? AND {wanted} ORDER BY rowid", (last,)
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
    except (apsw.Error, UnicodeDecodeError):
        return []


def _drop_altered(db: apsw.Connection) -> None:
    """Leave behind what is not as it was written: an original goes with its text."""
    tries = MENDED_TEXTS
    for fault in list(check.faults(db)):
        if fault.table == "bodies" and (tries := tries - 1) >= 0 and _turn_back(db, fault):
            continue
        tables = ("originals", "bodies") if fault.table in ("originals", "bodies") else (fault.table,)
        for table in tables:
            key = ("original",) if table == "bodies" else sums.key_of(table)
            where = " AND ".join(f"{name} = ?" for name in key)
            db.execute(f"DELETE FROM {table} WHERE {where}", fault.key)


def _place(db: apsw.Connection) -> None:
    """Drop what belongs to no original, and give each original and occurrence a session."""
    for table in ("bodies", "occurrences", "chunks", "renditions"):
        db.execute(f"DELETE FROM {table} WHERE original NOT IN (SELECT number FROM originals)")
    db.execute(
        "INSERT INTO sessions (number, id, project, started_at, provider, model) "
        "SELECT DISTINCT session, 'lost-' || session, '', 0, '', '' FROM occurrences "
        "WHERE session NOT IN (SELECT number FROM sessions)"
    )
    _place_orphans(db)
    for table in ("sessions", "occurrences"):
        db.execute(f"UPDATE {table} SET sum = {sums.of_row(table)} WHERE sum IS NULL")


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
