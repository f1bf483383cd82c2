"""Entries that could not be written for the moment: kept in memory, written before the next one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import apsw

from aider_gardener.messages import Entry, Fidelity, Rendition
from aider_gardener.store import sqlite_entries
from aider_gardener.store.sqlite_entries import Draft

PATIENCE_MILLISECONDS = 250
"""While entries wait, a lock is waited for no longer than this: the first wait was long enough."""


class Waiting:
    """Drafts in the order they came. All texts are redacted already."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []

    def __len__(self) -> int:
        return len(self.drafts)

    def write(self, db: apsw.Connection) -> list[Draft]:
        """Store all of them; the caller passes them to `settle` once its transaction is on disk."""
        written = list(self.drafts)
        for waiting in written:
            sqlite_entries.add(db, waiting)
        return written

    def settle(self, written: list[Draft]) -> None:
        """Drop what was written; what another thread added meanwhile stays."""
        self.drafts[:] = [each for each in self.drafts if not any(each is done for done in written)]

    def forget(self, ids: Collection[str]) -> int:
        """Drop entries by id; returns how many there were."""
        gone = {each.entry.id for each in self.drafts if each.entry.id in ids}
        self.drafts[:] = [each for each in self.drafts if each.entry.id not in gone]
        return len(gone)

    def get(self, entry_id: str) -> Entry | None:
        """The latest entry of this id as it will be stored, or None."""
        return next((stored(each) for each in reversed(self.drafts) if each.entry.id == entry_id), None)

    def renditions(self, entry_id: str) -> dict[Fidelity, Rendition]:
        """The renditions of the latest entry of this id, without its full text."""
        for each in reversed(self.drafts):
            if each.entry.id == entry_id:
                return {r.fidelity: r for r, _ in each.renditions if r.fidelity is not Fidelity.FULL}
        return {}

    def session_entries(self, session: str, after_seq: int) -> list[Entry]:
        """The entries of a session that wait, with a higher seq."""
        mine = (each for each in self.drafts if each.entry.session == session)
        return [stored(each) for each in mine if each.entry.seq > after_seq]


def stored(waiting: Draft) -> Entry:
    """The entry that a draft will become."""
    source = replace(waiting.entry.source, detail=waiting.detail)
    return replace(waiting.entry, content=waiting.body.text, source=source)
