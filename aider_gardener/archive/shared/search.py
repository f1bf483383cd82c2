"""Searching all projects that a role may read, on the server: by words, and by meaning where vectors are.

Words are cut as the archive cuts them. First those texts count that hold all words, then those that hold any;
vectors compare only with those of the same embedder.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.shared import schema
from aider_gardener.archive.shared.sync import vector_text
from aider_gardener.archive.store import words

if TYPE_CHECKING:
    from aider_gardener.archive.shared.server import Connection

AMONG = 5_000
"""So many texts with any of the words are ranked at most: a word of half of them would read them all."""
FUSION = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009)."""
EXCERPT_CHARS = 600

PLACES = """
    SELECT e.project, e.author, e.hash, p.creator || '/' || p.name, e.cls, e.payload,
           o.session, o.at, o.payload
    FROM gardener.entries e JOIN gardener.projects p ON p.number = e.project
    CROSS JOIN LATERAL (
        SELECT * FROM gardener.occurrences n WHERE n.project = e.project AND n.author = e.author
        AND n.hash = e.hash ORDER BY n.at DESC LIMIT 1) o
    WHERE (e.project, e.author, e.hash) IN (
        SELECT * FROM unnest(%s::int[], %s::text[], %s::text[]))"""


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


Key = tuple[int, str, str]


def search(
    connection: Connection,
    query: str,
    *,
    limit: int = 10,
    vector: Sequence[float] = (),
    embedder: str = "",
) -> list[SharedHit]:
    """The best passages for a text in all projects that the role may read, best first.

    `vector` is the text's own, by `embedder`. Raises ServerError, also where the server lacks pgvector.
    """
    schema.check(connection)
    asked = words.query_words(query)
    spans: dict[Key, tuple[int, int]] = {}
    ranked = [_by_words(connection, asked, limit * 3)]
    if len(vector):
        ranked.append(_by_meaning(connection, vector, embedder, limit * 3, spans))
    scores: dict[Key, float] = {}
    for found in ranked:
        for rank, key in enumerate(found, 1):
            scores[key] = scores.get(key, 0.0) + 1 / (FUSION + rank)
    best = sorted(scores, key=lambda key: (-scores[key], key))[:limit]
    return _described(connection, best, scores, spans, asked)


def _by_words(connection: Connection, asked: Sequence[str], most: int) -> list[Key]:
    """Texts with all of the words, then those with any."""
    found: dict[Key, None] = {}
    quoted = ["'" + word.replace("\\", "\\\\").replace("'", "''") + "'" for word in asked if "\0" not in word]
    for joint in (" & ", " | ") if len(quoted) > 1 else (" & ",):
        if quoted and len(found) < most:
            rows = connection.execute(
                "SELECT project, author, hash FROM gardener.find_words(%s::tsquery, %s, %s)",
                (joint.join(quoted), AMONG, most),
            ).fetchall()
            found |= dict.fromkeys((int(row[0]), str(row[1]), str(row[2])) for row in rows)
    return list(found)[:most]


def _by_meaning(
    connection: Connection,
    vector: Sequence[float],
    embedder: str,
    most: int,
    spans: dict[Key, tuple[int, int]],
) -> list[Key]:
    """Texts with the nearest passages; `spans` gets where these stand."""
    with connection.transaction():
        connection.execute(f"SELECT '[1]'::{schema.vector_type(connection)}".encode())
        connection.execute("SET LOCAL hnsw.iterative_scan = 'relaxed_order'")
        rows = connection.execute(
            'SELECT project, author, hash, "start", "end" FROM gardener.find_near(%s, %s, %s, %s)'
            " ORDER BY distance",
            (vector_text(vector), embedder, len(vector), most),
        ).fetchall()
    for project, author, key, start, end in rows:
        spans.setdefault((int(project), str(author), str(key)), (int(start), int(end)))
    return list(dict.fromkeys((int(row[0]), str(row[1]), str(row[2])) for row in rows))


def _described(
    connection: Connection,
    best: Sequence[Key],
    scores: dict[Key, float],
    spans: dict[Key, tuple[int, int]],
    asked: Sequence[str],
) -> list[SharedHit]:
    given = tuple(list(column) for column in zip(*best, strict=True)) if best else ([], [], [])
    rows: list[Any] = connection.execute(PLACES, given).fetchall()
    found = []
    for number, author, key, project, cls, entry_line, session, at, place_line in rows:
        entry, place = json.loads(entry_line), json.loads(place_line)
        own = (int(number), str(author), str(key))
        start, end = spans.get(own) or _span(entry["content"], asked)
        text = entry["content"][start:end]
        score = round(scores[own], 5)
        found.append(SharedHit(project, author, session, place["turn"], at, cls, entry["id"], score, text))
    return sorted(found, key=lambda each: (-each.score, each.id))


def _span(text: str, asked: Sequence[str]) -> tuple[int, int]:
    """Where an excerpt begins and ends: around the first of the words."""
    low = text.lower()
    at = min((found for word in asked if (found := low.find(word)) >= 0), default=0)
    start = max(0, at - EXCERPT_CHARS // 3)
    return start, min(len(text), start + EXCERPT_CHARS)
