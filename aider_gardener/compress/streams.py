"""Records of programs that tell what they do: logs, with or without times, and the progress of a training.

A record begins with a time, a level or both, or is an object with such fields. What counts are the
levels and how it ended; the first record of each form that tells of no trouble counts by its words. Of
measures that are told again and again the best and the last count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import NamedTuple

from aider_gardener.compress.outline import BY_WORDS, CONTEXT, DETAIL, FAILURE, WARNING, Note
from aider_gardener.compress.quoting import form_of
from aider_gardener.reading.alarms import alarm
from aider_gardener.reading.late import late

_CLOCK = r"\d?\d:\d\d(?::\d\d(?:[.,:]\d+)?(?: ?[AP]M)?|[AP]M)(?: ?Z| ?[+-]\d\d:?\d\d\b| UTC\b)?"
_DAY = r"(?:\d{2,4}[-/.]){1,2}\d{2,4}|\d{8}|\d\d[ /][A-Z][a-z]{2}[ /]\d{4}"
_MONTH = r"(?:[A-Z][a-z]{2},? )?[A-Z][a-z]{2} +\d+(?:, \d{4},?)? " + _CLOCK + r"(?: \d{4}\b)?"
ORIGIN = r"(?:[\w.-]+ +\| |\[\w+/[\w./-]+\] |\d+:[A-Z] |[A-Z], |<\d+>\d? ?|\S+ \S+ \S+ (?=\[\d\d/[A-Z]))?"
"""What may stand before the time: the container or pod that a record is from, a process, a priority."""

TIME = late(
    rf"^{ORIGIN}\W{{0,2}}(?:(?:{_DAY})[T ,:_-]{_CLOCK}|{_MONTH}|"
    rf"{_CLOCK}|(?P<letter>[IWEFD])\d{{4}} \d\d:\d\d:\d\d\.\d+|\[ *\d+\.\d{{3,6}}\](?= )|"
    rf"\d{{6}} \d{{6}}\b|\d{{10}}(?:[.,]\d+)?(?=[ \]:]))"
)
REQUEST = late(r"\"(?:[A-Z]+ )?\S{1,300}(?: HTTP/[\d.]+)?\" (\d{3}) |\b[A-Z]{3,7} /\S{0,300} (\d{3})\b")
"""A request that a server answered, and with which status."""

CALM = frozenset(
    "v d i trace debug dbg trc verbose fine info inf information informational notice log statement 10 20 30 "
    "调试 디버그 情報 信息 资讯 정보 инфо".split()
)
SHORT = {"w": 2, "wrn": 2, "40": 2, "e": 3, "f": 3, "c": 3, "ftl": 3, "crit": 3, "alert": 3, "50": 3, "60": 3}
"""Levels that say nothing of trouble, and those that are no words."""

LEVEL = late(
    r"(?:^\W*(?:\d+ +){0,2}|[\[(<:])([^\W\d_]+)(?=[\])>:|\s,/])|"
    r"\b(?:[\w.]{0,30}level|lvl|severity|levelname)\"? ?[=:] ?\"?([^\W\d_]+|\d\d\b)|"
    r"(?<![\w/.-])([A-Z]{3,})(?=[\s\]:)|,>/]|$)"
)
"""Where a level stands in what follows the time of a record: first, framed, as a field, or in capitals."""

BARE = late(
    r"[A-Z]{3,8}(?:: *| {1,5}\[?|:\w+:)\S|(?:time|ts|t|level|lvl|severity)=\S+ .*?\w=|"
    r"[a-z]{4}: [\w.]+\[\d+\]|[\w.-]+[-_]\d+ +\| \S"
)
"""How a record without a time begins: a level, fields, the container that it is from."""

MEASURE = late(r"\b(\w*(?:loss|err(?:or)?|ppl|acc(?:uracy)?|f1|score|auc|reward|map))[\"']?[:= ]+(\d+\.\d+)")
LOW = late(r"loss|err|ppl")
"""A name and a number of those that a training tells; the lower is the better for some."""

BAR = late(r"%(?<=\d%) ?[|\[█━]")
LEAST, SHARE = 4, 0.5
"""A text has a log from so many records; without times they are so large a part of its lines."""

WORTH = (CONTEXT, CONTEXT, WARNING, FAILURE)
"""What a record is worth, by its rank."""


class _Record(NamedTuple):
    row: int
    rank: int
    message: str
    has_level: bool


def summary(lines: Sequence[str]) -> str:
    """How many records of a log say that they are errors and warnings, and from when to when it goes; "" for
    one of whose records fewer than half say a level. Of what none says nothing is said."""
    records = _records(tuple(lines))
    ranks = [record.rank for record in records if record.has_level]
    if not records or 2 * len(ranks) < len(records):
        return ""
    counts = {"errors": ranks.count(3), "warnings": ranks.count(2)}
    ends = (TIME.match(lines[record.row]) for record in (records[0], records[-1]))
    span = " to ".join(found[0].strip(" [") for found in ends if found)
    return ", ".join(filter(None, [*(f"{name} {count:,}" for name, count in counts.items() if count), span]))


def read(lines: Sequence[str]) -> dict[int, Note]:
    """The records of a log; the measures of a training."""
    records = _records(tuple(lines))
    if not records:
        return _training(lines)
    notes: dict[int, Note] = {}
    counts: Counter[Hashable] = Counter()
    for record in records:
        form = record.rank, form_of(record.message)
        counts[form] += 1
        is_new = record.rank < 2 and counts[form] == 1
        worth = BY_WORDS if is_new else WORTH[record.rank] * (1 + 0.2 / counts[form])
        notes[record.row] = Note(worth, -1, form)
    last = records[-1].row
    notes[last] = notes[last]._replace(form="last")
    return notes


@lru_cache(maxsize=1)  # what is told of them is asked for behind what they are worth
def _records(lines: tuple[str, ...]) -> list[_Record]:
    """The records of the text, none where it is no log."""
    found = [record for row, line in enumerate(lines) if line and (record := _record(row, line))]
    filled = sum(bool(line.strip()) and not line[0].isspace() for line in lines)
    return found if len(found) >= max(LEAST, SHARE * filled) else []


def _record(row: int, line: str) -> _Record | None:
    time = TIME.match(line)
    is_object = line[0] == "{"
    is_begun = time or BARE.match(line, 0, 400)
    if not (is_begun or is_object):
        return None
    rest = line[time.end() if time else 0 :][:2_000]
    words = [time["letter"] or ""] if time else []
    words += map("".join, LEVEL.findall(rest, 0, 2_000 if is_object else 120))
    levels = list(filter(None, map(_rank, words)))
    if not (is_begun or levels):
        return None
    request = REQUEST.search(rest, 0, 1_000)
    rank = levels[0] if levels else _alarm(rest) or 1
    if request and rank < 2:
        rank = {"5": 3, "4": 2}.get((request[1] or request[2])[0], 1)
    return _Record(row, rank, rest, bool(levels))


def _rank(word: str) -> int:
    """3 for a level of errors, 2 of warnings, 1 of others, 0 for no level."""
    small = word.lower()
    return 1 if small in CALM else SHORT.get(small) or _alarm(small)


def _alarm(text: str) -> int:
    return {"error": 3, "warning": 2}.get(alarm(text), 0)


def _training(lines: Sequence[str]) -> dict[int, Note]:
    """The lines with measures: the best, the last and the first of a kind. Bars of progress count nothing."""
    kinds: defaultdict[tuple[str, ...], list[tuple[float, int]]] = defaultdict(list)
    notes: dict[int, Note] = {}
    for row, line in enumerate(lines):
        if found := MEASURE.findall(line, 0, 400):
            name, value = max(found, key=lambda pair: "val" in pair[0])
            kinds[tuple(pair[0] for pair in found)].append(
                (float(value) * (1 if LOW.search(name) else -1), row)
            )
        elif BAR.search(line, 0, 400):
            notes[row] = Note(0.0, -1, ("progress", row))
    for names, values in kinds.items():
        if len(values) > 1:
            notes.update({row: Note(0.0, -1, names) for _, row in values})
            for worth, (_, row) in ((DETAIL, values[0]), (FAILURE, values[-1]), (FAILURE, min(values))):
                notes[row] = Note(worth, -1, (names, row))
    return notes if len(notes) > SHARE * sum(map(bool, lines)) else {}
