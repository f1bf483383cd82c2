"""Entries in SQLite: how an original, its occurrences and its renditions are written, read and forgotten.

Deletion leaves no bytes behind: rows, index, freed pages and the write-ahead log. Of a shared project it is
noted what is forgotten, so that the other machines hear of it. How a project is shared is a small value of
the archive itself, beside its number: neither exported nor imported, so that nobody shares what another
archive shared. No more of it than its author is known here.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apsw

from aider_gardener.archive.providers import SHARED
from aider_gardener.archive.store import schema, search, sessions
from aider_gardener.archive.store.base import TRANSCRIPT_KEY, Record
from aider_gardener.errors import StoreError
from aider_gardener.messages import (
    ID_CHARS,
    ContentClass,
    Entry,
    Level,
    Rendition,
    Source,
    SourceKind,
    content_hash,
)

RESOLVE_LIMIT = 50
ID_GROWTH = 4
"""Hex digits by which an id is lengthened when two contents share the short one."""

PLACES = """FROM occurrences n JOIN sessions s ON s.number = n.session
            JOIN originals o ON o.number = n.original"""
COLUMNS = {
    "session": "s.id", "seq": "n.seq", "turn": "n.turn", "source": "n.source", "detail": "n.detail",
    "provider": "n.provider", "at": "n.at", "id": "o.id", "role": "o.role", "cls": "o.cls",
    "segments": "o.segments", "redactions": "o.redactions", "tokens": "o.tokens", "pinned": "o.pinned",
    "active": "n.active", "accessed_at": "o.accessed_at", "access_count": "o.access_count",
    "content": "b.body", "original": "n.original", "hash": "o.hash",
}  # fmt: skip
SELECT_ENTRIES = f"SELECT {', '.join(COLUMNS.values())} {PLACES} JOIN bodies b ON b.original = o.number"
"""What was said where, by the names that a record of it has."""

SHARE = "share:"
"""Before a project's path, the key under which it is kept how the project is shared."""
ENTRY, SESSION = "entry", "session"
"""What a tombstone is of."""
NOTE = f"""INSERT INTO tombstones (project, kind, at, is_own, key, entry)
    SELECT :project, :kind, :at, max(iif(s.id LIKE '{SHARED}%', :everywhere AND instr(s.id, :mine) = 1,
        may_leave(ifnull(n.provider, '')))),"""
NOTED = {
    ENTRY: f"""lower(hex(o.hash)), o.id {PLACES} WHERE +s.project = :project
        AND o.number IN (SELECT value FROM json_each(:what)) GROUP BY o.number""",
    SESSION: """iif(instr(s.id, :mine) = 1, substr(s.id, length(:mine) + 1), s.id), ''
        FROM sessions s LEFT JOIN occurrences n ON n.session = s.number
        WHERE s.project = :project AND s.number = :what GROUP BY s.number""",
}
"""How it is written of entries of a project, and of a session."""
NAMED = re.compile(r'"(g[0-9a-f]+)"')
"""An id in the data of an event."""
CHECKPOINT_MILLISECONDS = 3_000
"""How long readers are waited for when what was deleted is to leave the log."""


class StoredEntry(NamedTuple):
    """What the archive knows of an entry that was added: its id and place, and how it is used."""

    id: str
    seq: int
    pinned: bool
    active: bool
    accessed_at: float
    access_count: int


def add(db: apsw.Connection, record: Record, *, again: bool = False) -> StoredEntry:
    """Store an original with its occurrence, its chunks and its short forms, or what of it is not there yet.

    `record` is what `records.as_record` makes. `again`: this may be of another archive, or done already: what
    is known of the original stays."""
    session = session_number(db, record["session"])
    number = _original(db, record)
    seq = _occurrence(db, record, session, number, again)
    put_renditions(db, number, record["renditions"], again=again)
    columns = "o.id, o.pinned, n.active, o.accessed_at, o.access_count"
    sql = f"SELECT {columns} {PLACES} WHERE n.session = ? AND n.seq = ?"
    ((stored_id, pinned, active, accessed_at, access_count),) = db.execute(sql, (session, seq))
    return StoredEntry(stored_id, seq, bool(pinned), bool(active), accessed_at, access_count)


def session_number(db: apsw.Connection, session: str) -> int:
    """The number of a session; one that was never opened is begun without a project."""
    db.execute(
        "INSERT INTO sessions (id, project, started_at) VALUES (?, '', 0) ON CONFLICT (id) DO NOTHING",
        (session,),
    )
    return int(db.execute("SELECT number FROM sessions WHERE id = ?", (session,)).get)


def _original(db: apsw.Connection, record: Record) -> int:
    """Find or write an original; returns its row.

    The hash that is kept is that of the stored text: of a text with secrets only the short id.
    """
    role, text, own_id = record["role"], record["content"], record["id"]
    hashed = content_hash(role, text)
    long_id = own_id + hashed[len(own_id) - 1 :]
    for number, found in db.execute(
        "SELECT number, id FROM originals WHERE hash = ?", (bytes.fromhex(hashed),)
    ):
        if found.startswith(long_id[:ID_CHARS]):
            return int(number)
    segments = [
        [start, end, ContentClass(word).value, kind, language]
        for start, end, word, kind, language in record["segments"]
    ]
    db.execute(
        """INSERT INTO originals (id, hash, role, cls, segments, redactions, tokens, pinned, accessed_at,
               access_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (_free_id(db, long_id), bytes.fromhex(hashed), role, ContentClass(record["cls"]).value,
         json.dumps(segments), json.dumps(record["redactions"]), record["tokens"],
         int(record["pinned"]), record.get("accessed_at", record["at"]), record.get("access_count", 0)),
    )  # fmt: skip
    number = db.last_insert_rowid()
    search.put_body(db, number, text)
    search.add_chunks(db, number, text, [(start, end) for start, end in record["chunks"]])
    return number


def _free_id(db: apsw.Connection, long_id: str) -> str:
    for length in range(ID_CHARS, len(long_id) + 1, ID_GROWTH):
        if db.execute("SELECT 1 FROM originals WHERE id = ?", (long_id[:length],)).get is None:
            return long_id[:length]
    raise StoreError(f"two texts have the id {long_id}")


def _occurrence(db: apsw.Connection, record: Record, session: int, number: int, again: bool) -> int:
    """Record where an original stands; returns its seq, the next free one if its own is taken."""
    seq, turn, at = record["seq"], record["turn"], record["at"]
    sql = "SELECT original, turn, at FROM occurrences WHERE session = ? AND seq = ?"
    rows = db.execute(sql, (session, seq)).fetchall()
    if rows and rows[0][0] == number and (not again or rows[0][1:] == (turn, at)):
        return int(seq)
    if rows:
        sql = "SELECT min(seq) FROM occurrences WHERE session = ? AND original = ? AND turn = ? AND at = ?"
        moved = db.execute(sql, (session, number, turn, at)).get if again else None
        if moved is not None:
            return int(moved)
        seq = int(db.execute("SELECT max(seq) + 1 FROM occurrences WHERE session = ?", (session,)).get)
    db.execute(
        "INSERT INTO occurrences (session, seq, turn, original, source, detail, provider, at, active) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (session, seq, turn, number, SourceKind(record["source"]).value, record["detail"],
         record["provider"], at, int(record["active"])),
    )  # fmt: skip
    return int(seq)


def number_of(db: apsw.Connection, stored_id: str) -> int | None:
    found = db.execute("SELECT number FROM originals WHERE id = ?", (stored_id,)).get
    return None if found is None else int(found)


def get_many(db: apsw.Connection, ids: Iterable[str]) -> dict[str, Entry]:
    sql = f"""{SELECT_ENTRIES} WHERE o.id IN (SELECT value FROM json_each(?))
              AND n.number = (SELECT max(m.number) FROM occurrences m WHERE m.original = o.number)"""
    found = map(_entry, db.execute(sql, (json.dumps(list(ids)),)))
    return {entry.id: entry for entry in found}


def original(db: apsw.Connection, stored_id: str) -> str | None:
    sql = "SELECT b.body FROM originals o JOIN bodies b ON b.original = o.number WHERE o.id = ?"
    body = db.execute(sql, (stored_id,)).get
    return None if body is None else search.decode(body)


def is_text_of(role: object, stored_hash: object, body: object) -> bool:
    """Whether a stored text is the one that its hash was made of."""
    if not isinstance(body, bytes) or not isinstance(stored_hash, bytes) or not isinstance(role, str):
        return False
    try:
        return content_hash(role, search.decode(body)) == stored_hash.hex()
    except UnicodeDecodeError:
        return False


def session_entries(db: apsw.Connection, session: str) -> list[Entry]:
    return list(map(_entry, db.execute(f"{SELECT_ENTRIES} WHERE s.id = ? ORDER BY n.seq", (session,))))


def resolve(db: apsw.Connection, prefix: str) -> list[str]:
    """Ids by their beginning; the letters of an id are lower case, what is typed need not be."""
    wanted = prefix.strip().lower()
    if not wanted or not wanted.isascii():
        return []
    if number_of(db, wanted) is not None:
        return [wanted]
    sql = "SELECT id FROM originals WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"
    return [row[0] for row in db.execute(sql, (wanted, wanted + "\U0010ffff", RESOLVE_LIMIT))]


def put_renditions(
    db: apsw.Connection, number: int, renditions: Iterable[Sequence[Any]], *, again: bool = False
) -> None:
    """Keep renditions below full, each (level, text, tokens) in place of the one of its level, or
    `again` only where there is none."""
    change = "NOTHING" if again else "UPDATE SET text = excluded.text, tokens = excluded.tokens"
    for word, text, tokens in renditions:
        if Level(word) is Level.FULL:
            continue
        db.execute(
            "INSERT INTO renditions (original, fidelity, text, tokens) VALUES (?, ?, ?, ?) "
            f"ON CONFLICT (original, fidelity) DO {change}",
            (number, word, search.encode(text), tokens),
        )


def renditions(db: apsw.Connection, stored_id: str) -> dict[Level, Rendition]:
    sql = """SELECT r.fidelity, r.text, r.tokens FROM renditions r JOIN originals o ON o.number = r.original
             WHERE o.id = ?"""
    found = (
        Rendition(Level(word), search.decode(text), tokens)
        for word, text, tokens in db.execute(sql, (stored_id,))
    )
    return {each.level: each for each in found}


def records_where(db: apsw.Connection, where: str, *given: object) -> Iterator[Record]:
    """What was said at these places, as `records.as_record` made it of what was to be stored; no text that is
    another than its hash was made of."""
    chunks = """SELECT start, "end" FROM chunks WHERE original = ? ORDER BY number"""
    forms = "SELECT fidelity, text, tokens FROM renditions WHERE original = ? ORDER BY fidelity"
    for row in db.execute(f"{SELECT_ENTRIES} WHERE {where}", given):
        record: Record = {"kind": "said", **dict(zip(COLUMNS, row, strict=True))}
        number, stored_hash = record.pop("original"), record.pop("hash")
        if not is_text_of(record["role"], stored_hash, record["content"]):
            continue
        record |= {name: json.loads(record[name]) for name in ("segments", "redactions")}
        record |= {name: bool(record[name]) for name in ("pinned", "active")}
        form_rows = list(db.execute(forms, (number,)))
        record["content"] = search.decode(record["content"])
        record["chunks"] = [list(chunk) for chunk in db.execute(chunks, (number,))]
        record["renditions"] = [[word, search.decode(text), tokens] for word, text, tokens in form_rows]
        yield record


def _entry(row: Any) -> Entry:
    (session, seq, turn, source, detail, provider, at, stored_id, role, cls, segments, _, tokens, pinned,
     active, accessed_at, access_count, body, *_) = row  # fmt: skip
    return Entry(
        id=stored_id,
        session=session,
        turn=turn,
        seq=seq,
        role=role,
        content=search.decode(body),
        source=Source(SourceKind(source), detail),
        cls=ContentClass(cls),
        segments=search.segments_of(segments),
        tokens=tokens,
        pinned=bool(pinned),
        active=bool(active),
        created_at=at,
        accessed_at=accessed_at,
        access_count=access_count,
        provider=provider,
    )


def forget(db: apsw.Connection, ids: Iterable[str], *, everywhere: bool = True) -> int:
    """Delete entries with all that was derived from them; returns how many there were.

    Their words leave the index with `Store.scrub`. `everywhere`: a server that the project is shared with
    hears of all that is the user's own, not of this machine's alone.
    """
    sql = "SELECT number, id FROM originals WHERE id IN (SELECT value FROM json_each(?)) ORDER BY number"
    numbers: dict[int, str] = dict(db.execute(sql, (json.dumps(list(ids)),)))
    if numbers:
        _note(db, ENTRY, json.dumps(list(numbers)), everywhere=everywhere)
        _delete(db, numbers)
    return len(numbers)


def forget_session(db: apsw.Connection, session: str) -> int:
    """Delete a session, its events and state, and the entries that occur in no other session; returns how
    many. One that another process holds open goes on, empty, in its project."""
    number = db.execute("SELECT number FROM sessions WHERE id = ?", (session,)).get
    places = [row[0] for row in db.execute("SELECT number FROM occurrences WHERE session = ?", (number,))]
    _note(db, SESSION, number)
    count = len(forget_places(db, places))
    if session not in sessions.open_elsewhere(db):
        db.execute("DELETE FROM sessions WHERE id = ?", (session,))
    db.execute("DELETE FROM state WHERE session = ? AND key != ?", (session, TRANSCRIPT_KEY))
    db.execute("DELETE FROM events WHERE session = ?", (session,))
    return count


def forget_places(db: apsw.Connection, numbers: Sequence[int]) -> list[str]:
    """Delete occurrences, and for good the entries that stand nowhere else; returns the ids of these. No
    server hears of it."""
    sql = """SELECT DISTINCT o.number, o.id FROM occurrences n JOIN originals o ON o.number = n.original
             WHERE n.number IN (SELECT value FROM json_each(?1)) AND NOT EXISTS (
                 SELECT 1 FROM occurrences e WHERE e.original = o.number
                 AND e.number NOT IN (SELECT value FROM json_each(?1)))"""
    listed = json.dumps(list(numbers))
    only_here: dict[int, str] = dict(db.execute(sql, (listed,)))
    db.execute("DELETE FROM occurrences WHERE number IN (SELECT value FROM json_each(?))", (listed,))
    schema.note_forgotten(db)
    _delete(db, only_here)
    return list(only_here.values())


def _delete(db: apsw.Connection, numbers: Mapping[int, str]) -> None:
    """Delete originals, given with their ids, and all that was made of them."""
    for number in numbers:
        search.remove(db, number)
        for table in ("chunks", "renditions", "occurrences", "bodies"):
            db.execute(f"DELETE FROM {table} WHERE original = ?", (number,))
        db.execute("DELETE FROM originals WHERE number = ?", (number,))
    if numbers:
        schema.note_forgotten(db)
    _leave_events(db, set(numbers.values()))


def _leave_events(db: apsw.Connection, ids: Collection[str]) -> None:
    """Take entries out of what was recorded of them."""
    named = []
    for number, data in db.execute("SELECT number, data FROM events"):
        if found_ids := set(NAMED.findall(data)).intersection(ids):
            named.append((number, data, found_ids))
    for number, data, found_ids in named:
        remaining = with_ids(json.loads(data), dict.fromkeys(found_ids))
        if remaining is None:
            db.execute("DELETE FROM events WHERE number = ?", (number,))
        else:
            changed = json.dumps(remaining, sort_keys=True)
            db.execute("UPDATE events SET data = ? WHERE number = ?", (changed, number))


def with_ids(value: object, ids: Mapping[str, str | None]) -> object:
    """An event's data with other ids for some entries. None is for one that is gone: an object about it is
    dropped (None), as is its id in lists."""
    if isinstance(value, str):
        return ids.get(value, value)
    if isinstance(value, list):
        return [new for each in value if (new := with_ids(each, ids)) is not None or each is None]
    if isinstance(value, dict):
        if "entry_id" in value and with_ids(value["entry_id"], ids) is None:
            return None
        return {key: with_ids(each, ids) for key, each in value.items()}
    return value


def _note(db: apsw.Connection, kind: str, what: object, *, everywhere: bool = True) -> None:
    """Note, before it is deleted, what is forgotten of shared projects: entries by the list of their numbers,
    or a session by its own. Other machines hear of the user's own; without `everywhere` only of what was said
    on this machine: what was fetched was pruned here alone.

    What was said to a local model was never sent, so nothing of it is told either.
    """
    for project, author in _authors(db).items():
        mine = f"{SHARED}{author}:"
        given = {"project": project, "kind": kind, "what": what, "at": time.time()}
        db.execute(f"{NOTE} {NOTED[kind]}", {**given, "mine": mine, "everywhere": everywhere})


def share_again(db: apsw.Connection) -> None:
    """Let the next sync send and fetch everything once more: rows of the archive may have been lost."""
    for project in _authors(db):
        share = json.loads(sessions.get_state(db, schema.OWN, SHARE + project) or "{}")
        share |= {"sent": 0, "vectors_sent": 0, "told": 0, "seen": 0}
        sessions.set_state(db, schema.OWN, SHARE + project, json.dumps(share))


def _authors(db: apsw.Connection) -> dict[str, str]:
    """The shared projects, each with this user's role on the server."""
    sql = "SELECT key, value FROM state WHERE session = ? AND key >= ? AND key < ? ORDER BY key"
    rows = db.execute(sql, (schema.OWN, SHARE, SHARE[:-1] + ";"))
    return {key[len(SHARE) :]: json.loads(search.decode(value))["author"] for key, value in rows}


def empty_log(db: apsw.Connection) -> bool:
    """Move the write-ahead log into the file and cut it to nothing; False if another reader holds it."""
    if db.pragma("journal_mode") != "wal":
        return True
    patience = int(db.pragma("busy_timeout") or 0)
    db.set_busy_timeout(CHECKPOINT_MILLISECONDS)
    try:
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    finally:
        db.set_busy_timeout(patience)
    return True
