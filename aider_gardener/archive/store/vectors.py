"""Vectors of chunks in their table: half-precision blobs, and one bit a number beside them.

The nearest are found in a copy in memory, or by SQL with sqlite-vec as long as there is none.

Up to `MATRIX_ROWS` vectors the copy is a matrix and the search exact. Above, it is one bit a number: the
codes that differ in the fewest bits are compared exactly (recall@10 against exact search: at least .95).
A process that has read no vectors yet answers from the file, by sqlite-vec's Hamming distance over the
stored codes, where that extension can be loaded; docs/store.md has the measurements.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from aider_gardener.archive.store import search
from aider_gardener.archive.store.base import PendingPassage, VectorHit
from aider_gardener.archive.store.search import SearchFilter
from aider_gardener.archive.store.vector_memory import (
    Codes,
    Held,
    Matrix,
    code,
    distances,
    products,
    restarted,
)
from aider_gardener.errors import StoreError
from aider_gardener.reading.output import without_codes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]
    Scored = list[tuple[float, int]]

SQLITE_VEC = "sqlite_vec"
MATRIX_ROWS = 110_000
"""So many vectors of 512 numbers take 225 MB as a matrix; above that 64 bytes each are kept."""
UNREAD_ROWS = 20_000
"""A search reads so many vectors itself, in a tenth of a second; where more are unread, sqlite-vec answers
from the file."""
PORTION = 4
"""So many times the wanted hits are looked up before a filter is applied to everything."""
OVERSAMPLE, FEWEST_COMPARED = 10, 400
"""So many times the wanted hits, and at least so many, are compared exactly after the codes."""
WIDEN = 8
LOWEST = -(2**62)
DIGITS = 5
"""Half precision holds no more of a similarity; rounding makes equal texts equal wherever they stand."""

__all__ = ["SLICE_ROWS", "VectorCache", "pending", "put", "remove"]

SESSION_WINDOW = 2_000
"""So many of the newest pending chunks are looked through for those of the active session."""
SLICE_ROWS = 2_000
"""Rows read into memory while the archive is locked once."""
REMOVALS_KEPT = 20_000
"""So many deletions are remembered one by one; a process that missed more reads its vectors anew."""


class VectorCache:
    """The vectors of the embedder asked for last, in memory. The caller holds the archive's lock."""

    def __init__(self) -> None:
        self.held: Held | None = None

    @property
    def count(self) -> int:
        return self.held.alive if self.held else 0

    def clear(self) -> None:
        self.held = None

    def grow(self, db: apsw.Connection, embedder: str, limit: int = -1) -> int:
        """Read at most `limit` new rows (-1: all), also those of other processes; returns how many."""
        found = _known_embedder(db, embedder)
        if found is None:
            self.held = None
            return 0
        number, dim = found
        held = self._without_removed(db, embedder, number, dim)
        if isinstance(held, Matrix) and held.count > MATRIX_ROWS:
            held = held.as_codes()
        rows = held.unread(db, number, limit)
        highest = int(db.execute("SELECT max(number) FROM vectors").get or 0) if rows else 0
        self.held = held.with_rows(rows, highest=highest) if rows else held
        return len(rows)

    def _without_removed(self, db: apsw.Connection, embedder: str, number: int, dim: int) -> Held:
        """What is held, without what was deleted since; begun anew where that cannot be told."""
        last = int(db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'removed_vectors'").get or 0)
        held = self.held
        if held is not None and held.embedder == embedder and held.seen < last:
            gone: list[Any] = db.execute(
                "SELECT seq, embedder, number FROM removed_vectors WHERE seq > ? ORDER BY seq", (held.seen,)
            ).fetchall()
            if gone and gone[0][0] == held.seen + 1:
                held = held.without([row[2] for row in gone if row[1] == number], seen=last)
        if held is None or (held.embedder, held.seen) != (embedder, last) or held.is_wasteful:
            highest = db.execute("SELECT max(number) FROM vectors").get or 0
            held = restarted(embedder, last, dim, as_codes=highest > MATRIX_ROWS)
        return held

    def find(
        self, db: apsw.Connection, vector: Floats, embedder: str, limit: int, wanted: SearchFilter
    ) -> list[VectorHit]:
        """The nearest chunks, nearest first; see `Store.search_vectors`."""
        found = _known_embedder(db, embedder)
        if found is None or limit <= 0:
            return []
        number, dim = found
        if vector.shape != (dim,):
            raise StoreError(f"{embedder} makes vectors of length {dim}, not {vector.shape}")
        if self._many_unread(db, embedder, number) and has_sqlite_vec(db):
            return _by_sql(db, number, vector, limit, wanted)
        self.grow(db, embedder)
        held = self.held
        assert held is not None
        if isinstance(held, Codes) and wanted.session is not None and has_sqlite_vec(db):
            return _by_sql(db, number, vector, limit, wanted)  # one session of many: a few rows of the file
        places = _of_session(db, held, wanted)
        if isinstance(held, Matrix):
            return _by_matrix(db, held, places, vector, limit, wanted)
        return _by_codes(db, held, places, vector, limit, wanted)

    def _many_unread(self, db: apsw.Connection, embedder: str, number: int) -> bool:
        last = self.held.last if self.held and self.held.embedder == embedder else 0
        sql = "SELECT count(*) FROM (SELECT 1 FROM codes WHERE number > ? AND embedder = ? LIMIT ?)"
        return int(db.execute(sql, (last, number, UNREAD_ROWS + 1)).get) > UNREAD_ROWS


def _known_embedder(db: apsw.Connection, name: str) -> tuple[int, int] | None:
    rows: list[Any] = db.execute("SELECT number, dim FROM embedders WHERE name = ?", (name,)).fetchall()
    return (rows[0][0], rows[0][1]) if rows else None


def has_sqlite_vec(db: apsw.Connection) -> bool:
    """Load the extension into a connection, once; whether its functions can be used there."""
    try:
        return bool(db.execute("SELECT vec_version()").get)
    except apsw.SQLError:
        return _load_sqlite_vec(db)


def library_version() -> str:
    """The version of sqlite-vec where SQLite can load it, "" where vectors are only compared in memory."""
    db = apsw.Connection(":memory:")
    try:
        return str(db.execute("SELECT vec_version()").get) if has_sqlite_vec(db) else ""
    finally:
        db.close()


def _load_sqlite_vec(db: apsw.Connection) -> bool:
    if importlib.util.find_spec(SQLITE_VEC) is None:
        return False
    try:
        place = importlib.import_module(SQLITE_VEC).loadable_path()
        db.enable_load_extension(True)
        try:
            db.load_extension(place)
        finally:
            db.enable_load_extension(False)
    except (apsw.Error, AttributeError, OSError, ImportError):
        return False
    return True


def _by_matrix(
    db: apsw.Connection, held: Matrix, places: Numbers, vector: Floats, limit: int, wanted: SearchFilter
) -> list[VectorHit]:
    similarity = held.similarity(vector).round(DIGITS)
    near = _nearest(similarity, held, places, PORTION * limit)
    hits = _hits(db, _pairs(similarity, held, near), limit, wanted)
    if len(hits) < limit and len(near) < len(places):
        # A filter that lets little through: apply it to everything, so that it starves nothing.
        near = _nearest(similarity, held, _filtered(db, held, places, wanted), limit)
        hits = _hits(db, _pairs(similarity, held, near), limit, wanted)
    return hits


def _by_codes(
    db: apsw.Connection, held: Held, places: Numbers, vector: Floats, limit: int, wanted: SearchFilter
) -> list[VectorHit]:
    import numpy as np

    distance = distances(held.rows[: held.count], code(vector))
    compared = max(FEWEST_COMPARED, OVERSAMPLE * limit)
    for narrowed in (False, True):
        if narrowed:
            places = _filtered(db, held, places, wanted)
        near = places
        if len(places) > compared:
            near = places[np.argpartition(distance[places], compared - 1)[:compared]]
        hits = _hits(db, _compared(db, held.numbers[near].tolist(), vector), limit, wanted)
        if len(hits) == limit or len(near) == len(places):
            break
    return hits


def _by_sql(
    db: apsw.Connection, embedder: int, vector: Floats, limit: int, wanted: SearchFilter
) -> list[VectorHit]:
    """The same from the file, read once: sqlite-vec counts the bits in which the codes differ."""
    condition, values = "", []
    if wanted.session is not None:
        condition = f"AND k.number IN ({OF_SESSION})"
        values = [wanted.session, LOWEST if wanted.min_seq is None else wanted.min_seq]
    sql = f"""SELECT k.number FROM codes k WHERE k.embedder = ? {condition}
              ORDER BY vec_distance_hamming(vec_bit(k.code), vec_bit(?)) LIMIT ?"""
    compared = max(FEWEST_COMPARED, OVERSAMPLE * limit)
    while True:
        arguments = (embedder, *values, code(vector), compared)
        numbers = [row[0] for row in db.execute(sql, arguments)]
        hits = _hits(db, _compared(db, numbers, vector), limit, wanted)
        if len(hits) == limit or len(numbers) < compared:
            return hits
        compared *= WIDEN


OF_SESSION = """SELECT v.number FROM sessions s JOIN occurrences n ON n.session = s.number
                JOIN chunks c ON c.original = n.original JOIN vectors v ON v.chunk = c.number
                WHERE s.id = ? AND n.seq >= ?"""


def _compared(db: apsw.Connection, numbers: list[int], vector: Floats) -> Scored:
    """The exact similarity of each of the vectors, with its chunk; nearest first, of equals the newer."""
    import numpy as np

    sql = "SELECT v.chunk, v.vector FROM json_each(?) j CROSS JOIN vectors v ON v.number = j.value"
    rows: list[Any] = db.execute(sql, (json.dumps(sorted(numbers)),)).fetchall()
    if not rows:
        return []
    matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f2").reshape(len(rows), -1)
    similarity = products(matrix.astype("f4"), vector).round(DIGITS)
    scored = zip(similarity.tolist(), (row[0] for row in rows), strict=True)
    return sorted(scored, key=lambda each: (-each[0], -each[1]))


def _of_session(db: apsw.Connection, held: Held, wanted: SearchFilter) -> Numbers:
    """The places held whose originals occur in the wanted session, or all of them."""
    import numpy as np

    originals = held.originals[: held.count]
    if wanted.session is None:
        return np.flatnonzero(originals >= 0) if held.dead else np.arange(held.count)
    rows: list[Any] = db.execute(
        """SELECT DISTINCT n.original FROM occurrences n JOIN sessions s ON s.number = n.session
           WHERE s.id = ? AND n.seq >= ?""",
        (wanted.session, LOWEST if wanted.min_seq is None else wanted.min_seq),
    ).fetchall()
    return np.flatnonzero(np.isin(originals, np.array([row[0] for row in rows], dtype=np.int64)))


def _filtered(db: apsw.Connection, held: Held, places: Numbers, wanted: SearchFilter) -> Numbers:
    """Those of the places whose originals pass the whole filter."""
    import numpy as np

    conditions, values = search.filter_sql(wanted)
    rows: list[Any] = db.execute(
        f"SELECT o.number FROM originals o WHERE {' AND '.join(conditions) or '1'}", values
    ).fetchall()
    allowed = np.array([row[0] for row in rows], dtype=np.int64)
    return places[np.isin(held.originals[places], allowed)]


def _nearest(similarity: Floats, held: Held, places: Numbers, limit: int) -> Numbers:
    """At least `limit` of the places, if there are so many, nearest first; of equals the newer chunk."""
    import numpy as np

    own = similarity if len(places) == len(similarity) else similarity[places]
    if len(places) > 2 * limit:
        at = len(places) - limit
        best = own >= np.partition(own, at)[at]
        places, own = places[best], own[best]
    ordered: Numbers = places[np.lexsort((-held.chunks[places], -own))]
    return ordered


def _pairs(similarity: Floats, held: Held, places: Numbers) -> Scored:
    return list(zip(similarity[places].tolist(), held.chunks[places].tolist(), strict=True))


def _hits(db: apsw.Connection, scored: Scored, limit: int, wanted: SearchFilter) -> list[VectorHit]:
    """The first `limit` chunks whose entries pass the filter."""
    return [VectorHit(*each) for each in search.passing(db, scored, limit, wanted)]


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
        yield PendingPassage(entry_id, start, end, without_codes(text[start:end]), number)


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
                (db.last_insert_rowid(), own, code(vector)),
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
