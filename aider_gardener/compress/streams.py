"""Records of programs that tell what they do: logs, with or without times, and the progress of a training.

A record begins with a time, a level or both, or is an object with such fields. What counts is the level, the
first record of each form, how rare a form is, both ends of the stream. Of measures that are told again and
again the best and the last count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from functools import lru_cache
from math import log2
from typing import NamedTuple

from aider_gardener.compress.outline import CAUSE, CONTEXT, DETAIL, FAILURE, WARNING, Note
from aider_gardener.reading.alarms import alarm
from aider_gardener.reading.late import late

_CLOCK = r"\d?\d:\d\d(?::\d\d(?:[.,:]\d+)?(?: ?[AP]M)?|[AP]M)(?: ?Z| ?[+-]\d\d:?\d\d\b| UTC\b)?"
_DAY = r"\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/.]\d\d[-/.](?:\d{4}|\d\d)|\d{8}|\d\d[-.]\d\d|\d\d [A-Z][a-z]{2} \d{4}"
_MONTH = r"(?:[A-Z][a-z]{2},? )?[A-Z][a-z]{2} +\d+(?:, \d{4},?)? " + _CLOCK + r"(?: \d{4}\b)?"
ORIGIN = (
    r"(?:[\w./@-]{1,200}\.(?:log|out|err|txt)[\w.:-]{0,40}[: ] ?|[\w.-]+ +\| |\[\w+/[\w./-]+\] |\d+:[A-Z]"
    r" |[A-Z], |<\d+>\d? ?|\S+ \S+ \S+ (?=\[\d\d/[A-Z]))?"
)
"""What may stand before the time: the file, container or pod that a record is from, a process, a priority."""

TIME = late(
    rf"^{ORIGIN}\W{{0,2}}(?:(?:{_DAY})[T ,_-]{_CLOCK}|\d{{4}}[-/]\d\d[-/]\d\d[T ,]\d\d:\d\d\b|{_MONTH}|"
    rf"{_CLOCK}|(?P<letter>[IWEFD])\d{{4}} \d\d:\d\d:\d\d\.\d+|\[ *\d+\.\d{{3,6}}\](?= )|"
    rf"\d\d/[A-Z][a-z]{{2}}/\d{{4}}[: ]{_CLOCK}|\d{{6}} \d{{6}}\b|\d{{10}}(?:[.,]\d+)?(?=[ \]:]))"
)
REQUEST = late(r"\"(?:[A-Z]+ )?\S{1,300}(?: HTTP/[\d.]+)?\" (\d{3}) |\b[A-Z]{3,7} /\S{0,300} (\d{3})\b")
"""A request that a server answered, and with which status."""

RANKS = (
    "trace debug dbug trce verbose fine finer finest dbg trc 调试 디버그",
    "info information informational notice log config inf statement 情報 信息 资讯 정보 инфо",
    "warn warning wrn warnung advertencia aviso avertissement 警告 注意 경고 предупреждение uyarı",
    "error err fail severe failure fehler erreur erro errore エラー 錯誤 错误 오류 ошибка błąd hata",
    "fatal critical crit alert emerg emergency panic dpanic ftl 致命 치명적",
)
RANK = {word: rank for rank, words in enumerate(RANKS) for word in words.split()}
LETTERS = {"V": 0, "D": 0, "I": 1, "W": 2, "E": 3, "F": 4, "C": 4}
_WORD = "|".join(sorted(RANK, key=len, reverse=True))
_LOUD = "|".join(word.upper() for word in _WORD.split("|") if word.isascii())
LEVEL = late(
    rf"(?i:^[\s\]|-]*[\[(<]?(?P<first>{_WORD})\b[\])>:|\s])|"
    rf"(?i:[\[(<:](?P<framed>{_WORD})[\])>])|(?i:\b(?:level|lvl|severity|loglevel)=\"?(?P<field>{_WORD})\b)|"
    rf"(?<![\w/.-])(?P<loud>{_LOUD})(?=[\s\]:)|,>/]|$)|^\W*(?:\d+ +){{0,2}}(?P<letter>[DIWEFVC])[ /]+\w"
)
"""The level of a record, in what follows its time: first, framed, as a field, in capitals, or a letter."""

BARE = late(
    rf"^(?:(?:{_LOUD})(?:: *| {{1,5}}\[?|:\w+:)\S|(?:time|ts|t|level|lvl|severity)=\S+ .*?\w=|"
    r"[a-z]{4}: [\w.]+\[\d+\]|[\w.-]+[-_]\d+ +\| \S)"
)
"""How a record without a time begins: a level, fields, the container that it is from."""

OBJECT = late(r"^\{.*?\"(?:[\w.]*level|severity|lvl|levelname|s)\" ?: ?\"?(\d\d\b|[A-Za-z]\w*)")
SAYS = late(r"\b(?:msg|message|event|error|err)\"? ?[:=] ?\"((?:[^\"\\]|\\.){1,200})")
FOLLOWS = late(r"\b(?:STATEMENT|DETAIL|HINT|CONTEXT|QUERY|LOCATION): ")
"""A record that says more of the record above it."""

MEASURE = late(r"\b(\w*(?:loss|err(?:or)?|ppl|acc(?:uracy)?|f1|score|auc|reward|map))[:= ]+(\d+\.\d+)")
LOW = late(r"loss|err|ppl")
"""A name and a number of those that a training tells; the lower is the better for some."""

BAR = late(r"%(?<=\d%) ?[|\[█━]")
VARIES = late(r"0x[0-9a-f]+|\b[0-9a-f]{7,}\b|(?<![\w%+-])[\w%+-]*\d[\w.:%+-]*")
NAMES = late(r"\"[^\"]*\"|'[^']*'|(?<![\w.])[\w.-]*/[^\s,;)\]]*|(?<==)[^\s,;)\]]+|(?<=\[)[^\[\]]*(?=\])")
FORM_CHARS = 200
LEAST, SHARE = 4, 0.5
"""A text has a log from so many records; without times they are so large a part of its lines."""

FIRST, AGAIN, VARIANTS = 3, 0.3, 6
"""So many records of a form are worth what it is, further ones this part of it; up to so many records that
differ in a name only are forms of their own."""

WORTH = (0.0, CONTEXT, WARNING, FAILURE, CAUSE)
"""What the first record of a form is worth, by its rank."""


class _Record(NamedTuple):
    row: int
    rank: int
    says: str
    timed: bool
    has_level: bool


def summary(lines: Sequence[str]) -> str:
    """How many records of a log say that they are errors and warnings, and from when to when it goes; "" for
    one of whose records fewer than half say a level. Of what none says nothing is said."""
    records = _records(tuple(lines))
    ranks = [record.rank for record in records if record.has_level]
    if not records or 2 * len(ranks) < len(records):
        return ""
    counts = {"errors": sum(rank > 2 for rank in ranks), "warnings": sum(rank == 2 for rank in ranks)}
    times = [
        next(filter(None, (TIME.match(lines[record.row]) for record in some)), None)
        for some in (records, records[::-1])
    ]
    span = " to ".join(found[0].strip(" [") for found in times if found)
    return ", ".join(filter(None, [*(f"{name} {count:,}" for name, count in counts.items() if count), span]))


def read(lines: Sequence[str]) -> dict[int, Note]:
    """The records of a log; the measures of a training."""
    records = _records(tuple(lines))
    if not records:
        return _training(lines)
    forms = _forms(records)
    often = Counter(forms)
    ends = {0, len(records) - 1}
    notes: dict[int, Note] = {}
    seen: Counter[Hashable] = Counter()
    for at, (record, form) in enumerate(zip(records, forms, strict=True)):
        seen[form] += 1
        worth = WORTH[record.rank] * (AGAIN if seen[form] > FIRST else 1)
        if seen[form] == 1:
            worth += 2 / (1 + 0.5 * log2(often[form]))
            worth += 2 * (record.rank < 2 and alarm(record.says) == "error")
        if at in ends:
            worth, form = worth + DETAIL, (form, at)
        above = records[at - 1].row if at and FOLLOWS.search(record.says, 0, 60) else -1
        if above >= 0:
            worth = max(worth, notes[above].worth * 0.6)
        notes[record.row] = Note(worth, above, form)
    return notes


@lru_cache(maxsize=1)  # what is told of them is asked for behind what they are worth
def _records(lines: tuple[str, ...]) -> list[_Record]:
    """The records of the text, none where it is no log."""
    found = [record for row, line in enumerate(lines) if line and (record := _record(row, line))]
    timed = sum(record.timed for record in found)
    filled = sum(bool(line.strip()) and not line[0].isspace() for line in lines)
    if timed < LEAST:
        return found if len(found) >= max(LEAST, SHARE * filled) else []
    return found


def _record(row: int, line: str) -> _Record | None:
    time = TIME.match(line)
    fields = OBJECT.match(line, 0, 2_000) if line[0] == "{" else None
    if not time and not fields and not BARE.match(line, 0, 400):
        return None
    rest = line[time.end() if time else 0 :][:2_000]
    given = (time and time["letter"]) or (fields and fields[1])
    found = None if given else LEVEL.search(rest, 0, 120)
    level = given or (found[found.lastgroup or 0] if found else "")
    says = None if time else SAYS.search(rest)
    told = says[1] if says else rest[found.end() if found else 0 :]
    return _Record(row, _rank(level, rest), told, bool(time or fields), bool(level))


def _rank(level: str, rest: str) -> int:
    """The rank of a record: by its level, by the status of a request, without both by its words."""
    rank = int(level) // 10 - 2 if level.isdecimal() else RANK.get(level.lower(), LETTERS.get(level, 1))
    if rank < 2 and (request := REQUEST.search(rest, 0, 1_000)):
        return {"5": 3, "4": 2}.get((request[1] or request[2])[0], 1)
    return min(4, max(0, rank)) if level else {"error": 3, "warning": 2}.get(alarm(rest), 1)


def _forms(records: Sequence[_Record]) -> list[Hashable]:
    """For each record its rank and what it says without what varies; names count while there are few."""
    fine = [(record.rank, VARIES.sub("0", record.says[:FORM_CHARS])) for record in records]
    coarse = {one: (one[0], *NAMES.sub("*", one[1]).split(" ")) for one in dict.fromkeys(fine)}
    variants = Counter(coarse.values())
    for one, form in coarse.items():
        if variants[form] <= VARIANTS:
            coarse[one] = (one[0], *one[1].split(" "))
    return [coarse[one] for one in fine]


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
            notes[row] = Note(0.0, -1, "progress")
    for names, values in kinds.items():
        if len(values) >= LEAST:
            notes.update({row: Note(0.0, -1, names) for _, row in values})
            for worth, (_, row) in ((DETAIL, values[0]), (FAILURE, values[-1]), (FAILURE, min(values))):
                notes[row] = Note(worth, -1, (names, row))
    return notes if len(notes) > SHARE * sum(map(bool, lines)) else {}
