"""Vectors of chunks: a byte a number in their table and in memory, compared with a question's one by one.

Only the direction of a vector counts, so its largest number is stored as 127 or -127 and no scale beside it.
docs/store.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import apsw

from aider_gardener.archive.store import search
from aider_gardener.archive.store.base import PendingPassage
from aider_gardener.errors import StoreError
from aider_gardener.reading.output import without_codes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Bytes = NDArray[np.int8]
    Numbers = NDArray[np.int64]

LARGEST = 127
DIGITS = 5
"""A byte a number tells no more of a similarity; rounding makes equal texts equal wherever they stand."""
SESSION_WINDOW = 2_000
"""So many of the newest pending chunks are looked through for those of the active session."""
SLICE_ROWS = 2_000
"""Rows read into memory while the archive is locked once."""
GROWTH = 1.25
BLOCK_NUMBERS, BLOCK_ROWS = 9_000, 4
"""OpenBLAS multiplies so many numbers, or so many rows, in one thread: 16 rows of 512. Handed more it takes a
thread for each core, and these spin for some fifty milliseconds afterwards, on cores that the user's own work
may need. A block stays in the processor's cache, too."""


@dataclass(frozen=True)
class Held:
    """The first `count` rows are vectors in the order they were written; the rest is room to grow.

    Frozen, so that an older one can be put back after a trial: growing only writes behind its rows.
    `removed` is the embedder's count of deletions that is known, `last` the number of the last vector.
    """

    embedder: str
    removed: int
    last: int
    count: int
    rows: Bytes
    chunks: Numbers
    norms: Floats

    @cached_property
    def by_chunk(self) -> tuple[Numbers, Numbers]:
        """The numbers of the chunks in ascending order, and the row of each."""
        order = self.chunks[: self.count].argsort(kind="stable")
        return self.chunks[order], order

    def places(self, wanted: Numbers) -> Numbers:
        """The row of each chunk, -1 where it has none."""
        import numpy as np

        if not self.count:
            return np.full(len(wanted), -1, dtype=np.int64)
        chunks, order = self.by_chunk
        at = np.searchsorted(chunks, wanted).clip(max=self.count - 1)
        return np.where(chunks[at] == wanted, order[at], -1)

    def with_rows(self, found: list[Any], *, highest: int) -> Held:
        """The same with new rows (number, chunk, blob) behind the others. `highest`: the last vector's
        number, by which room is made at once for all that is to come; what is not filled takes no memory."""
        import numpy as np

        end = self.count + len(found)
        arrays: list[NDArray[Any]] = [self.rows, self.chunks, self.norms]
        if end > len(self.rows):
            room = max(end, end + highest - found[-1][0], int(len(self.rows) * GROWTH))
            for at, old in enumerate(arrays):
                arrays[at] = np.empty((room, *old.shape[1:]), dtype=old.dtype)
                arrays[at][: self.count] = old[: self.count]
        rows, chunks, norms = arrays
        new = np.frombuffer(b"".join(row[2] for row in found), dtype=np.int8).reshape(len(found), -1)
        rows[self.count : end] = new
        chunks[self.count : end] = [row[1] for row in found]
        norms[self.count : end] = np.sqrt(np.square(new, dtype=np.float32).sum(axis=1))
        return replace(self, last=found[-1][0], count=end, rows=rows, chunks=chunks, norms=norms)


class VectorCache:
    """The vectors of the embedder asked for last, in memory. The caller holds the archive's lock."""

    def __init__(self) -> None:
        self.held: Held | None = None
        self._source: apsw.Connection | None = None

    @property
    def count(self) -> int:
        return self.held.count if self.held else 0

    def grow(self, db: apsw.Connection, embedder: str) -> int:
        """Read at most `SLICE_ROWS` new rows, also those of other processes; returns how many.

        After a deletion, by whomever, all is read anew.
        """
        import numpy as np

        own: list[Any] = db.execute(
            "SELECT number, dim, removed FROM embedders WHERE name = ?", (embedder,)
        ).fetchall()
        if not own:
            self.held = None
            return 0
        number, dim, removed = own[0]
        held = self.held if self._source is db else None
        self._source = db
        if held is None or (held.embedder, held.removed) != (embedder, removed):
            rows, chunks = np.empty((0, dim), dtype=np.int8), np.empty(0, dtype=np.int64)
            held = self.held = Held(embedder, removed, 0, 0, rows, chunks, np.empty(0, dtype=np.float32))
        sql = """SELECT number, chunk, vector FROM vectors WHERE number > ? AND embedder = ?
                 AND length(vector) = ? ORDER BY number LIMIT ?"""
        found: list[Any] = db.execute(sql, (held.last, number, dim, SLICE_ROWS)).fetchall()
        if found:
            highest = int(db.execute("SELECT max(number) FROM vectors").get or 0)
            self.held = held.with_rows(found, highest=highest)
        return len(found)

    def similarities(self, db: apsw.Connection, vector: Floats, embedder: str, chunks: Numbers) -> Floats:
        """The cosine with the vector of each chunk; see `Store.similarities`."""
        import numpy as np

        while self.grow(db, embedder):
            pass
        held, found = self.held, np.full(len(chunks), np.nan, dtype=np.float32)
        if held is None:
            return found
        if vector.shape != held.rows.shape[1:]:
            dim = held.rows.shape[1]
            raise StoreError(f"{embedder} makes vectors of length {dim}, not {vector.shape}")
        places = held.places(chunks)
        has_vector = places >= 0
        places = places[has_vector]
        if 2 * len(places) < held.count:  # a row in its place is multiplied twice as fast as a gathered one
            near = products(held.rows, vector, places)
        else:
            near = products(held.rows[: held.count], vector)[places]
        norms = held.norms[places] * np.linalg.norm(vector)
        found[has_vector] = (near / np.where(norms > 0, norms, 1)).round(DIGITS)
        return found


def products(rows: Bytes, vector: Floats, places: Numbers | None = None) -> Floats:
    """The scalar product of a vector with each row, or each of those at `places`, in this thread alone."""
    import numpy as np

    wanted = np.ascontiguousarray(vector, dtype=np.float32)
    count, dim = len(rows) if places is None else len(places), max(1, len(wanted))
    step = max(BLOCK_ROWS, BLOCK_NUMBERS // dim // BLOCK_ROWS * BLOCK_ROWS)
    found, room = np.empty(count, dtype=np.float32), np.empty((step, len(wanted)), dtype=np.float32)
    for start in range(0, count, step):
        block = slice(start, min(start + step, count))
        own = room[: block.stop - start]
        own[:] = rows[block] if places is None else rows[places[block]]
        np.dot(own, wanted, out=found[block])
    return found


def packed(vectors: NDArray[np.floating[Any]]) -> Bytes:
    """Each vector (along the last axis) as bytes: its largest number as 127 or -127; zeros stay zeros."""
    import numpy as np

    exact = vectors.astype(np.float64)
    largest = np.abs(exact).max(axis=-1, initial=0, keepdims=True)
    scaled: Bytes = np.rint(exact / np.where(largest > 0, largest, 1) * LARGEST).astype(np.int8)
    return scaled


def pending(db: apsw.Connection, limit: int, embedder: str, session: str | None) -> list[PendingPassage]:
    """Chunks without a vector of the embedder; see `Store.vectors_pending`."""
    others = db.execute("SELECT count(*) FROM embedders WHERE name != ?", (embedder,)).get
    # With one embedder, which is the rule, the partial index gives what is pending at once.
    waiting = f"embedded = 0 OR NOT EXISTS ({HAS_VECTOR})" if others else "embedded = 0"
    values: list[object] = [embedder] if others else []
    rows: list[Any] = db.execute(
        f"""SELECT p.number, o.id, p.original, p.start, p."end" FROM (
                SELECT number, original, start, "end" FROM chunks c
                WHERE {waiting} ORDER BY number DESC LIMIT ?) p
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
        yield PendingPassage(entry_id, start, end, without_codes(text[start:end]), number)


def put(db: apsw.Connection, items: Sequence[tuple[PendingPassage, Floats]], embedder: str) -> int:
    """Write vectors; a chunk that is gone (or whose row another took meanwhile) is passed over."""
    import numpy as np

    count = 0
    for passage, vector in items:
        own = _embedder(db, embedder, len(vector))
        there = db.execute(
            """SELECT 1 FROM chunks c JOIN originals o ON o.number = c.original
               WHERE c.number = ? AND o.id = ? AND c.start = ? AND c."end" = ?""",
            (passage.number, passage.entry_id, passage.start, passage.end),
        ).get
        if there is None:
            continue
        if not np.isfinite(vector).all():
            raise StoreError(f"{embedder} gave a vector with values that are no numbers")
        db.execute(
            "INSERT INTO vectors (chunk, embedder, vector) VALUES (?, ?, ?) "
            "ON CONFLICT (chunk, embedder) DO NOTHING",
            (passage.number, own, packed(vector).tobytes()),
        )
        count += bool(db.changes())
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
    sql = f"""UPDATE embedders SET removed = removed + 1
              WHERE number IN (SELECT embedder FROM vectors WHERE {own})"""
    db.execute(sql, (original,))
    db.execute(f"DELETE FROM vectors WHERE {own}", (original,))
