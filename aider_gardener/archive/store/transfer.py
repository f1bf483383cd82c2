"""The archive as JSON lines, out and in, and the check that it is sound."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import apsw

from aider_gardener.archive.store import (
    encryption,
    entries,
    files,
    location,
    ownership,
    schema,
    search,
    sessions,
    sums,
)
from aider_gardener.archive.store.base import Chunk
from aider_gardener.archive.store.redact import Redactor
from aider_gardener.errors import StoreError
from aider_gardener.messages import ContentClass, Entry, Rendition, Segment, Source, SourceKind
from aider_gardener.messages import Fidelity as F

FORMAT = 1
NOT_COPIED = "damaged: {ids}; nothing was copied, `gardener store verify` mends what it can"
SESSION_FIELDS = ("id", "project", "started_at", "provider", "model")
PLACE_FIELDS = ("session", "seq", "turn", "entry", "source", "detail", "provider", "at")
Line = dict[str, Any]
Leaving = Callable[[Iterable[Line]], Callable[[Line], Line | None]]
"""Looks at all lines of an export, and says what of each may go to where they are to be kept."""


@dataclass
class Known:
    """What is known while the lines of one export are added: its ids as they are here, and how often each
    thing came: what stands in it twice is two, however often it is imported. Each text is redacted."""

    ids: dict[str, str] = field(default_factory=dict)
    seen: Counter[tuple[object, ...]] = field(default_factory=Counter)
    redact: Redactor = field(default_factory=Redactor)

    def times(self, *thing: object) -> int:
        """How often this came, with this time."""
        self.seen[thing] += 1
        return self.seen[thing]


def write_export(db: apsw.Connection, path: Path, damaged: list[str]) -> int:
    """Write all lines to a private file beside `path`, then put it in its place; returns their number.

    The ids of entries that are not as they were stored go to `damaged`, and nothing of them to the file.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    count = 0
    try:
        with location.open_private(part) as handle, open(handle.fileno(), "wb", closefd=False) as out:
            for line in lines(db, damaged):
                out.write(json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n")
                count += 1
            out.flush()
            os.fsync(out.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return count


def lines(db: apsw.Connection, damaged: list[str]) -> Iterator[Line]:
    """The lines of an export, in the order in which all was said; see `write_export`."""
    yield {"kind": "meta", "format": FORMAT, "schema": schema.version_of(db)}
    for row in db.execute(f"SELECT {', '.join(SESSION_FIELDS)} FROM sessions ORDER BY number"):
        yield {"kind": "session", **dict(zip(SESSION_FIELDS, row, strict=True))}
    yield from _entry_lines(db, damaged)
    sql = """SELECT s.id, n.seq, n.turn, o.id, n.source, n.detail, n.provider, n.at FROM occurrences n
             JOIN sessions s ON s.number = n.session JOIN originals o ON o.number = n.original
             ORDER BY n.number"""
    for row in db.execute(sql):
        if row[3] not in damaged:
            yield {"kind": "occurrence", **dict(zip(PLACE_FIELDS, row, strict=True))}
    for session, turn, kind, data, at in db.execute(
        "SELECT session, turn, kind, data, at FROM events ORDER BY number"
    ):
        yield {
            "kind": "event",
            "session": session,
            "turn": turn,
            "event": kind,
            "data": json.loads(data),
            "at": at,
        }
    for session, key, value in db.execute(
        "SELECT session, key, value FROM state WHERE session != ? ORDER BY session, key", (ownership.SESSION,)
    ):
        yield {"kind": "state", "session": session, "key": key, "value": search.decode(value)}


ENTRY_FIELDS = (
    "id",
    "role",
    "cls",
    "segments",
    "redactions",
    "tokens",
    "pinned",
    "active",
    "accessed_at",
    "access_count",
)
ENTRY_SQL = f"""SELECT o.number, o.hash, b.body, {", ".join("o." + name for name in ENTRY_FIELDS)}
                FROM originals o JOIN bodies b ON b.original = o.number"""


def _entry_lines(db: apsw.Connection, damaged: list[str]) -> Iterator[Line]:
    for row in db.execute(f"{ENTRY_SQL} ORDER BY o.number"):
        line = _entry_line(db, *row)
        if line is None:
            damaged.append(str(row[3]))
        else:
            yield line


def _entry_line(db: apsw.Connection, number: int, stored_hash: bytes, body: bytes, *row: Any) -> Line | None:
    """The line of an original; None for one that is not as it was stored."""
    if not entries.is_text_of(row[1], stored_hash, body):
        return None
    line: Line = {
        "kind": "entry",
        **dict(zip(ENTRY_FIELDS, row, strict=True)),
        "content": search.decode(body),
    }
    line["segments"], line["redactions"] = json.loads(line["segments"]), json.loads(line["redactions"])
    sql = """SELECT start, "end" FROM chunks WHERE original = ? ORDER BY number"""
    line["chunks"] = [list(chunk) for chunk in db.execute(sql, (number,))]
    sql = "SELECT fidelity, text, tokens FROM renditions WHERE original = ? ORDER BY fidelity"
    line["renditions"] = [[word, search.decode(text), n] for word, text, n in db.execute(sql, (number,))]
    return line


def entry_line(db: apsw.Connection, number: int) -> tuple[Line | None, str]:
    """The line of one original, None if it is not sound, and the hash of its stored text as hex."""
    rows: list[Any] = db.execute(f"{ENTRY_SQL} WHERE o.number = ?", (number,)).fetchall()
    return (_entry_line(db, *rows[0]), rows[0][1].hex()) if rows else (None, "")


def place_lines(db: apsw.Connection, number: int) -> tuple[Line, Line]:
    """The lines of the session that an occurrence stands in and of the occurrence itself."""
    sql = """SELECT s.id, s.project, s.started_at, s.provider, s.model, n.seq, n.turn, o.id, n.source,
             n.detail, n.provider, n.at FROM occurrences n JOIN sessions s ON s.number = n.session
             JOIN originals o ON o.number = n.original WHERE n.number = ?"""
    row: Any = db.execute(sql, (number,)).fetchall()[0]
    session = dict(zip(SESSION_FIELDS, row[:5], strict=True))
    place = dict(zip(PLACE_FIELDS, (row[0], *row[5:]), strict=True))
    return {"kind": "session", **session}, {"kind": "occurrence", **place}


def take_in(db: apsw.Connection, session: Line, entry: Line, occurrence: Line) -> None:
    """Add an original with one place where it stood, both as lines of an export, within the caller's
    transaction. What is there already stays. Raises ValueError and the like for lines that are none."""
    known = Known()
    for line in (session, entry, occurrence):
        import_line(db, line, known)


def read_import(db: apsw.Connection, path: Path, leaving: Leaving | None = None) -> int:
    """Add the lines of an export, or what `leaving` lets through of them; returns how many were added. Runs
    within the caller's transaction, so it is all or nothing."""
    left = leaving(line for _, line in _parsed(path)) if leaving else None
    known, added = Known(), 0
    for number, given in _parsed(path):
        try:
            line = left(given) if left else given
            if line is not None:
                import_line(db, line, known)
                added += 1
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise _unreadable(path, number) from error
    return added


def _parsed(path: Path) -> Iterator[tuple[int, Line]]:
    """The lines of an export with their numbers. Raises StoreError for a file that is none."""
    number = 0
    with files.open_plain(path, location.LARGEST_BYTES, follow=True) as source:
        for number, raw in enumerate(source, 1):
            try:
                line = json.loads(raw)
                is_ours = number > 1 or (line.get("kind") == "meta" and line.get("format") == FORMAT)
            except (ValueError, AttributeError) as error:
                raise _unreadable(path, number) from error
            if not is_ours:
                raise StoreError(f"{path} is not an export of the gardener's (format {FORMAT})")
            yield number, line
    if not number:
        raise StoreError(f"{path} is empty")


def _unreadable(path: Path, number: int) -> StoreError:
    return StoreError(f"{path}, line {number}, cannot be read: nothing was imported")


def copy(old: apsw.Connection, new: apsw.Connection, leaving: Leaving | None = None) -> int:
    """Add all of one archive to another, or what `leaving` lets through; returns how many lines. Raises
    StoreError for one that is damaged."""
    left = leaving(lines(old, [])) if leaving else None
    damaged: list[str] = []
    known, added = Known(), 0
    for given in lines(old, damaged):
        line = left(given) if left else given
        if line is not None:
            import_line(new, line, known)
            added += 1
    if damaged:
        raise StoreError(NOT_COPIED.format(ids=", ".join(damaged)))
    return added


def adopt(db: apsw.Connection, stranger: Path, key: str = "", leaving: Leaving | None = None) -> int:
    """Add what an archive holds that another user or another machine made; returns the entries it has.

    Its tables must be the archive's own; `leaving` as in `copy`. It is brought to the newest version on the
    way. Runs within the caller's transaction. Raises StoreError.
    """
    old = apsw.Connection(str(stranger), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
    try:
        schema.distrust(old)
        encryption.unlock(old, key)
        if schema.application_of(old) != schema.APPLICATION_ID or not schema.is_exact(old):
            raise StoreError(f"{stranger} has other tables than an archive of the gardener's")
        schema.migrate(old)
        left, known = leaving(lines(old, [])) if leaving else None, Known()
        for given in lines(old, []):
            line = left(given) if left else given
            if line is not None:
                import_line(db, line, known)
        return len(known.ids)
    except (apsw.Error, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise StoreError(f"{stranger} cannot be read: nothing was taken over") from error
    finally:
        old.close()


def import_line(db: apsw.Connection, line: Line, known: Known) -> None:
    """Add what one line of an export says, unless the archive has it; the lines come in the order of the
    export. Raises ValueError and the like for a line that is none."""
    kind = line["kind"]
    if kind == "session":
        sessions.open_session(
            db, line["id"], line["project"], line["started_at"], line["provider"], line["model"]
        )
    elif kind == "entry":
        known.ids[line["id"]] = _import_entry(db, line, known)
    elif kind == "occurrence":
        _import_occurrence(db, line, known)
    elif kind == "event":
        _import_event(db, line, known)
    elif kind == "state":
        is_ours = line["session"] != ownership.SESSION
        if is_ours and sessions.get_state(db, line["session"], line["key"]) is None:
            sessions.set_state(db, line["session"], line["key"], known.redact.clean_json(line["value"]))
    elif kind != "meta":
        raise ValueError(kind)


def _import_entry(db: apsw.Connection, line: Line, known: Known) -> str:
    """Store an exported original under its own id; what the archive already knows of it stays."""
    entry = Entry(
        id=line["id"], session="", turn=0, seq=0, role=line["role"], content=line["content"],
        source=Source(SourceKind.UNKNOWN), cls=ContentClass(line["cls"]),
        segments=tuple(Segment(s[0], s[1], ContentClass(s[2]), s[3], s[4]) for s in line["segments"]),
        tokens=line["tokens"], pinned=bool(line["pinned"]), created_at=line["accessed_at"],
    )  # fmt: skip
    body = known.redact(entry.content)
    draft = entries.draft(entry, body, "", [Chunk(entry.id, start, end) for start, end in line["chunks"]])
    draft = replace(draft, long_id=entries.lengthened(entry.id, entry.role, body.text))
    before = db.total_changes()
    number, stored_id = entries.write_original(db, draft)
    if db.total_changes() == before:
        return stored_id
    redactions = [*line["redactions"], *([span.start, span.end, span.kind] for span in body.spans)]
    db.execute(
        "UPDATE originals SET active = ?, access_count = ?, redactions = ? WHERE number = ?",
        (int(line["active"]), line["access_count"], json.dumps(redactions), number),
    )
    sums.keep(db, "originals", number)
    kept = [Rendition(F(word), known.redact(text).text, tokens) for word, text, tokens in line["renditions"]]
    entries.put_renditions(db, number, kept)
    return stored_id


def _import_occurrence(db: apsw.Connection, line: Line, known: Known) -> None:
    session = entries.session_number(db, line["session"])
    number = entries.number_of(db, known.ids[line["entry"]])
    same = (session, number, line["turn"], line["at"])
    sql = "SELECT count(*) FROM occurrences WHERE session = ? AND original = ? AND turn = ? AND at = ?"
    if db.execute(sql, same).get >= known.times("occurrence", *same):
        return
    seq, detail = line["seq"], known.redact(line["detail"]).text
    if db.execute("SELECT 1 FROM occurrences WHERE session = ? AND seq = ?", (session, seq)).get is not None:
        seq = db.execute("SELECT max(seq) + 1 FROM occurrences WHERE session = ?", (session,)).get
    db.execute(
        "INSERT INTO occurrences (session, seq, turn, original, source, detail, provider, at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (session, seq, line["turn"], number, SourceKind(line["source"]).value, detail,
         line["provider"], line["at"]),
    )  # fmt: skip
    sums.keep(db, "occurrences", db.last_insert_rowid())


def _import_event(db: apsw.Connection, line: Line, known: Known) -> None:
    data: dict[str, Any] = {key: known.redact.clean(value) for key, value in line["data"].items()}
    if isinstance(data.get("entry_id"), str):
        data["entry_id"] = known.ids.get(data["entry_id"], data["entry_id"])
    if isinstance(data.get("entry_ids"), list):
        data["entry_ids"] = [known.ids.get(each, each) for each in data["entry_ids"]]
    session, turn, at = line["session"], line["turn"], line["at"]
    held = sessions.events(db, session, line["event"], None)
    same = sum((each.at, each.turn, each.data) == (at, turn, data) for each in held)
    if same < known.times("event", session, line["event"], turn, at, json.dumps(data, sort_keys=True)):
        sessions.record_event(db, session, turn, line["event"], data, at)
