"""JSON written over lines that can be quoted, indented; what is small stands in one line.

The same data, no more and no less: keys twice in an object and the digits of numbers stay. Lists have an item
a line, so that items of the same keys look alike and the odd one shows, below a first key that names it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from aider_gardener.reading.late import late
from aider_gardener.reading.output import plain

LINE_CHARS = 120
"""What takes no more than this stands in one line."""

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


class Bare(str):
    """A number, as the text writes it."""


Value = object
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
            lines += (document.indent + line for line in _written(document.value))
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


def _written(value: Value, level: int = 0) -> list[str]:
    """The lines of a value."""
    if level > MOST_LEVELS:
        raise RecursionError
    if isinstance(value, Bare):
        return [value]
    if not isinstance(value, (tuple, list)):
        return [_scalar(value)]
    opens, closes = "{}" if isinstance(value, tuple) else "[]"
    parts: list[list[str]] = []
    for each in value:
        key, inner = (f"{_scalar(each[0])}: ", each[1]) if opens == "{" else ("", each)
        first, *rest = _written(inner, level + 1)
        parts.append([key + first, *rest])
    items = [part for part in parts if part[0] == "{" and part[1][-1] not in "{["]
    if len({part[1] for part in items}) > 1:
        for part in items:
            part[:2] = ["{" + part[1].lstrip()]
    flat = f"{opens}{', '.join(part[0] for part in parts)}{closes}"
    if len(flat) <= LINE_CHARS and all(len(part) == 1 for part in parts):
        return [flat]
    for part in parts[:-1]:
        part[-1] += ","
    return [opens, *(f"  {line}" for part in parts for line in part), closes]


def _scalar(value: Value) -> str:
    legible = json.dumps(value, ensure_ascii=False)
    return legible if legible.isprintable() else json.dumps(value)
