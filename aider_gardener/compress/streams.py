"""Records of programs that tell of what they do: logs, with or without stamps, levels and fields.

A record begins with a time, a level or both, or is an object with such fields; lines that are indented beneath
it belong to it. What counts is the level, the first record of each form, how rare the form is, what took
longest, and where the stream begins and ends.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from math import log2
from typing import NamedTuple

from aider_gardener.compress.outline import CAUSE, CONTEXT, DETAIL, FAILURE, WARNING, Note
from aider_gardener.reading.alarms import alarm

_CLOCK = r"\d?\d:\d\d(?::\d\d(?:[.,:]\d+)?(?: ?[AP]M)?|[AP]M)(?: ?Z| ?[+-]\d\d:?\d\d\b| UTC\b)?"
_DAY = r"\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/.]\d\d[-/.](?:\d{4}|\d\d)|\d{8}|\d\d[-.]\d\d|\d\d [A-Z][a-z]{2} \d{4}"
_MONTH = r"(?:[A-Z][a-z]{2},? )?[A-Z][a-z]{2} +\d+(?:, \d{4},?)? " + _CLOCK + r"(?: \d{4}\b)?"
ORIGIN = (
    r"(?:[\w./@-]*\.(?:log|out|err|txt)[\w.:-]*[: ] ?|[\w.-]+ +\| |\[(?:pod|deployment)/[\w./-]+\] |"
    r"\d+:[A-Z] |[A-Z], |<\d+>\d? ?|\S+ \S+ \S+ (?=\[\d\d/[A-Z]))?"
)
"""What may stand before the time: the file, container or pod that a record is from, a process and its role."""

TIME = re.compile(
    rf"^{ORIGIN}\W{{0,2}}(?:(?:{_DAY})[T ,_-]{_CLOCK}|\d{{4}}[-/]\d\d[-/]\d\d[T ,]\d\d:\d\d\b|{_MONTH}|{_CLOCK}|"
    rf"\d\d/[A-Z][a-z]{{2}}/\d{{4}}[: ]{_CLOCK}|\d{{6}} \d{{6}}\b|\d{{10}}(?:[.,]\d+)?(?=[ \]:])|"
    r"[IWEFD]\d{4} \d\d:\d\d:\d\d\.\d+|\[ *\d+\.\d{3,6}\](?= ))"
)
GLOG = re.compile(r"^[IWEFD](?=\d{4} \d\d:)")
REQUEST = re.compile(r"\"(?:[A-Z]{3,8} )?\S{1,300}(?: HTTP/[\d.]+)?\" (\d{3}) |\b[A-Z]{3,7} /\S{0,300} (\d{3})\b")
"""A request that a server answered, and with which status."""

RANKS = (
    ("trace debug dbug trce verbose fine finer finest dbg trc ディバッグ 调试 디버그", 0),
    ("info information informational notice log config inf statement 情報 信息 资讯 정보 инфо", 1),
    ("warn warning wrn warnung advertencia aviso avertissement 警告 注意 경고 предупреждение uyarı", 2),
    ("error err fail severe eror failure fehler erreur erro errore エラー 錯誤 错误 오류 ошибка błąd hata", 3),
    ("fatal critical crit alert emerg emergency panic dpanic ftl 致命 重大 치명적", 4),
)
RANK = {word: rank for words, rank in RANKS for word in words.split()}
_WORD = "|".join(sorted(RANK, key=len, reverse=True))
LETTERS = {"V": 0, "D": 0, "I": 1, "W": 2, "E": 3, "F": 4, "C": 4}
LEVEL = re.compile(
    rf"(?i:^[\s\]|-]*[\[(<]?(?P<first>{_WORD})\b[\])>:|\s])|"
    rf"(?i:[\[(<:](?P<framed>{_WORD})[\])>])|(?i:\b(?:level|lvl|severity|loglevel)=\"?(?P<field>{_WORD})\b)|"
    rf"(?<![\w/.-])(?P<loud>{'|'.join(w.upper() for w in _WORD.split('|') if w.isascii())})(?=[\s\]:)|,>/]|$)"
)
"""The level of a record, in what follows its time: first, framed, as a field, or in capitals."""

LETTER = re.compile(r"^\W*(?:\d+ +){0,2}([DIWEFVC])[ /]+\w")
"""A level as one letter, behind numbers of processes."""

BARE = re.compile(
    r"^(?:[a-z]{4}: [\w.]+\[\d+\]|[\w.-]+[-_]\d+ +\| \S|(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|TRACE|SEVERE)(?:: *| {1,5}\[?|:\w+:)\S|"
    r"(?:time|ts|t|level|lvl|severity)=\S+ .*?\w=)"
)
"""How a record without a time begins: a level, fields, the container that it is from."""

OBJECT = re.compile(r"^\{.*?\"(?:[\w.]*level|severity|lvl|levelname|s)\" ?: ?(?:\"(\w+)\"|(\d\d)\b)")
SAYS = re.compile(r"\b(?:msg|message|event|error|err)\"? ?[:=] ?\"((?:[^\"\\]|\\.){1,200})")
FOLLOWS = re.compile(r"\b(?:STATEMENT|DETAIL|HINT|CONTEXT|QUERY|LOCATION): ")
"""A record that says more of the record above it."""

TRACE = re.compile(
    r"^\s*(?:at \S|File \"|Traceback |Caused by|\.\.\. \d+ more|goroutine |panic:|#\d+ |from \S+:\d+)|"
    r"^[\w.$]*(?:Error|Exception)\b"
)
"""Lines of a stack are left to those who can read it."""

TOOK = re.compile(r"(?<![\w.])(\d{1,9}(?:\.\d+)?) ?(ms|s|sec|secs|seconds|µs|us|ns|m|min)\b")
UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "m": 60.0, "min": 60.0}
TURN = re.compile(
    r"(?i)\b(?:start(?:ed|ing|up)|stopp(?:ed|ing)|shut(?:ting)? ?down|listening|ready|restart\w*|exit\w*|finished|"
    r"reconnect\w*|elected|leader|promoted|recovered|version|upgrad\w*|migrat\w*|reload\w*|signal|lost)\b"
)
"""Words of records that say that a state changed."""

VARIES = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{7,}\b|[\w%+-]*\d[\w.:%+-]*")
NAMES = re.compile(r"\"[^\"]*\"|'[^']*'|(?<![\w.])[\w.-]*/[^\s,;)\]]*|(?<==)[^\s,;)\]]+|(?<=\[)[^\[\]]*(?=\])")
FORM_CHARS = 200
LEAST, SHARE = 4, 0.5
"""A text has a log from so many records; without times they are so large a part of its lines."""

FIRST, AGAIN = 3, 0.3
"""So many records of a form are worth what it is worth, further ones this part of it."""

VARIANTS = 6
"""Records that differ only in names are forms of their own up to so many."""

WORTH = (0.0, CONTEXT, WARNING, FAILURE, CAUSE)
"""What the first record of a form is worth, by its rank."""


class _Record(NamedTuple):
    row: int
    rank: int
    says: str
    levelled: bool
    timed: bool


def read(lines: Sequence[str]) -> dict[int, Note]:
    """The records of a log and what is indented beneath them."""
    records = _records(lines)
    if not records:
        return {}
    forms = _forms(records)
    often = Counter(forms)
    slow = _slowest(records, forms)
    notes: dict[int, Note] = {}
    seen: Counter[Hashable] = Counter()
    ends = {0, len(records) - 1, max((at for at, one in enumerate(records) if one.rank > 2), default=0)}
    for at, (record, form) in enumerate(zip(records, forms, strict=True)):
        seen[form] += 1
        worth = WORTH[record.rank] * (AGAIN if seen[form] > FIRST else 1)
        if seen[form] == 1:
            worth += 2 / (1 + 0.5 * log2(often[form])) + _tells(record)
        if at in ends or record.row in slow:
            worth, form = worth + 3, (form, "end")
        above = records[at - 1].row if at and FOLLOWS.search(record.says, 0, 60) else -1
        if above >= 0:
            worth = max(worth, notes[above].worth * 0.6)
        notes[record.row] = Note(worth, above, form)
    _around(records, notes)
    return {**notes, **_beneath(lines, records, notes)}


def _records(lines: Sequence[str]) -> list[_Record]:
    """The records of the text, none where it is no log."""
    found = [record for row, line in enumerate(lines) if line and (record := _record(row, line))]
    timed = sum(record.timed for record in found)
    filled = sum(bool(line.strip()) and not line[0].isspace() for line in lines)
    if timed < LEAST:
        return found if len(found) >= max(LEAST, SHARE * filled) else []
    if not any(record.levelled for record in found) and _columns(found):
        return []
    return found


def _columns(records: Sequence[_Record]) -> bool:
    """True for rows of a table that begin with a time: all have the same few cells, half of them numbers."""
    cells = [record.says.split(None, 12) for record in records]
    width, times = Counter(map(len, cells)).most_common(1)[0]
    numbers = sum(word[0].isdigit() for words in cells for word in words)
    first = sum(words[0][0].isdigit() for words in cells if words)
    return times > 0.9 * len(records) and 2 * numbers >= width * times + (first < times)


def _record(row: int, line: str) -> _Record | None:
    time = TIME.match(line)
    if time:
        rest = line[time.end() : time.end() + 1_000]
        glog = GLOG.match(line)
        rank, end = _level(glog.group() if glog else "", rest)
        return _Record(row, _rank(rank, rest), rest[end:], rank >= 0, True)
    if line[0] == "{" and (found := OBJECT.match(line, 0, 2_000)):
        word, number = found.groups()
        rank = _named(word) if word else min(4, max(0, int(number) // 10 - 2))
        says = SAYS.search(line, 0, 4_000)
        return _Record(row, rank, says.group(1) if says else line[:300], True, True)
    if not BARE.match(line, 0, 400):
        return None
    rank, end = _level("", line)
    says = SAYS.search(line, 0, 2_000)
    return _Record(row, _rank(rank, line), says.group(1) if says else line[end:1_000], True, False)


def _level(letter: str, rest: str) -> tuple[int, int]:
    """The rank of a record and where its level ends; -1 where it has none."""
    if not letter and (found := LEVEL.search(rest, 0, 120)):
        return _named(found.group(found.lastgroup or 0)), found.end()
    if not letter and (single := LETTER.match(rest)):
        return _named(single.group(1)), single.end(1)
    return (_named(letter), 0) if letter else (-1, 0)


def _named(word: str) -> int:
    return RANK.get(word.lower(), LETTERS.get(word, 1))


def _rank(level: int, rest: str) -> int:
    """The rank of a record: by its level, by the status of a request, without both by its words."""
    if level < 2 and (request := REQUEST.search(rest, 0, 1_000)):
        return {"5": 3, "4": 2}.get((request.group(1) or request.group(2))[0], 1)
    return level if level >= 0 else {"error": 3, "warning": 2}.get(alarm(rest), 1)


def _tells(record: _Record) -> float:
    """What the words of a record without alarm are worth."""
    if record.rank > 1:
        return 0.0
    return 2.0 * (alarm(record.says) == "error") + bool(TURN.search(record.says))


def _forms(records: Sequence[_Record]) -> list[Hashable]:
    """For each record its rank and what it says without what varies; names count while there are few."""
    fine = [(record.rank, VARIES.sub("0", record.says[:FORM_CHARS])) for record in records]
    coarse = {one: (one[0], *NAMES.sub("*", one[1]).split(" ")) for one in dict.fromkeys(fine)}
    variants = Counter(coarse.values())
    few = {one: (one[0], *one[1].split(" ")) if variants[form] <= VARIANTS else form for one, form in coarse.items()}
    merged = _merged(set(few.values()))
    return [merged[few[one]] for one in fine]


def _merged(forms: set[tuple[Hashable, ...]]) -> dict[tuple[Hashable, ...], tuple[Hashable, ...]]:
    """For each form the one without the words in whose place many forms differ that are else the same."""
    merged = {form: form for form in forms}
    for _ in range(2):
        alike: Counter[tuple[int, int, int]] = Counter()
        for form in (distinct := set(merged.values())):
            alike.update(_holes(form))
        widest = {form: max(_holes(form), key=lambda hole: alike[hole]) for form in distinct if len(form) > 1}
        for form, last in merged.items():
            hole = widest.get(last)
            if hole and alike[hole] > VARIANTS:
                merged[form] = (*last[: hole[1]], "*", *last[hole[1] + 1 :])
    return merged


def _holes(form: tuple[Hashable, ...]) -> list[tuple[int, int, int]]:
    """What a form shares with those of the same length that differ in one word, for each of its words."""
    marks = [hash((at, word)) for at, word in enumerate(form)]
    whole = sum(marks)
    return [(len(form), at, whole - mark) for at, mark in enumerate(marks) if at]


def _slowest(records: Sequence[_Record], forms: Sequence[Hashable]) -> set[int]:
    """The row of each form that took longest, where that is far longer than usual."""
    took: defaultdict[Hashable, list[tuple[float, int]]] = defaultdict(list)
    for record, form in zip(records, forms, strict=True):
        if found := TOOK.search(record.says):
            took[form].append((float(found.group(1)) * UNITS.get(found.group(2), 1.0), -record.row))
    ranked = (sorted(times) for times in took.values() if len(times) >= LEAST)
    return {-times[-1][1] for times in ranked if times[-1][0] > 3 * times[len(times) // 2][0]}


def _around(records: Sequence[_Record], notes: dict[int, Note]) -> None:
    """The records before and after the first errors tell how it came to them."""
    seen: set[Hashable] = set()
    for at, record in enumerate(records):
        form = notes[record.row].form
        if record.rank < 3 or form in seen:
            continue
        seen.add(form)
        for step, worth in ((-1, DETAIL), (1, 0.8 * DETAIL), (-2, 0.5 * DETAIL)):
            if 0 <= at + step < len(records) and len(seen) <= LEAST:
                near = records[at + step].row
                notes[near] = notes[near]._replace(worth=max(notes[near].worth, worth))


def _beneath(lines: Sequence[str], records: Sequence[_Record], notes: dict[int, Note]) -> dict[int, Note]:
    """The lines that are indented beneath a record, under it."""
    found: dict[int, Note] = {}
    ends = [record.row for record in records[1:]] + [len(lines)]
    for record, end in zip(records, ends, strict=True):
        for row in range(record.row + 1, end):
            line = lines[row]
            if not line[:1].isspace() or not line.strip() or TRACE.match(line):
                break
            worth = notes[record.row].worth * 0.6 - 0.3 * (row - record.row)
            found[row] = Note(min(worth, FAILURE), record.row, (notes[record.row].form, row - record.row))
    return found
