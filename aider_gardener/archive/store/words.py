"""Text as index words: the same pure cut for what is indexed and for what is asked.

An identifier gives each of its parts and itself without its joiners (`getUserName`, `get_user_name` →
get user name getusername); what dots, slashes and hyphens join gives its parts. Case and accents are
folded. Scripts that write no spaces are cut into pairs of characters. The index holds the stems of
words, which inflected forms share.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from aider_gardener.reading.late import late
from aider_gardener.reading.output import without_codes

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
UNSPACED = late(f"[{_UNSPACED}]")
BEYOND = late(r"[^\x00-\u0dff\u2000-\u2fff]")
"""What is of such a script, or of another beyond the accents and marks of the spaced ones."""
SPACED = late(r"\w+")
NAME = late(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+")
PART = late(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
NOT_ASCII = late(r"[^\x00-\x7f]+")
KANA_VOICING = 8
"""The combining class of the marks that make another letter of a kana."""
PLAIN_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ı": "i", "œ": "oe", "æ": "ae"})
"""Letters that Unicode does not take apart into a plain one and an accent."""
ARABIC_ARTICLE = "\u0627\u0644"
ENDING = late(r"(?<=.{3})(?:ies|ied|ing|ed|es|(?<!s)s|e|y)$")
WORD_CHARS = 64
"""Longer words are cut: so much names one thing. Longer names (encoded data) give their parts only."""
QUERY_WORDS = 48
"""A longer question keeps its longest words."""
LEAST_FOUND = 2
"""So many of a language's stop words a question holds at least to be in it."""


def index_words(text: str) -> list[str]:
    """The words of a text, in order, repeated as often as they occur."""
    found: list[str] = []
    text = NOT_ASCII.sub(lambda match: _plain(match[0]), without_codes(text))
    for name in (NAME if BEYOND.search(text) else SPACED).findall(text):
        found += _words(name)
    return found


def query_words(text: str) -> list[str]:
    """The distinct words to ask for, at most `QUERY_WORDS`, in the order they stand in the text.

    Very common words of its language are left out unless there is nothing else.
    """
    words = dict.fromkeys(index_words(text))
    common = stop_words(words)
    telling = [word for word in words if word not in common] or list(words)
    longest = set(sorted(telling, key=len)[-QUERY_WORDS:])
    return [word for word in telling if word in longest]


def stop_words(asked: Collection[str]) -> frozenset[str]:
    """What says nothing in a question of these words: the English list, with that of another language where
    the question holds more of its words than of any other ("die", "war", "comment" say much in English)."""
    asked_words = set(asked)
    english, *others = stop_lists()
    found, best = max(((len(asked_words & words), words) for words in others), key=lambda pair: pair[0])
    return english | best if found >= LEAST_FOUND and found > len(asked_words & english) else english


@cache
def stop_lists() -> tuple[frozenset[str], ...]:
    """The words of each language, as the words of the index are: English first."""
    lines = Path(__file__).with_name("stopwords.txt").read_text("utf-8").splitlines()
    return tuple(frozenset(line.split()[1:]) for line in lines)


@lru_cache(maxsize=8_192)
def stem(word: str) -> str:
    """The key of a word in the index, which its inflected forms share: English endings come off, then it is
    cut to its first 6 letters (5 outside ASCII). Short words, numbers and pairs of characters are their own.

    A cut prefix finds more forms of a word than the stemmer of its language, which a text in several
    languages would not tell.
    """
    if len(word) < 4 or not word.isalpha():
        return word
    if not word.isascii():
        return word.removeprefix(ARABIC_ARTICLE)[:5]
    word = ENDING.sub("", word)
    is_doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls"
    return word[:-1][:6] if is_doubled else word[:6]


@lru_cache(maxsize=8_192)
def _words(name: str) -> tuple[str, ...]:
    """The words of a name: those of its parts, then the whole."""
    if BEYOND.match(name) and UNSPACED.match(name):
        return tuple(map("".join, pairwise(name))) or (name,)
    parts = [part.casefold().translate(PLAIN_LETTERS)[:WORD_CHARS] for part in PART.findall(name)]
    whole = "".join(parts)
    parts = [part for part in parts if len(part) > 1] if len(parts) > 1 else []
    return (*parts, whole) if 0 < len(whole) <= WORD_CHARS else tuple(parts)


@lru_cache(maxsize=1_024)
def _plain(text: str) -> str:
    """A text without accents and vowel signs, wide and joined letters as plain ones."""
    apart = unicodedata.normalize("NFKD", text)
    bare = [c for c in apart if unicodedata.category(c)[0] != "M" or unicodedata.combining(c) == KANA_VOICING]
    return unicodedata.normalize("NFC", "".join(bare))
