"""Vectors of chunks: half-precision blobs in a table, a matrix of them in memory, exact search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apsw

from aider_gardener.errors import StoreError
from aider_gardener.store import search
from aider_gardener.store.base import PendingPassage, VectorHit
from aider_gardener.store.search import Filter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]

SESSION_WINDOW = 2_000
"""So many of the newest pending chunks are looked through for those of the active session."""
SLICE_ROWS = 2_000
"""Rows read into memory while the archive is locked once."""
GROWTH = 1.25
PORTION = 4
"""So many times the wanted hits are looked up one by one before a filter is applied to everything."""
LOWEST = -(2**62)
DIGITS = 5
"""Half precision holds no more of a similarity; rounding makes equal texts equal wherever they stand."""


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
        count += db.changes()
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
    """Delete the vectors of an original's chunks; copies in memory notice by the count of deletions."""
    own = "SELECT number FROM chunks WHERE original = ?"
    db.execute(f"DELETE FROM vectors WHERE chunk IN ({own})", (original,))
    if db.changes():
        db.execute("UPDATE embedders SET removed = removed + 1")


@dataclass(frozen=True)
class Matrix:
    """The first `count` rows are vectors in the order they were written; the rest is room to grow.

    Frozen, so that an older one can be put back after a trial: growing only writes behind its rows.
    """

    embedder: str
    removed: int
    last: int
    count: int
    rows: Floats
    chunks: Numbers
    originals: Numbers

    def with_rows(self, found: list[Any]) -> Matrix:
        """A matrix with rows (number, chunk, original, blob) behind the others."""
        import numpy as np

        rows, chunks, originals, end = self.rows, self.chunks, self.originals, self.count + len(found)
        if end > len(rows):
            room = max(end, int(len(rows) * GROWTH))
            rows = np.empty((room, self.rows.shape[1]), dtype=np.float32)
            chunks, originals = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
            for new, old in ((rows, self.rows), (chunks, self.chunks), (originals, self.originals)):
                new[: self.count] = old[: self.count]
        blobs = b"".join(row[3] for row in found)
        rows[self.count : end] = np.frombuffer(blobs, dtype="<f2").reshape(len(found), rows.shape[1])
        chunks[self.count : end] = [row[1] for row in found]
        originals[self.count : end] = [row[2] for row in found]
        return Matrix(self.embedder, self.removed, found[-1][0], end, rows, chunks, originals)


class VectorCache:
    """The matrix of the embedder asked for last. The caller holds the archive's lock."""

    def __init__(self) -> None:
        self.matrix: Matrix | None = None

    @property
    def count(self) -> int:
        return self.matrix.count if self.matrix else 0

    def grow(self, db: apsw.Connection, embedder: str, limit: int = -1) -> int:
        """Read at most `limit` new rows (-1: all), also those of other processes; returns how many.

        Starts anew where anything was deleted since.
        """
        found: list[Any] = db.execute(
            "SELECT number, dim, removed FROM embedders WHERE name = ?", (embedder,)
        ).fetchall()
        if not found:
            self.matrix = None
            return 0
        number, dim, removed = found[0]
        matrix = self.matrix
        if matrix is None or (matrix.embedder, matrix.removed) != (embedder, removed):
            matrix = _empty(embedder, removed, dim)
        rows: list[Any] = db.execute(
            """SELECT v.number, v.chunk, c.original, v.vector FROM vectors v
               JOIN chunks c ON c.number = v.chunk
               WHERE v.number > ? AND v.embedder = ? ORDER BY v.number LIMIT ?""",
            (matrix.last, number, limit),
        ).fetchall()
        self.matrix = matrix.with_rows(rows) if rows else matrix
        return len(rows)

    def find(
        self, db: apsw.Connection, vector: Floats, embedder: str, limit: int, wanted: Filter
    ) -> list[VectorHit]:
        """The nearest chunks, nearest first; see `Store.search_vectors`."""
        self.grow(db, embedder)
        matrix = self.matrix
        if matrix is None or limit <= 0:
            return []
        if vector.shape != (matrix.rows.shape[1],):
            raise StoreError(f"{embedder} makes vectors of length {matrix.rows.shape[1]}, not {vector.shape}")
        similarity = (matrix.rows[: matrix.count] @ vector.astype("f4")).round(DIGITS)
        places = _of_session(db, matrix, wanted)
        near = _nearest(similarity, matrix, places, PORTION * limit)
        hits = _hits(db, matrix, similarity, near, limit, wanted)
        if len(hits) < limit and len(near) < len(places):
            # A filter that lets little through: apply it to everything, so that it starves nothing.
            near = _nearest(similarity, matrix, _filtered(db, matrix, places, wanted), limit)
            hits = _hits(db, matrix, similarity, near, limit, wanted)
        return hits


def _empty(embedder: str, removed: int, dim: int) -> Matrix:
    import numpy as np

    numbers = np.empty(0, dtype=np.int64)
    return Matrix(embedder, removed, 0, 0, np.empty((0, dim), dtype=np.float32), numbers, numbers)


def _of_session(db: apsw.Connection, matrix: Matrix, wanted: Filter) -> Numbers:
    """The rows of the matrix whose originals occur in the wanted session, or all of them."""
    import numpy as np

    if wanted.session is None:
        return np.arange(matrix.count)
    rows: list[Any] = db.execute(
        """SELECT DISTINCT n.original FROM occurrences n JOIN sessions s ON s.number = n.session
           WHERE s.id = ? AND n.seq >= ?""",
        (wanted.session, LOWEST if wanted.min_seq is None else wanted.min_seq),
    ).fetchall()
    allowed = np.array([row[0] for row in rows], dtype=np.int64)
    return np.flatnonzero(np.isin(matrix.originals[: matrix.count], allowed))


def _filtered(db: apsw.Connection, matrix: Matrix, places: Numbers, wanted: Filter) -> Numbers:
    """Those of the places whose originals pass the whole filter."""
    import numpy as np

    conditions, values = search.filter_sql(wanted)
    rows: list[Any] = db.execute(
        f"SELECT o.number FROM originals o WHERE {' AND '.join(conditions) or '1'}", values
    ).fetchall()
    allowed = np.array([row[0] for row in rows], dtype=np.int64)
    return places[np.isin(matrix.originals[places], allowed)]


def _nearest(similarity: Floats, matrix: Matrix, places: Numbers, limit: int) -> Numbers:
    """At least `limit` of the places, if there are so many, nearest first; of equals the newer chunk."""
    import numpy as np

    if len(places) > 2 * limit:
        at = len(places) - limit
        places = places[similarity[places] >= np.partition(similarity[places], at)[at]]
    ordered: Numbers = places[np.lexsort((-matrix.chunks[places], -similarity[places]))]
    return ordered


def _hits(
    db: apsw.Connection, matrix: Matrix, similarity: Floats, places: Numbers, limit: int, wanted: Filter
) -> list[VectorHit]:
    """The first `limit` places whose entries pass the filter."""
    conditions, values = search.filter_sql(wanted)
    sql = f"""SELECT o.id, c.start, c."end" FROM chunks c JOIN originals o ON o.number = c.original
              WHERE c.number = ? {"".join(f" AND {condition}" for condition in conditions)}"""
    hits: list[VectorHit] = []
    for place in places:
        if len(hits) == limit:
            break
        rows: list[Any] = db.execute(sql, (int(matrix.chunks[place]), *values)).fetchall()
        hits += [VectorHit(row[0], row[1], row[2], float(similarity[place])) for row in rows]
    return hits
