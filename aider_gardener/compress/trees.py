"""What stands below something: settings and documents, descriptions, plans, drawn trees, sections of names.

A line belongs to the nearest line above that is indented less, or drawn further left; an item of a list to
the key above it; a line below a bracketed section to the section; lines of an item to the one that names it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from aider_gardener.compress.outline import FAILURE, NOISE, OUTCOME, WARNING, Note
from aider_gardener.reading.alarms import alarm

LINE_CHARS = 400
FEWEST_KEYS, FEWEST_DRAWN = 5, 4
"""A tree has at least so many lines."""

LARGE = 20
"""What has fewer lines and is the smaller part of a text belongs to something else."""

PATIENCE = 8
"""So much may a document have to its credit; a line of something else costs two, a line of code four."""

_MARK = r"(?P<indent> *)(?P<mark>(?:[-+~]|-/\+|\+/-|\+-|<=|- [-+~]) +)?"
_KEYED = re.compile(
    _MARK + r"(?P<key>\"[^\"]{1,120}\"|'[^']{1,120}'|[\w$@./<*(%][^\s:=\"'`|,;]*(?: [\w./()&<>-]+){0,4}?)"
    r"(?: {0,60}(?::|：|=)(?=\s|$)(?P<value>.*)|(?<=\w)=(?P<tight>[^=\s]\S*|\"[^\"]*\"|'[^']*'|)$)"
)
_HEAD = re.compile(_MARK + r"(?P<key>[^\W_].{0,120}?) *(?:[:：{\[(]|= ?\{)$")
_TAG = re.compile(r"(?P<indent> *)<(?P<key>[A-Za-z][\w:.-]*)(?P<value>[\s/>].*)")
_SECTION = re.compile(
    r"(?!\[(?i:info|warn\w*|error|debug|fatal)\])\[{1,2}[\w\"'.: /@-]+\]{1,2} *(?:[#;].*)?$"
)
_NODE = re.compile(r" *(?:->|[A-Z][\w ]*\(cost=|[A-Z][\w -]* on \w[\w. ]*\(cost=) *")
_CLOSES = re.compile(r" *(?:[\]})]+[,;]?|</[\w:.-]+>|end)$")
_LIGHT = re.compile(r" *(?:- |[#;(]|//|---$)")
_BLOCK = re.compile(r" [|>][+-]?$")
_RULE = re.compile(r" *-{2,}(?: +-{2,})+ *$")
_CODE = re.compile(
    r" *(?:(?:async |export |pub |static |public |private |default )*(?:def|class|fn|func|function|const|let|var|"
    r"import|from|return|if|elif|else|for|while|try|except|catch|match|switch|impl|struct|package|raise|with)\b"
    r".*[;:{(,)]$|[\w.]+\(.*\)$|@\w|#include|.*(?:;|\) \{|=> \{|\):)$)"
)
_FOREIGN = re.compile(
    r" *(?:at [\w.$<]|#\d+ |File \"|E  |not ok|(?:[\w.]*(?:Error|Exception)|ERROR|WARN(?:ING)?|HINT|error|warning|note|"
    r"help|Error Message|Expected|Actual|Received|expected|actual|SUMMARY|FAIL(?:ED)?|PASS(?:ED)?) ?[:\[(])"
)
_PLACE = re.compile(r"\.\w{1,4}:\d|\(\S+:\d+\)")
_DRAWN = re.compile(
    r"(?:\[INFO\] )?[│┃|! \xa0+~-]{0,400}(?:[├└╰┣┗][─━┬╴-]*|[|+`\\]-{1,4}) ?(?=[^\s|+=─┼┴┬┐┘┤╮╯-])"
)
_BESIDE = re.compile(r"(?:\[INFO\] )?[│┃| \xa0]+")
_LAST = re.compile(r"[└╰┗]|[`\\]-")
_CHANGED = re.compile(r" *(?:[+~-] |-/\+ |\+/?- |# .* (?:will|must) be )")
_SUMS_UP = re.compile(
    r"(?:Plan: \d|(?:Apply|Destroy) complete|No changes\b|.{0,80}\b\d+ changes?\b.*\bunchanged\b| *\d+ director(?:y|ies)\b|"
    r" *(?:Planning|Execution) [Tt]ime:|.{0,80}\b\d+ to (?:add|create|update|change|delete|destroy)\b)"
)
_PAIR = re.compile(r"([\w$./-]{1,60})[\"']?\s?[:=]\s?(\"[^\"]*\"|[^\s,{}\[\]][^,{}\[\]]*)")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_CALM = re.compile(r" *(?:null|none|~|false|0|\[\]|\{\}|\"\"|''|<none>|<unset>|)[,;]?$", re.IGNORECASE)

_NAMES = frozenset("name id title file path kind".split())
_TELLING = frozenset(
    """name image version replicas status state phase reason message msg error errors result conclusion severity
    rule limits limit memory cpu port ports host url endpoint schema path command cmd entrypoint run uses script
    scripts needs engine engines on requires total count summary profiles env environment secret config current
    latest wanted desired available unavailable taints unschedulable capacity removed method disk strategy replace
    kind license mode type schedule role action principal database title""".split()
)
_DULL = frozenset(
    """uid uuid hash sha integrity digest checksum etag resolved wheels sdist created updated modified generation
    link managed annotations suppressed fixable gravatar avatar termination node end column fingerprint signature
    revision creation timestamp usage deprecated suggestions description example examples source""".split()
)
"""Words of keys whose values a reader needs, and of those that hardly anybody reads."""


class _Line(NamedTuple):
    """A line with a key: where its text and its key begin, and what stands behind the key."""

    left: int
    column: int
    key: str
    value: str
    item: bool


class _Open(NamedTuple):
    """A line that others may stand below."""

    column: int
    row: int
    key: str
    item: bool
    dull: bool


def read(lines: Sequence[str]) -> dict[int, Note]:
    """The lines of trees in a text."""
    short = [line[:LINE_CHARS].expandtabs(8).rstrip() for line in lines]
    notes = _drawn(short)
    parsed = _parsed(short)
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
    if _SECTION.match(line):
        return _Line(-1, -1, line.strip("[] "), "", False)
    if node := _NODE.match(line):
        return _Line(
            left, left, node.group().strip(" ->").split(" on ")[0] or line.split("->")[1][:12], line, False
        )
    found = _KEYED.match(line) or _TAG.match(line) or (_HEAD.match(line) if heads else None)
    if not found or _CODE.match(line):
        return None
    parts = found.groupdict()
    mark = parts.get("mark") or ""
    item = mark.startswith("- ") and not changes
    column = found.start("key")
    return _Line(
        left if item else column, column, parts["key"], parts.get("value") or parts.get("tight") or "", item
    )


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
    keys = [(row, found) for row in rows if (found := parsed[row])]
    nested = sum(
        after.column > found.column
        and (not found.value or found.item or found.value[-1] in "{[(" or "(cost" in found.value)
        for (_, found), (_, after) in zip(keys, keys[1:], strict=False)
    )
    filled = sum(bool(lines[row]) for row in rows)
    flat = len(keys) * 10 >= filled * 9 and len({found.key for _, found in keys}) * 10 >= len(keys) * 8
    return len(keys) >= FEWEST_KEYS and (flat or nested * 12 >= len(keys) or nested >= 12)


def _document(lines: Sequence[str], parsed: Sequence[_Line | None], rows: range) -> dict[int, Note]:
    """A note for each line of a document."""
    above, levels, owner = _placed(lines, parsed, rows)
    values: defaultdict[Hashable, Counter[str]] = defaultdict(Counter)
    pairs: dict[int, list[tuple[Hashable, str]]] = {}
    for row in above:
        if found := parsed[row]:
            pairs[row] = [((levels[row], key), value.strip()) for key, value in _PAIR.findall(lines[row])]
            for place, value in pairs[row]:
                values[place][value] += 1
    usual = {place: _usual(counted) for place, counted in values.items()}
    notes: dict[int, Note] = {}
    for row, top in above.items():
        found, level, parent = parsed[row], levels[row], owner[row]
        rare = [value for place, value in pairs.get(row, ()) if usual[place] and values[place][value] == 1]
        worth = _worth(lines[row], found, level, parent, bool(rare))
        if found is None:
            form: Hashable = (level, parent.key, lines[row].rpartition(".")[2][:8])
        elif rare:
            form = (level, found.key, *rare)
        elif not found.value:
            form = (level, parent.key)
        elif _words(found.key) & _TELLING or sum(values[level, found.key].values()) > 1:
            form = (level, found.key, *(value for place, value in pairs[row] if _sorts(place, values)))
        else:
            form = (top, "entries")
        notes[row] = Note(worth, top, form)
    return notes


_NOTHING = _Open(-2, -1, "", False, False)


def _placed(
    lines: Sequence[str], parsed: Sequence[_Line | None], rows: range
) -> tuple[dict[int, int], dict[int, int], dict[int, _Open]]:
    """For each row that belongs to the document the row above it, its level and what it stands in."""
    above: dict[int, int] = {}
    levels: dict[int, int] = {}
    owner: dict[int, _Open] = {}
    stack = [_NOTHING]
    header = -1
    for row in rows:
        line, found = lines[row], parsed[row]
        if not line:
            continue
        left = found.left if found else _left(line)
        listed = line.lstrip().startswith("- ")
        while len(stack) > 1 and (
            stack[-1].column > left or (stack[-1].column == left and (stack[-1].item or not listed))
        ):
            stack.pop()
        header = (
            row - 1 if _RULE.match(line) else header if header >= 0 and left == _left(lines[header]) else -1
        )
        if not found and left == 0 and not _LIGHT.match(line) and not _CLOSES.match(line):
            continue
        top = stack[-1]
        above[row] = header if 0 <= header < row - 1 and not found else top.row
        levels[row], owner[row] = len(stack) - 1, top
        if not found:
            continue
        dull = top.dull or bool(_words(found.key) & _DULL)
        if found.item:
            stack.append(_Open(found.left, row, top.key, True, top.dull))
            levels[row] += 1
        elif top.item and _words(found.key) & _NAMES and found.value:
            stack[-1] = top._replace(row=row)
        stack.append(_Open(found.column, row, found.key, False, dull))
    return above, levels, owner


def _worth(line: str, found: _Line | None, level: int, parent: _Open, rare: bool) -> float:
    if _CLOSES.match(line) or _RULE.match(line) or line.lstrip() in ("---", "...", "(", "{", "["):
        return NOISE
    words = _words(found.key) if found else frozenset()
    value = max(1.5, 4 - 0.5 * level) + 3 * bool(words & _TELLING) + 2.5 * rare - 2.5 * bool(words & _DULL)
    value += 1.5 * bool(_words(parent.key) & _TELLING) + 3 * bool(
        _CHANGED.match(line) and not (found and found.item)
    )
    if parent.dull:
        return min(value, 1) + rare
    if not found and _LIGHT.match(line) and not line.lstrip().startswith("- "):
        return max(0.5, value - 3)
    level_of_alarm = "" if found and _CALM.match(found.value) else alarm(line)
    return max(value, {"error": FAILURE, "warning": WARNING}.get(level_of_alarm, value))


@lru_cache(maxsize=10_000)
def _words(key: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(key))


def _usual(counted: Counter[str]) -> bool:
    """True where most lines have the same few values, so that another one tells something."""
    total = sum(counted.values())
    return total >= 4 and len(counted) * 3 <= total + 2 and counted.most_common(1)[0][1] * 2 > total


def _sorts(place: Hashable, values: dict[Hashable, Counter[str]]) -> bool:
    """True for a key whose values sort the lines: a few kinds, states, rules."""
    counted = values[place]
    return 1 < len(counted) <= max(2, sum(counted.values()) // 3) and bool(
        _words(place[1] if isinstance(place, tuple) else "") & _TELLING
    )


def _drawn(lines: Sequence[str]) -> dict[int, Note]:
    """The lines of trees that are drawn with branches."""
    leads = [_DRAWN.match(line) for line in lines]
    if sum(map(bool, leads)) < max(FEWEST_DRAWN, len(lines) // 10) or not any(
        lead and _LAST.search(lead.group()) for lead in leads
    ):
        return {}
    places: dict[int, tuple[int, int]] = {}
    stack: list[tuple[int, int]] = []
    for row, lead in enumerate(leads):
        beside = _BESIDE.match(lines[row]) if len(stack) > 1 and not lead else None
        if not (lead or beside) or not lines[row].strip("│| "):
            stack = [(0, row)] if lines[row] else []
            continue
        column = (lead or beside).end()  # type: ignore[union-attr]
        while stack and stack[-1][0] >= column:
            stack.pop()
        if stack and not places.get(stack[-1][1]) and stack[-1][0] == 0:
            places[stack[-1][1]] = (-1, 0)
        places[row] = (stack[-1][1] if stack else -1, column)
        stack.append((column, row))
    parents = {top for top, _ in places.values()}
    level = {-1: -1}
    notes: dict[int, Note] = {}
    for row, (top, column) in sorted(places.items()):
        level[row] = level.get(top, 0) + 1
        name = lines[row][column:]
        told = alarm(name)
        worth = {"error": FAILURE, "warning": WARNING}.get(told, max(2, 5 - level[row]))
        worth += 3 * bool(_CHANGED.match(lines[row])) - 2 * name.endswith(("(*)", "deduped"))
        kind = (
            name.split(" ")[0] if " " in name.strip() else name.rpartition(".")[2] if "." in name[1:] else ""
        )
        notes[row] = Note(worth, top, ("drawn", level[row], row in parents, kind, told))
    return notes
