"""What is said in an archive, and the files of lines beside it, for tests of either."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import apsw

from aider_gardener.archive.store import Store, lines, open_store, schema
from aider_gardener.messages import ContentClass, Entry, Rendition, Source, SourceKind, entry_id

NoSqlite = Callable[[bool], None]
"""Of the fixture `no_sqlite`: whether SQLite opens no file from now on."""

opened_by_a_command = partial(open_store, or_memory=False)


def put(store: Store, content: str, *, seq: int = 0, turn: int = 1, session: str = "s1", detail: str = "ls",
        at: float = 5.0, chunk_chars: int = 0, renditions: tuple[Rendition, ...] = ()) -> Entry:  # fmt: skip
    """Say something in an archive; in passages of so many characters, or in one."""
    new = Entry(
        id=entry_id("user", content), session=session, turn=turn, seq=seq, role="user", content=content,
        source=Source(SourceKind.COMMAND, detail), cls=ContentClass.LOG, segments=(), tokens=max(1, len(content) // 4),
        created_at=at, accessed_at=at,
    )  # fmt: skip
    step = chunk_chars or max(1, len(content))
    spans = [(at, min(at + step, len(content))) for at in range(0, len(content), step)]
    return store.add(new, chunks=spans, renditions=renditions)


def said(store: Store, session: str = "s1") -> list[str]:
    return [entry.content for entry in store.session_entries(session)]


def files_of(directory: Path) -> list[Path]:
    return [directory / name for name in lines.names(directory)]


def bytes_of(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file())


def written(path: Path, sql: str) -> None:
    """Write to an archive as this program does, with check sums, so that it is not taken for damage."""
    db = schema.opened(path, apsw.SQLITE_OPEN_READWRITE, "")
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    db.execute(sql)
    db.close()


def left_behind(directory: Path, *texts: str, session: str = "s1") -> None:
    """A session that ended in lines."""
    store = open_store(directory)
    assert store.persistent and store.stats().path.endswith(".jsonl"), store.notice
    for seq, text in enumerate(texts):
        put(store, text, seq=seq, session=session)
    store.close()


def crash(store: Store) -> None:
    """End a store as kill -9 does: nothing is written any more."""
    if isinstance(store.lines, lines.FileLines):
        store.lines._close()
    store.database.close()
