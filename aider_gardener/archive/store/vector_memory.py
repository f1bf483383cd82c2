"""Vectors in memory: all their numbers where there are few, one bit of each where there are many.

The bit is the number's sign. Near vectors differ in few bits, so that these 64 bytes, the code of a vector,
say which of many are worth being compared exactly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import apsw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Words = NDArray[np.uint16]
    Numbers = NDArray[np.int64]

GROWTH = 1.25
GONE = -1
"""Stands in place of the original and the chunk of a vector that was deleted."""
FILL_ROWS = 2_000
BLOCK_ROWS = 4_096
"""So many codes at once stay in the processor's cache."""
BLAS_NUMBERS, BLAS_ROWS = 9_000, 4
"""OpenBLAS takes one thread for so many numbers, and so many rows at a time."""
WASTE, WASTED_ROWS = 0.3, 1_000
"""Where more than this share, and more than so many rows, are gone, the vectors are read anew."""


@dataclass(frozen=True)
class Held(ABC):
    """The first `count` rows are vectors in the order they were written; the rest is room to grow.

    Frozen, so that an older one can be put back after a trial: growing only writes behind its rows, and
    marking what is gone, which both share, is right for both. `seen` is the last deletion that is known,
    `last` the number of the last vector, `dead` counts rows that are gone.
    """

    embedder: str
    seen: int
    last: int
    count: int
    dead: int
    rows: NDArray[Any]
    numbers: Numbers
    chunks: Numbers
    originals: Numbers

    @property
    def alive(self) -> int:
        return self.count - self.dead

    @property
    def is_wasteful(self) -> bool:
        return self.dead > max(WASTED_ROWS, WASTE * self.count)

    @abstractmethod
    def unread(self, db: apsw.Connection, embedder: int, limit: int) -> list[Any]:
        """The next rows (number, chunk, original, blob), at most `limit`, -1 for all."""

    @abstractmethod
    def decoded(self, blobs: bytes, rows: int) -> NDArray[Any]:
        """The blobs of so many rows as an array."""

    def with_rows(self, found: list[Any], *, highest: int = 0) -> Held:
        """The same with new rows behind the others. `highest`: the last vector's number, by which room is
        made at once for all that is still to come; what is not filled takes no memory."""
        import numpy as np

        end = self.count + len(found)
        arrays = [self.rows, self.numbers, self.chunks, self.originals]
        if end > len(self.rows):
            room = max(end, end + highest - found[-1][0], int(len(self.rows) * GROWTH))
            for at, old in enumerate(arrays):
                arrays[at] = np.empty((room, *old.shape[1:]), dtype=old.dtype)
                arrays[at][: self.count] = old[: self.count]
        rows, numbers, chunks, originals = arrays
        rows[self.count : end] = self.decoded(b"".join(row[3] for row in found), len(found))
        for array, column in ((numbers, 0), (chunks, 1), (originals, 2)):
            array[self.count : end] = [row[column] for row in found]
        return replace(
            self, last=found[-1][0], count=end, rows=rows, numbers=numbers, chunks=chunks, originals=originals
        )

    def without(self, numbers: Sequence[int], *, seen: int) -> Held:
        """The same with these vectors marked as gone."""
        import numpy as np

        wanted = np.array(numbers, dtype=np.int64)
        own = self.numbers[: self.count]
        places = np.searchsorted(own, wanted)
        places = places[(places < self.count)]
        places = places[np.isin(own[places], wanted)]
        self.chunks[places] = self.originals[places] = GONE
        dead = int((self.originals[: self.count] == GONE).sum())
        return replace(self, seen=seen, dead=dead)


class Matrix(Held):
    """Rows of float32."""

    def unread(self, db: apsw.Connection, embedder: int, limit: int) -> list[Any]:
        sql = UNREAD.format(table="vectors v", blob="v.vector")
        return db.execute(sql, (self.last, embedder, limit)).fetchall()

    def decoded(self, blobs: bytes, rows: int) -> NDArray[Any]:
        import numpy as np

        return np.frombuffer(blobs, dtype="<f2").reshape(rows, -1)

    def similarity(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """The scalar product of every row with a vector."""
        return products(self.rows[: self.count], vector)

    def as_codes(self) -> Codes:
        """The same vectors, one bit of each number."""
        import numpy as np

        bits = np.packbits(self.rows[: self.count] > 0, axis=1, bitorder="little")
        if bits.shape[1] % 2:
            bits = np.pad(bits, ((0, 0), (0, 1)))
        own = {name: getattr(self, name)[: self.count].copy() for name in ("numbers", "chunks", "originals")}
        return Codes(self.embedder, self.seen, self.last, self.count, self.dead, bits.view(np.uint16), **own)


class Codes(Held):
    """Rows of 16-bit words, one bit for each number of a vector."""

    def unread(self, db: apsw.Connection, embedder: int, limit: int) -> list[Any]:
        table = "codes k JOIN vectors v ON v.number = k.number"
        return db.execute(UNREAD.format(table=table, blob="k.code"), (self.last, embedder, limit)).fetchall()

    def decoded(self, blobs: bytes, rows: int) -> NDArray[Any]:
        import numpy as np

        return np.frombuffer(blobs, dtype=np.uint16).reshape(rows, -1)


UNREAD = """SELECT v.number, v.chunk, c.original, {blob} FROM {table} JOIN chunks c ON c.number = v.chunk
            WHERE v.number > ? AND v.embedder = ? ORDER BY v.number LIMIT ?"""


def restarted(embedder: str, seen: int, dim: int, *, as_codes: bool) -> Held:
    """Nothing yet of an embedder whose vectors have `dim` numbers."""
    import numpy as np

    numbers = [np.empty(0, dtype=np.int64) for _ in range(3)]
    if as_codes:
        return Codes(embedder, seen, 0, 0, 0, np.empty((0, (dim + 15) // 16), dtype=np.uint16), *numbers)
    return Matrix(embedder, seen, 0, 0, 0, np.empty((0, dim), dtype=np.float32), *numbers)


def code(vector: Floats) -> bytes:
    """The signs of a vector's numbers, padded with zeros to whole 16-bit words; bit order as sqlite-vec's."""
    import numpy as np

    bits = np.packbits(vector > 0, bitorder="little").tobytes()
    return bits + b"\0" * (len(bits) % 2)


def fill_codes(db: apsw.Connection) -> None:
    """Write the codes of all vectors that have none, within the caller's transaction."""
    import numpy as np

    last = 0
    while True:
        rows: list[Any] = db.execute(
            "SELECT number, embedder, vector FROM vectors WHERE number > ? ORDER BY number LIMIT ?",
            (last, FILL_ROWS),
        ).fetchall()
        if not rows:
            return
        db.executemany(
            "INSERT OR IGNORE INTO codes (number, embedder, code) VALUES (?, ?, ?)",
            [(number, own, code(np.frombuffer(blob, dtype="<f2"))) for number, own, blob in rows],
        )
        last = rows[-1][0]


def products(rows: Floats, vector: Floats) -> Floats:
    """The scalar product of each row with a vector, in this thread alone.

    Handed more at once, numpy's BLAS takes a thread for each core, and these spin for some fifty
    milliseconds of processor time afterwards, on cores that the user's own work may need.
    """
    import numpy as np

    wanted = vector.astype("f4")
    found = np.empty(len(rows), dtype=np.float32)
    step = max(BLAS_ROWS, BLAS_NUMBERS // max(1, len(wanted)) // BLAS_ROWS * BLAS_ROWS)
    for start in range(0, len(rows), step):
        np.dot(rows[start : start + step], wanted, out=found[start : start + step])
    return found


@lru_cache(maxsize=1)
def bit_counts() -> NDArray[np.uint8]:
    """How many bits are set in each 16-bit number."""
    import numpy as np

    numbers = np.arange(1 << 16, dtype=np.uint16).view(np.uint8).reshape(-1, 2)
    counts: NDArray[np.uint8] = np.unpackbits(numbers, axis=1).sum(axis=1).astype(np.uint8)
    return counts


def distances(held: Words, wanted: bytes) -> NDArray[np.uint16]:
    """How many bits each code (a row of 16-bit words) differs in from the wanted one."""
    import numpy as np

    counts, words = bit_counts(), np.frombuffer(wanted, dtype=np.uint16)
    found = np.empty(len(held), dtype=np.uint16)
    for start in range(0, len(held), BLOCK_ROWS):
        block = held[start : start + BLOCK_ROWS]
        counts[block ^ words].sum(axis=1, dtype=np.uint16, out=found[start : start + BLOCK_ROWS])
    return found
