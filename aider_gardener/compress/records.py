"""Records of trouble as compilers, linters, type checkers, builds and searches write them.

A record begins with a head: a place, a severity or both before a message. The lines that belong to it follow,
up to a blank one: where it is, the code it points at, notes. They need their head and are worth less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import log2
from typing import NamedTuple

from aider_gardener.compress.outline import CAUSE, CONTEXT, WARNING, Note
from aider_gardener.compress.quoting import NAME, NAMES_PLACE, NUMBER, form_of
from aider_gardener.reading.alarms import alarm
from aider_gardener.reading.late import late

LINE_CHARS = 600
"""So much of a line is looked at."""

MATCH = 4.0
"""What a line is worth that a search found."""

PLACED = late(
    r"\s*(?:(?P<tag>[^\s\w]?\w\S{0,200})\s+)?"
    r"(?P<path>(?:[A-Za-z]:(?=[\\/]))?(?=[^\s:(]{0,200}[./\\])(?![\d.]+:)[^\s:()|\"'`=<>*]{1,200}?)"
    r"(?:[:(]\[?\d+(?:[:.,-]\d+)*[\])]?|:? line \d+)(?P<rest>(?:[\s:：,].*)?)$"
)
"""A place with a path, behind a tag or none; an address of the network with its port is none."""

SEVERE = late(r"\W*(?P<severity>[^\W\d]+)\]?(?:\[[\w./:-]+\]| [A-Z]+\d+)?\s?[:：]\s*(?P<message>.*)$")
"""A severity, perhaps with a code."""

BY_LETTER = {"E": "error", "F": "error", "W": "warning", "C": "warning", "R": "warning"}
CODE = late(r"\b[A-Z]{1,8}-?\d{2,6}\b|[\[(][\w/-]+[\])]$")
NOTE = late(r"(?i:notes?|info|hint|help|remark|nota|hinweis|anmerkung|注|備考|참고|uwaga)")

ARROW = late(r"\s*(?:-->|[╭┌])")
"""Below a head: where it is."""

SNIPPET = late(r"\s*[>❯→]?[\s\d]*[|│┆·╵]|\d+ +[+-] ")


class _Head(NamedTuple):
    """`level` is "error", "warning" or "note", "" for a place and a text alone, as what a search finds."""

    level: str
    code: str
    path: str
    message: str


def read(lines: Sequence[str]) -> dict[int, Note]:
    """What is known of records; nothing where there is no record."""
    notes: dict[int, Note] = {}
    counts: Counter[Hashable] = Counter()
    opened = place = -1
    depth, worth, placed = 0, 0.0, False
    for row, line in enumerate([line[:LINE_CHARS] for line in lines]):
        indent = len(line) - len(line.lstrip())
        inner = opened >= 0 and SNIPPET.match(line)
        head = None if inner else _head(line, "".join(lines[row + 1 : row + 2]))
        if not line.strip():
            opened = -1
        elif head and not head.message:
            opened, place, depth, worth, placed = row, row, indent, CAUSE, True
        elif head and head.level != "note":
            level, code, path, message = head
            form = (level, code, form_of(message) if level else NAME.sub("", NUMBER.sub("", message)))
            counts.update(((form, path), code or path))
            worth = {"error": CAUSE, "warning": WARNING}.get(level, MATCH)
            again = log2(counts[form, path]) if level == "error" else 0.6 * log2(counts[code or path])
            placed = bool(path)
            above = -1 if placed else place
            notes[row] = Note(max(worth - again, CONTEXT), above, form, placed and level == "error")
            opened, place, depth = row, -1, indent
        elif opened >= 0 and (head or inner or indent > depth or (row == opened + 1 and not alarm(line))):
            is_place = not placed and bool(NAMES_PLACE.search(line))
            placed = placed or is_place
            has_words = any(map(str.isalnum, line))  # not only marks the code above
            notes[row] = Note(worth * (0.75 if is_place else has_words / 3), opened)
        else:
            opened = -1
    places = {note.above: Note(CONTEXT) for note in notes.values() if note.above >= 0}
    return {**places, **notes}


def _head(line: str, below: str) -> _Head | None:
    """The head that the line is, if it is one."""
    found = PLACED.match(line)
    rest = found["rest"] if found else line
    head = SEVERE.match(rest)
    severity = head["severity"] if head else found["tag"] or "" if found else ""
    level = "note" if NOTE.match(severity) else BY_LETTER.get(severity) or alarm(severity.lower())
    if not (found or level or ARROW.match(below)):
        return None
    code = "".join(CODE.findall(rest)[:1])
    if not level and code:
        level = "warning"
    elif not level and (not found or rest[1:2] == " " != rest[2:3]):
        level = alarm(rest) if found else "error"
    return _Head(level, code, found["path"] if found else "", head["message"] if head else rest.strip(": "))
