"""Whether an archive is sound: the file, its index, and each row against its hash or sum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw

from aider_gardener.archive.store import entries, sums

ALTERED = "what is known of it is not what was stored"
WHAT = {"occurrences": "its place in a session", "renditions": "a short form of it"}
SQL_ENTRY = "(SELECT o.id FROM originals o WHERE o.number = t.original)"


class StoreFault(NamedTuple):
    """A row that can be read and is not what was written: its table and key, what it is of, what is wrong."""

    table: str
    key: tuple[object, ...]
    name: str
    what: str

    @property
    def line(self) -> str:
        return f"{self.name}: {self.what}"


def are_places_listed(db: apsw.Connection) -> bool:
    """Whether each session is found by its id, and each occurrence by its session and its place there."""
    try:
        found = [db.execute(f"PRAGMA integrity_check({table})").get for table in ("sessions", "occurrences")]
    except apsw.CorruptError:
        return False
    return found == ["ok", "ok"]


def faults(db: apsw.Connection, stored_id: str | None = None) -> Iterator[StoreFault]:
    """The rows that are not as they were written, of one entry or of the whole archive."""
    sums.register(db)
    own: tuple[object, ...] = () if stored_id is None else (stored_id,)
    sql = "SELECT o.number, o.id, o.role, o.hash, b.body FROM originals o LEFT JOIN bodies b "
    sql += "ON b.original = o.number" + (" WHERE o.id = ?" if own else "")
    for number, found_id, role, stored_hash, body in db.execute(sql, own):
        if body is None:
            yield StoreFault("bodies", (number,), found_id, "its text is missing")
        elif not entries.is_text_of(role, stored_hash, body):
            yield StoreFault("bodies", (number,), found_id, "its text is not the one that was stored")
    for table in sums.SUMMED:
        yield from _altered_rows(db, table, own)


def _altered_rows(db: apsw.Connection, table: str, own: tuple[object, ...]) -> Iterator[StoreFault]:
    is_of_entry = "original" in sums.SUMMED[table]
    if own and table != "originals" and not is_of_entry:
        return
    name = "t.id" if table == "originals" else SQL_ENTRY if is_of_entry else "NULL"
    keys = ", ".join(f"t.{key}" for key in sums.key_of(table))
    sql = f"SELECT {name}, {keys} FROM {table} t WHERE NOT ({sums.is_sound(table, 't')})"
    for found_id, *key in db.execute(sql + (f" AND {name} = ?" if own else ""), own):
        if found_id is None:
            yield StoreFault(table, tuple(key), f"{table} {key[-1]}", ALTERED)
        else:
            what = f"{WHAT[table]} is not what was stored" if table in WHAT else ALTERED
            yield StoreFault(table, tuple(key), found_id, what)


def is_sound_row(db: apsw.Connection, table: str, key: tuple[object, ...]) -> bool:
    """Whether a row is there and as it was written."""
    if table == "bodies":
        sql = "SELECT o.role, o.hash, b.body FROM originals o JOIN bodies b ON b.original = o.number"
        rows: list[Any] = db.execute(f"{sql} WHERE o.number = ?", key).fetchall()
        return bool(rows) and entries.is_text_of(*rows[0])
    where = " AND ".join(f"t.{name} = ?" for name in sums.key_of(table))
    sql = f"SELECT 1 FROM {table} t WHERE {where} AND {sums.is_sound(table, 't')}"
    return db.execute(sql, key).get is not None


def structure(db: apsw.Connection) -> list[str]:
    """What is wrong with the file itself, [] when nothing is. A file so damaged that it cannot be looked
    through raises apsw.Error."""
    return [str(row[0]) for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]


def index(db: apsw.Connection) -> list[str]:
    """What is wrong with the full-text index, which can be built anew."""
    try:
        db.execute("INSERT INTO word_index (word_index) VALUES ('integrity-check')")
    except apsw.Error as error:
        return [f"the full-text index is damaged ({error})"]
    return []


def loose_ends(db: apsw.Connection) -> list[str]:
    """Rows that belong to nothing."""
    lost = db.execute(
        "SELECT count(*) FROM occurrences WHERE original NOT IN (SELECT number FROM originals)"
    ).get
    stray = db.execute("SELECT count(*) FROM vectors WHERE chunk NOT IN (SELECT number FROM chunks)").get
    found = [f"{lost} occurrences belong to no entry"] if lost else []
    return [*found, f"{stray} vectors belong to no passage"] if stray else found
