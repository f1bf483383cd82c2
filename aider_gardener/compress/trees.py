"""What stands below something: settings, documents, descriptions, plans.

A line belongs to the nearest line above that is indented less; an item of a list to the key above it, a line
below a bracketed section to the section. Keys tell what is of worth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from aider_gardener.compress.outline import CAUSE, CONTEXT, FAILURE, NOISE, WARNING, Note
from aider_gardener.reading.alarms import alarm
from aider_gardener.reading.late import late

TELLING = frozenset(
    """name version image replicas status state phase reason message msg error errors result conclusion
    severity rule limits limit memory cpu port ports host url endpoint schema path command cmd
    entrypoint run uses script scripts needs engine engines on requires total count summary profiles env
    environment secret config current latest wanted desired available unavailable taints unschedulable
    capacity removed method disk strategy tag replace kind license mode type schedule role action
    principal database title conditions events verdict triggers jobs services paths dependencies restart
    exit code oom killed cve fixed installed outcome""".split()
)
"""Words of keys whose values a reader looks for."""

WORD = late(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

ACTION = late(r"# \S+ (?:will|must) be |.*# forces replacement")
"""What a plan does to a thing, and why."""

PLAIN, TOLD, INSIDE = 3.0, 4.0, 1.5
"""What a line is worth, so much more where its key tells (half of that without a value), and below such a
key."""


@lru_cache(maxsize=10_000)
def words_of(key: str) -> frozenset[str]:
    """The words of a key, in small letters, and the key itself."""
    return frozenset([word.lower() for word in WORD.findall(key)] + [key.strip("\"'").lower()])


def tells(key: str) -> bool:
    """Whether a reader looks for what a key says."""
    return not words_of(key).isdisjoint(TELLING)


LINE_CHARS, FEWEST_KEYS, LARGE = 400, 5, 20
"""What has fewer lines than LARGE and is the smaller part of a text belongs to something else."""

PATIENCE = 8
"""So much credit may keys earn; a line of something else costs a quarter of it."""

_MARK = r"(?P<indent> *)(?P<mark>(?:[-+~]|-/\+|\+/-|\+-|<=|- [-+~]) +)?"
_KEYED = late(
    _MARK + r"(?P<key>\"[^\"]{1,120}\"|'[^']{1,120}'|[\w$@./<*(%][^\s:=\"'`|,;]*(?: [\w./()&<>-]+){0,4}?)"
    r"(?: {0,60}(?::|：|=)(?=\s|$)(?P<value>.*)|(?<=\w)=(?P<tight>[^=\s]\S*|\"[^\"]*\"|'[^']*'|)$)"
)
_HEAD = late(_MARK + r"(?P<key>[^\W_].{0,120}?) *(?:[:：{\[(]|= ?\{)$")
_SECTION = late(r"\[{1,2}(?P<key>[\w\"'.: /@-]+)\]{1,2} *(?:[#;].*)?$")
_OPENS = late(r"(?:^|[ =])[\[({]$")
_CLOSES = late(r"(?:[\]})]+[,;]?|end)$")
_LIGHT = late(r"(?:- |[#;(]|//|---$)")
_BLOCK = late(r" [|>][+-]?$")
_RULE = late(r"-{2,}(?: +-{2,})+ *$")
_CODE = late(r".*(?:;|\):?|[)>] ?\{)$")


class _Line(NamedTuple):
    """A line: where text and key begin, the key, "" for none, what is behind it; `held` in a text block."""

    bare: str
    left: int
    column: int = 0
    key: str = ""
    value: str = ""
    item: bool = False
    opens: bool = False
    held: bool = False


class _Open(NamedTuple):
    """A line that others may stand below."""

    column: int
    row: int
    key: str
    item: bool


class _Place(NamedTuple):
    """Where a line stands in its document."""

    above: int
    level: int
    inside: _Open


_TOP = _Open(-2, -1, "", item=False)


def read(lines: Sequence[str]) -> dict[int, Note]:
    """The lines of documents in a text."""
    parsed = _parsed([line[:LINE_CHARS].expandtabs(8).rstrip() for line in lines])
    notes: dict[int, Note] = {}
    for rows in _stretches(parsed):
        notes.update(_document(parsed, rows))
    return notes


def _parsed(lines: Sequence[str]) -> list[_Line]:
    """Each line with its key and value; what stands in a block of text has none."""
    plain = [_Line(bare := line.lstrip(), len(line) - len(bare)) for line in lines]
    block = -1
    for row, line in enumerate(plain):
        if not line.bare or 0 <= block < line.left or _CLOSES.match(line.bare):
            plain[row] = line._replace(held=0 <= block < line.left)
            continue
        after = next((other.left for other in plain[row + 1 : row + 3] if other.bare), 0)
        plain[row] = _keyed(lines[row], line, heads=after > line.left)
        block = line.left if plain[row].key and _BLOCK.search(line.bare) else -1
    return plain


def _keyed(text: str, line: _Line, heads: bool) -> _Line:
    if text[0] == "[" and (section := _SECTION.match(text)):
        return line._replace(left=-1, column=-1, key=section["key"], opens=True)
    found = _KEYED.match(text) or (_HEAD.match(text) if heads else None)
    if not found or _CODE.match(line.bare):
        return line
    parts = found.groupdict()
    item = (parts["mark"] or "").startswith("- ")
    value = _OPENS.sub("", (parts.get("value") or parts.get("tight") or "").strip())
    column = found.start("key")
    left = line.left if item else column
    return _Line(line.bare, left, column, parts["key"], value, item, opens=item or not value)


def _stretches(lines: Sequence[_Line]) -> Iterator[range]:
    """The rows of each part of the text that is mostly keys and what stands below them."""
    least = min(LARGE, 0.4 * sum(bool(line.bare) for line in lines))
    first, last, credit, left = -1, -1, 0, 0
    for row, line in enumerate([*lines, *[_Line("The end.", 0)] * 5]):
        if not line.bare or line.held or (first < 0 and not line.key):
            continue
        below = bool(line.key or line.left > left or _CLOSES.match(line.bare) or _LIGHT.match(line.bare))
        if line.key:
            first, left = row if first < 0 else first, line.left
            credit = min(PATIENCE, credit + 1)
        elif not below:
            credit -= PATIENCE // 4
        last = row if below else last
        if credit < 0:
            if first >= 0 and last - first >= least and _is_document(lines[first : last + 1]):
                yield range(first, last + 1)
            first, credit = -1, 0


def _is_document(lines: Sequence[_Line]) -> bool:
    """True where keys stand below keys."""
    keyed = [line for line in lines if line.key]
    below = sum(one.opens and two.left > one.left for one, two in pairwise(keyed))
    return len(keyed) >= FEWEST_KEYS and below >= min(LARGE, len(keyed) / 12)


def _document(lines: Sequence[_Line], rows: range) -> dict[int, Note]:
    """A note for each line of a document."""
    places = _placed(lines, rows)
    keyed = [row for row in places if lines[row].key]
    often = Counter((places[row].level, lines[row].key) for row in keyed)
    notes: dict[int, Note] = {}
    for row, place in places.items():
        line, level = lines[row], place.level
        form: Hashable
        if not line.key:
            form = (level, place.inside.key, "text")
        elif not line.value:
            form = (level, place.inside.key)
        elif tells(line.key) or often[level, line.key] > 1:
            form = (level, line.key)
        else:
            form = (place.above, "entries")
        headed = row + 1 < len(lines) and _RULE.match(lines[row + 1].bare)
        notes[row] = Note(CONTEXT if headed else _worth(line, place.inside), place.above, form)
    return notes


def _placed(lines: Sequence[_Line], rows: range) -> dict[int, _Place]:
    """Where each row stands that belongs to the document."""
    places: dict[int, _Place] = {}
    stack = [_TOP]
    header = -1
    for row in rows:
        line = lines[row]
        if not line.bare:
            continue
        while stack[-1].column >= line.left + (line.bare[:2] == "- " and not stack[-1].item):
            stack.pop()
        if _RULE.match(line.bare):
            header = row - 1
        elif line.key or (header >= 0 and line.left != lines[header].left):
            header = -1
        if not (line.key or line.left or _LIGHT.match(line.bare) or _CLOSES.match(line.bare)):
            continue
        top = stack[-1]
        places[row] = _Place(header if 0 <= header < row - 1 else top.row, len(stack) - 1 + line.item, top)
        if line.item:
            stack.append(_Open(line.left, row, top.key, item=True))
        if line.key:
            stack.append(_Open(line.column, row, line.key, item=line.left < 0))
    return places


def _worth(line: _Line, inside: _Open) -> float:
    bare = line.bare
    if _CLOSES.match(bare) or _RULE.match(bare) or bare in ("---", "...", "(", "{", "["):
        return NOISE
    if ACTION.match(bare):
        return CAUSE
    if not line.key and bare[:2] != "- " and _LIGHT.match(bare):
        return CONTEXT
    told = TOLD * tells(line.key) if line.key else 0.0
    worth = PLAIN + (told if line.value else told / 2) + INSIDE * tells(inside.key)
    return max(worth, {"error": FAILURE, "warning": WARNING}.get(alarm(bare), worth))
