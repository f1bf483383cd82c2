"""Vectors of chunks in their table: half-precision blobs, and one bit a number beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from aider_gardener.archive.store import codes, search
from aider_gardener.archive.store.base import PendingPassage
from aider_gardener.archive.store.vector_search import VectorCache
from aider_gardener.errors import StoreError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["SLICE_ROWS", "VectorCache", "pending", "put", "remove"]

SESSION_WINDOW = 2_000
"""So many of the newest pending chunks are looked through for those of the active session."""
SLICE_ROWS = 2_000
"""Rows read into memory while the archive is locked once."""
REMOVALS_KEPT = 20_000
"""So many deletions are remembered one by one; a process that missed more reads its vectors anew."""


def pending(db: apsw.Connection, limit: int, embedder: str, session: str | None) -> list[PendingPassage]:
    """Chunks without a vector of the embedder; see `Store.vectors_pending`."""
    others = db.execute("SELECT count(*) FROM embedders WHERE name != ?", (embedder,)).get
    # With one embedder, which is the rule, the partial index gives what is pending at once.
    waiting = f"embedded = 0 OR NOT EXISTS ({HAS_VECTOR})" if others else "embedded = 0"
    values: list[object] = [embedder] if others else []
    rows: list[Any] = db.execute(
        f"""SELECT p.number, o.id, p.original, p.start, p."end" FROM (
                SELECT number, original, start, "end" FROM chunks c
                WHERE fidelity = '' AND ({waiting}) ORDER BY number DESC LIMIT ?) p
            JOIN originals o ON o.number = p.original
            ORDER BY EXISTS (SELECT 1 FROM occurrences n JOIN sessions s ON s.number = n.session
                             WHERE n.original = p.original AND s.id = ?) DESC, p.number DESC LIMIT ?""",
        (*values, max(limit, SESSION_WINDOW if session else 0), session, limit),
    ).fetchall()
    return list(_with_texts(db, rows))


HAS_VECTOR = """SELECT 1 FROM vectors v JOIN embedders e ON e.number = v.embedder
                WHERE e.name = ? AND v.chunk = c.number"""


def _with_texts(db: apsw.Connection, rows: list[Any]) -> Iterator[PendingPassage]:
    text, held = "", None
    for number, entry_id, original, start, end in rows:
        if original != held:
            body = db.execute("SELECT body FROM bodies WHERE original = ?", (original,)).get
            text, held = search.decode(body or b""), original
        yield PendingPassage(entry_id, start, end, text[start:end], number)


def put(db: apsw.Connection, items: Sequence[tuple[PendingPassage, Floats]], embedder: str) -> int:
    """Write vectors; a chunk that is gone (or whose row another took meanwhile) is passed over."""
    import numpy as np

    count = 0
    for passage, vector in items:
        own = _embedder(db, embedder, len(vector))
        there = db.execute(
            """SELECT 1 FROM chunks c JOIN originals o ON o.number = c.original
               WHERE c.number = ? AND o.id = ? AND c.start = ? AND c."end" = ? AND c.fidelity = ''""",
            (passage.number, passage.entry_id, passage.start, passage.end),
        ).get
        if there is None:
            continue
        if not np.isfinite(vector).all():
            raise StoreError(f"{embedder} gave a vector with values that are no numbers")
        db.execute(
            "INSERT INTO vectors (chunk, embedder, vector) VALUES (?, ?, ?) "
            "ON CONFLICT (chunk, embedder) DO NOTHING",
            (passage.number, own, vector.astype("<f2").tobytes()),
        )
        if db.changes():
            count += 1
            db.execute(
                "INSERT INTO codes (number, embedder, code) VALUES (?, ?, ?)",
                (db.last_insert_rowid(), own, codes.code(vector)),
            )
        db.execute("UPDATE chunks SET embedded = 1 WHERE number = ? AND embedded = 0", (passage.number,))
    return count


def _embedder(db: apsw.Connection, name: str, dim: int) -> int:
    """The row of an embedder, begun with its dimension when it is new."""
    rows: list[Any] = db.execute("SELECT number, dim FROM embedders WHERE name = ?", (name,)).fetchall()
    if not rows:
        db.execute("INSERT INTO embedders (name, dim) VALUES (?, ?)", (name, dim))
        return db.last_insert_rowid()
    number, held = rows[0]
    if held != dim:
        raise StoreError(f"{name} made vectors of length {held} before, now {dim}")
    return int(number)


def remove(db: apsw.Connection, original: int) -> None:
    """Delete the vectors of an original's chunks; copies in memory, of other processes too, are told."""
    own = "chunk IN (SELECT number FROM chunks WHERE original = ?)"
    rows: list[Any] = db.execute(f"SELECT embedder, number FROM vectors WHERE {own}", (original,)).fetchall()
    db.executemany("INSERT INTO removed_vectors (embedder, number) VALUES (?, ?)", rows)
    db.executemany("DELETE FROM codes WHERE number = ?", [(number,) for _, number in rows])
    db.execute(f"DELETE FROM vectors WHERE {own}", (original,))
    db.execute(
        "DELETE FROM removed_vectors WHERE seq <= (SELECT max(seq) FROM removed_vectors) - ?",
        (REMOVALS_KEPT,),
    )
