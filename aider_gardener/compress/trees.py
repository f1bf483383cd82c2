"""What stands below something: settings, documents, descriptions, plans, sections of names.

A line belongs to the nearest line above that is indented less; an item of a list to the key above it, a line
below a bracketed section to the section, the lines of an item to the one that names it. Keys tell what is of
worth; of values that most lines share the odd one does.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from aider_gardener.compress.keys import chaff, names, told, trouble
from aider_gardener.compress.outline import CAUSE, FAILURE, NOISE, OUTCOME, WARNING, Note
from aider_gardener.reading.alarms import alarm

LINE_CHARS = 400
FEWEST_KEYS = 5
LARGE = 20
"""What has fewer lines and is the smaller part of a text belongs to something else."""

PATIENCE = 8
"""So much credit may keys earn; a line of something else costs a quarter of it, code or a trace the half."""

FEWEST_VALUES, MANY_VALUES = 4, 12
"""Of so many values one may be odd; the odd one of many is worth ODD more, of fewer less."""

ODD, CHANGE = 3.0, 3.0

_MARK = r"(?P<indent> *)(?P<mark>(?:[-+~]|-/\+|\+/-|\+-|<=|- [-+~]) +)?"
_KEYED = re.compile(
    _MARK + r"(?P<key>\"[^\"]{1,120}\"|'[^']{1,120}'|[\w$@./<*(%][^\s:=\"'`|,;]*(?: [\w./()&<>-]+){0,4}?)"
    r"(?: {0,60}(?::|：|=)(?=\s|$)(?P<value>.*)|(?<=\w)=(?P<tight>[^=\s]\S*|\"[^\"]*\"|'[^']*'|)$)"
)
_HEAD = re.compile(_MARK + r"(?P<key>[^\W_].{0,120}?) *(?:[:：{\[(]|= ?\{)$")
_TAG = re.compile(r"(?P<indent> *)<(?P<key>[A-Za-z][\w:.-]*)(?P<value>[\s/>].*)")
_SECTION = re.compile(
    r"(?!\[(?i:info|warn\w*|error|debug|fatal)\])\[{1,2}(?P<key>[\w\"'.: /@-]+)\]{1,2} *(?:[#;].*)?$"
)
_NODE = re.compile(r" *(?:-> *)?(?P<key>[A-Z][\w ]{2,40}?)(?: on \S.*| using .*)?  ?\((?:cost|actual)")
_OPENS = re.compile(r"(?:^|[ =])[\[({]$")
_CLOSES = re.compile(r" *(?:[\]})]+[,;]?|</[\w:.-]+>|end)$")
_LIGHT = re.compile(r" *(?:- |[#;(]|//|---$)")
_BLOCK = re.compile(r" [|>][+-]?$")
_RULE = re.compile(r" *-{2,}(?: +-{2,})+ *$")
_CODE = re.compile(
    r" *(?:(?:async |export |pub |static |public |private |default )*(?:def|class|fn|func|function|const|let|"
    r"var|import|from|return|if|elif|else|for|while|try|except|catch|match|switch|impl|struct|package|raise|with)"
    r"\b[ (].*[;:{(,)]$|[\w.]+\(.*\)$|@[\w.]+(?:\(.*\))?$|#include|.*(?:;|\) \{|=> \{|\):)$)"
)
_FOREIGN = re.compile(
    r" *(?:at [\w.$<]|#\d+ |File \"|E  |not ok|(?:=>)?0x[0-9a-f]{6}|[\w.]*(?:Error|Exception) ?[:\[(]|"
    r"(?:ERROR|WARN(?:ING)?|HINT|error|warning|note|help|Error Message|Expected|Actual|Received|expected|"
    r"actual|SUMMARY|FAIL(?:ED)?|PASS(?:ED)?) ?[:\[(])"
)
_PLACE = re.compile(r"\.\w{1,4}:\d|\(\S+:\d+\)")
_CHANGED = re.compile(r" *(?:[+~-] |-/\+ |\+/?- )")
_ACTION = re.compile(r" *# \S+ (?:will|must) be |.*# forces replacement")
_FOLLOWS = re.compile(r".*(?:=|->) (?:null|\(known after apply\))$")
"""What goes with what is deleted, and what nobody can know yet."""

_SUMS_UP = re.compile(
    r"(?:Plan: \d|(?:Apply|Destroy) complete|No changes\b|.{0,80}\b\d+ changes?\b.*\bunchanged\b|"
    r" *(?:Planning|Execution) [Tt]ime:|.{0,80}\b\d+ to (?:add|create|update|change|delete|destroy)\b)"
)
_PAIR = re.compile(r"([\w$./-]{1,60})[\"']?\s?[:=]\s?(\"[^\"]*\"|[^\s,{}\[\]][^,{}\[\]]*)")


class _Line(NamedTuple):
    """A line with a key: where text and key begin, what stands behind, whether others may stand below."""

    left: int
    column: int
    key: str
    value: str
    item: bool
    opens: bool


class _Open(NamedTuple):
    """A line that others may stand below."""

    column: int
    row: int
    key: str
    item: bool
    dull: bool


class _Place(NamedTuple):
    """Where a line stands in its document."""

    above: int
    level: int
    inside: _Open


_TOP = _Open(-2, -1, "", item=False, dull=False)


def read(lines: Sequence[str]) -> dict[int, Note]:
    """The lines of documents in a text."""
    short = [line[:LINE_CHARS].expandtabs(8).rstrip() for line in lines]
    parsed = _parsed(short)
    notes: dict[int, Note] = {}
    for first, last in _stretches(short, parsed):
        notes.update(_document(short, parsed, range(first, last + 1)))
    if notes:
        notes.update((row, Note(OUTCOME)) for row, line in enumerate(short) if _SUMS_UP.match(line))
    return notes


def _left(line: str) -> int:
    return len(line) - len(line.lstrip())


def _parsed(lines: Sequence[str]) -> list[_Line | None]:
    """Each line's key and value; what stands in a block of text has none."""
    changes = any(_CHANGED.match(line) and not line.lstrip().startswith("- ") for line in lines)
    found: list[_Line | None] = []
    block = -1
    for row, line in enumerate(lines):
        left = _left(line)
        if not line or 0 <= block < left or _CLOSES.match(line):
            found.append(None)
            continue
        after = next((other for other in lines[row + 1 : row + 3] if other), "")
        found.append(_keyed(line, left, changes, heads=_left(after) > left))
        block = left if found[-1] and _BLOCK.search(line) else -1
    return found


def _keyed(line: str, left: int, changes: bool, heads: bool) -> _Line | None:
    if section := _SECTION.match(line):
        return _Line(-1, -1, section["key"], "", item=False, opens=True)
    if node := _NODE.match(line):
        return _Line(left, left, node["key"], line, item=False, opens=True)
    found = _KEYED.match(line) or _TAG.match(line) or (_HEAD.match(line) if heads else None)
    if not found or _CODE.match(line):
        return None
    parts = found.groupdict()
    item = not changes and (parts.get("mark") or "").startswith("- ")
    value = (parts.get("value") or parts.get("tight") or "").strip()
    value = "" if _OPENS.search(value) else value
    column = found.start("key")
    return _Line(left if item else column, column, parts["key"], value, item, opens=not value or item)


def _stretches(lines: Sequence[str], parsed: Sequence[_Line | None]) -> Iterator[tuple[int, int]]:
    """The first and the last row of each part of the text that is mostly keys and what stands below them."""
    least = min(LARGE, 0.4 * sum(map(bool, lines)))
    first, last, credit, left = -1, -1, 0, 0
    for row, line in enumerate([*lines, *["the end."] * (PATIENCE // 2 + 1)]):
        found = parsed[row] if row < len(lines) else None
        if not line or (first < 0 and not found):
            continue
        below = found is not None or _left(line) > left or bool(_CLOSES.match(line) or _LIGHT.match(line))
        if _FOREIGN.match(line) or (not found and (_PLACE.search(line) or (not below and _CODE.match(line)))):
            credit -= PATIENCE // 2
        elif found:
            first, left = row if first < 0 else first, found.left
            credit = min(PATIENCE, credit + 1)
        elif not below:
            credit -= PATIENCE // 4
        last = row if below else last
        if credit < 0:
            if first >= 0 and last - first >= least and _is_document(lines, parsed, range(first, last + 1)):
                yield first, last
            first, credit = -1, 0


def _is_document(lines: Sequence[str], parsed: Sequence[_Line | None], rows: range) -> bool:
    """True where keys stand below keys, or each line has a key of its own."""
    keys = [found for row in rows if (found := parsed[row])]
    below = sum(one.opens and two.column > one.column for one, two in pairwise(keys))
    filled = sum(bool(lines[row]) for row in rows)
    pure = len(keys) * 10 >= filled * 9 and (
        below or len({found.key for found in keys}) * 10 >= len(keys) * 8
    )
    return len(keys) >= FEWEST_KEYS and (bool(pure) or below >= min(LARGE, len(keys) / 12))


def _document(lines: Sequence[str], parsed: Sequence[_Line | None], rows: range) -> dict[int, Note]:
    """A note for each line of a document."""
    places = _placed(lines, parsed, rows)
    keys = Counter((places[row].level, found.key) for row in places if (found := parsed[row]))
    pairs = {row: _pairs(lines[row], places[row].level, found) for row in places if (found := parsed[row])}
    often = Counter(place for found in pairs.values() for place, _ in found)
    values: defaultdict[Hashable, Counter[str]] = defaultdict(Counter)
    for found_pairs in pairs.values():
        for place, value in found_pairs:
            if often[place] >= FEWEST_VALUES:
                values[place][value] += 1
    odd = {place: worth for place, counted in values.items() if (worth := _odd(counted))}
    sorting = {place for place, counted in values.items() if 1 < len(counted) <= max(2, often[place] // 3)}
    notes: dict[int, Note] = {}
    for row, (above, level, inside) in places.items():
        found = parsed[row]
        rare = [(odd[at], value) for at, value in pairs.get(row, ()) if at in odd and values[at][value] == 1]
        rarity = max((worth for worth, _ in rare), default=0.0)
        form: Hashable
        if found is None:
            table = " " if "  " in lines[row].strip() else lines[row].rpartition(".")[2][:8]
            form = (level, inside.key, table)
        elif rarity >= 1:
            form = (level, found.key, *rare)
        elif not found.value:
            form = (level, inside.key)
        elif told(found.key) > 0 or keys[level, found.key] > 1:
            form = (level, found.key, *(value for place, value in pairs[row] if place in sorting))
        else:
            form = (above, "entries")
        headed = row + 1 < len(lines) and _RULE.match(lines[row + 1])
        worth = 1.0 if headed else _worth(lines[row], found, level, inside, rarity)
        notes[row] = Note(worth, above, form)
    return notes


def _pairs(line: str, level: int, found: _Line) -> list[tuple[Hashable, str]]:
    """The keys of a line, each with how often it stood in the line before, and their values; and the keys."""
    seen: Counter[str] = Counter()
    pairs: list[tuple[Hashable, str]] = []
    for key, value in _PAIR.findall(line):
        seen[key] += 1
        pairs.append(((level, key, seen[key]), value.strip()))
    return [*pairs, ((level, found.key), " ".join(seen))] if "{" in found.value or found.item else pairs


def _odd(counted: Mapping[str, int]) -> float:
    """What it is worth that a value stands once among these: nothing where they are all sorts of values."""
    total = sum(counted.values())
    usual = len(counted) * 3 <= total + 2 and max(counted.values()) * 2 > total
    return usual * ODD * min(1, total / MANY_VALUES)


def _placed(lines: Sequence[str], parsed: Sequence[_Line | None], rows: range) -> dict[int, _Place]:
    """Where each row stands that belongs to the document."""
    places: dict[int, _Place] = {}
    stack = [_TOP]
    header = -1
    for row in rows:
        line, found = lines[row], parsed[row]
        left = found.left if found else _left(line)
        listed = line.lstrip().startswith("- ")
        while line and stack[-1].column >= left + (listed and not stack[-1].item):
            stack.pop()
        if _RULE.match(line):
            header = row - 1
        elif found or (header >= 0 and left != _left(lines[header])):
            header = -1
        if not line or (not found and left == 0 and not _LIGHT.match(line) and not _CLOSES.match(line)):
            continue
        top = stack[-1]
        places[row] = _Place(header if 0 <= header < row - 1 else top.row, len(stack) - 1, top)
        if not found:
            continue
        if found.item:
            places[row] = _Place(top.row, len(stack), top)
            stack.append(_Open(found.left, row, top.key, item=True, dull=top.dull))
        elif top.item and names(found.key) and found.value:
            stack[-1] = top._replace(row=row)
        dull = top.dull or chaff(found.key) or bool(_BLOCK.search(line) and told(found.key) < 0)
        stack.append(_Open(found.column, row, found.key, item=False, dull=dull))
    return places


def _worth(line: str, found: _Line | None, level: int, inside: _Open, rarity: float) -> float:
    bare = line.lstrip()
    if _CLOSES.match(line) or _RULE.match(line) or bare in ("---", "...", "(", "{", "["):
        return NOISE
    if inside.dull:
        return min(1, rarity)
    if _ACTION.match(line):
        return CAUSE
    if found is None and _LIGHT.match(line) and not bare.startswith("- "):
        return 0.5
    if _FOLLOWS.match(line):
        return 1.0
    key = told(found.key, found.value or " ") if found else 0.0
    below = 1.5 * (told(inside.key) > 0)
    worth = 4 + key - 0.25 * level if key > 0 else max(0.5, max(1.5, 4 - 0.5 * level) + key)
    worth += rarity + below + CHANGE * bool(_CHANGED.match(line) and key >= 0 and not (found and found.item))
    level_of_trouble = trouble(line, found.key, found.value) if found else alarm(line)
    return max(worth, {"error": FAILURE, "warning": WARNING}.get(level_of_trouble, worth))
