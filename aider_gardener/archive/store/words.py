"""Text as index words: the same pure cut for what is indexed and for what is asked.

An identifier, path or dotted name gives itself without its joiners and each of its parts
(`getUserName` → getusername get user name; `src/main.py` → srcmainpy src main py mainpy), so that
`user_name`, `userName` and `user-name` meet. Case and accents are folded. Scripts that write no
spaces are cut into pairs of characters. Stems are a second, weaker key for inflected words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from aider_gardener.archive.store.stopwords import ACCENTS, stop_words
from aider_gardener.reading.output import without_codes

RUN = re.compile(r"\w+(?:[.\-/\\:@]{1,3}\w+)*")
JOINER = re.compile(r"[.\-/\\:@]+")
ASCII_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
PLAIN_LETTERS = str.maketrans(
    dict(zip("łŁøØđĐıðÐħĦ", "lLoOdDidDhH", strict=True))
    | {"œ": "oe", "Œ": "Oe", "æ": "ae", "Æ": "Ae", "þ": "th", "Þ": "Th"}
)
"""Letters that Unicode does not take apart into a plain one and an accent."""
ARABIC_ARTICLE = "\u0627\u0644"
WHOLE_CHARS = 64
"""Longer wholes (encoded data, long URLs) are indexed by their parts only."""
PART_CHARS = 64
"""Longer parts are cut: a key this long already names one thing."""

QUERY_WORDS = 48
"""A longer question keeps its most telling words: rare shapes and long words first."""

ENGLISH_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", ""))


@dataclass(frozen=True, slots=True)
class Word:
    """One key of the index. `stem` is "" for compounds, short words and scripts without spaces."""

    text: str
    stem: str = ""


def index_words(text: str) -> list[Word]:
    """The words of a text, in order, repeated as often as they occur."""
    found: list[Word] = []
    for run in RUN.findall(without_codes(text)):
        found += _run_words(run)
    return found


def keys(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The distinct words of a text and their distinct stems."""
    words, stems = set(), set()
    for run in RUN.findall(without_codes(text)):
        for word in _run_words(run):
            words.add(word.text)
            stems.add(word.stem)
    stems.discard("")
    return frozenset(words), frozenset(stems)


def query_words(text: str) -> list[Word]:
    """The distinct words to ask for, at most `QUERY_WORDS`, in the order they stand in the text.

    Very common words of its language are left out unless there is nothing else. A word of three letters is
    its own stem here: "run" is to find "running".
    """
    seen = {word.text: _with_short_stem(word) for word in index_words(text)}
    common = stop_words(seen)
    telling = [word for word in seen.values() if word.text not in common] or list(seen.values())
    if len(telling) <= QUERY_WORDS:
        return telling
    best = set(sorted(telling, key=_telling, reverse=True)[:QUERY_WORDS])
    return [word for word in telling if word in best]


@lru_cache(maxsize=8_192)
def stem(word: str) -> str:
    """A short key that inflected forms share, or "" where there is none.

    English endings come off, then the word is cut to its first 6 letters (5 outside ASCII): a
    cut prefix serves most alphabetic languages nearly as well as their own stemmers.
    """
    if len(word) < 4 or not word.isalpha() or UNSPACED.match(word):
        return ""
    if not word.isascii():
        word = word.removeprefix(ARABIC_ARTICLE) if len(word) > 4 else word
        return word[:5]
    for ending, kept in ENGLISH_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: len(word) - len(ending)] + kept
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:6]


def is_single_unspaced(word: str) -> bool:
    """Whether a word is one character of a script without spaces: it is asked for as a prefix."""
    return len(word) == 1 and UNSPACED.match(word) is not None


def _with_short_stem(word: Word) -> Word:
    is_short = len(word.text) == 3 and word.text.isascii() and word.text.isalpha()
    return Word(word.text, word.text) if is_short and not word.stem else word


def _telling(word: Word) -> tuple[bool, int]:
    return (not word.text.isalpha() or not word.text.isascii(), min(len(word.text), 24))


@lru_cache(maxsize=8_192)
def _run_words(run: str) -> tuple[Word, ...]:
    if not run.isascii():
        plain = _without_accents(run)
        if plain != run:  # folding may have put spaces in
            return tuple(word for part in RUN.findall(plain) for word in _run_words(part))
    elif run.isalpha():
        return _component_words(run)
    components = [part for part in JOINER.split(run) if part]
    found = [word for component in components for word in _component_words(component)]
    if len(components) > 1:
        found.extend(Word(whole) for whole in _wholes(components))
    return tuple(found)


def _wholes(components: list[str]) -> Iterator[str]:
    """The compound without its joiners; for longer ones its last two parts as well (a file's name)."""
    joined = [component.replace("_", "").casefold() for component in components]
    separator = "_" if all(part.isdigit() for part in joined) else ""
    for whole in (joined, joined[-2:] if len(joined) > 2 else ()):
        text = separator.join(whole)
        if 0 < len(text) <= WHOLE_CHARS:
            yield text


@lru_cache(maxsize=8_192)
def _component_words(component: str) -> tuple[Word, ...]:
    if component.isascii():
        if component.isalpha() and component.islower():  # most words of most texts: nothing to cut or fold
            word = component[:PART_CHARS]
            return (Word(word, stem(word)),)
        return tuple(_spaced_words(component))
    found: list[Word] = []
    at = 0
    for match in UNSPACED.finditer(component):
        found += _spaced_words(component[at : match.start()])
        found += _pairs(match.group().casefold())
        at = match.end()
    return (*found, *_spaced_words(component[at:]))


def _pairs(run: str) -> Iterator[Word]:
    if len(run) == 1:
        yield Word(run)
    for at in range(len(run) - 1):
        yield Word(run[at : at + 2])


def _spaced_words(component: str) -> Iterator[Word]:
    whole = component.replace("_", "").casefold()
    parts = ASCII_PART.findall(component) if component.isascii() else _cased_parts(component)
    if len(parts) < 2:
        if whole:
            yield Word(whole[:PART_CHARS], stem(whole[:PART_CHARS]))
        return
    if len(whole) <= WHOLE_CHARS:
        yield Word(whole)
    for part in parts:
        if len(part) > 1:
            word = part.casefold()[:PART_CHARS]
            yield Word(word, stem(word))


def _cased_parts(component: str) -> list[str]:
    """Parts of a name in any script: cut at underscores, between digits and letters, at aB."""
    parts, current = [], ""
    for char in component:
        before = current[-1:]
        cut = before and (before.isdigit() != char.isdigit() or (before.islower() and char.isupper()))
        if char == "_" or cut:
            parts.append(current)
            current = ""
        if char != "_":
            current += char
    parts.append(current)
    return [part for part in parts if part]


def _without_accents(text: str) -> str:
    plain = ACCENTS.sub("", unicodedata.normalize("NFKD", text)).translate(PLAIN_LETTERS)
    return unicodedata.normalize("NFC", plain)
