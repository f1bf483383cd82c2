"""Where words stand in a very long text, from one pass over it for all of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection

from aider_gardener.messages import LONG_CHARS

BLOCK_CHARS = 1 << 18
"""So much of the text is looked at as bytes at once."""
HEAD_CHARS = 4
"""By so many of its first characters a word is looked for, then by the rest."""
GROUPS = 8
"""Words are looked for in so many groups, a bit of a byte each."""

Seek = Callable[[str, int], int]
"""Gives where a word stands next from an offset on, -1 where it does not: as `str.find`."""


def seeker(text: str, words: Collection[str]) -> Seek:
    """What `text.find` gives, for these words alone. Of a text of up to LONG_CHARS it is `text.find`."""
    plain = sorted({word for word in words if word.isascii() and len(word) > 1})
    if len(text) <= LONG_CHARS or not plain:
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
    at, heads = [np.empty(0, np.int64)], [np.empty(0, np.uint32)]
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
        if len(found):
            at.append(found + begin)
            head = np.zeros(len(found), np.uint32)
            for number, part in enumerate(shifted):
                head |= part[found].astype(np.uint32) << np.uint32(8 * number)
            heads.append(head)
    every, codes = np.concatenate(at), np.concatenate(heads)
    places = {}
    for word in words:
        known = word[:HEAD_CHARS].encode()
        mask = (1 << 8 * len(known)) - 1
        own = every[(codes & np.uint32(mask)) == int.from_bytes(known, "little")].tolist()
        is_sure = len(word) <= HEAD_CHARS and "?" not in word
        places[word] = own if is_sure else [place for place in own if text.startswith(word, place)]
    return places


def _tables(words: list[str]) -> list[bytes]:
    """For each of the first places of a word which groups have a word with this character there."""
    tables = [bytearray(256) for _ in range(HEAD_CHARS)]
    for number, word in enumerate(words):
        bit = 1 << (number * GROUPS // len(words))
        for place, table in enumerate(tables):
            for char in word[place].encode() if place < len(word) else range(256):
                table[char] |= bit
    return list(map(bytes, tables))
