"""A write as plain data: what a line of the archive says, and what it does to a database.

A record holds texts as they are stored, without secrets. Each is applied once: the number of the last one
taken from a file is kept in the same transaction.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from aider_gardener.archive.store import entries, ownership, sessions, transfer
from aider_gardener.archive.store.redact import Redacted, Redaction
from aider_gardener.archive.store.sessions import Owner
from aider_gardener.errors import StoreError
from aider_gardener.messages import ContentClass, Entry, Fidelity, Rendition, Segment, Source, SourceKind

if TYPE_CHECKING:
    import apsw

Record = dict[str, Any]
SAID, FORGET, FORGET_SESSION, IMPORT = "said", "forget", "forget session", "import"
TAKEN = "lines:"
"""Begins the key under which the archive keeps what it has taken from a file; see `take`."""
REMEMBERED_SECONDS = 30 * 24 * 3_600.0
"""So long it is remembered how much was taken from a file that is gone."""


class Numbered(NamedTuple):
    """A record with the file that it was first written to and its number in that, from 1."""

    file: str
    number: int
    record: Record
    owner: Owner | None = None


def said(draft: entries.EntryDraft, stored_id: str, seq: int) -> Record:
    """An entry as it was stored."""
    entry = draft.entry
    return {
        "kind": SAID, "id": stored_id, "session": entry.session, "turn": entry.turn, "seq": seq,
        "role": entry.role, "content": draft.body.text, "source": entry.source.kind.value,
        "detail": draft.detail, "cls": entry.cls.value,
        "segments": [[s.start, s.end, s.cls.value, s.kind, s.language] for s in entry.segments],
        "redactions": [[span.start, span.end, span.kind] for span in draft.body.spans],
        "tokens": entry.tokens, "pinned": entry.pinned, "active": entry.active, "at": entry.created_at,
        "provider": entry.provider, "chunks": [list(span) for span in draft.chunks],
        "renditions": rendition_rows(draft.renditions),
    }  # fmt: skip


def rendition_rows(renditions: Iterable[Rendition]) -> list[list[object]]:
    """Renditions as a record has them."""
    return [[each.fidelity.value, each.text, each.tokens] for each in renditions]


def draft_of(record: Record) -> entries.EntryDraft:
    """The entry of a record, as it is to be stored."""
    entry = Entry(
        id=record["id"], session=record["session"], turn=record["turn"], seq=record["seq"],
        role=record["role"], content=record["content"],
        source=Source(SourceKind(record["source"]), record["detail"]), cls=ContentClass(record["cls"]),
        segments=tuple(Segment(s[0], s[1], ContentClass(s[2]), s[3], s[4]) for s in record["segments"]),
        tokens=record["tokens"], pinned=record["pinned"], active=record["active"],
        created_at=record["at"], accessed_at=record["at"], provider=record["provider"],
    )  # fmt: skip
    spans = tuple(Redaction(start, end, kind, "") for start, end, kind in record["redactions"])
    return entries.EntryDraft(
        entry,
        Redacted(entry.content, spans),
        entry.source.detail,
        tuple((start, end) for start, end in record["chunks"]),
        entries.lengthened(entry.id, entry.role, entry.content),
        tuple(Rendition(Fidelity(word), text, tokens) for word, text, tokens in record["renditions"]),
    )


def apply(db: apsw.Connection, record: Record, owner: Owner | None = None) -> None:
    """Do what a record says. `owner` is the process that wrote it, if that still runs: what it holds open is
    held. Raises KeyError, ValueError or the like for one that is none, StoreError for what cannot be done."""
    STEPS[record["kind"]](db, record)
    if owner is not None and record["kind"] == "session" and record["held"]:
        sessions.hold(db, record["id"], record["started_at"], owner)


def _add(db: apsw.Connection, record: Record) -> None:
    entries.add(db, draft_of(record))


def _open_session(db: apsw.Connection, record: Record) -> None:
    names = ("id", "project", "started_at", "provider", "model")
    sessions.open_session(db, *(record[name] for name in names))


def _put_renditions(db: apsw.Connection, record: Record) -> None:
    number = entries.number_of(db, record["entry"])
    if number is None:
        raise StoreError(f"there is no entry {record['entry']}")
    rows = record["renditions"]
    entries.put_renditions(db, number, [Rendition(Fidelity(word), text, n) for word, text, n in rows])


def _import(db: apsw.Connection, record: Record) -> None:
    known = transfer.Known()
    for line in record["lines"]:
        transfer.import_line(db, line, known)


STEPS: dict[str, Callable[[apsw.Connection, Record], object]] = {
    SAID: _add,
    "session": _open_session,
    "renditions": _put_renditions,
    "touch": lambda db, record: sessions.touch(db, record["ids"], record["at"]),
    "pin": lambda db, record: sessions.pin(db, record["entry"], record["pinned"]),
    "active": lambda db, record: sessions.set_active(db, record["ids"], record["active"]),
    "event": lambda db, record: sessions.record_event(
        db, record["session"], record["turn"], record["event"], record["data"], record["at"]
    ),
    "state": lambda db, record: sessions.set_state(db, record["session"], record["key"], record["value"]),
    FORGET: lambda db, record: entries.forget(db, record["ids"], told=record.get("told", True)),
    FORGET_SESSION: lambda db, record: entries.forget_session(db, record["session"]),
    IMPORT: _import,
}
"""What each kind of record does. One to forget that has no `told` is from before: it is told."""


def taken(db: apsw.Connection, file: str) -> int:
    """The number of the last record that was taken from a file, 0 for none."""
    value = sessions.get_state(db, ownership.SESSION, TAKEN + file)
    return int(json.loads(value)["number"]) if value else 0


def mark_taken(db: apsw.Connection, file: str, number: int, now: float) -> None:
    """Keep, in the caller's transaction, that all records of a file up to this one are in the archive."""
    sessions.set_state(db, ownership.SESSION, TAKEN + file, json.dumps({"number": number, "at": now}))


def take(
    db: apsw.Connection, records: Sequence[Numbered], now: float
) -> tuple[list[Numbered], list[Numbered]]:
    """Apply the records that are not in the archive yet, in order and in the caller's transaction.

    Returns those that were applied, and those that cannot be: they are of no known kind, or damaged.
    """
    before: dict[str, int] = {}
    last: dict[str, int] = {}
    applied: list[Numbered] = []
    refused: list[Numbered] = []
    for each in records:
        if each.file not in before:
            before[each.file] = taken(db, each.file)
        if each.number <= max(before[each.file], last.get(each.file, 0)):
            continue
        last[each.file] = each.number
        (applied if _is_applied(db, each) else refused).append(each)
    for file, number in last.items():
        mark_taken(db, file, number, now)
    if last:
        _drop_old_marks(db, before, now)
    return applied, refused


def waiting(db: apsw.Connection, records: Sequence[Numbered]) -> int:
    """How many of the records are not in the archive yet."""
    last = {file: taken(db, file) for file in {each.file for each in records}}
    return len({each[:2] for each in records if each.number > last[each.file]})


def _is_applied(db: apsw.Connection, each: Numbered) -> bool:
    try:
        with db:  # all of a record or nothing
            apply(db, each.record, each.owner)
    except StoreError:  # of an entry that was forgotten since
        return True
    except (KeyError, ValueError, TypeError, IndexError, AttributeError):
        return False
    return True


def _drop_old_marks(db: apsw.Connection, present: Collection[str], now: float) -> None:
    sql = "SELECT key FROM state WHERE session = ? AND substr(key, 1, ?) = ?"
    rows: list[Any] = db.execute(sql, (ownership.SESSION, len(TAKEN), TAKEN)).fetchall()
    for (key,) in rows:
        value = sessions.get_state(db, ownership.SESSION, key)
        is_old = value is None or json.loads(value)["at"] < now - REMEMBERED_SECONDS
        if is_old and key[len(TAKEN) :] not in present:
            db.execute("DELETE FROM state WHERE session = ? AND key = ?", (ownership.SESSION, key))


def without_forgotten(records: Sequence[Record]) -> list[Record | None]:
    """The records without what a later one of them forgets; None in place of one of which nothing is left."""
    ids: set[str] = set()
    gone: set[str] = set()
    left: list[Record | None] = []
    for record in reversed(records):
        left.append(without(record, ids, gone) if ids or gone else record)
        if record["kind"] == FORGET:
            ids.update(record["ids"])
        elif record["kind"] == FORGET_SESSION:
            gone.add(record["session"])
    return left[::-1]


def without(record: Record, ids: Collection[str], gone: Collection[str]) -> Record | None:
    """A record, or a line of an export, without entries by id and sessions; None if nothing of it is left."""
    kind = record["kind"]
    if kind == IMPORT:
        lines = [each for each in (without(line, ids, gone) for line in record["lines"]) if each]
        return {**record, "lines": _without_stray(lines)} if len(lines) > 1 else None
    own = record.get("id") if kind in (SAID, "entry") else record.get("entry")
    if own in ids or record.get("session") in gone or (kind == "session" and record["id"] in gone):
        return None
    if kind == "event":
        return _event_without(record, ids)
    if "ids" in record and kind != FORGET:
        kept = [each for each in record["ids"] if each not in ids]
        return {**record, "ids": kept} if kept else None
    return record


def _event_without(record: Record, ids: Collection[str]) -> Record | None:
    data: Mapping[str, object] | None = record["data"]
    for each in sessions.entries_of(record["data"]):
        if data is not None and each in ids:
            data = entries.without(data, each)
    return {**record, "data": data} if data is not None else None


def _without_stray(lines: list[Record]) -> list[Record]:
    """Lines of an export without the entries that stand nowhere any more."""
    placed = {line["entry"] for line in lines if line["kind"] == "occurrence"}
    return [line for line in lines if line["kind"] != "entry" or line["id"] in placed]
