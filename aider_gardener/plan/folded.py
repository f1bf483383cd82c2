"""Long texts that stand nowhere in the chat are kept in memory compressed, and unfolded when they are read.

Also what was read of an entry, remembered without its text: a cache must not keep what was folded away.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache, wraps
from typing import TypeVar

from aider_gardener.messages import Entry

Result = TypeVar("Result")

FOLDED_CHARS = 8_192
"""Shorter texts stay as they are: there is little to gain."""
UNFOLDED_TEXTS = 8
"""So many texts stay unfolded: one that is read is read again a moment later."""
FAST = 1


class Folded(Entry):
    """An entry whose content is kept compressed. It is equal to the entry that it was made of."""

    @property
    def content(self) -> str:
        return unfolded(self.__dict__["folded"])

    @content.setter
    def content(self, text: str) -> None:
        self.__dict__["folded"] = zlib.compress(text.encode("utf-8", "surrogatepass"), FAST)
        self.__dict__["length"] = len(text)

    @property
    def size(self) -> int:
        return int(self.__dict__["length"])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Entry):
            return NotImplemented
        return all(getattr(self, one.name) == getattr(other, one.name) for one in fields(Entry))

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, one.name) for one in fields(Entry)))


@lru_cache(maxsize=UNFOLDED_TEXTS)
def unfolded(folded: bytes) -> str:
    return zlib.decompress(folded).decode("utf-8", "surrogatepass")


def fold(entry: Entry) -> Entry:
    """The entry with its content compressed, where it is long enough for that."""
    if isinstance(entry, Folded) or entry.size < FOLDED_CHARS:
        return entry
    return Folded(**{one.name: getattr(entry, one.name) for one in fields(Entry)})


def remembered(most: int) -> Callable[[Callable[[Entry], Result]], Callable[[Entry], Result]]:
    """Remember what a function says of the last `most` entries that it was asked about."""

    def remembering(function: Callable[[Entry], Result]) -> Callable[[Entry], Result]:
        known: OrderedDict[object, Result] = OrderedDict()

        @wraps(function)
        def asked(entry: Entry) -> Result:
            key = (entry.id, entry.seq, entry.size, entry.role, entry.source, entry.segments)
            found = known.pop(key) if key in known else function(entry)
            known[key] = found
            if len(known) > most:
                known.popitem(last=False)
            return found

        return asked

    return remembering
