"""Which rows of a table stand out, and what its columns hold: of values that name a state the bad and the
rare ones, of numbers the extremes.

Every statement is counted: a column's counts are those of all rows that were looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from aider_gardener.compress.pieces import MUST

MOST_ROWS, MOST_COLUMNS = 60_000, 60
"""Rows and columns beyond are counted and shown, not judged."""

FEW_ROWS = 8
"""In a table with fewer rows nothing is rare."""

STATE_CHARS, VALUE_CHARS = 48, 40
MOST_BAD, MOST_RARE, MOST_EXTREMES, MOST_FAR = 60, 24, 10, 9
"""So many rows stay for being bad, rare, an extreme, or far from all others, whatever they cost."""

BAD = re.compile(
    r"(?<![\w-])(?:crashloopbackoff|\w*backoff|errimage\w+|oomkilled|evicted|unhealthy|warn(?:ing)?|pending|"
    r"terminating|notready|not ready|unknown|lost|dead|degraded|expired|rejected|denied|timed?[ -]?out|"
    r"unreachable|offline|defunct|unmet|invalid|extraneous|stuck|stale|outofsync|missing|conflict|unavailable|overdue|"
    r"schedulingdisabled|diskpressure|memorypressure|networkunavailable|containercannotrun|createcontainer\w+|"
    r"\w*error|errored|err|fail|failing|failed\w*|failure|fatal|critical|crit|emerg|alert|restarting|abort(?:ed)?|"
    r"cancell?ed|refused|down|broken|corrupt\w*|vulnerable|high|blocked|deadlock|startup_failure|not-found|"
    r"suspended|exhausted|locked)(?![\w-])"
    r"|(?:\bE|e)xited \((?!0\))\d+\)|^init:|^[✗✘×X❌]$|deadline exceeded",
    re.IGNORECASE,
)
"""A state that somebody has to look at."""

BENIGN = re.compile(r"(?<![\w-])(?:no|0) (?:errors?|failures?|warnings?)|completed|succeeded", re.IGNORECASE)
STATE_NAME = re.compile(
    r"stat(?:e|us)|reason|health|ready|condition|result|conclusion|severity|level|phase|sub|active|type|outcome",
    re.IGNORECASE,
)
MOMENT_NAME = re.compile(
    r"^(?:age|time|date|created|updated|started|when|last seen|up|uptime|pid|ppid)\b", re.I
)
NUMBER = re.compile(
    r"^[-+−]?[$€£]?(\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE]([-+]?\d+))? ?"
    r"([kKMGTP]?i?[bB]?|%|m|ms|s|us|µs|ns|sec|[$€£])(?: ?/ ?\S.*)?$"
)
UNITS = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
READY = re.compile(r"^(\d+)/(\d+)(?: \(.*\))?$")
RESTARTED = re.compile(r"^([1-9]\d*)(?: \(.*\))?$")
NAMED_PART = re.compile(r"\b(?=\w*\d)\w[\w.-]*|\d+")
CODE = re.compile(r"\((\d+)\)")


@dataclass
class RankedColumn:
    """One column: its name, a value of each row, and what they have in common."""

    name: str
    values: list[str]

    @cached_property
    def numbers(self) -> list[float | None]:
        return [number_of(value) for value in self.values]

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.values)

    @cached_property
    def numeric(self) -> bool:
        filled = sum(1 for value in self.values if value)
        return filled > 0 and sum(1 for one in self.numbers if one is not None) >= 0.8 * filled

    @cached_property
    def ordered(self) -> bool:
        """True for numbers that only rise, as those of a key do."""
        held = [one for one in self.numbers if one is not None]
        return all(one <= two for one, two in pairwise(held))

    @cached_property
    def few(self) -> bool:
        """True for a column of few different values that come back."""
        different = len(self.counts)
        if not 2 <= different <= max(12, len(self.values) // 20) or len(self.values) < 4:
            return False
        if self.numeric and different > 8:
            return False
        return self.counts.most_common(1)[0][1] >= max(2, 0.15 * len(self.values))

    @cached_property
    def states(self) -> bool:
        """True where a value may name a state: by the column's name, or because few values come back."""
        short = sum(1 for value in self.counts if len(value) <= STATE_CHARS)
        named = bool(STATE_NAME.search(self.name)) and len(self.name) <= 24
        return short >= 0.7 * len(self.counts) and (named or self.few or not self.name)


@dataclass
class Judged:
    """What stands out of rows: a weight for each that does, and a line for each column of few values."""

    weights: dict[int, float] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    def put(self, at: int, weight: float) -> None:
        self.weights[at] = max(weight, self.weights.get(at, 0.0))


def number_of(value: str) -> float | None:
    """The number that a cell holds, by its unit; None for anything else."""
    if len(value) > 40:
        return None
    found = NUMBER.match(value)
    if not found:
        return None
    size = float(found[1].replace(",", "")) * 10.0 ** max(-300, min(300, int((found[2] or "0")[:4])))
    unit = found[3].lower()
    factor = UNITS.get(unit[:1], 1.0) if unit not in ("m", "ms") else 1.0
    return -size * factor if value[0] in "-−" else size * factor


def judge(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Judged:
    """The weights of the rows that stand out and what the columns hold. Linear in the cells."""
    judged = Judged()
    seen = rows[:MOST_ROWS]
    if not seen:
        return judged
    width = min(MOST_COLUMNS, max(len(names), max(map(len, seen))))
    columns = [
        RankedColumn(
            names[at] if at < len(names) else "",
            [row[at] if at < len(row) else "" for row in seen],
        )
        for at in range(width)
    ]
    _bad(columns, seen, judged)
    if len(seen) >= FEW_ROWS:
        _rare(columns, judged)
        _extremes(columns, judged)
        _first_of_each(columns, seen, judged)
    judged.told = list(_told(columns, len(rows)))
    return judged


def is_bad(value: str) -> bool:
    """True for a cell that names a state somebody has to look at."""
    return len(value) <= STATE_CHARS and bool(BAD.search(value)) and not BENIGN.search(value)


def _bad(columns: Sequence[RankedColumn], rows: Sequence[Sequence[str]], judged: Judged) -> None:
    """The first row of each bad state, kind of thing and message must stay; further ones weigh much."""
    marked: dict[int, list[str]] = {}
    for column in columns:
        if not column.states:
            continue
        bad = {value for value in column.counts if is_bad(value)}
        for at, value in enumerate(column.values) if bad else ():
            if value in bad:
                marked.setdefault(at, []).append(_state(value))
    _not_ready(columns, marked, judged)
    shapes: set[tuple[str, ...]] = set()
    for at, states in sorted(marked.items()):
        row = rows[at]
        kind = next(
            (cell.partition("/")[0] for cell in row if "/" in cell[:24] and not cell[:1].isdigit()), ""
        )
        message = NAMED_PART.sub("0", row[-1])[:120] if row and " " in row[-1] else ""
        shape = (*states, kind, message)
        must = shape not in shapes and len(shapes) < MOST_BAD
        shapes.add(shape)
        judged.put(at, MUST if must else 8.0)


def _state(value: str) -> str:
    """What two cells of one state have in common: the words, and an exit code."""
    code = CODE.search(value)
    return re.sub(r"\d+", "0", value) + (f"({code[1]})" if code else "")


def _not_ready(columns: Sequence[RankedColumn], marked: dict[int, list[str]], judged: Judged) -> None:
    """Rows of which fewer are ready than are wanted, and those that started again."""
    done = {
        at
        for column in columns
        if column.states
        for at, value in enumerate(column.values)
        if BENIGN.search(value)
    }
    for column in columns:
        name = column.name.upper()
        if name in ("READY", "COMPLETIONS", "REPLICAS", "UP-TO-DATE", "RUNNING"):
            for at, value in enumerate(column.values):
                found = READY.match(value)
                if found and int(found[1][:9]) < int(found[2][:9]) and at not in done:
                    marked.setdefault(at, []).append("ready")
        elif name.startswith("RESTART"):
            again = [(number, at) for at, value in enumerate(column.values) if (number := _restarts(value))]
            for _, at in again:
                judged.put(at, 7.0)
            for _, at in sorted(again, reverse=True)[:3]:
                judged.put(at, MUST)


def _restarts(value: str) -> int:
    found = RESTARTED.match(value)
    return int(found[1][:9]) if found else 0


def _rare(columns: Sequence[RankedColumn], judged: Judged) -> None:
    """Rows with a value that hardly any other row of a column of few values has."""
    room = MOST_RARE
    for column in columns:
        if not column.few:
            continue
        most = max(1, len(column.values) // 50)
        rare = {value for value, number in column.counts.items() if number <= most}
        usual = column.counts.most_common(1)[0][1]
        if len(rare) > 12 or usual < 4 * most:
            continue
        shown: set[str] = set()
        for at, value in enumerate(column.values) if rare else ():
            if value not in rare:
                continue
            must = value not in shown and room > 0
            room -= must
            shown.add(value)
            judged.put(at, MUST if must else 7.0)


def _extremes(columns: Sequence[RankedColumn], judged: Judged) -> None:
    """Of columns of numbers the rows with the largest and smallest, and those far from all others."""
    extremes, far = MOST_EXTREMES, MOST_FAR
    for column in columns:
        if not column.numeric or MOMENT_NAME.match(column.name):
            continue
        held = [(one, at) for at, one in enumerate(column.numbers) if one is not None]
        numbers = sorted(one for one, _ in held)
        low, middle, high = (numbers[len(numbers) * part // 4] for part in (1, 2, 3))
        spread = high - low
        outside = [(abs(one - middle), at) for one, at in held if spread and abs(one - middle) > 6 * spread]
        if column.ordered and not outside:
            continue
        if numbers[0] != numbers[-1] and extremes > 0:
            judged.put(max(held)[1], MUST)
            judged.put(min(held)[1], 5.0)
            extremes -= 1
        if len(outside) <= max(4, len(held) // 50):
            for _, at in sorted(outside, reverse=True)[: min(3, far)]:
                judged.put(at, MUST)
                far -= 1
        if all(value.endswith("%") for value in column.values if value):
            for one, at in held:
                if one >= 90:
                    judged.put(at, 7.0)


def _first_of_each(columns: Sequence[RankedColumn], rows: Sequence[Sequence[str]], judged: Judged) -> None:
    """The first row of each combination of few values and of each message weighs more than its likes."""
    few = [column for column in columns if column.few]
    shapes: set[tuple[str, ...]] = set()
    for at, row in enumerate(rows):
        message = NAMED_PART.sub("0", row[-1][:200]) if row and " " in row[-1] else ""
        shape = (*(column.values[at] for column in few), message)
        if shape not in shapes:
            shapes.add(shape)
            judged.put(at, 4.0 if len(shapes) <= MOST_BAD else 1.5)


def _told(columns: Sequence[RankedColumn], rows: int) -> Iterator[str]:
    """`name: value ×count, …` for every column of few values, the bad and the rare ones always."""
    for column in columns:
        if not column.few or len(column.values) < FEW_ROWS or MOMENT_NAME.match(column.name):
            continue
        if sum(map(len, column.counts)) > VALUE_CHARS * len(column.counts):
            continue
        ranked = column.counts.most_common()
        seldom = ranked[-1][1] <= max(1, len(column.values) // 50)
        named = bool(STATE_NAME.search(column.name)) or ranked[0][1] >= 0.6 * len(column.values)
        if not (seldom or named or any(is_bad(value) for value, _ in ranked)):
            continue
        if len(ranked) > 24 and not any(is_bad(value) for value, _ in ranked):
            ranked, rest = ranked[:6], len(ranked) - 6
        else:
            head, bad = ranked[:12], [pair for pair in ranked[12:] if is_bad(pair[0])][:24]
            ranked, rest = [*head, *bad], len(ranked) - len(head) - len(bad)
        parts = [f"{value[:VALUE_CHARS] or '(empty)'} ×{number}" for value, number in ranked]
        more = f", {rest} more values" if rest else ""
        part = f" (of the first {MOST_ROWS} rows)" if rows > MOST_ROWS else ""
        yield f"… {column.name or 'column'}: {', '.join(parts)}{more}{part}"


def ranked(weights: dict[int, float], rows: Iterable[int]) -> list[int]:
    """The rows, the heaviest first, those of one weight in order."""
    return sorted(rows, key=lambda at: (-weights.get(at, 0.0), at))
