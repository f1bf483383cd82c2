"""What is done about a damaged file: it is set aside, never deleted, and a new one begun with every row that
can still be read and what the copy of the last session's end holds beside."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw

from aider_gardener.archive.store import files, location, ownership, schema, search, shares
from aider_gardener.archive.store.database import Database, Unavailable, explain, has_log
from aider_gardener.archive.store.entries import is_text_of
from aider_gardener.archive.store.pages import opened
from aider_gardener.errors import StoreError

TABLES_BY_ROW = ("sessions", "originals", "bodies", "occurrences", "chunks", "events", "tombstones")
TABLES_BY_KEY = ("renditions", "event_entries", "state")
DERIVED_COLUMN = "embedded"
"""Says that a chunk has a vector: vectors are not saved but made anew."""
ROWS_TRIED_ONE_BY_ONE = 500
LOST = "lost"
"""The session of originals that were saved without their place in a session."""
ENDINGS = ("", "-wal", "-shm", "-journal")
LARGEST_COPIED_BYTES = 512 * 1024 * 1024
"""A larger archive is not copied: that would take seconds at every end, and the room twice."""
DAMAGED, FOREIGN = "damaged", "foreign"
"""Why a file was set aside."""
PART_ENDING = ".part"
PART_SECONDS = 3_600.0
NAMED = 5
KEPT = "; the copy of the old one is kept as {copy}, `gardener store adopt` takes it over"
SAVED = "{path} was damaged: it was set aside as {aside}, and {saved} of its entries were saved"
NOT_SAVED = "; {count} could not be: {ids}"
OTHERS = "{path} was damaged: another process has put a new one in its place"
NOT_REPAIRED = "is damaged and no new one can be put in its place"


@dataclass(frozen=True)
class Replaced:
    """A file that was replaced: the name under which it was set aside ("" if another process had replaced it
    already), the ids of the entries that were saved, and of those that were known of."""

    aside: str
    saved: set[str]
    listed: set[str]


def copy_of(path: Path) -> Path:
    """Where the copy of an archive lies."""
    return path.with_name(location.COPY_NAME)


def make_copy(database: Database) -> None:
    """Copy the archive as it stands now, unless it is in memory or large. The copy is encrypted if the
    archive is. One that holds what another process forgets just now is removed.

    Raises OSError, apsw.Error or StoreError; the former copy then stays.
    """
    path = database.path
    if path is None or path.stat().st_size > LARGEST_COPIED_BYTES:
        return
    part = path.with_name(f"{location.COPY_NAME}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        location.open_private(part).close()
        target = opened(part, apsw.SQLITE_OPEN_READWRITE, database.key)
        try:
            database.copy_into(target)
            is_sound = target.execute("PRAGMA quick_check(1)").get == "ok"
            copied = _ids(target)
        finally:
            target.close()
        if is_sound:
            os.replace(part, copy_of(path))
            if not copied <= database.read(_ids):
                drop_copy(path)
    finally:
        for ending in ENDINGS:
            part.with_name(part.name + ending).unlink(missing_ok=True)


def _ids(db: apsw.Connection) -> set[str]:
    return {row[0] for row in db.execute("SELECT id FROM originals")}


def drop_copy(path: Path) -> None:
    """Remove the copy, and what was begun of one: something in it is forgotten. Raises OSError."""
    copy_of(path).unlink(missing_ok=True)
    clear_parts(path, older_than=0)


def keep_copy(path: Path) -> str:
    """Give the copy of an archive that is gone another name, so that no other takes its place; returns what
    is to be said of it, "" if there is none."""
    try:
        if not copy_of(path).is_file():
            return ""
        name = path.with_name(f"{path.name}.removed-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}")
        os.replace(copy_of(path), name)
    except OSError:
        return ""
    return KEPT.format(copy=name.name)


def begin_anew(database: Database, path: Path, now: float) -> str:
    """Put a new file with what can be saved in the place of a damaged one; returns the line for the user.
    Raises Unavailable: then the damaged file is where it was."""
    replaced = put_anew(database, path, now, DAMAGED)
    if not replaced.aside:
        return OTHERS.format(path=path)
    lost = sorted(replaced.listed - replaced.saved)
    said = SAVED.format(path=path, aside=replaced.aside, saved=len(replaced.saved))
    more = ", …" if len(lost) > NAMED else ""
    return said + (NOT_SAVED.format(count=len(lost), ids=", ".join(lost[:NAMED]) + more) if lost else "")


def put_anew(database: Database, path: Path, now: float, why: str) -> Replaced:
    """Make a new file with what can be saved of the one that is there, if it is damaged and the user's, and
    of the copy; then set the old one aside and open the new one. Raises Unavailable.

    What is there stays there until the new file is whole: a repair may be interrupted at any moment.
    """
    ready = path.with_name(f"{path.name}.repaired-{secrets.token_hex(8)}{PART_ENDING}")
    before, saved = location.identity(path), set[str]()
    new = Database(ready, connect=False, key_source=database.key_source, user=database.user)
    try:
        damaged = path if why == DAMAGED and database.is_own(path) else None
        try:
            new.connect()
            listed = salvage(new, path, damaged, database.key)
            saved = new.read(_ids)
        finally:
            new.close()
        aside = ""
        if location.identity(path) == before:  # no other process has done so
            aside = set_aside(path, now, why).name
            with contextlib.suppress(FileNotFoundError):  # one that came just then has (see `finish`)
                os.replace(ready, path)
            files.synced(path.parent)
        database.connect()
    except (StoreError, OSError, apsw.Error) as error:
        raise Unavailable(f"{path} {NOT_REPAIRED} ({_reason(error, path)})") from error
    finally:
        for ending in ENDINGS:
            with contextlib.suppress(OSError):
                ready.with_name(ready.name + ending).unlink()
    return Replaced(aside, saved, listed)


def _reason(error: Exception, path: Path) -> str:
    cause = error.__cause__ or error
    return explain(cause, path) if isinstance(cause, apsw.Error) else getattr(error, "strerror", str(error))


def finish(path: Path) -> None:
    """Put the file in its place that a repair had ready when it was interrupted. Raises OSError."""
    ready = sorted(path.parent.glob(f"{path.name}.repaired-*{PART_ENDING}"))
    if ready and not path.exists():
        for ending in ENDINGS[1:]:  # of the file that was set aside
            path.with_name(path.name + ending).unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.replace(ready[-1], path)


def clear_parts(path: Path, *, older_than: float) -> None:
    """Remove what was not written to its end beside an archive and is older than so many seconds."""
    for part in path.parent.glob(f"{path.name}*{PART_ENDING}*"):
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime >= older_than:
                part.unlink()


def set_aside(path: Path, now: float, why: str) -> Path:
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


def salvage(new: Database, path: Path, damaged: Path | None, key: str) -> set[str]:
    """Bring every row that can be read of a damaged file into a new one, and from the copy what is missing
    then; returns the ids that they list. `key` is what both are encrypted with, "" for plain ones.

    An original whose text cannot be read is left behind, and with it all that belongs to it. Raises
    StoreError."""
    listed: set[str] = set()
    own = new.own_key()

    def step(db: apsw.Connection) -> None:
        db.execute("DELETE FROM state WHERE session = ?", (ownership.SESSION,))  # it goes on as the same one
        for old in _sources(path, damaged, key, own):
            with contextlib.closing(old):
                with contextlib.suppress(apsw.Error, UnicodeDecodeError):
                    listed.update(_ids(old))
                for table in (*TABLES_BY_ROW, *TABLES_BY_KEY):
                    _copy(old, db, table)
            _drop_altered(db)
        _place(db)
        if own is not None and not ownership.is_signed(db, own):
            ownership.sign(db, own)
        search.rebuild(db)
        shares.begin_again(db)

    new.write(step)
    return listed


def _sources(path: Path, damaged: Path | None, key: str, own: bytes | None) -> Iterator[apsw.Connection]:
    """What rows may come from: the damaged file, then the copy if it is the user's, and of the same archive
    as far as can be told."""
    number = None
    if damaged is not None:
        with contextlib.suppress(apsw.Error):
            is_at_rest = not has_log(damaged)
            flags = apsw.SQLITE_OPEN_READONLY if is_at_rest else apsw.SQLITE_OPEN_READWRITE
            old = opened(damaged, flags, key, query="mode=ro&immutable=1" if is_at_rest else "")
            old.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            if not key:
                _read_first_page(old)
            number = _signature(old)
            yield old
    copy = copy_of(path)
    with contextlib.suppress(OSError, apsw.Error, UnicodeDecodeError):
        files.check_plain(copy)
        held = opened(copy, apsw.SQLITE_OPEN_READONLY, key, query="mode=ro&immutable=1")
        is_own = own is None or key or ownership.is_signed(held, own)
        if schema.is_exact(held) and is_own and number in (None, _signature(held)):
            yield held
        else:
            held.close()


def _read_first_page(old: apsw.Connection) -> None:
    """Read it whatever its check sum says, where SQLite can make sense of it: it says where all tables are.
    It is held until the connection is closed, so that the check of all other pages goes on."""
    with contextlib.suppress(apsw.Error, UnicodeDecodeError):
        old.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        old.pragma("writable_schema", True)  # a table whose statement is broken is left out, and no other
        old.pragma("checksum_verification", "off")
        old.execute("BEGIN")
        schema.is_empty(old)
    with contextlib.suppress(apsw.Error):
        old.pragma("checksum_verification", "on")


def _signature(db: apsw.Connection) -> object:
    with contextlib.suppress(apsw.Error, UnicodeDecodeError):
        return db.execute(
            "SELECT value FROM state WHERE session = ? AND key = ?", (ownership.SESSION, ownership.NAME)
        ).get
    return None


def _drop_altered(db: apsw.Connection) -> None:
    """Leave out each text that is not the one that was stored."""
    sql = "SELECT o.number, o.role, o.hash, b.body FROM originals o JOIN bodies b ON b.original = o.number"
    altered = [(number,) for number, *row in db.execute(sql) if not is_text_of(*row)]
    db.executemany("DELETE FROM bodies WHERE original = ?", altered)


def _copy(old: apsw.Connection, new: apsw.Connection, table: str) -> None:
    columns = [
        f'"{row[1]}"' for row in new.execute(f"PRAGMA table_info({table})") if row[1] != DERIVED_COLUMN
    ]
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    rows = _rows_by_number if table in TABLES_BY_ROW else _rows_by_key
    for row in rows(old, table, names):
        new.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", row)


def _rows_by_number(old: apsw.Connection, table: str, names: str) -> Iterator[tuple[object, ...]]:
    """All readable rows of a table. Over a damaged page it goes row by row, then in growing steps."""
    # A damaged page fails for every row on it, and rows of a page are neighbours: first each is tried, then
    # the steps grow, so that a hole of a million rows costs some 1,500 tries.
    last, failures = -1, 0
    top = _highest(old, table)
    while last < top:
        try:
            sql = f"SELECT rowid, {names} FROM {table} WHERE rowid > ? ORDER BY rowid"
            for number, *row in old.execute(sql, (last,)):
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
    except (apsw.Error, UnicodeDecodeError):
        return 100_000


def _rows_by_key(old: apsw.Connection, table: str, names: str) -> Iterator[tuple[object, ...]]:
    """The rows before the first damaged page and after the last one: there are no numbers to go on by."""
    for order in ("ASC", "DESC"):
        with contextlib.suppress(apsw.Error, UnicodeDecodeError):
            yield from old.execute(f"SELECT {names} FROM {table} ORDER BY 1 {order}")
            return


def _place(db: apsw.Connection) -> None:
    """Drop what belongs to no original, and give each original and occurrence a session."""
    db.execute("DELETE FROM originals WHERE number NOT IN (SELECT original FROM bodies)")
    for table in ("bodies", "occurrences", "chunks", "renditions"):
        db.execute(f"DELETE FROM {table} WHERE original NOT IN (SELECT number FROM originals)")
    db.execute(
        "INSERT INTO sessions (number, id, project, started_at, provider, model) "
        "SELECT DISTINCT session, 'lost-' || session, '', 0, '', '' FROM occurrences "
        "WHERE session NOT IN (SELECT number FROM sessions)"
    )
    orphans = "number NOT IN (SELECT original FROM occurrences)"
    if not db.execute(f"SELECT count(*) FROM originals WHERE {orphans}").get:
        return
    db.execute(
        "INSERT OR IGNORE INTO sessions (id, project, started_at, provider, model) VALUES (?, '', 0, '', '')",
        (LOST,),
    )
    db.execute(
        f"""INSERT INTO occurrences (session, seq, turn, original, source, detail, provider, at)
            SELECT s.number, o.number, 0, o.number, 'unknown', '', '', o.accessed_at
            FROM originals o JOIN sessions s ON s.id = ? WHERE o.{orphans} ORDER BY o.number""",
        (LOST,),
    )


def problems(db: apsw.Connection) -> list[str]:
    """What is wrong with an archive, one line each: its pages and indexes, each text against its hash, rows
    that belong to nothing. Raises apsw.Error for a file so damaged that it cannot be looked through."""
    found = [str(row[0]) for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
    sql = "SELECT o.id, o.role, o.hash, b.body FROM originals o LEFT JOIN bodies b ON b.original = o.number"
    for stored_id, role, stored_hash, body in db.execute(sql):
        if not is_text_of(role, stored_hash, body):
            found.append(f"{stored_id}: its text is not the one that was stored")
    for table, column, other in (("occurrences", "original", "originals"), ("vectors", "chunk", "chunks")):
        sql = f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT number FROM {other})"
        if count := db.execute(sql).get:
            found.append(f"{count} {table} belong to none of the {other}")
    return found
