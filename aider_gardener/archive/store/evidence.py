"""Where the words of a question stand: every passage of some sessions in the order in which it was said, and
which of the words each holds. Nothing is read but the index and the tables of places."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import apsw

from aider_gardener.archive.passages import STRETCH_CHARS
from aider_gardener.archive.store import search
from aider_gardener.archive.store.base import Evidence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Bits = NDArray[np.bool_]

MOST_HELD = 5_000
"""So many of the newest passages that hold a word are looked up: one that more hold tells next to nothing."""
PLACES = f"""SELECT c.number, n.session, c.start, c."end", n.seq
            FROM occurrences n JOIN chunks c ON c.original = n.original
            WHERE {{}} AND c."end" - c.start <= {STRETCH_CHARS}"""
COLUMNS = 4


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
    words: Sequence[str],
    *,
    session: str | None,
    sessions: Collection[str] | None,
) -> Evidence:
    """The passages of one session, of some, or (both None) of all; see `Store.evidence`."""
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
    return Evidence(chunks, of, starts, ends, _held(db, words, chunks))


def entry_ids(db: apsw.Connection, chunks: Sequence[int]) -> dict[int, str]:
    """The id of the entry that each chunk is from; those that are gone are left out."""
    sql = """SELECT c.number, o.id FROM json_each(?) j CROSS JOIN chunks c ON c.number = j.value
             CROSS JOIN originals o ON o.number = c.original"""
    rows: list[Any] = db.execute(sql, (json.dumps(list(chunks)),)).fetchall()
    return dict(rows)


def nothing(words: int) -> Evidence:
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


def _held(db: apsw.Connection, words: Sequence[str], chunks: Numbers) -> Bits:
    """Which of the words each chunk holds: a row a word."""
    import numpy as np

    held = np.zeros((len(words), len(chunks)), dtype=np.bool_)
    if not len(chunks):
        return held
    low, high = int(chunks.min()), int(chunks.max())
    sql = """SELECT rowid FROM word_index WHERE word_index MATCH ? AND rowid BETWEEN ? AND ?
             ORDER BY rowid DESC LIMIT ?"""
    for row, word in zip(held, words, strict=True):
        holds = np.zeros(high - low + 1, dtype=np.bool_)
        found: list[Any] = db.execute(sql, (search.expression(word), low, high, MOST_HELD)).fetchall()
        if found:
            holds[np.array(found, dtype=np.int64)[:, 0] - low] = True
            row[:] = holds[chunks - low]
    return held
