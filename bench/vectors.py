"""Vectors of passages kept in a file: embedding the same session again is most of the work of a series of
measurements."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener.recall.embed import loading, readable

if TYPE_CHECKING:
    from aider_gardener.recall.embed import Embedder, Load, Vectors

WAIT_SECONDS = 60.0
"""So long one waits for another one that writes."""
TABLE = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"


class KeptVectors:
    """An embedder that looks for the vectors of several texts in a file first, by the hash of each text.

    A text that is asked for alone is embedded anew: so are questions, whose time belongs to a turn.
    """

    def __init__(self, embedder: Embedder, file: Path) -> None:
        self.embedder = embedder
        self.file = file
        with closing(self.open()) as database:
            database.execute(TABLE)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.embedder, name)

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        if len(texts) == 1:
            return self.embedder.embed(texts)
        keys = [self.key(text) for text in texts]
        known = self.read(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            made = dict(zip(missing, self.embedder.embed(list(missing.values())), strict=True))
            self.write({key: vector.tobytes() for key, vector in made.items()})
            known.update(made)
        rows: Vectors = np.stack([known[key] for key in keys]).astype(np.float32)
        return rows

    def key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.embedder.name}\0{readable(text)}".encode()).digest()

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        import numpy as np

        with closing(self.open()) as database:
            rows = [database.execute("SELECT vector FROM vectors WHERE key = ?", (key,)) for key in keys]
            found = {key: row.fetchone() for key, row in zip(keys, rows, strict=True)}
        return {key: np.frombuffer(row[0], dtype=np.float32) for key, row in found.items() if row}

    def write(self, vectors: dict[bytes, bytes]) -> None:
        with closing(self.open()) as database, database:
            database.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", vectors.items())

    def open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.file, timeout=WAIT_SECONDS)


def keeping(file: Path, choice: str) -> Load | None:
    """What loads the embedder that the setting `embedder` names, its vectors kept in the file."""
    load = loading(choice)
    if load is None:
        return None
    return lambda: KeptVectors(load(), file)
