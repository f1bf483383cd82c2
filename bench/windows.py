"""The null hypothesis of recall: BM25 over each passage and over it with its three neighbours on each side,
as SQLite computes it, packed until the room is full."""

from __future__ import annotations

from typing import Any

import apsw

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.passages import chunk
from aider_gardener.archive.store.words import query_words
from aider_gardener.plan.chat import Chat
from aider_gardener.recall.finding import Passage
from aider_gardener.recall.recall import Recalled, pack
from aider_gardener.recall.request import Request

NAME = "BM25 and windows"
NEIGHBOURS = 3
TABLE = "CREATE VIRTUAL TABLE {} USING fts5(text, tokenize = 'porter unicode61')"
SEARCH = "SELECT rowid, -bm25({0}) FROM {0} WHERE {0} MATCH ?"


class Windows:
    """A way to recall; the index of the last chat that it was asked about is kept."""

    def __init__(self) -> None:
        self.of: tuple[int, int] = (0, 0)
        self.passages: list[Passage] = []
        self.index = apsw.Connection(":memory:")

    def __call__(self, archive: Archive, chat: Chat, request: Request) -> list[Recalled]:
        """The best passages that fit the request's tokens, best first."""
        if self.of != (id(archive), len(chat.entries)):
            self._read(chat)
            self.of = id(archive), len(chat.entries)
        words = query_words(request.query)
        asked = " OR ".join(f'"{word}"' for word in words)
        points = dict.fromkeys(range(len(self.passages)), 0.0)
        for table in ("passages", "windows"):
            rows: list[Any] = self.index.execute(SEARCH.format(table), (asked,)).fetchall() if asked else []
            for number, gained in rows:
                points[number] += gained
        best = sorted((number for number in points if points[number]), key=lambda at: (-points[at], at))
        found = [self.passages[number] for number in best]
        return pack(archive, chat, request, words, found)

    def _read(self, chat: Chat) -> None:
        self.passages = [
            Passage(entry, start, end, entry.content[start:end])
            for entry in chat.entries.values()
            for start, end in chunk(entry.content, entry.segments)
        ]
        texts = [one.text for one in self.passages]
        around = ["\n".join(texts[max(0, at - NEIGHBOURS) : at + NEIGHBOURS + 1]) for at in range(len(texts))]
        self.index = apsw.Connection(":memory:")
        for table, rows in (("passages", texts), ("windows", around)):
            self.index.execute(TABLE.format(table))
            self.index.executemany(f"INSERT INTO {table} (rowid, text) VALUES (?, ?)", enumerate(rows))
