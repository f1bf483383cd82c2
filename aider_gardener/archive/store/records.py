"""A write as plain data: a line of an export, or of the lines that stand for an archive, and what it does.

A record holds texts as they are stored, without secrets. Done twice it changes nothing more, so lines may be
taken in again by whoever does not know that they were.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from aider_gardener import files
from aider_gardener.archive.store import entries, schema, search, sessions
from aider_gardener.archive.store.base import Record as Record  # of which this is the grammar
from aider_gardener.archive.store.redact import Redacted, Redactor, cleaned
from aider_gardener.errors import StoreError
from aider_gardener.messages import LAST_SECOND, Entry, Rendition

if TYPE_CHECKING:
    from aider_gardener.archive.passages import Span

FORMAT = 2
BEGINS = b'{"kind":"meta",'
"""How the file of an export begins."""
SAID, FORGET, FORGET_SESSION = "said", "forget", "forget session"
EXPORTED = frozenset(("session", SAID, "event", "state"))
"""What another archive may say here."""
SESSION_FIELDS = ("id", "project", "started_at")
TIMES, NUMBERS = ("at", "started_at"), ("turn", "seq", "tokens", "pinned", "active")
LARGEST = (1 << 63) - 1
"""SQLite's largest integer: the place of what was said without a transcript has 19 digits."""
NOT_AN_EXPORT = "{path} is no export of a format that this version reads ({format})"
NOT_IMPORTED = "{path}, line {number}, cannot be read: nothing was imported"
NOT_READ = (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError, RecursionError)
"""What a record raises that is none."""


def as_json(value: object) -> bytes:
    """A value as JSON. Texts stay as they are, lone surrogates and all: `json.loads` reads it."""
    return search.encode(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def as_record(
    entry: Entry, redact: Redactor, chunks: Sequence[Span], renditions: Iterable[Rendition]
) -> Record:
    """An entry as it is stored: every text redacted, every span moved along."""
    record: Record = {
        "kind": SAID, "session": entry.session, "seq": entry.seq, "turn": entry.turn,
        "source": entry.source.kind.value, "detail": entry.source.detail, "provider": entry.provider,
        "at": entry.created_at, "id": entry.id, "role": entry.role, "cls": entry.cls.value,
        "segments": [[s.start, s.end, s.cls.value, s.kind, s.language] for s in entry.segments],
        "redactions": [], "tokens": entry.tokens, "pinned": entry.pinned, "active": entry.active,
        "content": entry.content, "chunks": [list(span) for span in chunks],
        "renditions": [[each.level.value, each.text, each.tokens] for each in renditions],
    }  # fmt: skip
    return redacted(record, redact)


def check_numbers(record: Record) -> None:
    """Raise NOT_READ for what somebody else wrote in place of numbers: times, counts and flags."""
    times = [record[name] for name in TIMES if name in record]
    numbers = [record[name] for name in NUMBERS if name in record]
    if not all(0 <= each <= LAST_SECOND for each in times) or not all(
        isinstance(each, int) and 0 <= each <= LARGEST for each in numbers
    ):
        raise ValueError("a number that is none")


def redacted(record: Record, redact: Redactor) -> Record:
    """A record without secrets; spans of its content are moved along."""
    kind = record["kind"]
    if kind == "event":
        return {**record, "data": cleaned(record["data"], redact)}
    if kind == "state":
        return {**record, "value": redact.clean_json(record["value"])}
    if kind != SAID:
        return record
    body = redact(record["content"])  # first: what is a secret there is one in its short forms
    detail = redact(record["detail"]).text.encode("utf-8", "replace").decode()  # no lone surrogate
    spans = (_moved(body, each) for each in record["chunks"])
    added = [[span.start, span.end, span.kind] for span in body.spans]
    return {
        **record,
        "content": body.text,
        "segments": [[*_moved(body, each[:2]), *each[2:]] for each in record["segments"]],
        "chunks": [list(each) for each in dict.fromkeys(spans) if each[0] < each[1]],
        "redactions": [*record["redactions"], *added],
        "renditions": [[word, redact(text).text, n] for word, text, n in record["renditions"]],
        "detail": detail,
    }


def _moved(body: Redacted, span: Sequence[int]) -> tuple[int, int]:
    return body.position(span[0]), body.position(span[1], end=True)


def apply(db: apsw.Connection, record: Record, *, again: bool = False) -> Any:
    """Do what a record says; with `again` only what of it is not done yet. Raises NOT_READ for one that is
    none, StoreError for what cannot be done. Returns what the step does."""
    return STEPS[record["kind"]](db, record, again)


def _put_renditions(db: apsw.Connection, record: Record) -> None:
    number = entries.number_of(db, record["id"])
    if number is None:
        raise StoreError(f"there is no entry {record['id']}")
    entries.put_renditions(db, number, record["renditions"])


STEPS: dict[str, Callable[[apsw.Connection, Record, bool], object]] = {
    SAID: lambda db, record, again: entries.add(db, record, again=again),
    "session": lambda db, record, _: sessions.open_session(db, *(record[name] for name in SESSION_FIELDS)),
    "renditions": lambda db, record, _: _put_renditions(db, record),
    "touch": lambda db, record, again: sessions.touch(db, record["ids"], record["at"], again=again),
    "pin": lambda db, record, _: db.execute(
        "UPDATE originals SET pinned = ? WHERE id = ?", (int(record["pinned"]), record["id"])
    ),
    "active": lambda db, record, _: db.executemany(
        "UPDATE occurrences SET active = ? WHERE session = ? AND seq = ?",
        [
            (int(record["active"]), entries.session_number(db, record["session"]), int(seq))
            for seq in record["seqs"]
        ],
    ),
    "event": lambda db, record, again: sessions.record_event(db, record, again=again),
    "state": lambda db, record, _: sessions.set_state(db, record["session"], record["key"], record["value"]),
    FORGET: lambda db, record, _: entries.forget(db, record["ids"], everywhere=record["told"]),
    FORGET_SESSION: lambda db, record, _: entries.forget_session(db, record["session"]),
}
"""What each kind of record does."""


def take(db: apsw.Connection, records: Iterable[Record]) -> int:
    """Do what the lines of an archive say, in order and in the caller's transaction; returns how many of them
    are no records or cannot be done."""
    refused = 0
    for record in records:
        try:
            apply(db, record, again=True)
        except StoreError:  # of an entry that was forgotten since
            continue
        except NOT_READ:
            refused += 1
    return refused


def export(db: apsw.Connection) -> Iterator[Record]:
    """All that an archive holds, in the order in which it was said, but for vectors, which are made anew."""
    yield {"kind": "meta", "format": FORMAT}
    for row in db.execute(f"SELECT {', '.join(SESSION_FIELDS)} FROM sessions ORDER BY number"):
        yield {"kind": "session", **dict(zip(SESSION_FIELDS, row, strict=True))}
    yield from entries.records_where(db, "1 ORDER BY n.number")
    sql = "SELECT session, turn, kind, data, at FROM events ORDER BY number"
    for session, turn, kind, data, at in db.execute(sql):
        event = {"session": session, "turn": turn, "event": kind, "data": json.loads(data), "at": at}
        yield {"kind": "event", **event}
    sql = "SELECT session, key, value FROM state WHERE session != ? ORDER BY session, key"
    for session, key, value in db.execute(sql, (schema.OWN,)):
        yield {"kind": "state", "session": session, "key": key, "value": search.decode(value)}


def export_of_other(old: apsw.Connection) -> Iterator[Record]:
    """The records of another archive. What is damaged there raises ValueError: it is no fault of this one."""
    try:
        yield from export(old)
    except (apsw.Error, AttributeError, TypeError, UnicodeDecodeError) as error:
        raise ValueError("damaged") from error


def add_all(db: apsw.Connection, records: Iterable[Record], fault: str) -> int:
    """Add what another archive holds and this one does not, within the caller's transaction; returns how many
    of its records were new. What is known here of the same entries stays.

    The other's texts are redacted, its ids replaced where another text has them here. Raises StoreError that
    says `fault`, with its `number`, of a record that is none."""
    redact, ids, number, new = Redactor(), dict[str, str](), 0, 0
    try:
        for given in records:
            number += 1
            if given["kind"] == "meta":
                continue
            if given["kind"] not in EXPORTED:
                raise ValueError(given["kind"])
            if given["kind"] == "event":
                given = {**given, "data": entries.with_ids(given["data"], ids)}
            check_numbers(given)
            record = redacted(given, redact)
            if record["kind"] == "state":
                session, key = record["session"], record["key"]
                if session == schema.OWN or sessions.get_state(db, session, key) is not None:
                    continue  # it is one of the archive's own, or is kept already
            before = db.total_changes()
            done = apply(db, record, again=True)
            new += db.total_changes() > before
            if record["kind"] == SAID:
                ids[given["id"]] = done.id
    except NOT_READ as error:
        raise StoreError(fault.replace("{number}", str(number))) from error
    return new


def write_export(db: apsw.Connection, path: Path) -> int:
    """Write all records to a private file beside `path`, then put it in its place; returns their number.
    Raises OSError, also where something else than an export is there."""
    count = 0
    if path.is_file() and path.stat().st_size:
        with files.open_plain(path, follow=True) as file:
            if file.read(len(BEGINS)) != BEGINS:
                raise FileExistsError(errno.EEXIST, "another file is there, which is no export")

    def lines() -> Iterator[bytes]:
        nonlocal count
        for record in export(db):
            count += 1
            yield json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"

    files.put(path, lines())
    return count


def read_export(path: Path) -> Iterator[Record]:
    """The records of an export. Raises OSError, StoreError for a file that is none."""
    number = 0
    with files.open_plain(path, follow=True) as source:
        for number, raw in enumerate(files.lines(source), 1):
            try:
                record = json.loads(raw)
                is_ours = number > 1 or (record["kind"] == "meta" and record["format"] == FORMAT)
            except NOT_READ as error:
                raise StoreError(NOT_IMPORTED.format(path=path, number=number)) from error
            if not is_ours:
                raise StoreError(NOT_AN_EXPORT.format(path=path, format=FORMAT))
            yield record
    if not number:
        raise StoreError(f"{path} is empty")
