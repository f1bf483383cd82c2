"""The index of words: what stands in it, how it is kept, and where the words of a question stand.

For a question nothing is read but the index and the tables of places."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import apsw

from aider_gardener.archive.store.base import Evidence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aider_gardener.archive.passages import Span

    Numbers = NDArray[np.int64]
    Bits = NDArray[np.bool_]

INDEX_TABLE = """
CREATE VIRTUAL TABLE word_index USING fts5(
    words, content='', contentless_delete=1,
    tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co' tokenchars '_'")
"""
LEAF_BYTES = 4_000
"""A leaf of the index fits into a page with the check sum at its end; FTS5's own 4,050 bytes would take
two."""
INDEXED_AT_ONCE = 128
"""So many chunks of one original are indexed as it enters, half from either end; the rest follows."""
SCRUB_PAGES = 1_000
"""Pages of the index rewritten in one transaction: a few tens of milliseconds."""
FILL_BATCH = 200
MOST_HELD = 5_000
"""So many of the newest passages that hold a word are looked up: one that more hold tells next to nothing."""
PLACES = """SELECT c.number, n.session, c.start, c."end", n.seq
            FROM occurrences n JOIN chunks c ON c.original = n.original
            WHERE {}"""
COLUMNS = 4


def expression(word: str) -> str:
    """The FTS5 query for what shares the stem of a word. One character of a script without spaces is asked
    for as the beginning of a pair."""
    from aider_gardener.archive.store.words import stem  # late: most writes of a hook index nothing

    quoted = '"{}"'.format(stem(word).replace('"', '""'))
    return f"{quoted} *" if len(word) == 1 and not word.isascii() else quoted


def add_chunks(db: apsw.Connection, original: int, text: str, spans: Sequence[Span]) -> None:
    """Write the chunks of an original and index them; of a very long one the middle waits."""
    near_end = len(spans) - INDEXED_AT_ONCE // 2
    sql = 'INSERT INTO chunks (original, start, "end", indexed) VALUES (?, ?, ?, ?)'
    for at, (start, end) in enumerate(spans):
        now = at < INDEXED_AT_ONCE // 2 or at >= near_end
        db.execute(sql, (original, start, end, now))
        if now:
            _index(db, db.last_insert_rowid(), text[start:end])


def work_off(db: apsw.Connection, limit: int) -> int:
    """Index chunks that wait; returns how many were done, 0 when none is left."""
    waiting: list[Any] = db.execute(
        """SELECT number, original, start, "end" FROM chunks WHERE indexed = 0 ORDER BY number LIMIT ?""",
        (limit,),
    ).fetchall()
    text, held = "", None
    for number, original, start, end in waiting:
        if original != held:
            body = db.execute("SELECT body FROM bodies WHERE original = ?", (original,)).get
            text, held = decode(body or b""), original
        _index(db, number, text[start:end])
        db.execute("UPDATE chunks SET indexed = 1 WHERE number = ?", (number,))
    return len(waiting)


def has_backlog(db: apsw.Connection) -> bool:
    return db.execute("SELECT 1 FROM chunks WHERE indexed = 0 LIMIT 1").get is not None


def _index(db: apsw.Connection, number: int, text: str) -> None:
    """Put the words of a chunk into the index under its number."""
    from aider_gardener.archive.store.words import index_words, stem

    found = " ".join(map(stem, index_words(text)))
    db.execute("INSERT INTO word_index (rowid, words) VALUES (?, ?)", (number, found))


def remove(db: apsw.Connection, original: int) -> None:
    """Take an original's chunks out of the index; their bytes go with `scrub`."""
    chunks = "SELECT number FROM chunks WHERE original = ?"
    db.execute(f"DELETE FROM word_index WHERE rowid IN ({chunks})", (original,))


def begin_scrub(db: apsw.Connection) -> None:
    """Begin to rewrite the index without what was removed, so that no removed word stays in the file."""
    db.execute("INSERT INTO word_index (word_index, rank) VALUES ('merge', ?)", (-SCRUB_PAGES,))


def scrub(db: apsw.Connection) -> bool:
    """Go on with it for a moment; False when it is done."""
    before = db.total_changes()
    db.execute("INSERT INTO word_index (word_index, rank) VALUES ('merge', ?)", (SCRUB_PAGES,))
    return db.total_changes() - before >= 2


def rebuild(db: apsw.Connection) -> None:
    """Build the whole index anew from the stored texts."""
    db.execute("DROP TABLE IF EXISTS word_index")
    make_index(db)
    db.execute("UPDATE chunks SET indexed = 0")
    while work_off(db, FILL_BATCH):
        pass


def make_index(db: apsw.Connection) -> None:
    db.execute(INDEX_TABLE)
    db.execute("INSERT INTO word_index (word_index, rank) VALUES ('pgsz', ?)", (LEAF_BYTES,))


class PlaceCache:
    """The places of all passages, as they were last read. The caller holds the archive's lock."""

    def __init__(self) -> None:
        self._version: tuple[Any, ...] = ()
        self._places: Numbers | None = None
        self._source: apsw.Connection | None = None

    def every(self, db: apsw.Connection) -> Numbers:
        """The places of the whole archive, a row for each of COLUMNS; read anew after any change."""
        version = db.execute(VERSION).fetchall()[0]
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
    *,
    session: str | None,
    sessions: Collection[str] | None,
) -> Evidence:
    import numpy as np

    if session is not None:
        columns = _places(db, "n.session = (SELECT number FROM sessions WHERE id = ?)", session)
    else:
        columns = cache.every(db)
        if sessions is not None:
            marks = ", ".join("?" * len(sessions))
            sql = f"SELECT number FROM sessions WHERE id IN ({marks})"
            wanted = [row[0] for row in db.execute(sql, tuple(sessions))]
            columns = columns[:, np.isin(columns[1], wanted)]
    chunks, of, starts, ends = columns
    return Evidence(chunks, of, starts, ends, _held(db, asked, chunks))


def entry_ids(db: apsw.Connection, chunks: Sequence[int]) -> dict[int, str]:
    sql = """SELECT c.number, o.id FROM json_each(?) j CROSS JOIN chunks c ON c.number = j.value
             CROSS JOIN originals o ON o.number = c.original"""
    rows: list[Any] = db.execute(sql, (json.dumps(list(chunks)),)).fetchall()
    return dict(rows)


def no_evidence(words: int) -> Evidence:
    """The evidence where there is no passage, for so many words."""
    import numpy as np

    none = np.empty(0, dtype=np.int64)
    return Evidence(none, none, none, none, np.zeros((words, 0), dtype=np.bool_))


def _places(db: apsw.Connection, where: str, *values: str) -> Numbers:
    import numpy as np

    rows: list[Any] = db.execute(PLACES.format(where), values).fetchall()
    flat = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=(COLUMNS + 1) * len(rows))
    *columns, seq = flat.reshape(-1, COLUMNS + 1).T
    # sorted here: SQLite would look up row after row in that order, which takes it five times as long
    return np.array(columns)[:, np.lexsort((columns[2], seq, columns[1]))]


def _held(db: apsw.Connection, asked: Sequence[str], chunks: Numbers) -> Bits:
    """Which of the words each chunk holds: a row a word."""
    import numpy as np

    held = np.zeros((len(asked), len(chunks)), dtype=np.bool_)
    if not len(chunks):
        return held
    low, high = int(chunks.min()), int(chunks.max())
    sql = """SELECT rowid FROM word_index WHERE word_index MATCH ? AND rowid BETWEEN ? AND ?
             ORDER BY rowid DESC LIMIT ?"""
    for row, word in zip(held, asked, strict=True):
        holds = np.zeros(high - low + 1, dtype=np.bool_)
        found: list[Any] = db.execute(sql, (expression(word), low, high, MOST_HELD)).fetchall()
        if found:
            holds[np.array(found, dtype=np.int64)[:, 0] - low] = True
            row[:] = holds[chunks - low]
    return held


def encode(text: str) -> bytes:
    """A text as the bytes that are stored: UTF-8, lone surrogates and NUL kept."""
    return text.encode("utf-8", "surrogatepass")


def decode(body: bytes) -> str:
    return body.decode("utf-8", "surrogatepass")
