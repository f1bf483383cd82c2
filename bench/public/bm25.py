"""BM25 over whole messages, as SQLite computes it: what a search for words finds without a gardener."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import apsw

from aider_gardener.archive.archive import Archive
from aider_gardener.messages import Entry
from aider_gardener.plan.chat import Chat
from aider_gardener.recall.candidates import Request
from aider_gardener.recall.ranking import Passage
from aider_gardener.recall.recall import Recalled, take

WORD = re.compile(r"\w+")
MOST = 200
TABLE = "CREATE VIRTUAL TABLE said USING fts5(id UNINDEXED, text, tokenize = 'porter unicode61')"
SEARCH = "SELECT id, -bm25(said) FROM said WHERE said MATCH ? ORDER BY bm25(said) LIMIT ?"


class Bm25:
    """The messages of one conversation, to be searched for any of a question's words."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.entries = entries
        self.index = apsw.Connection(":memory:")
        self.index.execute(TABLE)
        rows = [(entry.id, entry.content) for entry in entries.values()]
        self.index.executemany("INSERT INTO said VALUES (?, ?)", rows)

    def __call__(self, archive: Archive, chat: Chat, request: Request) -> list[Recalled]:
        """The best messages that fit the request's tokens, each whole, best first."""
        asked = " OR ".join(f'"{word}"' for word in dict.fromkeys(WORD.findall(request.query)))
        found: list[Any] = self.index.execute(SEARCH, (asked, MOST)).fetchall() if asked else []
        ranked = [(points, points, self.whole(name)) for name, points in found]
        return take(ranked, request, archive, chat, archive.count)

    def whole(self, name: str) -> Passage:
        entry = self.entries[name]
        return Passage(entry, 0, len(entry.content), entry.content, "", 0.0)
