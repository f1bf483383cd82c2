"""Vectors of chunks: a byte a number in their table and in memory, compared with a question's one by one.

Only the direction of a vector counts, so its largest number is stored as 127 or -127 and no scale beside it.
docs/store.md has the measurements.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import apsw

from aider_gardener.archive.store import search
from aider_gardener.archive.store.base import StoredPassage
from aider_gardener.errors import StoreError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Bytes = NDArray[np.int8]
    Numbers = NDArray[np.int64]

SLICE_ROWS = 2_000
"""Rows read into memory while the archive is locked once, and rows multiplied at once."""


class VectorCache:
    """The vectors of the embedder asked for last, in memory. The caller holds the archive's lock."""

    def __init__(self) -> None:
        self._source: apsw.Connection | None = None
        self._clear()

    def _clear(self) -> None:
        """Forget all; what is asked for next is read anew."""
        self._version, self._last = (0, 0, 0), 0
        self.rows, self.chunks, self._norms = bytearray(), array("q"), array("f")

    def grow(self, db: apsw.Connection, embedder: str) -> int:
        """Read at most `SLICE_ROWS` new rows, also those of other processes; returns how many.

        After a deletion, by whomever, all is read anew.
        """
        import numpy as np

        sql = "SELECT number, dim, removed FROM embedders WHERE name = ?"
        version = next(db.execute(sql, (embedder,)), (0, 0, 0))
        if self._version != version or self._source is not db:
            self._clear()
            self._source = db
        sql = """SELECT number, chunk, vector FROM vectors WHERE number > ? AND embedder = ?
                 AND length(vector) = ? ORDER BY number LIMIT ?"""
        found = list(db.execute(sql, (self._last, *version[:2], SLICE_ROWS)))
        if found:
            self._version = (0, 0, 0)  # after an interrupt on the way all is read anew
            new = np.frombuffer(b"".join(row[2] for row in found), dtype=np.int8).reshape(len(found), -1)
            self.rows += new.data
            self.chunks.extend(row[1] for row in found)
            self._norms.frombytes(np.sqrt(np.square(new, dtype=np.float32).sum(axis=1)).tobytes())
            self._last = found[-1][0]
        self._version = version
        return len(found)

    def similarities(self, db: apsw.Connection, vector: Floats, embedder: str, chunks: Numbers) -> Floats:
        import numpy as np

        while self.grow(db, embedder):
            pass
        found = np.full(len(chunks), np.nan, dtype=np.float32)
        if not self.chunks:
            return found
        dim = self._version[1]
        if vector.shape != (dim,):
            raise StoreError(f"{embedder} makes vectors of length {dim}, not {vector.shape}")
        held = np.frombuffer(self.chunks, dtype=np.int64)
        order = held.argsort(kind="stable")
        places = order[np.searchsorted(held, chunks, sorter=order).clip(max=len(held) - 1)]
        has_vector = held[places] == chunks
        places = places[has_vector]
        lengths = np.frombuffer(self._norms, dtype=np.float32)[places] * np.linalg.norm(vector)
        near = products(np.frombuffer(self.rows, dtype=np.int8).reshape(-1, dim), vector, places)
        found[has_vector] = near / np.where(lengths > 0, lengths, 1)
        return found


def products(rows: Bytes, vector: Floats, places: Numbers) -> Floats:
    """The scalar product of a vector with the row at each place; equal rows have equal ones. In this thread
    alone: BLAS would take one for each core, and these spin afterwards."""
    import numpy as np

    found, wanted = np.empty(len(places), dtype=np.float32), vector.astype(np.float32)
    for at in range(0, len(places), SLICE_ROWS):
        some = slice(at, at + SLICE_ROWS)
        np.einsum("ij,j->i", rows[places[some]].astype(np.float32), wanted, out=found[some])
    return found


def packed(vectors: Floats) -> Bytes:
    """Each vector (along the last axis) as bytes: its largest number as 127 or -127; zeros stay zeros."""
    import numpy as np

    exact = vectors.astype(np.float64)
    largest = np.abs(exact).max(axis=-1, initial=0, keepdims=True)
    scaled: Bytes = np.rint(exact / np.where(largest > 0, largest, 1) * 127).astype(np.int8)
    return scaled


def pending(db: apsw.Connection, limit: int, embedder: str) -> Iterator[StoredPassage]:
    lacking = "c.embedded = 0"  # with one embedder, which is the rule, the partial index has them at once
    if db.execute("SELECT count(*) FROM embedders WHERE name != ?", (embedder,)).get:
        lacking = """NOT EXISTS (SELECT 1 FROM vectors v JOIN embedders e ON e.number = v.embedder
                                 WHERE v.chunk = c.number AND e.name = :embedder)"""
    sql = f"""SELECT c.number, o.id, c.original, c.start, c."end"
              FROM chunks c JOIN originals o ON o.number = c.original
              WHERE c.indexed AND {lacking} ORDER BY c.number DESC LIMIT :limit"""
    return search.as_passages(db, list(db.execute(sql, {"embedder": embedder, "limit": limit})))


def put(db: apsw.Connection, items: Sequence[tuple[StoredPassage, Floats]], embedder: str) -> int:
    """Write vectors; a chunk that is gone (or whose row another took meanwhile) is passed over."""
    import numpy as np

    count = 0
    for passage, vector in items:
        own = _embedder(db, embedder, len(vector))
        if not np.isfinite(vector).all():
            raise StoreError(f"{embedder} gave a vector with values that are no numbers")
        db.execute(
            """INSERT INTO vectors (chunk, embedder, vector)
               SELECT c.number, ?, ? FROM chunks c JOIN originals o ON o.number = c.original
               WHERE c.number = ? AND o.id = ? AND c.start = ? AND c."end" = ?
               ON CONFLICT (chunk, embedder) DO NOTHING""",
            (own, packed(vector).tobytes(), passage.number, passage.entry_id, passage.start, passage.end),
        )
        count += bool(db.changes())
        sql = """UPDATE chunks SET embedded = 1 WHERE number = ? AND embedded = 0
                 AND EXISTS (SELECT 1 FROM vectors WHERE chunk = chunks.number)"""
        db.execute(sql, (passage.number,))
    return count


def _embedder(db: apsw.Connection, name: str, dim: int) -> int:
    """The row of an embedder, begun with its dimension when it is new."""
    db.execute("INSERT INTO embedders (name, dim) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (name, dim))
    number, known = next(db.execute("SELECT number, dim FROM embedders WHERE name = ?", (name,)))
    if known != dim:
        raise StoreError(f"{name} made vectors of length {known} before, now {dim}")
    return int(number)


def remove(db: apsw.Connection, original: int) -> None:
    """Delete the vectors of an original's chunks; copies in memory, of other processes too, are told."""
    sql = "DELETE FROM vectors WHERE chunk IN (SELECT number FROM chunks WHERE original = ?)"
    db.execute(sql, (original,))
    if db.changes():
        db.execute("UPDATE embedders SET removed = removed + 1")
