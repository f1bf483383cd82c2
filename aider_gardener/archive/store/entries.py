"""Entries in SQLite: how an original, its occurrences and its renditions are written and read.

Deletion leaves no bytes behind: rows, index, freed pages and the write-ahead log.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import apsw

from aider_gardener.archive.store import forgotten, search, sums, vectors
from aider_gardener.archive.store.base import Chunk
from aider_gardener.archive.store.database import BUSY_MILLISECONDS
from aider_gardener.archive.store.redact import Redacted
from aider_gardener.errors import StoreError
from aider_gardener.messages import (
    ContentClass,
    Entry,
    Fidelity,
    Rendition,
    Segment,
    Source,
    SourceKind,
    content_hash,
    entry_id,
)

RESOLVE_LIMIT = 50
SHORT_ID_CHARS = len(entry_id("", ""))
ID_GROWTH = 4
"""Hex digits by which an id is lengthened when two contents share the short one."""

ENTRY_COLUMNS = f"""
    SELECT o.id, s.id, n.turn, n.seq, o.role, b.body, n.source, n.detail, o.cls, o.segments, o.tokens,
           o.pinned, o.active, n.at, o.accessed_at, o.access_count, n.provider, o.hash,
           {sums.is_sound("originals", "o")} AND {sums.is_sound("occurrences", "n")}
    FROM occurrences n JOIN sessions s ON s.number = n.session
    JOIN originals o ON o.number = n.original JOIN bodies b ON b.original = o.number"""

CHECKPOINT_TRIES = 20
CHECKPOINT_PAUSE_SECONDS = 0.1
CHECKPOINT_MILLISECONDS = 50


Place = tuple[str, int]
"""Where a write stands among the lines of JSON: the file it was first written to, its number in that."""
NOWHERE: Place = ("", 0)


class Damaged(StoreError):
    """What is stored of an entry is not what was written; nothing of it is shown."""

    def __init__(self, stored_id: str, what: str) -> None:
        super().__init__(f"{stored_id} is damaged: {what}; `gardener store verify` mends what it can")
        self.stored_id = stored_id


@dataclass(frozen=True)
class EntryDraft:
    """An entry as it will be stored: every text already redacted, every span moved along.

    Its id is the beginning of `long_id`. `place` is that of its line, where it stands in one.
    """

    entry: Entry
    body: Redacted
    detail: str
    chunks: tuple[tuple[int, int], ...]
    long_id: str
    renditions: tuple[Rendition, ...] = ()
    place: Place = NOWHERE


def draft(entry: Entry, body: Redacted, detail: str, chunks: Sequence[Chunk]) -> EntryDraft:
    """Move an entry's spans from the live content to the stored one."""
    segments = tuple(
        replace(segment, start=body.position(segment.start), end=body.position(segment.end, end=True))
        for segment in entry.segments
    )
    spans = ((body.position(chunk.start), body.position(chunk.end, end=True)) for chunk in chunks)
    kept = tuple(dict.fromkeys((start, end) for start, end in spans if start < end))
    long_id = "g" + content_hash(entry.role, entry.content)
    return EntryDraft(replace(entry, segments=segments), body, detail, kept, long_id)


def add(db: apsw.Connection, new: EntryDraft) -> Entry:
    """Store a draft; the entry that comes back is the caller's with what the archive knows of it."""
    entry = new.entry
    session = session_number(db, entry.session)
    number, stored_id = write_original(db, new)
    seq = _occurrence(db, new, session, number)
    put_renditions(db, number, new.renditions)
    rows: list[Any] = db.execute(
        "SELECT pinned, active, accessed_at, access_count FROM originals WHERE number = ?", (number,)
    ).fetchall()
    pinned, active, accessed_at, access_count = rows[0]
    return replace(
        entry,
        id=stored_id,
        seq=seq,
        pinned=bool(pinned),
        active=bool(active),
        accessed_at=accessed_at,
        access_count=access_count,
    )


def session_number(db: apsw.Connection, session: str) -> int:
    """The number of a session; one that was never opened is begun without a project."""
    db.execute(
        "INSERT INTO sessions (id, project, started_at, provider, model) VALUES (?, '', 0, '', '') "
        "ON CONFLICT (id) DO NOTHING",
        (session,),
    )
    is_new = db.changes() > 0
    number = int(db.execute("SELECT number FROM sessions WHERE id = ?", (session,)).get)
    if is_new:
        sums.keep(db, "sessions", number)
    return number


def write_original(db: apsw.Connection, new: EntryDraft) -> tuple[int, str]:
    """Find or write an original; returns its row and its id.

    The hash that is kept is that of the stored text: of a text with secrets only the short id.
    """
    entry = new.entry
    stored = bytes.fromhex(content_hash(entry.role, new.body.text))
    short = new.long_id[:SHORT_ID_CHARS]
    for number, found in db.execute("SELECT number, id FROM originals WHERE hash = ?", (stored,)):
        if found.startswith(short):
            return number, found
    own_id = _free_id(db, new.long_id)
    segments = json.dumps([[s.start, s.end, s.cls.value, s.kind, s.language] for s in new.entry.segments])
    redactions = json.dumps([[span.start, span.end, span.kind] for span in new.body.spans])
    db.execute(
        "INSERT INTO originals (id, hash, role, cls, segments, redactions, tokens, pinned, accessed_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (own_id, stored, entry.role, entry.cls.value, segments, redactions, entry.tokens, int(entry.pinned),
         entry.created_at),
    )  # fmt: skip
    number = db.last_insert_rowid()
    sums.keep(db, "originals", number)
    db.execute("INSERT INTO bodies (original, body) VALUES (?, ?)", (number, search.encode(new.body.text)))
    search.add_chunks(db, number, new.body.text, list(new.chunks))
    return number, own_id


def lengthened(stored_id: str, role: str, text: str) -> str:
    """A long id that begins with a stored one, where what was there before redaction is not known."""
    return stored_id + content_hash(role, text)[len(stored_id) - 1 :]


def _free_id(db: apsw.Connection, long_id: str) -> str:
    """The short id, or where another content has it, the shortest longer one that is free."""
    for length in range(SHORT_ID_CHARS, len(long_id) + 1, ID_GROWTH):
        if db.execute("SELECT 1 FROM originals WHERE id = ?", (long_id[:length],)).get is None:
            return long_id[:length]
    raise StoreError(f"two texts have the id {long_id}")


def _occurrence(db: apsw.Connection, new: EntryDraft, session: int, number: int) -> int:
    """Record where an original stands; returns its seq, the next free one if its own is taken."""
    entry, seq = new.entry, new.entry.seq
    held = db.execute("SELECT original FROM occurrences WHERE session = ? AND seq = ?", (session, seq)).get
    if held == number:
        return seq
    if held is not None:
        seq = db.execute("SELECT max(seq) + 1 FROM occurrences WHERE session = ?", (session,)).get
    db.execute(
        "INSERT INTO occurrences (session, seq, turn, original, source, detail, provider, at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session,
            seq,
            entry.turn,
            number,
            entry.source.kind.value,
            new.detail,
            entry.provider,
            entry.created_at,
        ),
    )
    sums.keep(db, "occurrences", db.last_insert_rowid())
    db.execute("UPDATE originals SET active = ? WHERE number = ?", (int(entry.active), number))
    return seq


IS_ITS_ROW = f"""(SELECT row.id = o.id OR NOT ({sums.is_sound("originals", "row")})
                  FROM originals row NOT INDEXED WHERE row.number = o.number)"""
"""The index of ids, which a disk may have altered, did not lead to another entry's row."""


def number_of(db: apsw.Connection, stored_id: str) -> int | None:
    """The row of an entry, or None."""
    found = db.execute("SELECT number FROM originals WHERE id = ?", (stored_id,)).get
    return None if found is None else int(found)


def get(db: apsw.Connection, stored_id: str) -> Entry | None:
    """The entry at its latest occurrence."""
    sql = f"{ENTRY_COLUMNS} WHERE o.id = ? AND {IS_ITS_ROW} ORDER BY n.number DESC LIMIT 1"
    rows = db.execute(sql, (stored_id,)).fetchall()
    return _entry(rows[0]) if rows else None


def get_many(db: apsw.Connection, ids: Iterable[str], damaged: list[Damaged]) -> dict[str, Entry]:
    """The entries of these ids that are there, each at its latest occurrence; what is not sound goes to
    `damaged`."""
    sql = f"""{ENTRY_COLUMNS} WHERE o.id IN (SELECT value FROM json_each(?)) AND {IS_ITS_ROW}
              AND n.number = (SELECT max(m.number) FROM occurrences m WHERE m.original = o.number)"""
    rows: list[Any] = db.execute(sql, (json.dumps(list(ids)),)).fetchall()
    return {entry.id: entry for entry in _sound(rows, damaged)}


def original(db: apsw.Connection, stored_id: str) -> str | None:
    """The stored text of an entry; None if there is none of that id. Raises Damaged."""
    sql = f"""SELECT o.role, o.hash, b.body FROM originals o JOIN bodies b ON b.original = o.number
             WHERE o.id = ? AND {IS_ITS_ROW}"""
    rows: list[Any] = db.execute(sql, (stored_id,)).fetchall()
    return text_of(stored_id, *rows[0]) if rows else None


def is_unlisted(db: apsw.Connection, stored_id: str) -> bool:
    """Whether an entry is there though the index of ids, which a disk may have altered, does not say so."""
    return db.execute("SELECT 1 FROM originals NOT INDEXED WHERE id = ?", (stored_id,)).get is not None


def text_of(stored_id: str, role: str, stored_hash: bytes, body: bytes) -> str:
    """A stored text, once it is seen to be the one that was stored. Raises Damaged."""
    if not is_text_of(role, stored_hash, body):
        raise Damaged(stored_id, "its text is not the one that was stored")
    return search.decode(body)


def is_text_of(role: object, stored_hash: object, body: object) -> bool:
    """Whether a stored text is the one that its hash was made of."""
    if not isinstance(body, bytes) or not isinstance(stored_hash, bytes) or not isinstance(role, str):
        return False
    try:
        return content_hash(role, search.decode(body)) == stored_hash.hex()
    except UnicodeDecodeError:
        return False


def session_entries(db: apsw.Connection, session: str, after_seq: int, damaged: list[Damaged]) -> list[Entry]:
    """The entries of a session; what is not sound goes to `damaged`."""
    sql = f"{ENTRY_COLUMNS} WHERE s.id = ? AND n.seq > ? ORDER BY n.seq"
    return list(_sound(db.execute(sql, (session, after_seq)), damaged))


def _sound(rows: Iterable[Any], damaged: list[Damaged]) -> Iterator[Entry]:
    for row in rows:
        try:
            yield _entry(row)
        except Damaged as error:
            damaged.append(error)


def resolve(db: apsw.Connection, prefix: str) -> list[str]:
    """Ids by their beginning; the letters of an id are lower case, what is typed need not be."""
    wanted = prefix.strip().lower()
    if not wanted:
        return []
    if number_of(db, wanted) is not None:
        return [wanted]
    sql = "SELECT id FROM originals WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"
    return [row[0] for row in db.execute(sql, (wanted, wanted + "\U0010ffff", RESOLVE_LIMIT))]


def put_renditions(db: apsw.Connection, number: int, renditions: Iterable[Rendition]) -> None:
    """Keep renditions below full, each in place of the one of its fidelity."""
    for rendition in renditions:
        if rendition.fidelity is Fidelity.FULL:
            continue
        fidelity, text = rendition.fidelity.value, search.encode(rendition.text)
        db.execute(
            "INSERT INTO renditions (original, fidelity, text, tokens) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (original, fidelity) DO UPDATE SET text = excluded.text, tokens = excluded.tokens",
            (number, fidelity, text, rendition.tokens),
        )
        sums.keep(db, "renditions", number, fidelity)


def renditions(db: apsw.Connection, stored_id: str) -> dict[Fidelity, Rendition]:
    """The renditions of an entry below full. Raises Damaged."""
    sql = f"""SELECT r.fidelity, r.text, r.tokens, {sums.is_sound("renditions", "r")}
             FROM renditions r JOIN originals o ON o.number = r.original WHERE o.id = ? AND {IS_ITS_ROW}"""
    found = {}
    for word, text, tokens, is_sound in db.execute(sql, (stored_id,)):
        if not is_sound:
            raise Damaged(stored_id, "a short form of it is not the one that was stored")
        fidelity = Fidelity(word)
        found[fidelity] = Rendition(fidelity, search.decode(text), tokens)
    return found


def _entry(row: Any) -> Entry:
    (stored_id, session, turn, seq, role, body, source, detail, cls, segments, tokens, pinned, active,
     at, accessed_at, access_count, provider, stored_hash, is_sound) = row  # fmt: skip
    if not is_sound:
        raise Damaged(stored_id, "what is known of it is not what was stored")
    return Entry(
        id=stored_id,
        session=session,
        turn=turn,
        seq=seq,
        role=role,
        content=text_of(stored_id, role, stored_hash, body),
        source=Source(SourceKind(source), detail),
        cls=ContentClass(cls),
        segments=tuple(Segment(s[0], s[1], ContentClass(s[2]), s[3], s[4]) for s in json.loads(segments)),
        tokens=tokens,
        pinned=bool(pinned),
        active=bool(active),
        created_at=at,
        accessed_at=accessed_at,
        access_count=access_count,
        provider=provider,
    )


def forget(db: apsw.Connection, ids: Iterable[str], *, told: bool = True) -> int:
    """Delete entries with all that was derived from them; returns how many there were.

    Their words leave the index with `search.scrub`, which the caller repeats until it is done. `told`: a
    server that the project is shared with hears of all that is the user's own, not of this machine's alone.
    """
    numbers = {}
    for stored_id in dict.fromkeys(ids):
        number = db.execute("SELECT number FROM originals WHERE id = ?", (stored_id,)).get
        if number is not None:
            numbers[number] = stored_id
    if numbers:
        forgotten.note_entries(db, numbers, told=told)
        _delete(db, numbers)
    return len(numbers)


def forget_places(db: apsw.Connection, numbers: Sequence[int]) -> list[str]:
    """Delete occurrences, and for good the entries that stand nowhere else; returns the ids of these.
    Sessions that are empty then go too. No server hears of it."""
    listed = json.dumps(list(numbers))
    rows: list[Any] = db.execute(
        """SELECT DISTINCT o.number, o.id FROM occurrences n JOIN originals o ON o.number = n.original
           WHERE n.number IN (SELECT value FROM json_each(?1)) AND NOT EXISTS (
               SELECT 1 FROM occurrences e WHERE e.original = o.number
               AND e.number NOT IN (SELECT value FROM json_each(?1)))""",
        (listed,),
    ).fetchall()
    stood = "SELECT DISTINCT session FROM occurrences WHERE number IN (SELECT value FROM json_each(?))"
    sessions = [row[0] for row in db.execute(stood, (listed,))]
    db.execute("DELETE FROM occurrences WHERE number IN (SELECT value FROM json_each(?))", (listed,))
    _delete(db, dict(rows))
    for session in sessions:
        db.execute(
            "DELETE FROM sessions WHERE number = ?1 AND NOT EXISTS "
            "(SELECT 1 FROM occurrences WHERE session = ?1)",
            (session,),
        )
    return [stored_id for _, stored_id in rows]


def _delete(db: apsw.Connection, numbers: Mapping[int, str]) -> None:
    """Delete originals, given with their ids; the words of them leave the index with `search.scrub`."""
    for number, stored_id in numbers.items():
        _forget_entry(db, number, stored_id)
    search.begin_scrub(db)


def _forget_entry(db: apsw.Connection, number: int, stored_id: str) -> None:
    chunks = [row[0] for row in db.execute("SELECT number FROM chunks WHERE original = ?", (number,))]
    search.remove(db, chunks)
    vectors.remove(db, number)
    for table in ("chunks", "renditions", "occurrences", "bodies"):
        db.execute(f"DELETE FROM {table} WHERE original = ?", (number,))
    db.execute("DELETE FROM originals WHERE number = ?", (number,))
    about = (
        "SELECT number, data FROM events WHERE number IN (SELECT event FROM event_entries WHERE entry = ?)"
    )
    rows: list[Any] = db.execute(about, (stored_id,)).fetchall()
    for event, data in rows:
        left = without(json.loads(data), stored_id)
        if left is None:
            db.execute("DELETE FROM events WHERE number = ?", (event,))
            db.execute("DELETE FROM event_entries WHERE event = ?", (event,))
        else:
            db.execute(
                "UPDATE events SET data = ? WHERE number = ?", (json.dumps(left, sort_keys=True), event)
            )
            sums.keep(db, "events", event)
    db.execute("DELETE FROM event_entries WHERE entry = ?", (stored_id,))


def without(value: Any, stored_id: str) -> Any:
    """An event's data without an entry: an object about it is dropped (None), as is its id in lists."""
    if isinstance(value, dict):
        if value.get("entry_id") == stored_id:
            return None
        return {key: without(each, stored_id) for key, each in value.items() if key != stored_id}
    if isinstance(value, list):
        return [
            without(each, stored_id)
            for each in value
            if each != stored_id and without(each, stored_id) is not None
        ]
    return value


def forget_session(db: apsw.Connection, session: str) -> int:
    """Delete a session, its events and state, and the entries that occur in no other session."""
    number = db.execute("SELECT number FROM sessions WHERE id = ?", (session,)).get
    own: list[str] = []
    if number is not None:
        own = [
            row[0]
            for row in db.execute(
                """SELECT DISTINCT o.id FROM occurrences n JOIN originals o ON o.number = n.original
                   WHERE n.session = ?1 AND NOT EXISTS (
                       SELECT 1 FROM occurrences e WHERE e.original = o.number AND e.session != ?1)""",
                (number,),
            )
        ]
    forgotten.note_session(db, session)
    count = forget(db, own)
    db.execute("DELETE FROM occurrences WHERE session = ?", (number,))
    db.execute("DELETE FROM sessions WHERE id = ?", (session,))
    db.execute("DELETE FROM state WHERE session = ?", (session,))
    db.execute("DELETE FROM events WHERE session = ?", (session,))
    db.execute("DELETE FROM event_entries WHERE event NOT IN (SELECT number FROM events)")
    return count


def empty_log(db: apsw.Connection) -> bool:
    """Move the write-ahead log into the file and cut it to nothing; False if another reader holds it."""
    if db.pragma("journal_mode") != "wal":
        return True
    db.set_busy_timeout(CHECKPOINT_MILLISECONDS)  # with the usual patience all tries would take minutes
    try:
        for _ in range(CHECKPOINT_TRIES):
            try:
                db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                return True
            except apsw.BusyError:
                time.sleep(CHECKPOINT_PAUSE_SECONDS)
        return False
    finally:
        db.set_busy_timeout(BUSY_MILLISECONDS)
