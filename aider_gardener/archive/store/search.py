"""Full text: from a user's words to an FTS5 expression, and the SQL around it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from aider_gardener.archive.store import words
from aider_gardener.archive.store.base import TextHit
from aider_gardener.messages import ContentClass

INDEX_TABLE = """
CREATE VIRTUAL TABLE word_index USING fts5(
    words, stems, gloss, content='', contentless_delete=1,
    tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co' tokenchars '_'")
"""
INDEX_RANK = "INSERT INTO word_index(word_index, rank) VALUES ('rank', 'bm25(1.0, 0.35, 0.3)')"

SMALL_INDEX_CHUNKS = 2_000
"""Below this every word is asked for; above, the rarest until they match about so many chunks."""
COMMON_TERMS = 2
NEWEST_CHUNKS = 20_000
"""So many words that are too common for that are asked for among so many of the newest chunks, where the
rarer ones find little."""
INDEXED_AT_ONCE = 128
"""So many chunks of one original are indexed as it enters, half from either end; the rest follows."""
RANKED_FIRST = 2
"""So many times the wanted hits are looked up first; only if a filter leaves too few of them, all are."""
SCRUB_PAGES = 1_000
"""Pages of the index rewritten in one transaction: a few tens of milliseconds."""
GLOSS_KNOWN_CHARS = 100_000
FILL_BATCH = 200


@dataclass(frozen=True)
class SearchFilter:
    """Which entries a search may find; see `Store.search_text`."""

    session: str | None = None
    exclude_sessions: Collection[str] = ()
    classes: Collection[ContentClass] | None = None
    min_seq: int | None = None
    project: str | None = None


def find(db: apsw.Connection, query: str, limit: int, wanted: SearchFilter) -> list[TextHit]:
    """The best chunks for a text, best first."""
    asked = words.query_words(query)
    if not asked or limit <= 0:
        return []
    rare, common = affordable(db, asked)
    found = _matching(db, expression(rare), limit, wanted) if rare else []
    if len(found) < limit and common:
        both = expression([*rare, *common])
        newest = _matching(db, both, limit, wanted, among_newest=NEWEST_CHUNKS)
        if not rare and not newest:
            newest = _matching(db, both, limit, wanted)
        found = _merged(found, newest)[:limit]
    return found


def _matching(
    db: apsw.Connection, match: str, limit: int, wanted: SearchFilter, *, among_newest: int = 0
) -> list[TextHit]:
    """The best chunks for an FTS5 expression, of all or among the newest ones only."""
    values: list[object] = [match]
    newest = ""
    if among_newest:
        newest = "AND word_index.rowid > (SELECT max(number) FROM chunks) - ?"
        values.append(among_newest)
    ranked = f"""SELECT -word_index.rank AS score, word_index.rowid AS number FROM word_index
                 WHERE word_index MATCH ? {newest}"""
    # The index alone ranks: only the best are looked up and filtered, where most pass the filter.
    if wanted.session is None:
        portion = RANKED_FIRST * limit
        best: list[Any] = db.execute(
            f"{ranked} ORDER BY score DESC, number DESC LIMIT ?", (*values, portion)
        ).fetchall()
        found = passing(db, best, limit, wanted)
        if len(found) == limit or len(best) < portion:
            return [TextHit(*each) for each in found]
    conditions, more = filter_sql(wanted)
    sql = f"""
        SELECT o.id, c.start, c."end", r.score
        FROM ({ranked}) r CROSS JOIN chunks c ON c.number = r.number
        CROSS JOIN originals o ON o.number = c.original
        WHERE {" AND ".join(conditions) or "1"} ORDER BY r.score DESC, r.number DESC LIMIT ?"""
    rows: list[Any] = db.execute(sql, (*values, *more, limit)).fetchall()
    return [TextHit(*row) for row in rows]


def passing(
    db: apsw.Connection, scored: Sequence[tuple[float, int]], limit: int, wanted: SearchFilter
) -> list[tuple[str, int, int, float]]:
    """The first `limit` of these chunks, given with a score each, whose entries pass the filter: id, start,
    end and score."""
    found: list[tuple[str, int, int, float]] = []
    for at in range(0, len(scored), limit):
        some = scored[at : at + limit]
        place = places(db, [number for _score, number in some], wanted)
        found += [(*place[number], score) for score, number in some if number in place]
        if len(found) >= limit:
            break
    return found[:limit]


def places(
    db: apsw.Connection, numbers: Collection[int], wanted: SearchFilter
) -> dict[int, tuple[str, int, int]]:
    """Id, start and end of those of the chunks whose entries pass the filter, by the chunk's number."""
    conditions, values = filter_sql(wanted)
    sql = f"""SELECT c.number, o.id, c.start, c."end" FROM json_each(?) j
              CROSS JOIN chunks c ON c.number = j.value CROSS JOIN originals o ON o.number = c.original
              {"".join(f" AND {condition}" for condition in conditions)}"""
    rows: list[Any] = db.execute(sql, (json.dumps(list(numbers)), *values)).fetchall()
    return {number: (entry, start, end) for number, entry, start, end in rows}


def _merged(one: list[TextHit], other: list[TextHit]) -> list[TextHit]:
    """The hits of two queries over the same index, the better score of each, best first."""
    best: dict[tuple[str, int, int], TextHit] = {}
    for hit in (*one, *other):
        held = best.get((hit.entry_id, hit.start, hit.end))
        if held is None or hit.score > held.score:
            best[hit.entry_id, hit.start, hit.end] = hit
    return sorted(best.values(), key=lambda hit: -hit.score)


def expression(asked: Iterable[words.Word]) -> str:
    """The FTS5 query for any of the words: each quoted, with its stem; "" for none."""
    return " OR ".join(_term(word) for word in asked)


def _term(word: words.Word) -> str:
    if not word.text:
        return f'({{words stems}} : "{word.stem}")'
    quoted = f'"{word.text}"' + (" *" if words.is_single_unspaced(word.text) else "")
    whole = f"{{words gloss}} : {quoted}"
    return f'({whole} OR {{words stems}} : "{word.stem}")' if word.stem else f"({whole})"


def affordable(db: apsw.Connection, asked: list[words.Word]) -> tuple[list[words.Word], list[words.Word]]:
    """The rarest words, and of these the stems, that together match a bounded number of chunks; and the
    next ones, which are too common to be looked for everywhere.

    A word in more than half of all chunks weighs nothing in BM25, and scoring costs per match: in
    a large archive the common words of a question would cost most and tell least.
    """
    total = db.execute("SELECT coalesce(max(number), 0) FROM chunks").get
    if total <= SMALL_INDEX_CHUNKS:
        return asked, []
    left = SMALL_INDEX_CHUNKS
    rare: list[words.Word] = []
    counted = [(_matches(db, expression([words.Word(word.text)])), word) for word in asked]
    counted.sort(key=lambda pair: pair[0])
    for count, word in counted:
        if count > left:
            break
        left -= count
        rare.append(word)
    common = [words.Word(word.text) for _, word in counted[len(rare) : len(rare) + COMMON_TERMS]]
    return [_with_stem_if(db, word, left) for word in rare], common


def _with_stem_if(db: apsw.Connection, word: words.Word, left: int) -> words.Word:
    if not word.stem or _matches(db, expression([words.Word("", word.stem)])) <= left // 4:
        return word
    return words.Word(word.text)


def _matches(db: apsw.Connection, match: str) -> int:
    """How many chunks match, counted up to the bound that matters."""
    sql = "SELECT count(*) FROM (SELECT 1 FROM word_index WHERE word_index MATCH ? LIMIT ?)"
    return int(db.execute(sql, (match, SMALL_INDEX_CHUNKS + 1)).get)


def filter_sql(wanted: SearchFilter) -> tuple[list[str], list[object]]:
    """The conditions on an original `o` that a filter means, and their values."""
    conditions: list[str] = []
    values: list[object] = []
    if wanted.classes is not None:
        conditions.append(f"o.cls IN ({_marks(wanted.classes)})")
        values.extend(cls.value for cls in wanted.classes)
    is_placed = wanted.session is not None or wanted.min_seq is not None
    if not (is_placed or wanted.exclude_sessions or wanted.project is not None):
        return conditions, values
    inner = "EXISTS (SELECT 1 FROM occurrences n WHERE n.original = o.number"
    # `+`: an original has few occurrences, which are read; with the index each of many sessions would be.
    if wanted.session is not None:
        inner += " AND n.session = (SELECT number FROM sessions WHERE id = ?)"
        values.append(wanted.session)
    if wanted.min_seq is not None:
        inner += " AND n.seq >= ?"
        values.append(wanted.min_seq)
    if wanted.exclude_sessions:
        excluded = f"SELECT number FROM sessions WHERE id IN ({_marks(wanted.exclude_sessions)})"
        inner += f" AND +n.session NOT IN ({excluded})"
        values.extend(wanted.exclude_sessions)
    if wanted.project is not None:
        inner += " AND +n.session IN (SELECT number FROM sessions WHERE project = ?)"
        values.append(wanted.project)
    return [*conditions, inner + ")"], values


def _marks(values: Collection[object]) -> str:
    return ", ".join("?" * len(values))


def add_chunks(db: apsw.Connection, original: int, text: str, spans: list[tuple[int, int]]) -> None:
    """Write the chunks of an original and index them; of a very long one the middle waits."""
    near_end = len(spans) - INDEXED_AT_ONCE // 2
    for at, (start, end) in enumerate(spans):
        now = at < INDEXED_AT_ONCE // 2 or at >= near_end
        db.execute(
            'INSERT INTO chunks (original, start, "end", indexed) VALUES (?, ?, ?, ?)',
            (original, start, end, now),
        )
        if now:
            index_chunk(db, db.last_insert_rowid(), text[start:end])


def work_off(db: apsw.Connection, limit: int) -> int:
    """Index chunks that wait; returns how many were done, fewer than `limit` when none is left."""
    waiting: list[Any] = db.execute(
        """SELECT number, original, start, "end" FROM chunks WHERE indexed = 0 ORDER BY number LIMIT ?""",
        (limit,),
    ).fetchall()
    text, held = "", None
    for number, original, start, end in waiting:
        if original != held:
            body = db.execute("SELECT body FROM bodies WHERE original = ?", (original,)).get
            text, held = readable(body or b""), original
        index_chunk(db, number, text[start:end])
        db.execute("UPDATE chunks SET indexed = 1 WHERE number = ?", (number,))
    return len(waiting)


def has_backlog(db: apsw.Connection) -> bool:
    """Whether any chunk waits to be indexed."""
    return db.execute("SELECT 1 FROM chunks WHERE indexed = 0 LIMIT 1").get is not None


def index_chunk(db: apsw.Connection, number: int, text: str) -> None:
    """Put the words of a chunk into the index under its number."""
    found = words.index_words(text)
    plain = " ".join([word.text for word in found])
    stems = " ".join([word.stem for word in found if word.stem])
    db.execute(
        "INSERT INTO word_index (rowid, words, stems, gloss) VALUES (?, ?, ?, '')", (number, plain, stems)
    )


def index_gloss(db: apsw.Connection, number: int, rendition: str, original: str) -> None:
    """Put those words of a rendition into the index that its original lacks (its id, its summary)."""
    known = original[:GLOSS_KNOWN_CHARS].casefold()
    new = dict.fromkeys(word.text for word in words.index_words(rendition) if word.text not in known)
    db.execute(
        "INSERT INTO word_index (rowid, words, stems, gloss) VALUES (?, '', '', ?)", (number, " ".join(new))
    )


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
    rebuild_index_table(db)
    db.execute("UPDATE chunks SET indexed = 0 WHERE fidelity = ''")
    while work_off(db, FILL_BATCH):
        pass
    glosses: list[Any] = db.execute(
        """SELECT c.number, r.text, b.body FROM chunks c JOIN bodies b ON b.original = c.original
           JOIN renditions r ON r.original = c.original AND r.fidelity = c.fidelity WHERE c.fidelity != ''"""
    ).fetchall()
    for number, rendition, body in glosses:
        index_gloss(db, number, readable(rendition), readable(body))


def rebuild_index_table(db: apsw.Connection) -> None:
    """Drop the full-text index and make an empty one; the caller fills it."""
    db.execute("DROP TABLE IF EXISTS word_index")
    db.execute(INDEX_TABLE)
    db.execute(INDEX_RANK)


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
