"""One bit for each number of a vector: its sign. Near vectors differ in few bits, so that these 48 bytes
say which of many vectors are worth being compared exactly.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import apsw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Words = NDArray[np.uint16]

FILL_ROWS = 2_000
BLOCK_ROWS = 4_096
"""So many codes at once stay in the processor's cache."""


def code(vector: Floats) -> bytes:
    """The signs of a vector's numbers, padded with zeros to whole 16-bit words; bit order as sqlite-vec's."""
    import numpy as np

    bits = np.packbits(vector > 0, bitorder="little").tobytes()
    return bits + b"\0" * (len(bits) % 2)


def fill(db: apsw.Connection) -> None:
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
