"""Where words stand in a very long text, from one pass over it for all of them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator

from aider_gardener.messages import LONG_CHARS

BLOCK_CHARS = 1 << 18
"""So much of the text is looked at as bytes at once."""
HEAD_CHARS = 4
"""By so many of its first characters a word is looked for, then by the rest."""
FEW_WORDS = 4
"""So few are looked for one after the other."""
GROUPS = 8
"""Words are looked for in so many groups, a bit of a byte each."""

Seek = Callable[[str, int], int]
"""Gives where a word stands next from an offset on, -1 where it does not: as `str.find`."""


def seeker(text: str, words: Collection[str]) -> Seek:
    """What `text.find` gives, for these words alone. Of a text of up to LONG_CHARS it is `text.find`."""
    plain = sorted({word for word in words if word.isascii() and len(word) > 2})
    if len(text) <= LONG_CHARS or len(plain) <= FEW_WORDS:
        return text.find
    places = _places(text, plain)

    def seek(word: str, at: int) -> int:
        if word not in places:
            return text.find(word, at)
        found = places[word]
        number = bisect_left(found, at)
        return found[number] if number < len(found) else -1

    return seek


def _places(text: str, words: list[str]) -> dict[str, list[int]]:
    """Where each word stands. Characters beyond ASCII are read as question marks, which no place depends on:
    each is looked at once more."""
    import numpy as np

    tables = _tables(words)
    begins = np.zeros(1 << 16, bool)
    begins[[int.from_bytes(word[:2].encode(), "little") for word in words]] = True
    starts, heads = [np.empty(0, np.int64)], [np.empty(0, np.uint32)]
    for begin in range(0, len(text), BLOCK_CHARS):
        block = (
            text[begin : begin + BLOCK_CHARS + HEAD_CHARS - 1].encode("ascii", "replace") + b"\0" * HEAD_CHARS
        )
        size = min(BLOCK_CHARS, len(text) - begin)
        shifted = [np.frombuffer(block, np.uint8, size, shift) for shift in range(HEAD_CHARS)]
        maybe = np.frombuffer(block.translate(tables[0]), np.uint8, size)
        for shift in range(1, HEAD_CHARS if maybe.any() else 1):
            maybe = maybe & np.frombuffer(block.translate(tables[shift]), np.uint8, size, shift)
        found = np.flatnonzero(maybe)
        head = np.zeros(len(found), np.uint32)
        for number, part in enumerate(shifted):
            head |= part[found].astype(np.uint32) << np.uint32(8 * number)
        is_begun = begins[head & np.uint32(0xFFFF)]
        starts.append(found[is_begun] + begin)
        heads.append(head[is_begun])
    every, codes = np.concatenate(starts), np.concatenate(heads)
    places: dict[str, list[int]] = {word: [] for word in words}
    for size in {min(len(word), HEAD_CHARS) for word in words}:
        by_head: dict[int, list[str]] = {}
        for word in words:
            if min(len(word), HEAD_CHARS) == size:
                by_head.setdefault(int.from_bytes(word[:size].encode(), "little"), []).append(word)
        known = np.array(sorted(by_head), np.uint32)
        own = codes & np.uint32((1 << 8 * size) - 1)
        heads_at = np.minimum(np.searchsorted(known, own), len(known) - 1)
        is_known = known[heads_at] == own
        held, heads_at = every[is_known], heads_at[is_known]
        for which in np.flatnonzero(np.bincount(heads_at)).tolist():
            found = held[heads_at == which].tolist()
            for word in by_head[int(known[which])]:
                is_sure = len(word) <= HEAD_CHARS and "?" not in word
                places[word] = found if is_sure else [at for at in found if text.startswith(word, at)]
    return places


def long_runs(text: str, chars: str, size: int) -> Iterator[tuple[int, int]]:
    """Where runs of at least so many characters of a class, as expressions write it, lie in a very long text;
    one of up to LONG_CHARS is taken as one run. Characters beyond ASCII are in no class."""
    if len(text) <= LONG_CHARS:
        yield 0, len(text)
        return
    import numpy as np

    expression = re.compile(f"[{chars}]", re.ASCII)
    others = bytes(code > 127 or not expression.match(chr(code)) for code in range(256))
    last = -1
    for begin in range(0, len(text), BLOCK_CHARS):
        block = text[begin : begin + BLOCK_CHARS].encode("ascii", "replace").translate(others)
        ends = np.flatnonzero(np.frombuffer(block, np.uint8)) + begin
        starts = np.concatenate(([last], ends[:-1]))
        long = ends - starts > size
        for start, end in zip(starts[long].tolist(), ends[long].tolist(), strict=True) if len(ends) else ():
            yield start + 1, end
        last = int(ends[-1]) if len(ends) else last
    if len(text) - last > size:
        yield last + 1, len(text)


def _tables(words: list[str]) -> list[bytes]:
    """For each of the first places of a word which groups have a word with this character there."""
    tables = [bytearray(256) for _ in range(HEAD_CHARS)]
    for number, word in enumerate(words):
        bit = 1 << (number * GROUPS // len(words))
        for place, table in enumerate(tables):
            for char in word[place].encode() if place < len(word) else range(256):
                table[char] |= bit
    return list(map(bytes, tables))
