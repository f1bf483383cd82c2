"""Where words stand in a very long text, from one pass over it for all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from aider_gardener.messages import LONG_CHARS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK_CHARS = 1 << 18
"""So much of the text is looked at at once."""
HEAD_CHARS = 4
"""By so many of its first characters a word is looked for, two and two of them, then by the rest."""
FEW_WORDS = 4
"""So few are looked for one after the other."""
GROUPS = 16
"""Words are looked for in so many groups, a bit each in either half of a number."""

Places = Callable[[str], Iterable[int]]
"""Gives every place of a word, in order."""


def seeker(text: str, words: Collection[str], folded: Collection[str] = ()) -> Places:
    """Tells where each of these words stands in a text, and each of `folded` in it as small letters. Of a
    very long text, whose words have two characters at least, no copy is made."""
    if len(text) > LONG_CHARS and len(words) + len(folded) > FEW_WORDS:
        places = _places(text, set(words), set(folded))
        return lambda word: places[word]
    small = lowered(text) if folded else text
    within = dict.fromkeys(words, text) | dict.fromkeys(folded, small)
    return lambda word: _each(within[word], word) if word in within[word] else ()


def lowered(text: str) -> str:
    """A text in small letters, of the same length."""
    return text.replace("\u0130", "i").lower()  # the only letter that would grow


def _each(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def _places(text: str, words: set[str], folded: set[str]) -> dict[str, list[int]]:
    """Where each word stands. Characters beyond ASCII are read as question marks, which no place depends on:
    each is looked at once more."""
    import numpy as np

    places: dict[str, list[int]] = {word: [] for word in words | folded}
    plain = sorted(filter(str.isascii, places), key=lambda word: (len(word[:HEAD_CHARS]), word))
    others, longest = places.keys() - plain, max(map(len, places))
    table, heads = _table(plain, folded), [_heads(some.intersection(plain)) for some in (words, folded)]
    for begin in range(0, len(text), BLOCK_CHARS):
        block = text[begin : begin + BLOCK_CHARS + longest - 1]
        is_ascii, size = block.isascii(), min(BLOCK_CHARS, len(text) - begin)
        small = "" if is_ascii else lowered(block)
        for word in () if is_ascii else others:
            found = _each(small if word in folded else block, word)
            places[word] += [at + begin for at in found if at < size]
        read = block if is_ascii else block.replace("\u0130", "i").replace("\u212a", "k")
        exact = read.encode("ascii", "replace") + bytes(longest + HEAD_CHARS)
        masks = table.take(np.ndarray(size + 2, "<u2", exact, strides=(1,)), mode="clip")
        maybe = np.flatnonzero((masks[:-2] & (masks[2:] >> np.uint32(GROUPS))) != 0)
        for whole, read_as, word_heads in zip((block, small), (exact, exact.lower()), heads, strict=True):
            for word, at in _matches(word_heads, read_as, maybe):
                sure = at.tolist() if is_ascii else [n for n in at.tolist() if whole.startswith(word, n)]
                places[word] += [n + begin for n in sure]
    return places


Heads = list[tuple[int, "NDArray[np.uint32]", list[list[str]]]]
"""Of each length, the numbers of the heads of words, in order, and the words of each."""


def _heads(words: Iterable[str]) -> Heads:
    import numpy as np

    found: dict[int, dict[int, list[str]]] = {}
    for word in words:
        head = word[:HEAD_CHARS].encode()
        found.setdefault(len(head), {}).setdefault(int.from_bytes(head, "little"), []).append(word)
    return [
        (size, np.array(sorted(by_head), np.uint32), [by_head[head] for head in sorted(by_head)])
        for size, by_head in found.items()
    ]


def _matches(heads: Heads, block: bytes, maybe: NDArray[np.int64]) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """The words that stand in a block at one of the places, each with those of them where it does."""
    import numpy as np

    chars = np.frombuffer(block, np.uint8)
    codes: NDArray[np.uint32] = np.ndarray(len(block) - HEAD_CHARS + 1, "<u4", block, strides=(1,))[maybe]
    for size, head_codes, words in heads:
        own = codes & np.uint32((1 << 8 * size) - 1)
        which = np.minimum(np.searchsorted(head_codes, own), len(head_codes) - 1)
        is_head = head_codes[which] == own
        places, which = maybe[is_head], which[is_head]
        for number in np.flatnonzero(np.bincount(which)).tolist():
            for word in words[number]:
                found = places[which == number]
                for place, char in enumerate(word[HEAD_CHARS:].encode(), HEAD_CHARS):
                    found = found[chars[found + place] == char]
                yield word, found


def _table(words: list[str], folded: set[str]) -> NDArray[np.uint32]:
    """For each two bytes, a number: which groups have a word that begins with them, and, in the higher half,
    one that goes on with them; in capital letters too of those that are `folded`. Words of a group should
    begin alike."""
    import numpy as np

    table = np.zeros((256, 256), np.uint32)  # the second byte, then the first: as a processor reads them
    for number, word in enumerate(words):
        bit = 1 << number * GROUPS // len(words)
        forms = [{char, char.upper()} if word in folded else {char} for char in word[:HEAD_CHARS]]
        first, second, third, fourth = [list(map(ord, form)) for form in forms] + [
            list(range(256)) for _ in range(HEAD_CHARS - len(forms))
        ]
        table[np.ix_(second, first)] |= np.uint32(bit)
        table[np.ix_(fourth, third)] |= np.uint32(bit << GROUPS)
    return table.reshape(-1)
