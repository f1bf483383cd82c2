"""The short form of an output that no parser knows: what repeats and what says nothing goes, the rest stays.

A law holds here whatever the text is: below WHOLE_TOKENS it is left whole; every line with an error, a
warning, a refusal or an exit stays, with the lines round it; so do the head, the tail and the last line. A
line is said to be repeated only where it differs in nothing but times, numbers and ids. Nothing is counted
but lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import allowance, touches
from aider_gardener.compress.logs.records import families
from aider_gardener.compress.logs.templates import Template
from aider_gardener.compress.pieces import MUST, Reading, chosen
from aider_gardener.reading.alarms import alarm
from aider_gardener.reading.lineshape import masked
from aider_gardener.reading.output import clip

WHOLE_TOKENS = 1_000
"""Texts up to this size are left whole."""

LEAST_TOKENS = 500
LARGE_SHARE, SMALL_SHARE = 0.04, 0.3
"""At least so many tokens may stand; else of a text of 50,000 and of 3,000 tokens such a share."""

ALARMS_SHARE = 1.5
"""Alarms may take so much more than the rest; beyond it those that are alike are told as one."""

HEAD, TAIL, BEFORE, AFTER = 5, 6, 1, 2
"""Lines that stay at both ends, and round each alarm."""

DETAIL_LINES = 6
"""Indented lines behind an alarm are its details: up to so many stay."""

WIDTH = 300

NOISE = re.compile(
    r"(?<![\w./-])(?:0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{22}|(?=\w*\d)[0-9a-fA-F]{12,64}|"
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|"
    r"\d\d:\d\d:\d\d(?:[.,]\d+)?|\d+(?:[.,]\d+)? ?(?:[mun]?s|µs|[kKMGT]i?[bB](?:/s)?|[bB]/s|bytes|%)|"
    r"\d{1,12}/\d{1,12}|(?:(?<=id=)|(?<=seq=)|(?<![=:] )(?<![=:+-]))\d+)"
    r"(?![\w/-]|[.,]\w)"
)
"""What differs between repetitions of one line: times, durations, sizes, whole numbers that count, ids.

No name, no address, no measure, and no value that another name than that of an id stands before."""

STATE = re.compile(r"(?:status|code|exit|exited|errno|rc|level|state|line|version)\W{0,3}$", re.IGNORECASE)
REQUEST = re.compile(r"\b(?:GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS|HTTP)\b")
"""A number behind such a word is a state, and so is one of three digits in a line about a request."""

WORD = re.compile(r"[^\W\d_]{3,}")
LEAST_WORDS = 2
"""A line of fewer words is a row of data: its numbers are what it says."""


def same(line: str) -> str:
    """The line with its noise masked: lines that are the same say the same."""
    head = line[:WIDTH]
    if len(WORD.findall(head)) < LEAST_WORDS:
        return line
    request = bool(REQUEST.search(head))

    def mask(found: re.Match[str]) -> str:
        state = request and len(found[0]) == 3 and found[0].isdigit()
        return found[0] if state or STATE.search(head, max(0, found.start() - 12), found.start()) else "\0"

    return NOISE.sub(mask, head).strip() + line[WIDTH:]


@dataclass
class _Kind:
    """Lines that say the same: where they stand, and what they tell of."""

    at: list[int] = field(default_factory=list)
    level: str = ""
    coarse: str = ""


def excerpt(lines: Sequence[str], tokens: int, ctx: Context) -> list[str]:
    """The lines of an output of `tokens` tokens that stay, in order, with an ellipsis for each gap."""
    budget = max(LEAST_TOKENS, allowance(tokens, LARGE_SHARE, SMALL_SHARE))
    return fitted(lines, budget, ctx)


def fitted(lines: Sequence[str], budget: int, ctx: Context) -> list[str]:
    """The same within `budget` tokens, which alarms alone may exceed."""
    return chosen(_Excerpt(lines, ctx).reading(budget), budget, ctx)


def put_excerpt(reading: Reading, foreign: Sequence[tuple[int, str]], budget: int, ctx: Context) -> None:
    """Put lines that no parser knows, with their rows, into a reading: alarms and ends must stay."""
    rows = [at for at, _ in foreign]
    for piece in _Excerpt([line for _, line in foreign], ctx).reading(budget).pieces:
        whole = piece.at == int(piece.at)
        reading.add(rows[int(piece.at)] if whole else rows[int(piece.at)] + 0.5, piece.lines, piece.weight)


class _Excerpt:
    def __init__(self, lines: Sequence[str], ctx: Context) -> None:
        self.lines, self.ctx = lines, ctx
        self.kinds: dict[str, _Kind] = {}
        self.kind_at: list[_Kind] = []
        self.alike: dict[str, int] = {}
        for at, line in enumerate(lines):
            key = same(line)
            kind = self.kinds.get(key)
            if kind is None:
                self.kinds[key] = kind = _Kind([], alarm(line), masked(line))
            kind.at.append(at)
            self.kind_at.append(kind)
            self.alike[kind.coarse] = self.alike.get(kind.coarse, 0) + 1

    def reading(self, budget: int) -> Reading:
        """The ends and the alarms must stay; then what stands round alarms, the rare, the rest."""
        reading = Reading(gaps=True)
        last = len(self.lines) - 1
        for at in dict.fromkeys([0, last]):
            self.put(reading, at, MUST)
        for step in range(max(HEAD, TAIL)):
            if step < HEAD:
                self.put(reading, step, 9.0)
            if step < TAIL:
                self.put(reading, last - step, 9.0)
        self.alarms(reading, budget)
        for kind in self.kinds.values():
            weight = 4.0 if self.alike[kind.coarse] == 1 else 3.0 if self.alike[kind.coarse] < 5 else 1.0
            near = touches(self.lines[kind.at[0]], self.ctx.focus)
            self.put(reading, kind.at[0], weight + (3 if near else 0))
        return reading

    def alarms(self, reading: Reading, budget: int) -> None:
        """Each kind of alarm once: errors first, as many as have room; of more the families are told."""
        room = ALARMS_SHARE * budget
        told = [kind for kind in self.kinds.values() if kind.level]
        told.sort(key=lambda kind: (kind.level != "error", self.alike[kind.coarse] > 3, kind.at[0]))
        beyond: list[_Kind] = []
        for kind in told:
            at = kind.at[0]
            room -= self.ctx.count(self.shown(at)) + 1
            if room < 0:
                beyond.append(kind)
                self.put(reading, at, 8.0)
                continue
            self.put(reading, at, MUST)
            self.around(reading, at, 8.5 if kind.level == "error" else 6.0)
            if len(kind.at) > 1:
                self.put(reading, kind.at[-1], 5.0)
        templates = [Template(kind.coarse, kind.level, at=kind.at) for kind in beyond]
        for family in families(templates):
            reading.add(family.at, family.told())

    def around(self, reading: Reading, at: int, weight: float) -> None:
        """The lines before and behind an alarm; those that are indented deeper are its details."""
        for row in range(max(0, at - BEFORE), at):
            self.put(reading, row, weight - 0.5)
        depth = _indent(self.lines[at])
        for row in range(at + 1, min(len(self.lines), at + 1 + DETAIL_LINES)):
            detail = _indent(self.lines[row]) > depth
            if not detail and row > at + AFTER:
                break
            self.put(reading, row, weight if detail or row == at + 1 else weight - 0.5)

    def put(self, reading: Reading, at: int, weight: float) -> None:
        if 0 <= at < len(self.lines) and self.lines[at].strip():
            reading.add(at, self.shown(at), weight)

    def shown(self, at: int) -> str:
        """A line, the first of its kind with how often it is repeated."""
        kind = self.kind_at[at]
        line = clip(self.lines[at].rstrip(), WIDTH)
        return f"{line} [repeated {len(kind.at)} times]" if kind.at[0] == at and len(kind.at) > 1 else line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
