"""What could not be written for the moment: kept in memory, in order, written before the next write.

Where lines of JSON can be written meanwhile each stands in one too, so that it outlives the process."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import apsw

from aider_gardener.archive.store import entries, records, sessions
from aider_gardener.archive.store.base import Event
from aider_gardener.archive.store.entries import NOWHERE, EntryDraft, Place
from aider_gardener.archive.store.records import Record
from aider_gardener.errors import StoreError
from aider_gardener.messages import Entry, Fidelity, Rendition

PATIENCE_MILLISECONDS = 250
"""While something waits, a lock is waited for no longer than this: the first wait was long enough."""


@dataclass(frozen=True, eq=False)
class Later:
    """A write that is no entry. `place` is that of its line, where it stands in one."""

    step: Callable[[apsw.Connection], object]
    record: Record
    place: Place = NOWHERE

    @property
    def state(self) -> tuple[str, str, str] | None:
        """Session, key and value of what can be read while it waits."""
        own = self.record
        return (own["session"], own["key"], own["value"]) if own["kind"] == "state" else None

    @property
    def event(self) -> Event | None:
        """The event that can be read while it waits."""
        own = self.record
        if own["kind"] != "event":
            return None
        return Event(0, own["session"], own["turn"], own["event"], own["data"], own["at"])


class Waiting:
    """Drafts of entries and other writes in the order they came. All texts are redacted already."""

    def __init__(self) -> None:
        self.items: list[EntryDraft | Later] = []

    def __len__(self) -> int:
        return len(self.items)

    @property
    def drafts(self) -> list[EntryDraft]:
        return [each for each in self.items if isinstance(each, EntryDraft)]

    def write(self, db: apsw.Connection, clock: Callable[[], float]) -> list[EntryDraft | Later]:
        """Write all of it; the caller passes the list to `settle` once its transaction is on disk.

        What another process has taken in from its line meanwhile is there already.
        """
        written = list(self.items)
        taken = {file: records.taken(db, file) for file in {each.place[0] for each in written} if file}
        for each in written:
            file, number = each.place
            if file and number <= taken[file]:
                continue
            if isinstance(each, EntryDraft):
                entries.add(db, each)
            else:
                _write_later(db, each)
        for file in taken:
            last = max(each.place[1] for each in written if each.place[0] == file)
            records.mark_taken(db, file, max(last, taken[file]), clock())
        return written

    def settle(self, written: list[EntryDraft | Later]) -> None:
        """Drop what was written; what another thread added meanwhile stays."""
        self.items[:] = [each for each in self.items if not any(each is done for done in written)]

    def forget(self, ids: Collection[str]) -> int:
        """Drop entries by id, and the events about them; returns how many entries there were."""
        wanted = set(ids)
        gone = {each.entry.id for each in self.drafts if each.entry.id in wanted}
        self.items[:] = [each for each in self.items if not _is_about(each, wanted)]
        return len(gone)

    def get(self, entry_id: str) -> Entry | None:
        """The latest entry of this id as it will be stored, or None."""
        return next((stored(each) for each in reversed(self.drafts) if each.entry.id == entry_id), None)

    def renditions(self, entry_id: str) -> dict[Fidelity, Rendition]:
        """The renditions of the latest entry of this id, without its full text."""
        for each in reversed(self.drafts):
            if each.entry.id == entry_id:
                return {r.fidelity: r for r in each.renditions if r.fidelity is not Fidelity.FULL}
        return {}

    def session_entries(self, session: str, after_seq: int) -> list[Entry]:
        """The entries of a session that wait, with a higher seq."""
        mine = (each for each in self.drafts if each.entry.session == session)
        return [stored(each) for each in mine if each.entry.seq > after_seq]

    def state(self, session: str, key: str) -> str | None:
        """The value that waits under a key, or None."""
        waiting = (each.state for each in reversed(self.items) if isinstance(each, Later) and each.state)
        return next((value for own, name, value in waiting if (own, name) == (session, key)), None)

    def events(self, session: str | None, kind: str | None, entry_id: str | None) -> list[Event]:
        """The events that wait and match."""
        waiting = (each.event for each in self.items if isinstance(each, Later) and each.event)
        return [
            event
            for event in waiting
            if session in (None, event.session)
            and kind in (None, event.kind)
            and (entry_id is None or entry_id in sessions.entries_of(event.data))
        ]


def _is_about(waiting: EntryDraft | Later, ids: set[str]) -> bool:
    if isinstance(waiting, EntryDraft):
        return waiting.entry.id in ids
    return waiting.event is not None and not ids.isdisjoint(sessions.entries_of(waiting.event.data))


def _write_later(db: apsw.Connection, waiting: Later) -> None:
    """What has become impossible meanwhile (its entry was forgotten) must not hold up the rest."""
    try:
        waiting.step(db)
    except StoreError:
        return


def stored(waiting: EntryDraft) -> Entry:
    """The entry that a draft will become."""
    source = replace(waiting.entry.source, detail=waiting.detail)
    return replace(waiting.entry, content=waiting.body.text, source=source)
