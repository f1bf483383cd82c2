"""What is done about a damaged file: it is set aside, never deleted, and a new one begun with every row that
can still be read and what the copy of the last session's end holds beside."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import apsw

from aider_gardener.archive.store import files, forgotten, location, ownership, records, schema, search
from aider_gardener.archive.store.database import Database, Unavailable, explain
from aider_gardener.archive.store.entries import is_text_of
from aider_gardener.archive.store.pages import opened
from aider_gardener.errors import StoreError

TABLES_BY_ROW = ("sessions", "originals", "bodies", "occurrences", "chunks", "events", "tombstones")
TABLES_BY_KEY = ("renditions", "event_entries", "state")
DERIVED_COLUMN = "embedded"
"""Says that a chunk has a vector: vectors are not saved but made anew."""
ROWS_TRIED_ONE_BY_ONE, MOST_FAILURES = 500, 5_000
MENDED_SECONDS = 3_600.0
MOST_ROWS = 100_000_000
"""Pages that name each other may have rows without end."""
UNREADABLE = (apsw.Error, UnicodeDecodeError)
LOST = "lost"
"""The session of originals that were saved without their place in a session."""
ENDINGS = ("", "-wal", "-shm", "-journal")
LARGEST_COPIED_BYTES = 512 * 1024 * 1024
"""A larger archive is not copied: that would take seconds at every end, and the room twice."""
NAMED = 5
KEPT = "; the copy of the old one is kept as {copy}, `gardener store adopt` takes it over"
DAMAGED = "{path} was damaged"
SAVED = "{reason}: it was set aside as {aside}, and {saved} of its entries were saved"
ASIDE = (
    "{reason}: it was set aside as {aside}; `gardener store adopt` takes over what it holds; {saved} entries"
    " of the copy of yours were put back"
)
QUICKER = "{path} was damaged; another process has begun it anew"
NOT_SAVED = "; {count} could not be: {ids}"


def copy_of(path: Path) -> Path:
    """Where the copy of an archive lies."""
    return path.with_name(location.COPY_NAME)


def make_copy(database: Database) -> None:
    """Copy the archive as it stands now, unless it is in memory or large; first what it lacks of the former
    copy is put back. The copy is encrypted if the archive is.

    Raises OSError, apsw.Error or StoreError; the former copy then stays.
    """
    path = database.path
    if path is None or path.stat().st_size > LARGEST_COPIED_BYTES:
        return
    put_back(database)
    part = path.with_name(f"{location.COPY_NAME}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        location.open_private(part).close()
        target = opened(part, apsw.SQLITE_OPEN_READWRITE, database.key)
        with contextlib.closing(target):
            database.copy_into(target)
            is_sound = target.execute("PRAGMA quick_check(1)").get == "ok"
        if is_sound:
            os.replace(part, copy_of(path))
            if _lacking(database):  # forgotten by another process meanwhile
                drop_copy(path)
    finally:
        for ending in ENDINGS:
            part.with_name(part.name + ending).unlink(missing_ok=True)


def put_back(database: Database) -> int:
    """Put back what the copy holds and the archive lacks, though nothing was forgotten since the copy was
    made; returns how many entries. Raises StoreError."""
    count = len(_lacking(database))
    if count:
        database.write(lambda db: _add_copy(db, database, copy_of(database.path or Path())))
    return count


def _lacking(database: Database) -> set[str]:
    """The ids of the copy that the archive has not."""
    held = _opened_copy(copy_of(database.path), database) if database.path is not None else None
    if held is None:
        return set()
    with contextlib.closing(held):
        return _ids(held) - database.read(_ids)


def _ids(db: apsw.Connection) -> set[str]:
    """The ids of all originals that can be read."""
    found: set[str] = set()
    with contextlib.suppress(*UNREADABLE):
        for (stored_id,) in islice(db.execute("SELECT id FROM originals"), MOST_ROWS):
            found.add(stored_id)
    return found


def drop_copy(path: Path) -> None:
    """Remove the copy: something in it was forgotten. Raises OSError."""
    copy_of(path).unlink(missing_ok=True)


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


def begin_anew(database: Database, path: Path, now: float, *, why: str = "damaged", reason: str = "") -> str:
    """Put a new archive in the place of one that cannot be used, with what can be saved of it if it is the
    user's and of the copy; returns the line for the user. `why` names what is set aside, `reason` says more
    of it.

    `database` is closed and is opened on the new one. A kill at any moment leaves the old one in its place,
    or the new one whole, if need be for `finish` to put it there."""
    part = path.with_name(f"{location.MENDED_NAME}.{os.getpid()}.part")
    seen = location.identity(path)
    try:
        old = path if database.is_own(path) else None
        new = Database(part, key_source=database.key_source, user=database.user)
        try:
            listed = salvage(new, old, copy_of(path))
            found = new.read(_ids)
        finally:
            new.close()
        said = QUICKER.format(path=path)
        if location.identity(path) == seen:
            os.replace(part, _mended(path))
            files.synced(path.parent)
            aside = set_aside(path, now, why)
            finish(path)
            said = (SAVED if old else ASIDE).format(
                reason=reason or DAMAGED.format(path=path), aside=aside.name, saved=len(found)
            )
        database.connect()
    except (OSError, apsw.Error) as error:
        fault = explain(error, path) if isinstance(error, apsw.Error) else error.strerror
        raise Unavailable(f"{path} is damaged and could not be set aside ({fault})") from error
    finally:
        for ending in ENDINGS:
            part.with_name(part.name + ending).unlink(missing_ok=True)
    lost = sorted(listed - found)
    more = ", …" if len(lost) > NAMED else ""
    return said + (NOT_SAVED.format(count=len(lost), ids=", ".join(lost[:NAMED]) + more) if lost else "")


def _mended(path: Path) -> Path:
    """Where a new archive waits to take the place of a damaged one."""
    return path.with_name(location.MENDED_NAME)


def finish(path: Path) -> bool:
    """Put a new archive in its place if one waits and nothing is there any more; whether it is there now."""
    if not _mended(path).is_file() or path.exists():
        return False
    for ending in ENDINGS[1:]:  # the log of the one that was set aside
        path.with_name(path.name + ending).unlink(missing_ok=True)
    with contextlib.suppress(FileNotFoundError):  # another process was quicker
        os.replace(_mended(path), path)
    files.synced(path.parent)
    return True


def drop_mended(path: Path, now: float) -> None:
    """Remove a new archive that has long waited for its place: the old one opens. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        if now - _mended(path).stat().st_mtime > MENDED_SECONDS:
            _mended(path).unlink()


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


def salvage(new: Database, damaged: Path | None, copy: Path) -> set[str]:
    """Bring every row that can be read of a damaged file into a new one, and from the copy what is missing
    then; returns the ids that the damaged one lists.

    An original whose text cannot be read, or is another than its hash says, is left behind, and with it all
    that belongs to it. Raises StoreError."""
    listed: set[str] = set()

    def step(db: apsw.Connection) -> None:
        if damaged is not None:
            _copy_all(damaged, new.key, db, listed)
        _place(db)
        _add_copy(db, new, copy)
        search.rebuild(db)
        forgotten.begin_again(db)

    new.write(step)
    return listed


def _copy_all(damaged: Path, key: str, db: apsw.Connection, listed: set[str]) -> None:
    """Copy each row that can be read; `listed` gets the ids that there are."""
    try:
        old = opened(damaged, apsw.SQLITE_OPEN_READWRITE, key)
    except apsw.Error:
        return
    with contextlib.closing(old):
        listed.update(_ids(old))
        for table in (*TABLES_BY_ROW, *TABLES_BY_KEY):
            _copy(old, db, table)


def _add_copy(db: apsw.Connection, database: Database, copy: Path) -> None:
    """Add what the copy holds and the archive lacks, within the caller's transaction."""
    held = _opened_copy(copy, database)
    if held is not None:
        with contextlib.closing(held):
            fault = StoreError(f"{copy} is damaged")
            records.add_all(db, records.export_of_other(held), lambda _number: fault, redact=None)


def _opened_copy(copy: Path, database: Database) -> apsw.Connection | None:
    """The copy, to be read, if it is whole and the user's."""
    own = database.own_key()
    with contextlib.suppress(OSError, *UNREADABLE):
        files.check_plain(copy)
        held = opened(copy, apsw.SQLITE_OPEN_READONLY, database.key, query="mode=ro&immutable=1")
        if schema.is_exact(held) and (own is None or database.key or ownership.is_signed(held, own)):
            return held
        held.close()
    return None


def _copy(old: apsw.Connection, new: apsw.Connection, table: str) -> None:
    columns = [
        f'"{row[1]}"' for row in new.execute(f"PRAGMA table_info({table})") if row[1] != DERIVED_COLUMN
    ]
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    rows = _rows_by_number if table in TABLES_BY_ROW else _rows_by_key
    for row in rows(old, table, names):
        new.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", row)


def _rows_by_number(old: apsw.Connection, table: str, names: str) -> Iterator[tuple[object, ...]]:
    """The readable rows of a table, their numbers ever higher: it ends, whatever the pages say."""
    # A damaged page fails for every row on it, and rows of a page are neighbours: first each is tried, then
    # the steps grow, so that a hole of a million rows costs some 1,500 tries.
    last, failures = -1, 0
    while failures < MOST_FAILURES:
        try:
            sql = f"SELECT rowid, {names} FROM {table} WHERE rowid > ? ORDER BY rowid"
            for number, *row in old.execute(sql, (last,)):
                if number <= last:
                    raise apsw.CorruptError("numbers that go back")
                last, failures = number, 0
                yield tuple(row)
            return
        except UNREADABLE:
            failures += 1
            last += 1 if failures <= ROWS_TRIED_ONE_BY_ONE else failures


def _rows_by_key(old: apsw.Connection, table: str, names: str) -> Iterator[tuple[object, ...]]:
    """The rows before the first damaged page and after the last one: there are no numbers to go on by."""
    for order in ("ASC", "DESC"):
        with contextlib.suppress(*UNREADABLE):
            yield from islice(old.execute(f"SELECT {names} FROM {table} ORDER BY 1 {order}"), MOST_ROWS)
            return


def _place(db: apsw.Connection) -> None:
    """Drop what is not as it was stored or belongs to nothing, and give each original and occurrence a
    session."""
    sql = (
        "SELECT o.number, o.role, o.hash, b.body FROM originals o LEFT JOIN bodies b ON b.original = o.number"
    )
    wrong = [(number,) for number, *text in db.execute(sql) if not is_text_of(*text)]
    db.executemany("DELETE FROM originals WHERE number = ?", wrong)
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
    wrong = [stored_id for _, stored_id, is_right in _texts(db) if not is_right]
    found += [f"{stored_id}: its text is not the one that was stored" for stored_id in wrong]
    for table, column, other in (("occurrences", "original", "originals"), ("vectors", "chunk", "chunks")):
        sql = f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT number FROM {other})"
        if count := db.execute(sql).get:
            found.append(f"{count} {table} belong to none of the {other}")
    return found


def _texts(db: apsw.Connection) -> Iterator[tuple[int, str, bool]]:
    """The number and id of each original, and whether its text is the one that was stored."""
    sql = """SELECT o.number, o.id, o.role, o.hash, b.body FROM originals o
             LEFT JOIN bodies b ON b.original = o.number"""
    for number, stored_id, *text in db.execute(sql):
        yield number, stored_id, is_text_of(*text)
