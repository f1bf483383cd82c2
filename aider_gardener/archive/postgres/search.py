"""Searching all projects that a role may read, on the server: by words, and by meaning where vectors are.

Words are cut as the archive cuts them. First those texts count that hold all words, then those that hold any;
vectors compare only with those of the same embedder.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aider_gardener.archive.postgres import server
from aider_gardener.archive.store import words

if TYPE_CHECKING:
    from aider_gardener.archive.postgres.server import Connection

AMONG = 5_000
"""So many texts with any of the words are ranked at most: a word of half of them would read them all."""
FUSION = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009)."""
EXCERPT_CHARS = 600

FIND_WORDS = "SELECT archive, author, hash FROM gardener.find_words(%s::tsquery, %s, %s)"
FIND_NEAR = """
    SELECT archive, author, hash, "start", "end" FROM gardener.find_near(%s, %s, %s, %s) ORDER BY distance"""
SELECT_LAST = """
    SELECT t.archive, t.author, t.hash, a.creator || '/' || a.name, l.session, l.at, l.payload
    FROM unnest(%s::int[], %s::text[], %s::text[]) AS t (archive, author, hash)
    JOIN gardener.archives a ON a.number = t.archive
    CROSS JOIN LATERAL (
        SELECT * FROM gardener.lines n WHERE n.archive = t.archive AND n.author = t.author
        AND n.hash = t.hash AND n.words IS NOT NULL ORDER BY n.at DESC LIMIT 1) l"""

Key = tuple[int, str, str]
"""A text: its archive, author and hash."""


@dataclass(frozen=True)
class SharedHit:
    """A passage of a shared project: whose it is, where and when it was last said, and the text itself.

    `score` is the sum of 1 / (60 + rank) over the searches that found it: it orders, and says no more.
    """

    project: str
    author: str
    session: str
    turn: int
    at: float
    cls: str
    id: str
    score: float
    text: str


def search(
    connection: Connection, query: str, *, limit: int = 10, vector: Sequence[float] = (), embedder: str = ""
) -> list[SharedHit]:
    """The best passages for a text in all projects that the role may read, best first.

    `vector` is the text's own, by `embedder`. Raises ServerError, also where the server lacks pgvector.
    """
    server.check(connection)
    asked = words.query_words(query)
    spans: dict[Key, tuple[int, int]] = {}
    scores: dict[Key, float] = {}
    if len(vector):
        given = (str(list(vector)), embedder, len(vector), limit * 3)
        for archive, author, key, start, end in connection.execute(FIND_NEAR, given):
            spans.setdefault((archive, author, key), (start, end))
    for found in (_with_words(connection, asked, limit * 3), list(spans)):
        for rank, own in enumerate(found, 1):
            scores[own] = scores.get(own, 0.0) + 1 / (FUSION + rank)
    best = sorted(scores, key=lambda each: (-scores[each], each))[:limit]
    columns = [list(column) for column in zip(*best, strict=True)] or [[], [], []]
    hits = []
    for archive, author, key, project, session, at, payload in connection.execute(SELECT_LAST, columns):
        own = (archive, author, key)
        message, score = json.loads(payload), round(scores[own], 5)
        start, end = spans.get(own) or _span(message["content"], asked)
        text = message["content"][start:end]
        hits.append(
            SharedHit(
                project, author, session, message["turn"], at, message["cls"], message["id"], score, text
            )
        )
    return sorted(hits, key=lambda each: (-each.score, each.id))


def _with_words(connection: Connection, asked: Sequence[str], most: int) -> list[Key]:
    found: dict[Key, None] = {}
    quoted = ["'" + word.replace("\\", "\\\\").replace("'", "''") + "'" for word in asked if "\0" not in word]
    for joint in (" & ", " | ") if quoted else ():
        if len(found) < most:
            rows = connection.execute(FIND_WORDS, (joint.join(quoted), AMONG, most))
            found |= dict.fromkeys(rows)
    return list(found)[:most]


def _span(text: str, asked: Sequence[str]) -> tuple[int, int]:
    low = text.lower()
    at = min((found for word in asked if (found := low.find(word)) >= 0), default=0)
    start = max(0, at - EXCERPT_CHARS // 3)
    return start, min(len(text), start + EXCERPT_CHARS)
