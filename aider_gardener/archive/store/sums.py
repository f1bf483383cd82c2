"""A check sum in every row that tells something: a row that a disk has altered is seen, and never shown.

The text of an original has its SHA-256 (`originals.hash`); this covers what stands beside it. What is derived
(passages, index, vectors) has none: it is made anew.
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apsw

SUMMED: dict[str, tuple[str, ...]] = {
    "sessions": ("number", "id", "project", "started_at", "provider", "model"),
    "originals": ("number", "id", "hash", "role", "cls", "segments", "redactions", "tokens"),
    "occurrences": (
        "number", "session", "seq", "turn", "original", "source", "detail", "provider", "at",
    ),
    "renditions": ("original", "fidelity", "text", "tokens"),
    "events": ("number", "session", "turn", "kind", "data", "at"),
    "state": ("session", "key", "value"),
}  # fmt: skip
"""The columns by table that its sum is of: those that are written once, or always with a new sum."""
KEYS: dict[str, tuple[str, ...]] = {"renditions": ("original", "fidelity"), "state": ("session", "key")}
"""The key of a table where that is not its number."""
FLOATS = frozenset({"at", "started_at"})
SUM_BYTES = 8
"""Enough against chance; against whoever can write the file no sum helps."""


def register(db: apsw.Connection) -> None:
    """Let a connection reckon sums in SQL."""
    db.create_scalar_function("row_sum", row_sum, deterministic=True)


def row_sum(*values: object) -> bytes:
    """The sum of the values of a row, in order; their types and lengths count."""
    told = b""
    for value in values:
        if isinstance(value, bytes):
            told += b"b%d:%b" % (len(value), value)
        elif isinstance(value, float):
            told += b"f8:" + struct.pack(">d", value)
        else:
            coded = str(value).encode("utf-8", "surrogatepass")
            told += b"%b%d:%b" % (type(value).__name__.encode()[:1], len(coded), coded)
    return hashlib.blake2b(told, digest_size=SUM_BYTES).digest()


def of_row(table: str, alias: str = "") -> str:
    """The SQL for the sum that a row of a table ought to have."""
    names = [f"{alias}.{name}" if alias else name for name in SUMMED[table]]
    types = " || ".join(f"typeof({name})" for name in names)
    # A text that is no UTF-8 any more can be read as bytes only.
    columns = (
        full if name in FLOATS else f"CAST({full} AS BLOB)"
        for name, full in zip(SUMMED[table], names, strict=True)
    )
    return f"row_sum({types}, {', '.join(columns)})"


def is_sound(table: str, alias: str) -> str:
    """The SQL for whether a row is as it was written."""
    return f"{alias}.sum IS {of_row(table, alias)}"


def key_of(table: str) -> tuple[str, ...]:
    return KEYS.get(table, ("number",))


def keep(db: apsw.Connection, table: str, *key: object) -> None:
    """Write the sum of a row that was just written, named by its key."""
    where = " AND ".join(f"{name} = ?" for name in key_of(table))
    db.execute(f"UPDATE {table} SET sum = {of_row(table)} WHERE {where}", key)


def keep_all(db: apsw.Connection) -> None:
    """Write the sums of all rows, which the caller has seen to be right."""
    for table in SUMMED:
        db.execute(f"UPDATE {table} SET sum = {of_row(table)}")


def add_columns(db: apsw.Connection) -> None:
    """The migration to a schema with sums."""
    register(db)
    for table in SUMMED:
        db.execute(f"ALTER TABLE {table} ADD COLUMN sum BLOB")
    keep_all(db)
