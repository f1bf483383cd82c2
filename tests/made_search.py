"""Whether a text can be found in an archive, as tests ask it."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from aider_gardener.archive.store import Store
from aider_gardener.archive.store.words import query_words


def rows_in(store: Store, table: str) -> int:
    """How many rows a table of an archive has."""
    return int(store.database.read(lambda db: db.execute(f"SELECT count(*) FROM {table}").get))


def found(store: Store, query: str, sessions: Collection[str] | None = None) -> list[str]:
    """The ids of the entries of which a passage holds any of the query's words: those with most words first,
    then the newest."""
    evidence = store.evidence(query_words(query), sessions)
    holding = evidence.has_word.sum(axis=0)
    order = np.lexsort((np.arange(len(evidence)), holding))[::-1]
    chunks = [int(evidence.chunks[at]) for at in order if holding[at]]
    quoted = store.quoted(chunks)
    return list(dict.fromkeys(quoted[chunk].entry_id for chunk in chunks if chunk in quoted))
