"""Processes that write an archive and tell what was acknowledged, and what must be found of it afterwards."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

from aider_gardener.archive.store import Store

NO_SQLITE = """
import sys, time, apsw
from pathlib import Path
from aider_gardener.archive.store import database, location, open_store
from aider_gardener.messages import ContentClass, Entry, Source, entry_id
opened = database._open
def refused(path, key=""):
    if path is not None:
        raise apsw.CantOpenError("unable to open database file")
    return opened(path, key)
"""
WRITER = (
    NO_SQLITE
    + """
directory, name, count, *how = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), *sys.argv[4:]
if how == ["in lines"]:
    database._open = refused
if how == ["on a network"]:
    location.is_network_path = lambda path: True
store = open_store(directory)
assert store.persistent, store.notice
store.open_session(name, project="p", started_at=1.0)
for seq in range(count):
    text = f"{name} message {seq} " + f"payload {seq} é\\n" * (seq % 40)
    new = Entry(id=entry_id("user", text), session=name, turn=seq, seq=seq, role="user", content=text,
                source=Source(), cls=ContentClass.LOG, segments=(), tokens=1)
    stored = store.add(new, chunks=[(0, len(text))])
    assert store.original(stored.id) == text
    store.record_event(name, seq, "swap", {"entry_id": stored.id}, 1.0)
    store.touch([stored.id], time.time() + 1)
    print(seq, stored.id, flush=True)
store.close()
"""
)


def started(code: str, *words: object, out: Path | None = None) -> subprocess.Popen[str]:
    """A process that runs this; what it prints goes to a file, if one is named."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, words)]
    if out is None:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with out.open("wb") as printed:
        return subprocess.Popen(command, stdout=printed, stderr=subprocess.PIPE, text=True)


def acknowledged_in(printed: Path) -> list[list[str]]:
    """The whole lines that a writer has printed so far, each a number and an id."""
    return [line.split() for line in printed.read_text().splitlines(keepends=True) if line.endswith("\n")]


def message(name: str, seq: int) -> str:
    return f"{name} message {seq} " + f"payload {seq} é\n" * (seq % 40)


def check(store: Store, name: str, acknowledged: list[list[str]]) -> None:
    """All that was acknowledged is there, byte for byte and once; at most one thing more of each kind."""
    for seq, stored_id in acknowledged:
        assert store.original(stored_id) == message(name, int(seq))
    contents = [entry.content for entry in store.session_entries(name)]
    assert contents == [message(name, seq) for seq in range(len(contents))]
    assert len(contents) - len(acknowledged) in (0, 1)
    events = [event.turn for event in store.events(name)]
    assert events == list(range(len(events))) and len(events) - len(acknowledged) in (0, 1)
    counts = [entry.access_count for entry in store.session_entries(name)]
    assert set(counts[: len(acknowledged)]) <= {1} and sum(counts) <= len(contents)
