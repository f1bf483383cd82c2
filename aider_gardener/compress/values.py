"""JSON written as lines that can be quoted: `key: value`, indented; what is small in one line.

The same data, no more and no less: keys twice in an object, the digits of numbers, empty objects and line
breaks in strings stay. Lists have an item a line, so that items of the same keys look alike and the odd one
shows. Strings stand bare where no reader could take them for something else, else as JSON writes them; one of
several lines stands as lines below `|`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from aider_gardener.reading.late import late
from aider_gardener.reading.output import plain

LINE_CHARS = 120
"""What takes no more than this is written in one line."""

LONGEST_LINE = 400
"""Of many documents, a line each, only those longer than this are written anew: the others can be quoted."""

MANY_DOCUMENTS = 5
MOST_LEVELS = 40
"""What is nested deeper stays as it is: its indentation would be longer than what it says."""

MOST_CHARS = 8_000_000
"""A larger text stays as it is."""

MOST_WASTE = 50_000_000
"""Attempts to read what only looks like JSON may cost so much."""

OPENS = late(r"^([ \t]*)(?=[{\[][\s]{0,200}[\"{}\[\]\dtfn-])", re.MULTILINE)
NUMBER = late(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
WORDS = frozenset({"", "true", "false", "null", "NaN", "Infinity", "-Infinity", "|"})
"""Strings that would be read as something else."""


class Bare(str):
    """A number, as the text writes it."""


Value = Any
"""What JSON holds: an object is a tuple of pairs, since a key may stand in it twice; a number is Bare."""


class Document(NamedTuple):
    """A value that stands in the text from `start` to `end`, behind `indent`."""

    start: int
    end: int
    indent: str
    value: Value


_DECODER = json.JSONDecoder(object_pairs_hook=tuple, parse_float=Bare, parse_int=Bare, parse_constant=Bare)


def relaid(text: str) -> list[str] | None:
    """The lines of a text whose JSON documents are written as lines; None where there is nothing to gain."""
    if len(text) > MOST_CHARS or not OPENS.search(text):
        return None
    text = plain(text)
    found = list(_documents(text))
    least = LONGEST_LINE if len(found) >= MANY_DOCUMENTS else LINE_CHARS
    found = [document for document in found if document.end - document.start > least]
    lines: list[str] = []
    at = 0
    try:
        for document in found:
            lines += _around(text[at : document.start])
            written = _items([document.value], 0) if len(found) > 1 else _below(document.value, 0)
            lines += (document.indent + line for line in written)
            at = document.end
    except RecursionError:
        return None
    return lines + _around(text[at:]) if found else None


def _around(text: str) -> list[str]:
    """The lines before, between and behind documents."""
    return text.strip("\n").split("\n") if text.strip() else []


def _documents(text: str) -> Iterator[Document]:
    """The objects and lists that fill whole lines of the text."""
    at = wasted = 0
    for opens in OPENS.finditer(text):
        if opens.start() < at or wasted > MOST_WASTE:
            continue
        try:
            value, at = _DECODER.raw_decode(text, opens.end())
        except json.JSONDecodeError as error:
            wasted += 10 * (error.pos - opens.end()) + error.pos
            continue
        except (ValueError, RecursionError):
            wasted += MOST_WASTE // 50
            continue
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if value and not text[at:end].strip():
            yield Document(opens.start(), at, opens.group(1), value)


def _below(value: Value, level: int) -> Iterator[str]:
    """The lines of an object or a list."""
    if level > MOST_LEVELS:
        raise RecursionError
    if isinstance(value, list):
        yield from _items(value, level)
    elif isinstance(value, tuple):
        for key, inner in value:
            yield from _member(key, inner, level)


def _items(values: list[Any], level: int) -> Iterator[str]:
    indent = "  " * level
    for value in values:
        line = _short(value)
        if line is None and isinstance(value, (list, tuple)):
            inner = _below(value, level + 1)
            yield f"{indent}- {next(inner)[len(indent) + 2 :]}"
            yield from inner
        elif line is None and _is_lines(value):
            yield f"{indent}- |"
            yield from (f"{indent}  {part}" for part in value.split("\n"))
        else:
            yield f"{indent}- {_scalar(value) if line is None else line}"


def _member(key: str, value: Value, level: int) -> Iterator[str]:
    head = "  " * level + (key if _plain_key(key) else _quoted(key)) + ":"
    line = _short(value)
    if isinstance(value, str) and not isinstance(value, Bare) and _plain_value(value):
        yield f"{head} {value}"
    elif line is not None:
        yield f"{head} {line}"
    elif isinstance(value, (list, tuple)):
        yield head
        yield from _below(value, level + 1)
    elif isinstance(value, str) and _is_lines(value):
        yield f"{head} |"
        yield from ("  " * (level + 1) + part for part in value.split("\n"))
    else:
        yield f"{head} {_scalar(value)}"


def _short(value: Value) -> str | None:
    """The value in one line, None where it doesn't fit."""
    parts: list[str] = []
    room = LINE_CHARS
    for part in _parts(value):
        parts.append(part)
        room -= len(part)
        if room < 0:
            return None
    return "".join(parts)


def _parts(value: Value) -> Iterator[str]:
    """What a value is in one line, piece by piece."""
    if isinstance(value, tuple):
        for at, (key, inner) in enumerate(value):
            yield f"{', ' if at else '{'}{_scalar(key)}: "
            yield from _parts(inner)
        yield "}" if value else "{}"
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield ", " if at else "["
            yield from _parts(inner)
        yield "]" if value else "[]"
    else:
        yield _scalar(value)


def _scalar(value: Value) -> str:
    if isinstance(value, Bare):
        return value
    if isinstance(value, str) and _plain_word(value):
        return value
    return _quoted(value)


def _quoted(value: Value) -> str:
    legible = json.dumps(value, ensure_ascii=False)
    return legible if legible.isprintable() else json.dumps(value)


def _plain_value(text: str) -> bool:
    """True for a string that is read as itself where it fills the rest of a line."""
    return (
        text.isprintable()
        and text.strip() == text
        and text not in WORDS
        and text[0] not in '"{['
        and not NUMBER.fullmatch(text)
    )


def _plain_key(text: str) -> bool:
    """True for a key that is read as itself at the beginning of a line."""
    return _plain_value(text) and ": " not in text and text[-1] != ":" and not text.startswith(("- ", "|"))


def _plain_word(text: str) -> bool:
    """True for a string that is read as itself among others in a line."""
    return _plain_key(text) and not any(mark in text for mark in ',{}[]"') and text != "-"


def _is_lines(text: Value) -> bool:
    """True for a string that can stand as lines."""
    return isinstance(text, str) and "\n" in text and text.replace("\n", "").replace("\t", "").isprintable()
