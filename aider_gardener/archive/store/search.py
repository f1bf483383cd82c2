"""The index of words: what stands in it, how a word is asked for, and how it is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

import apsw

from aider_gardener.archive.passages import PASSAGE_CHARS, STRETCH_CHARS, cut
from aider_gardener.messages import ContentClass, Segment

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
NOT_BLANK = re.compile(r"\S")
SCRUB_PAGES = 1_000
"""Pages of the index rewritten in one transaction: a few tens of milliseconds."""
FILL_BATCH = 200


def expression(word: str) -> str:
    """The FTS5 query for what shares the stem of a word. One character of a script without spaces is asked
    for as the beginning of a pair."""
    from aider_gardener.archive.store.words import stem  # late: most writes of a hook index nothing

    quoted = '"{}"'.format(stem(word).replace('"', '""'))
    return f"{quoted} *" if len(word) == 1 and not word.isascii() else quoted


class Texts:
    """The text that was read last: an original is not read anew for each of its passages."""

    def __init__(self) -> None:
        self._hash, self._text = b"", ""

    def of(self, db: apsw.Connection, original: int) -> str:
        """The text of an original, as far as it is readable."""
        sql = "SELECT hash FROM originals WHERE number = ?"
        stored_hash = db.execute(sql, (original,)).get
        if stored_hash != self._hash:
            body = db.execute("SELECT body FROM bodies WHERE original = ?", (original,)).get
            self._hash, self._text = stored_hash, readable(body or b"")
        return self._text


def add_chunks(db: apsw.Connection, original: int, text: str, spans: list[tuple[int, int]]) -> None:
    """Write the chunks of an original and index them; of a very long one the middle waits."""
    near_end = len(spans) - INDEXED_AT_ONCE // 2
    for at, (start, end) in enumerate(spans):
        now = (at < INDEXED_AT_ONCE // 2 or at >= near_end) and end - start <= STRETCH_CHARS
        _add_chunk(db, original, text, start, end, now=now)


def _add_chunk(
    db: apsw.Connection, original: int, text: str, start: int, end: int, *, now: bool = True
) -> None:
    sql = 'INSERT INTO chunks (original, start, "end", indexed) VALUES (?, ?, ?, ?)'
    db.execute(sql, (original, start, end, now))
    if now:
        index_chunk(db, db.last_insert_rowid(), text[start:end])


def work_off(db: apsw.Connection, limit: int, texts: Texts) -> int:
    """Index chunks that wait; returns how many were done, 0 when none is left."""
    waiting: list[Any] = db.execute(
        """SELECT number, original, start, "end" FROM chunks WHERE indexed = 0 ORDER BY number LIMIT ?""",
        (limit,),
    ).fetchall()
    done = 0
    for number, original, start, end in waiting:
        if done >= limit:
            break
        text = texts.of(db, original)
        if end - start > STRETCH_CHARS:
            done += _cut_stretch(db, number, original, text, start, end, limit - done)
        else:
            index_chunk(db, number, text[start:end])
            db.execute("UPDATE chunks SET indexed = 1 WHERE number = ?", (number,))
            done += 1
    return done


def _cut_stretch(
    db: apsw.Connection, number: int, original: int, text: str, start: int, end: int, limit: int
) -> int:
    """Cut about so many passages off the beginning of a stretch and index them; returns how many, at least
    1."""
    first = NOT_BLANK.search(text, start, end)
    start = first.start() if first else end
    stop = start + limit * PASSAGE_CHARS
    stop = text.rfind("\n", start, stop) + 1 or stop if end - stop > STRETCH_CHARS else end
    segments = json.loads(db.execute("SELECT segments FROM originals WHERE number = ?", (original,)).get)
    parts = [Segment(s[0], s[1], ContentClass(s[2])) for s in segments if s[0] < stop and s[1] > start]
    spans = [(each.start, each.end) for each in cut("", text, parts, start, stop)]
    for span in spans:
        _add_chunk(db, original, text, *span)
    if stop < end:
        db.execute("UPDATE chunks SET start = ? WHERE number = ?", (stop, number))
    else:
        db.execute("DELETE FROM chunks WHERE number = ?", (number,))
    return max(1, len(spans))


def has_backlog(db: apsw.Connection) -> bool:
    """Whether any chunk waits to be indexed."""
    return db.execute("SELECT 1 FROM chunks WHERE indexed = 0 LIMIT 1").get is not None


def index_chunk(db: apsw.Connection, number: int, text: str) -> None:
    """Put the words of a chunk into the index under its number."""
    from aider_gardener.archive.store.words import index_words, stem

    found = " ".join(map(stem, index_words(text)))
    db.execute("INSERT INTO word_index (rowid, words) VALUES (?, ?)", (number, found))


def remove(db: apsw.Connection, numbers: Collection[int]) -> None:
    """Take chunks out of the index; their bytes go with `scrub`."""
    db.executemany("DELETE FROM word_index WHERE rowid = ?", [(number,) for number in numbers])


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
    texts = Texts()
    while work_off(db, FILL_BATCH, texts):
        pass


def make_index(db: apsw.Connection) -> None:
    """Make an empty index."""
    db.execute(INDEX_TABLE)
    db.execute("INSERT INTO word_index (word_index, rank) VALUES ('pgsz', ?)", (LEAF_BYTES,))


def encode(text: str) -> bytes:
    """A text as the bytes that are stored: UTF-8, lone surrogates and NUL kept."""
    return text.encode("utf-8", "surrogatepass")


def decode(body: bytes) -> str:
    """The text that `encode` made into bytes."""
    return body.decode("utf-8", "surrogatepass")


def readable(body: bytes) -> str:
    """The same of bytes that a disk may have altered, for the index."""
    try:
        return decode(body)
    except UnicodeDecodeError:
        return body.decode("utf-8", "replace")
