"""What is to be sent of a shared project, in the order in which it was said: read from SQLite, never from a
chat.

What the archive holds went through redaction as it was stored, and nothing else is read here. Left out is
what stays on this machine (said to a local model, or never sent to any), what came from the server, events,
state, and the project's path.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.sessions import HOST_KEY, SHARED
from aider_gardener.archive.store import sessions, shares, transfer, words
from aider_gardener.archive.store.shares import Share, Tombstone

if TYPE_CHECKING:
    import apsw

TOLD_ROWS = 500
BYTES = 4_000_000
"""A batch ends with the row that brings it over this."""
VECTOR_ROWS = 1_000
INDEXED_CHARS = 200_000
"""Of a longer text only both ends are found by words on the server."""
WORD_BYTES, WORDS_BYTES = 200, 500_000

Line = dict[str, Any]


@dataclass(frozen=True)
class OutgoingEntry:
    """One occurrence with its original: keys as the server keeps them, and the lines of an export.

    `words` are those it is found by. `at` is when it was said, in seconds since the epoch.
    """

    number: int
    session: str
    seq: int
    hash: str
    at: float
    cls: str
    words: tuple[str, ...]
    session_line: str
    entry_line: str
    occurrence_line: str


@dataclass(frozen=True)
class Batch:
    """What goes in one transaction. `upto` is the last row that was looked at; `more`: there may be
    others."""

    said: tuple[OutgoingEntry, ...]
    upto: int
    more: bool


@dataclass(frozen=True)
class SentVector:
    """A passage's vector, by the hash of its original."""

    number: int
    hash: str
    start: int
    end: int
    embedder: str
    values: tuple[float, ...]


def batch(db: apsw.Connection, share: Share, *, rows: int) -> Batch:
    """The next occurrences that the server has not, at most `rows` and about four megabytes of text.

    An original that is not as it was stored is left out, until `gardener store verify` has mended it.
    """
    providers = [row[0] for row in db.execute("SELECT DISTINCT provider FROM occurrences")]
    sql = """SELECT n.number, n.original, s.id FROM occurrences n JOIN sessions s ON s.number = n.session
             WHERE n.number > ? AND s.project = ? AND s.id NOT LIKE ? || '%'
             AND n.provider IN (SELECT value FROM json_each(?)) ORDER BY n.number LIMIT ?"""
    allowed = json.dumps([name for name in providers if shares.may_leave(name)])
    found: list[Any] = db.execute(sql, (share.sent, share.project, SHARED, allowed, rows)).fetchall()
    last = int(db.execute("SELECT coalesce(max(number), 0) FROM occurrences").get)
    said, size, known = [], 0, {}
    for at, (number, original, session) in enumerate(found, 1):
        if original not in known:
            known[original] = _original(db, original)
            size += len(known[original][1]) if known[original] else 0
        if known[original]:
            said.append(_said(db, number, session, known[original]))
        if size >= BYTES and at < len(found):
            return Batch(tuple(said), number, True)
    is_full = len(found) == rows
    return Batch(tuple(said), found[-1][0] if is_full else last, is_full)


def _original(db: apsw.Connection, number: int) -> Any:
    """Hash, line, class and words of an original; None for one that is not sound."""
    line, stored_hash = transfer.entry_line(db, number)
    if line is None:
        return None
    line |= {"pinned": 0, "active": 0, "access_count": 0, "accessed_at": 0.0, "renditions": []}
    return stored_hash, as_line(line), line["cls"], indexed(line["content"])


def _said(db: apsw.Connection, number: int, session: str, original: Any) -> OutgoingEntry:
    stored_hash, entry_line, cls, found = original
    session_line, line = transfer.place_lines(db, number)
    session_line |= {"project": "", "host": sessions.get_state(db, session, HOST_KEY) or ""}
    return OutgoingEntry(
        number, session, line["seq"], stored_hash, line["at"], cls, found,
        as_line(session_line), entry_line, as_line(line),
    )  # fmt: skip


def as_line(line: Line) -> str:
    """A line of an export as JSON in ASCII."""
    return json.dumps(line, separators=(",", ":"))


def indexed(text: str) -> tuple[str, ...]:
    """The distinct words that a text is found by on the server, cut as the archive cuts them."""
    half = INDEXED_CHARS // 2
    shown = text if len(text) <= INDEXED_CHARS else f"{text[:half]} {text[-half:]}"
    found: dict[str, None] = {}
    left = WORDS_BYTES
    for word in words.index_words(shown):
        coded = word.encode("utf-8", "replace")
        if coded and b"\0" not in coded and len(coded) <= min(WORD_BYTES, left):
            text_of = coded.decode()
            left -= 0 if text_of in found else len(coded)
            found[text_of] = None
    return tuple(found)


def vectors(db: apsw.Connection, share: Share, *, rows: int = VECTOR_ROWS) -> tuple[list[SentVector], int]:
    """The next vectors, and the last number that was looked at: before the first whose original is not sent
    yet.

    Those of what stays on this machine, or came from the server, are passed over.
    """
    sql = """SELECT v.number, o.number, o.hash, c.start, c."end", e.name, v.vector FROM vectors v
             JOIN embedders e ON e.number = v.embedder JOIN chunks c ON c.number = v.chunk
             JOIN originals o ON o.number = c.original
             WHERE v.number > ? ORDER BY v.number LIMIT ?"""
    rows_found: list[Any] = db.execute(sql, (share.vectors_sent, rows)).fetchall()
    found, upto = [], share.vectors_sent
    for number, original, stored_hash, start, end, embedder, value in rows_found:
        first = _first_place(db, share, original)
        if first is not None and first > share.sent:
            break
        upto = number
        if first is not None:
            values = _of_length_1(value)
            found.append(SentVector(number, stored_hash.hex(), start, end, embedder, values))
    return found, upto


def _of_length_1(value: bytes) -> tuple[float, ...]:
    """A stored vector as the server orders by: scalar products are cosines there."""
    numbers = struct.unpack(f"{len(value)}b", value)
    length = math.hypot(*numbers) or 1.0
    return tuple(number / length for number in numbers)


def _first_place(db: apsw.Connection, share: Share, original: int) -> int | None:
    """The first occurrence of an original that the server has or will have; None for none."""
    sql = """SELECT n.number, n.provider FROM occurrences n JOIN sessions s ON s.number = n.session
             WHERE n.original = ? AND s.project = ? AND s.id NOT LIKE ? || '%' ORDER BY n.number"""
    rows: list[Any] = db.execute(sql, (original, share.project, SHARED)).fetchall()
    return next((int(number) for number, provider in rows if shares.may_leave(provider)), None)


def told(db: apsw.Connection, share: Share) -> list[Tombstone]:
    """The next of what was forgotten that the server is to hear of."""
    return shares.tombstones(db, share.project, share.told, TOLD_ROWS)


def moved(db: apsw.Connection, share: Share, upto: int) -> Share:
    """Note that the server has all up to a row; not if rows were cut off since `share` was read, after which
    the numbers may be those of others. Returns the share as it is now."""
    now = shares.share_of(db, share.project)
    if now is None:
        return share
    if now.cuts == share.cuts:
        now = replace(now, sent=max(now.sent, upto))
        shares.keep(db, now)
    return now


def waiting(db: apsw.Connection, share: Share) -> tuple[int, int]:
    """How many occurrences and forgotten things wait to be sent."""
    providers = [row[0] for row in db.execute("SELECT DISTINCT provider FROM occurrences")]
    allowed = json.dumps([name for name in providers if shares.may_leave(name)])
    sql = """SELECT count(*) FROM occurrences n JOIN sessions s ON s.number = n.session
             WHERE n.number > ? AND s.project = ? AND s.id NOT LIKE ? || '%'
             AND n.provider IN (SELECT value FROM json_each(?))"""
    said = int(db.execute(sql, (share.sent, share.project, SHARED, allowed)).get)
    return said, len(shares.tombstones(db, share.project, share.told, 1_000_000))
