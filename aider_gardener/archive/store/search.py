"""What finds passages: the index of their words, and their vectors.

For a question in words nothing is read but the index and the tables of places. A vector is a byte a number in
its table and in memory, compared with a question's one by one: only its direction counts, so its largest
number is stored as 127 or -127 and no scale beside it. docs/store.md has the measurements."""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import apsw

from aider_gardener.archive.passages import chunk_part, is_block
from aider_gardener.archive.store.base import Evidence, StoredPassage
from aider_gardener.errors import StoreError
from aider_gardener.messages import LONG_CHARS, ContentClass, Segment
from aider_gardener.reading.output import without_codes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aider_gardener.archive.passages import Span

    Numbers = NDArray[np.int64]
    Bits = NDArray[np.bool_]
    Floats = NDArray[np.float32]
    Bytes = NDArray[np.int8]

INDEX_TABLE = """
CREATE VIRTUAL TABLE word_index USING fts5(
    words, content='', contentless_delete=1,
    tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co' tokenchars '_'")
"""
INDEX = "INSERT INTO word_index (rowid, words) VALUES (?, ?)"
"""Puts the words of a chunk into it under its number."""
LEAF_BYTES = 4_000
"""A leaf of the index fits into a page with the check sum at its end; FTS5's own 4,050 bytes would take
two."""
SCRUB_PAGES = 1_000
"""Pages of the index rewritten in one transaction: a few tens of milliseconds."""
MOST_ROWS = 5_000
"""So many of the newest passages that hold a word are looked up: one that more hold tells next to nothing."""
PLACES = """SELECT c.number, n.session, c.start, c."end", n.seq
            FROM occurrences n JOIN chunks c ON c.original = n.original
            WHERE c.indexed AND {}"""
COLUMNS = 4
SLICE_ROWS = 2_000
"""Rows read into memory while the archive is locked once, and rows multiplied at once."""


def expression(word: str) -> str:
    """The FTS5 query for what shares the stem of a word. One character of a script without spaces is asked
    for as the beginning of a pair."""
    from aider_gardener.archive.store.words import stem  # late: most writes of a hook index nothing

    quoted = '"{}"'.format(stem(word).replace('"', '""'))
    return f"{quoted} *" if len(word) == 1 and not word.isascii() else quoted


def put_body(db: apsw.Connection, original: int, text: str) -> None:
    """Write the text of an original, a very long one bit by bit: SQLite would copy it twice over."""
    pieces = range(0, len(text), LONG_CHARS)
    size = len(text) if text.isascii() else sum(len(encode(text[at : at + LONG_CHARS])) for at in pieces)
    db.execute("INSERT INTO bodies (original, body) VALUES (?, zeroblob(?))", (original, size))
    if size:
        with db.blob_open("main", "bodies", "body", original, True) as blob:
            for at in pieces:
                blob.write(encode(text[at : at + LONG_CHARS]))


def add_chunks(db: apsw.Connection, original: int, text: str, spans: Sequence[Span], at: int = 0) -> None:
    """Write the chunks of an original and index them; the blocks of a very long one wait. Its `text` may be
    given from an offset on."""
    from aider_gardener.archive.store.words import index_words, stem  # as late: most writes index nothing

    sql = 'INSERT INTO chunks (original, start, "end", indexed) VALUES (?, ?, ?, ?)'
    for start, end in spans:
        waits = is_block((start, end))
        db.execute(sql, (original, start, end, not waits))
        if not waits:
            words = " ".join(map(stem, index_words(text[start - at : end - at])))
            db.execute(INDEX, (db.last_insert_rowid(), words))


def work_off(db: apsw.Connection, limit: int) -> int:
    """Cut blocks that wait into chunks and index these; returns how many were done, 0 when none is left."""
    sql = """SELECT c.number, o.segments, c.original, c.start, c."end"
             FROM chunks c JOIN originals o ON o.number = c.original WHERE c.indexed = 0
             ORDER BY c.number LIMIT ?"""
    done, blocks = 0, db.execute(sql, (limit,)).fetchall()
    for (number, segments, original, start, _), text in with_texts(db, blocks):
        found = chunk_part(text, start, segments_of(segments))
        add_chunks(db, original, text, found, start)
        db.execute("DELETE FROM chunks WHERE number = ?", (number,))
        done += len(found) + 1
        if done >= limit:
            break
    return done


def segments_of(json_text: str) -> tuple[Segment, ...]:
    """The segments of an original as its row has them."""
    return tuple(Segment(s[0], s[1], ContentClass(s[2]), s[3], s[4]) for s in json.loads(json_text))


def with_texts(db: apsw.Connection, rows: Iterable[Any]) -> Iterator[tuple[Any, str]]:
    """Rows that end in an original, a start and an end, each with this span's text. Of an original of ASCII
    alone no more is read than that, of another all: once if its rows stand together."""
    sql = """SELECT length(b.body) = json_extract(o.segments, '$[#-1][1]')
             FROM bodies b JOIN originals o ON o.number = b.original WHERE b.original = ?"""
    with ExitStack() as until_end:
        blob: apsw.Blob | None = None  # one: apsw 3.54 keeps memory for each that was opened
        for original, of_it in groupby(rows, key=itemgetter(-3)):
            if db.execute(sql, (original,)).get:
                if blob is None:
                    blob = until_end.enter_context(db.blob_open("main", "bodies", "body", original, False))
                else:
                    blob.reopen(original)
                for row in of_it:
                    blob.seek(row[-2])
                    yield row, decode(blob.read(row[-1] - row[-2]))
            else:
                body = decode(
                    db.execute("SELECT body FROM bodies WHERE original = ?", (original,)).get or b""
                )
                for row in of_it:
                    yield row, body[row[-2] : row[-1]]


def remove(db: apsw.Connection, original: int) -> None:
    """Take an original's chunks out of the index (their bytes go with `scrub`) and delete their vectors;
    copies of these in memory, of other processes too, are told."""
    chunks = "SELECT number FROM chunks WHERE original = ?"
    db.execute(f"DELETE FROM word_index WHERE rowid IN ({chunks})", (original,))
    db.execute(f"DELETE FROM vectors WHERE chunk IN ({chunks})", (original,))
    if db.changes():
        db.execute("UPDATE embedders SET removed = removed + 1")


def scrub(db: apsw.Connection, *, begin: bool = False) -> bool:
    """Rewrite the index without what was removed, so that no removed word stays in the file: `begin`, then go
    on for a moment each time until this is False."""
    before = db.total_changes()
    pages = -SCRUB_PAGES if begin else SCRUB_PAGES
    db.execute("INSERT INTO word_index (word_index, rank) VALUES ('merge', ?)", (pages,))
    return db.total_changes() - before >= 2


class PlaceCache:
    """The places of all passages, as they were last read. The caller holds the archive's lock."""

    def __init__(self) -> None:
        self._version: tuple[object, ...] = ()
        self._places: Numbers | None = None
        self._source: apsw.Connection | None = None

    def every(self, db: apsw.Connection) -> Numbers:
        """The places of the whole archive, a row for each of COLUMNS; read anew after any change."""
        version = next(db.execute(VERSION))
        if self._places is None or self._source is not db or version != self._version:
            self._places, self._version, self._source = _places(db, "1"), version, db
        return self._places


VERSION = """SELECT max(number), count(*), (SELECT at FROM occurrences ORDER BY number DESC LIMIT 1),
                    (SELECT max(number) FROM chunks), (SELECT count(*) FROM chunks) FROM occurrences"""
"""A number that was freed at the end is given again, to what was said at another time."""


def find(
    db: apsw.Connection,
    cache: PlaceCache,
    asked: Sequence[str],
    sessions: Collection[str] | None,
) -> Evidence:
    import numpy as np

    if sessions is not None and len(sessions) == 1:  # few: those of all need not be read
        columns = _places(db, "n.session = (SELECT number FROM sessions WHERE id = ?)", *sessions)
    else:
        columns = cache.every(db)
        if sessions is not None:
            sql = "SELECT number FROM sessions WHERE id IN (SELECT value FROM json_each(?))"
            wanted = [row[0] for row in db.execute(sql, (json.dumps(list(sessions)),))]
            columns = columns[:, np.isin(columns[1], wanted)]
    chunks, of, starts, ends = columns
    return Evidence(chunks, of, starts, ends, _has_word(db, asked, chunks))


def quoted(db: apsw.Connection, chunks: Sequence[int]) -> Iterator[StoredPassage]:
    sql = """SELECT c.number, o.id, c.original, c.start, c."end" FROM json_each(?) j
             CROSS JOIN chunks c ON c.number = j.value CROSS JOIN originals o ON o.number = c.original
             ORDER BY c.original"""
    return as_passages(db, db.execute(sql, (json.dumps(list(chunks)),)).fetchall())


def as_passages(db: apsw.Connection, rows: Iterable[object]) -> Iterator[StoredPassage]:
    """The chunks of these rows, each with its number, its entry's id, original, start and end."""
    for (number, entry_id, _, start, end), text in with_texts(db, rows):
        yield StoredPassage(entry_id, start, end, without_codes(text), number)


def no_evidence(words: int) -> Evidence:
    """The evidence where there is no passage, for so many words."""
    import numpy as np

    none = np.empty(0, dtype=np.int64)
    return Evidence(none, none, none, none, np.zeros((words, 0), dtype=np.bool_))


def _places(db: apsw.Connection, where: str, *values: str) -> Numbers:
    import numpy as np

    flat = np.fromiter(chain.from_iterable(db.execute(PLACES.format(where), values)), dtype=np.int64)
    *columns, seq = flat.reshape(-1, COLUMNS + 1).T
    # sorted here: SQLite would look up row after row in that order, which takes it five times as long
    return np.array(columns)[:, np.lexsort((columns[2], seq, columns[1]))]


def _has_word(db: apsw.Connection, asked: Sequence[str], chunks: Numbers) -> Bits:
    """Which of the words each chunk holds: a row a word."""
    import numpy as np

    has_word = np.zeros((len(asked), len(chunks)), dtype=np.bool_)
    if not len(chunks):
        return has_word
    low, high = int(chunks.min()), int(chunks.max())
    sql = """SELECT rowid FROM word_index WHERE word_index MATCH ? AND rowid BETWEEN ? AND ?
             ORDER BY rowid DESC LIMIT ?"""
    for row, word in zip(has_word, asked, strict=True):
        has_row = np.zeros(high - low + 1, dtype=np.bool_)
        rows = db.execute(sql, (expression(word), low, high, MOST_ROWS))
        has_row[np.fromiter(chain.from_iterable(rows), dtype=np.int64) - low] = True
        row[:] = has_row[chunks - low]
    return has_word


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
        numbers = np.frombuffer(self.chunks, dtype=np.int64)
        order = numbers.argsort(kind="stable")
        places = order[np.searchsorted(numbers, chunks, sorter=order).clip(max=len(numbers) - 1)]
        has_vector = numbers[places] == chunks
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


def vectors_pending(db: apsw.Connection, limit: int, embedder: str) -> Iterator[StoredPassage]:
    lacking = "c.embedded = 0"  # with one embedder, which is the rule, the partial index has them at once
    if db.execute("SELECT count(*) FROM embedders WHERE name != ?", (embedder,)).get:
        lacking = """NOT EXISTS (SELECT 1 FROM vectors v JOIN embedders e ON e.number = v.embedder
                                 WHERE v.chunk = c.number AND e.name = :embedder)"""
    sql = f"""SELECT c.number, o.id, c.original, c.start, c."end"
              FROM chunks c JOIN originals o ON o.number = c.original
              WHERE c.indexed AND {lacking} ORDER BY c.number DESC LIMIT :limit"""
    return as_passages(db, list(db.execute(sql, {"embedder": embedder, "limit": limit})))


def put_vectors(db: apsw.Connection, items: Sequence[tuple[StoredPassage, Floats]], embedder: str) -> int:
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
    number, stored_dim = next(db.execute("SELECT number, dim FROM embedders WHERE name = ?", (name,)))
    if stored_dim != dim:
        raise StoreError(f"{name} made vectors of length {stored_dim} before, now {dim}")
    return int(number)


def encode(text: str) -> bytes:
    """A text as the bytes that are stored: UTF-8, lone surrogates and NUL kept."""
    return text.encode("utf-8", "surrogatepass")


def decode(body: bytes) -> str:
    return body.decode("utf-8", "surrogatepass")
