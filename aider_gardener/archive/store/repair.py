"""What is done about a damaged file: it is set aside, never deleted, and a new one begun with every row that
can still be read and what the copy of the last session's end holds beside. The copy is made here too: what
goes into it and what is taken back of it are one question."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import apsw

from aider_gardener import files
from aider_gardener.archive import passages
from aider_gardener.archive.store import (
    encryption,
    entries,
    location,
    records,
    schema,
    search,
)
from aider_gardener.archive.store.database import (
    Database,
    Gone,
    LogGone,
    Older,
    Unavailable,
    explain,
    has_log,
    is_damage,
)
from aider_gardener.archive.store.schema import opened
from aider_gardener.errors import StoreError

TABLES_BY_ROW = ("sessions", "originals", "bodies", "occurrences", "events", "tombstones")
TABLES_BY_KEY = ("renditions", "state")
ROWS_TRIED_ONE_BY_ONE, MOST_FAILURES = 500, 5_000
PART_ENDING, PART_SECONDS = ".part", 3_600.0
MENDED_SECONDS = 60.0
"""A new archive that waits longer for its place is a killed process's: two renames take a moment."""
MOST_ROWS = 100_000_000
"""Pages that name each other may have rows without end."""
UNREADABLE = (apsw.Error, UnicodeDecodeError)
WAL_HEADER, FRAME_HEADER = 32, 24
"""Bytes at the beginning of SQLite's log, and of each of its frames."""
INDEX_HEADER, INDEX_BYTES = 48, 100
"""Bytes of the header that the log's index begins with, twice, and up to how far the log was written over."""
LOOKS, LOOK_SECONDS = 15, 0.1
"""What looks damaged is looked at so often: a busy machine takes a second to make a file."""
LEAST_PAGE_BYTES = 512
"""SQLite's smallest page."""
LOST = "lost"
"""The session of originals that were saved without their place in a session."""
COPY_SECONDS = 3_600.0
"""Where turns end and no session ever does, a copy is made anew when it is older: of 30 MB that takes a third
of a second."""
LARGEST_COPIED_BYTES = 512 * 1024 * 1024
"""A larger archive is not copied: that would take seconds at every end, and the room twice."""
NAMED = 5
REMOVED = "{path} was removed: it was begun anew"
ANOTHER = (
    "{path} is another archive than before, or an older one: what this chat holds is written into it; what"
    " others said since may be missing, and what was forgotten be there again"
)
COPY_SAVED = (
    "; the copy of the old one is kept as {copy}: as gardener.db in a directory of its own"
    " `gardener store copy --from` takes it over"
)
DAMAGED = "{path} was damaged"
SAVED = "{path} was damaged: it was set aside as {aside}, and {saved} of its entries were saved"
NOT_REPAIRED = "{path} is damaged and no new one can be put in its place ({fault})"
QUICKER = "{path} was damaged; another process has begun it anew"
NOT_SAVED = "; {count} could not be: {ids}"


def open_file(database: Database, now: float, broken: apsw.Error | None = None) -> str:
    """Open an archive's file, or begin one, and put right what is wrong: a new archive that a killed repair
    left takes its place, one that is damaged makes room for a new one. `broken` is why a file that was open
    is no more. Returns the line for the user. Raises apsw.Error, OSError or StoreError."""
    path, number, notice = database.path or Path(), database.number, ""
    if isinstance(broken, Gone):
        location.prepare_directory(path.parent)
    is_whole = broken is None or isinstance(broken, (LogGone, Older)) or database.is_replaced()
    is_new = not path.exists() and not finish(path)
    if is_new:
        notice = REMOVED.format(path=path) if broken else ""
        with contextlib.suppress(OSError):  # no other archive's copy takes its place; there may be none
            kept = set_aside(copy_of(path), "removed", now)
            notice = (REMOVED + COPY_SAVED).format(path=path, copy=kept.name)
    try:
        if not is_new and (not is_whole or stays(lambda: is_cut_off(path))):
            raise apsw.CorruptError(f"{path} was cut off")
        database.connect()
        if broken and not is_new and (isinstance(broken, Older) or database.number != number):
            notice = ANOTHER.format(path=path)
    except (apsw.Error, OSError, StoreError) as error:
        if not is_damage(error):
            if is_new and not isinstance(error, apsw.BusyError):
                with contextlib.suppress(OSError):  # what became no archive would be called damaged later
                    if not path.stat().st_size:
                        path.unlink()
            raise
        notice = begin_anew(database, path, now)
    clear_parts(path, older_than=PART_SECONDS)
    return notice


def stays(is_so: Callable[[], bool]) -> bool:
    """Whether something is so and stays so: another process may be about to write what is missing."""
    for _ in range(LOOKS):
        if not is_so():
            return False
        time.sleep(LOOK_SECONDS)
    return True


def has_lost_log(database: Database, left: int) -> bool:
    """Whether the log that a killed process left behind has whole transactions behind the place up to which
    SQLite can read it: a bit there has turned over, and SQLite takes that for the end. To be asked of a file
    that was just opened; `left` is what `log_left` said before. Raises StoreError."""
    path = database.path or Path()

    def is_longer() -> bool:
        frames, _ = database.outside(lambda db: db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP))
        return min(left, len(_log(path).whole)) > frames

    return left > 0 and (database.is_new or stays(is_longer))


def is_cut_off(path: Path) -> bool:
    """Whether an archive's file that is there ends before its last page, which SQLite would take for one of
    zeros where there is a log."""
    if not path.exists():
        return False
    with files.open_plain(path) as file:
        size, head = os.fstat(file.fileno()).st_size, file.read(LEAST_PAGE_BYTES)
    if not head.startswith(encryption.PLAIN_HEADER):  # the cipher itself tells a page that is not there
        return size < LEAST_PAGE_BYTES
    whole = size // (int.from_bytes(head[16:18], "big") or LEAST_PAGE_BYTES)
    missing = range(whole + 1, int.from_bytes(head[28:32], "big") + 1)
    logged = {int.from_bytes(each[:4], "big") for each in (_log(path).whole if missing else ())}
    return any(page not in logged for page in missing)  # one by one: a header may name millions


def log_left(path: Path) -> tuple[int, bool]:
    """How many frames of whole transactions the log has that a killed process left behind, by its index where
    that is of this log (what a process was killed before it said there, others write over); and whether it is
    shorter than that index says, or an older log. To be asked of a file before it is opened, which makes the
    index anew."""
    log = _log(path)
    listed, there = len(log.whole), log.frames
    with contextlib.suppress(OSError), files.open_plain(path.with_name(f"{path.name}-shm")) as file:
        head = file.read(INDEX_BYTES)
        is_valid = len(head) == INDEX_BYTES and head[:INDEX_HEADER] == head[INDEX_HEADER : 2 * INDEX_HEADER]
        if is_valid and log.salt <= head[32:40]:  # each further log has one that is greater
            there = log.frames if log.salt == head[32:40] else 0
            listed, in_file = (int.from_bytes(head[at : at + 4], sys.byteorder) for at in (16, 96))
            listed = listed if listed > in_file else 0
    return min(len(log.whole), listed), listed > there


class Log(NamedTuple):
    """A log as its file has it: its `salt`, b"" without one, how many `frames`, and the heads of those up to
    the last that ends a transaction, whatever their check sums say."""

    salt: bytes
    frames: int
    whole: list[bytes]


def _log(path: Path) -> Log:
    """The log of an archive."""
    head, heads, last = b"", list[bytes](), 0
    with contextlib.suppress(OSError), files.open_plain(path.with_name(f"{path.name}-wal")) as file:
        head = file.read(WAL_HEADER)
        frame = FRAME_HEADER + int.from_bytes(head[8:12], "big")
        for number in range((os.fstat(file.fileno()).st_size - WAL_HEADER) // frame):
            file.seek(WAL_HEADER + number * frame)
            heads.append(file.read(FRAME_HEADER))
            is_of_log, size_after = heads[-1][8:16] == head[16:24], heads[-1][4:8]
            last = number + 1 if is_of_log and any(size_after) else last
    return Log(head[16:24], len(heads), heads[:last])


def copy_of(path: Path) -> Path:
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
    forgotten = database.read(schema.reached).forgotten
    part = path.with_name(f"{location.COPY_NAME}.{os.getpid()}{PART_ENDING}")
    part.unlink(missing_ok=True)
    try:
        files.open_private(part).close()
        target = opened(part, apsw.SQLITE_OPEN_READWRITE, database.key)
        with contextlib.closing(target):
            # Check sums are kept from the first page's writing on.
            target.pragma("user_version", schema.VERSION)
            database.copy_into(target)
            is_sound = target.execute("PRAGMA quick_check(1)").get == "ok"
        if is_sound:
            os.replace(part, copy_of(path))
            if database.read(schema.reached).forgotten != forgotten:  # by another process meanwhile
                drop_copy(path)
    finally:
        location.remove(part)


def is_copy_due(path: Path) -> bool:
    """Whether the copy of an archive is missing or too old to wait for the end of a session."""
    try:
        return time.time() - copy_of(path).stat().st_mtime >= COPY_SECONDS
    except OSError:
        return True


def put_back(database: Database) -> int:
    """Put back what the copy holds and the archive lacks, though nothing was forgotten since the copy was
    made; returns how many entries. Raises StoreError."""
    if database.path is None:
        return 0
    copy = _opened_copy(copy_of(database.path), database.key, database.read(schema.number_of))
    if copy is None:
        return 0
    with contextlib.closing(copy):
        lacking = _ids(copy) - database.read(_ids)
        if lacking:
            database.write(lambda db: _add_copy(copy, db))
    return len(lacking)


def _ids(db: apsw.Connection) -> set[str]:
    found: set[str] = set()
    sql = "SELECT id FROM originals WHERE typeof(id) = 'text'"  # what is damaged may say that one is a number
    with contextlib.suppress(*UNREADABLE):
        found.update(stored_id for (stored_id,) in islice(db.execute(sql), MOST_ROWS))
    return found


def add_from_memory(database: Database, copy: Database) -> None:
    """Add what was seen of an archive through a log that was removed, and what it lacks without that, unless
    something was forgotten since. Raises StoreError."""
    unchanged = (0, copy.read(schema.reached).forgotten)
    if copy.read(_ids) - database.read(_ids) and database.read(schema.reached).forgotten in unchanged:
        found, fault = records.export_of_other(copy.live), DAMAGED.format(path=database.path)
        database.write(lambda db: records.add_all(db, found, fault))


def drop_copy(path: Path | None) -> None:
    """Remove the copy of a file, and what was begun of one: something in it is forgotten, and leaves it with
    all else. Raises StoreError."""
    if path is None:
        return
    try:
        copy_of(path).unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{copy_of(path)} cannot be deleted ({error.strerror}): delete it") from error
    clear_parts(path, older_than=0)


def begin_anew(database: Database, path: Path, now: float) -> str:
    """Put a new archive in the place of one that is damaged, with what can be saved of it and of the copy;
    returns the line for the user.

    `database` is closed and is opened on the new one. A kill at any moment leaves the old one in its place,
    or the new one whole, if need be for `finish` to put it there."""
    part = path.with_name(f"{location.MENDED_NAME}.{os.getpid()}{PART_ENDING}")
    identity = location.identity(path)
    new = Database(part, key_source=database.key_source)
    try:
        try:
            new.connect()
            listed = salvage(new, path, copy_of(path), database.key)
            found = new.read(_ids)
        finally:
            new.close()
        notice = QUICKER.format(path=path)
        if location.identity(path) == identity:
            os.replace(part, path.with_name(location.MENDED_NAME))
            files.synced(path.parent)
            aside = set_aside(path, "damaged", now)
            finish(path)
            notice = SAVED.format(path=path, aside=aside.name, saved=len(found))
        database.connect()
    except (StoreError, OSError, apsw.Error) as error:
        cause = error.__cause__ if isinstance(error.__cause__, apsw.Error) else error
        raise Unavailable(NOT_REPAIRED.format(path=path, fault=explain(cause, path))) from error
    finally:
        location.remove(part)
    lost = sorted(listed - found)
    more = ", …" if len(lost) > NAMED else ""
    return notice + (NOT_SAVED.format(count=len(lost), ids=", ".join(lost[:NAMED]) + more) if lost else "")


def finish(path: Path) -> bool:
    """Put a new archive in its place if one waits and nothing is there any more; whether it is there now."""
    mended = path.with_name(location.MENDED_NAME)
    if not mended.is_file() or path.exists():
        return False
    location.remove(path, file=False)  # the log of the one that was set aside
    with contextlib.suppress(FileNotFoundError):  # another process was quicker
        os.replace(mended, path)
    files.synced(path.parent)
    return True


def clear_parts(path: Path, *, older_than: float) -> None:
    """Remove what was not written to its end beside an archive and is older than so many seconds, and a new
    archive that waits for no place any more."""
    names = (f"{path.name}*{PART_ENDING}*", f".{path.name}*{PART_ENDING}")
    parts = dict.fromkeys((part for name in names for part in path.parent.glob(name)), older_than)
    for part, seconds in {**parts, path.with_name(location.MENDED_NAME): MENDED_SECONDS}.items():
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime >= seconds:
                part.unlink()


def set_aside(path: Path, why: str, now: float) -> Path:
    """Give a file, and the log beside it, a name that nothing has yet: the archive's with `why` (`damaged`,
    `removed`) and when; returns it. Raises OSError."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    begins = f"{location.FILE_NAME}.{why}-{stamp}"
    names = (path.with_name(f"{begins}{ending}") for ending in ("", *range(-2, -1_000, -1)))
    name = next(name for name in names if not name.exists())
    os.replace(path, name)
    for ending in location.LOG_ENDINGS:
        with contextlib.suppress(FileNotFoundError):
            os.replace(path.with_name(path.name + ending), name.with_name(name.name + ending))
    return name


def salvage(new: Database, damaged: Path, copy: Path, key: str) -> set[str]:
    """Bring every row that can be read of a damaged file into a new one, and from the copy what is missing
    then; returns the ids that the damaged one lists. `key` is what both are encrypted with, "" for plain
    ones.

    An original whose text cannot be read, or is another than its hash says, is left behind, and with it all
    that belongs to it. Passages and index are made anew. Raises StoreError.
    """
    listed: set[str] = set()

    def step(db: apsw.Connection) -> None:
        new_number = schema.number_of(db)
        db.execute("DELETE FROM state WHERE session = ?", (schema.OWN,))  # it is the same archive
        with contextlib.closing(_opened_damaged(damaged, key)) as old:
            if not key:
                _read_first_page(old)
            listed.update(_ids(old))
            for table in (*TABLES_BY_ROW, *TABLES_BY_KEY):
                _copy(old, db, table)
            if not key:  # the other texts of a damaged page are told by their hashes
                old.pragma("checksum_verification", "off")
                _copy(old, db, "bodies")
            number = schema.number_of(db)
            if number is None:
                db.execute("INSERT INTO state VALUES (?, ?, ?)", (schema.OWN, schema.NUMBER, new_number))
            _tidy(db)
            if opened_copy := _opened_copy(copy, key, number):
                with contextlib.closing(opened_copy):
                    _add_copy(opened_copy, db)
            if not key:
                _add_unchecked(old, db)
        _place(db)
        _chunk(db)
        entries.share_again(db)

    new.write(step)
    return listed


def _opened_damaged(damaged: Path, key: str) -> apsw.Connection:
    is_at_rest = not has_log(damaged)
    flags = apsw.SQLITE_OPEN_READONLY if is_at_rest else apsw.SQLITE_OPEN_READWRITE
    old = opened(damaged, flags, key, query="mode=ro&immutable=1" if is_at_rest else "")
    old.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return old


def _add_unchecked(old: apsw.Connection, db: apsw.Connection) -> None:
    """Add what has no place yet and stands on pages whose check sums do not hold, where each text is the one
    that its hash was made of: another SQLite that moves the log into the file leaves all of its pages so.
    Nothing of a file with other tables than ours: a column that is computed would run what it calls."""
    with contextlib.suppress(ValueError, apsw.Error):  # what stands before what is broken is added
        placed = "SELECT id FROM originals WHERE number IN (SELECT original FROM occurrences)"
        lacking = _ids(old).difference(stored_id for (stored_id,) in db.execute(placed))
        for record in records.export_of_other(old) if lacking and schema.is_exact(old) else ():
            if record["kind"] in ("session", "state") or record.get("id") in lacking:
                with contextlib.suppress(StoreError):
                    records.add_all(db, [record], DAMAGED)


def _read_first_page(old: apsw.Connection) -> None:
    """Read it whatever its check sum says, where SQLite can make sense of it: it says where all tables are.
    It is held until the connection is closed, so that the check of all other pages goes on."""
    with contextlib.suppress(*UNREADABLE):
        old.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        old.pragma("writable_schema", True)  # a table whose statement is broken is left out, and no other
        old.pragma("checksum_verification", "off")
        old.execute("BEGIN")
        schema.is_empty(old)
    with contextlib.suppress(apsw.Error):
        old.pragma("checksum_verification", "on")


def _add_copy(copy: apsw.Connection, db: apsw.Connection) -> None:
    """Add what the copy holds and the archive lacks, within the caller's transaction."""
    _copy(copy, db, "sessions")  # by their numbers, which occurrences have
    with contextlib.suppress(StoreError):  # one that is damaged itself gives what stands before that
        records.add_all(db, records.export_of_other(copy), DAMAGED)
    _copy(copy, db, "tombstones")


def _opened_copy(copy: Path, key: str, number: object) -> apsw.Connection | None:
    """The copy, to be read, if it is whole and of the archive of this number, unless that cannot be told
    (None)."""
    with contextlib.suppress(OSError, *UNREADABLE):
        files.check_plain(copy)
        db = opened(copy, apsw.SQLITE_OPEN_READONLY, key, query="mode=ro&immutable=1")
        if schema.is_exact(db) and number in (None, schema.number_of(db)):
            return db
        db.close()
    return None


def _copy(old: apsw.Connection, new: apsw.Connection, table: str) -> None:
    with contextlib.suppress(*UNREADABLE):
        if any(row[-1] for row in old.execute(f"PRAGMA table_xinfo({table})")):
            return  # a column that is computed, as none of ours is: what it calls would run here
    columns = [f'"{row[1]}"' for row in new.execute(f"PRAGMA table_info({table})")]
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
            # To be past the last one SQLite would look for it, on the page that is damaged.
            sql = f"SELECT rowid, {names} FROM {table} WHERE rowid >= ? ORDER BY rowid"
            for number, *row in old.execute(sql, (last + 1,)):
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


def _tidy(db: apsw.Connection) -> None:
    """Drop each text that is not the one that was stored, and what belongs to no original."""
    wrong = [(number,) for number, _, is_right in _texts(db) if not is_right]
    db.executemany("DELETE FROM originals WHERE number = ?", wrong)
    for table in ("bodies", "occurrences", "renditions"):
        db.execute(f"DELETE FROM {table} WHERE original NOT IN (SELECT number FROM originals)")


def _place(db: apsw.Connection) -> None:
    """Give each original an occurrence and each occurrence a session."""
    db.execute(
        "INSERT INTO sessions (number, id, project, started_at) "
        "SELECT DISTINCT session, 'lost-' || session, '', 0 FROM occurrences "
        "WHERE session NOT IN (SELECT number FROM sessions)"
    )
    orphans = "number NOT IN (SELECT original FROM occurrences)"
    if not db.execute(f"SELECT count(*) FROM originals WHERE {orphans}").get:
        return
    db.execute("INSERT OR IGNORE INTO sessions (id, project, started_at) VALUES (?, '', 0)", (LOST,))
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
    sql = """SELECT o.number, o.id, o.role, o.hash, b.body FROM originals o
             LEFT JOIN bodies b ON b.original = o.number"""
    for number, stored_id, *text in db.execute(sql):
        yield number, stored_id, entries.is_text_of(*text)


def _chunk(db: apsw.Connection) -> None:
    """Cut each text that has no passages into some."""
    sql = """SELECT o.number, o.segments, b.body FROM originals o JOIN bodies b ON b.original = o.number
             WHERE o.number NOT IN (SELECT original FROM chunks)"""
    for number, segments, body in list(db.execute(sql)):
        text = search.decode(body)
        search.add_chunks(db, number, text, passages.spans(text, search.segments_of(segments)))
