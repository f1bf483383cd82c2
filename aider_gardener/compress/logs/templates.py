"""Mining templates: lines that differ only in numbers, ids, times or `key=value` values are one kind."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from aider_gardener.reading.alarms import alarm
from aider_gardener.reading.lineshape import KEY_CHARS, STAMP, VARIABLE, Masker, masked

NUMBER = re.compile(r"^[-+]?\d+(?:\.\d+)?")
JSON_LEVEL = re.compile(r'"(?:level|severity|lvl)"\s*:\s*"?(\w+)')
JSON_MESSAGE = re.compile(r'"(?:msg|message|event)"\s*:\s*"((?:[^"\\]|\\.){0,300})')
NAME = re.compile(r"([A-Za-z_][\w.-]*)(?:=|: ?| )[\"'\[(]?$")
SYSCALL = re.compile(r"^(?:\[pid +\d+\] |\d+ +)?(?:\d[\d:.]* )?(\w+)\(.*\) += (-?\w+)(?: (E[A-Z]+))?")
REQUEST = re.compile(r'"(\w+) ([^" ]*)(?: [^"]*)?" (\d{3}) ')
LEVEL_WORD = re.compile(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|SEVERE)\b|"
    r"\[(?:\w+:)?(trace\d?|debug|info|notice|warn(?:ing)?|error|err|crit(?:ical)?|alert|emerg|fatal|severe)\]|"
    r"\b(?:level|lvl|severity)[\"']?[=:] ?[\"']?(\w+)|(?<![^ ])([DIWEF])\d{4}(?= \d\d:)"
)
LEVELS = {
    "error": "error", "err": "error", "critical": "error", "crit": "error", "fatal": "error",
    "severe": "error", "alert": "error", "emerg": "error", "panic": "error", "e": "error", "f": "error",
    "warn": "warning", "warning": "warning", "w": "warning",
}  # fmt: skip
LEVEL_CHARS = 120
"""A level stands within so many characters of a line's beginning."""


@dataclass
class Template:
    """One kind of line: where it stands, and how it is classed ("error", "warning" or ""): by the level
    that it states, else by its words."""

    key: str
    severity: str = ""
    stated: bool = False
    at: list[int] = field(default_factory=list)


KeyOf = Callable[[str], str]


def json_key(line: str) -> str:
    """The kind of a JSON log line: level and masked message."""
    level, message = JSON_LEVEL.search(line), JSON_MESSAGE.search(line)
    if not message:
        return masked(line[:80])
    return f"{level.group(1) if level else ''} {VARIABLE.sub(chr(0), message.group(1)[:KEY_CHARS])}"


def syscall_key(line: str) -> str:
    """The kind of an strace line: call and error."""
    found = SYSCALL.match(line)
    return f"{found.group(1)} {found.group(3) or ''}" if found else masked(line)


def request_key(line: str) -> str:
    """The kind of an access-log line: method, masked path without query, status."""
    found = REQUEST.search(line)
    if not found:
        return masked(line)
    path = VARIABLE.sub("\0", found.group(2).partition("?")[0])
    return f"{found.group(1)} {path} {found.group(3)}"


def key_function(kind: str) -> KeyOf:
    """How the kind of a line is told in this kind of log."""
    keys: dict[str, KeyOf] = {"strace": syscall_key, "access-log": request_key, "json-log": json_key}
    return keys.get(kind) or Masker().line


def stated_level(line: str, kind: str) -> str | None:
    """ "error", "warning" or "" by the level or the status that a line states; None where it states none."""
    if kind == "access-log":
        found = REQUEST.search(line)
        return {"5": "error", "4": "warning"}.get(found.group(3)[0], "") if found else None
    if kind == "strace":
        return ""
    level = LEVEL_WORD.search(line, 0, LEVEL_CHARS)
    return LEVELS.get(level[level.lastindex or 0].lower(), "") if level else None


def mine(lines: Sequence[str], kind: str) -> list[Template]:
    """The templates of the lines, in order of first appearance."""
    key_of = key_function(kind)
    found: dict[str, Template] = {}
    for at, line in enumerate(lines):
        key = key_of(line)
        template = found.get(key)
        if template is None:
            level = stated_level(line, kind)
            found[key] = template = Template(key, alarm(line) if level is None else level, level is not None)
        template.at.append(at)
    return list(found.values())


@dataclass
class Slot:
    """The values of one variable part of a template."""

    name: str
    values: list[str]

    def told(self) -> str:
        """`name min..max` for numbers, `name a×3 b×2` for a few words, "" for what says nothing."""
        if len(set(self.values)) == 1:
            return ""
        numbers = self.numbers()
        if numbers:
            low, high = min(numbers), max(numbers)
            shown = {
                number: text
                for number, text in zip(numbers, self.values, strict=True)
                if number in (low, high)
            }
            return f"{self.name} {shown[low]}..{shown[high]}"
        counts: dict[str, int] = {}
        for value in self.values:
            counts[value] = counts.get(value, 0) + 1
        if len(counts) > 6:
            return ""
        ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:4]
        return f"{self.name} " + " ".join(f"{value[:30]}×{number}" for value, number in ranked)

    def numbers(self) -> list[float]:
        """The values as numbers, or an empty list when one is none."""
        found = []
        for value in self.values:
            match = NUMBER.match(value)
            rest = value[match.end() :] if match else "x"
            if not match or (rest and (len(rest) > 3 or not rest.isalpha()) and rest != "%"):
                return []
            found.append(float(match.group()))
        return found


def slots(lines: Sequence[str]) -> list[Slot]:
    """The named variable parts of lines of one template, with all their values."""
    first = lines[0]
    stamp = STAMP.match(first)
    parts = list(VARIABLE.finditer(first, stamp.end() if stamp else 0))
    names = []
    for part in parts:
        named = NAME.search(first, max(0, part.start() - 40), part.start())
        names.append(named.group(1) if named else "")
    columns: list[list[str]] = [[] for _ in parts]
    for line in lines:
        stamp = STAMP.match(line)
        values = VARIABLE.findall(line, stamp.end() if stamp else 0)
        for column, value in zip(columns, values, strict=False):
            column.append(value.strip('"'))
    return [
        Slot(name, column)
        for name, column in zip(names, columns, strict=True)
        if name and len(column) == len(lines)
    ]


def outlier(slot: Slot) -> int | None:
    """The index of a value far above all usual ones (over four times the median and alone), or None."""
    numbers = slot.numbers()
    if len(numbers) < 6 or _counts_up(numbers):
        return None
    high = max(numbers)
    middle = median(numbers)
    if high > 4 * max(middle, 0.000001) and sum(1 for number in numbers if number > high / 2) <= max(
        1, len(numbers) // 50
    ):
        return numbers.index(high)
    return None


def _counts_up(numbers: Sequence[float]) -> bool:
    """True for ids and offsets that rise from line to line."""
    rising = sum(1 for one, two in pairwise(numbers) if two >= one)
    return rising >= 0.9 * (len(numbers) - 1)


def flat_json(line: str) -> str:
    """A JSON log line as `time LEVEL message key=value …`, or the line itself where it is no object."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not isinstance(record, dict):
        return line
    parts = [
        str(record.pop(name)) for name in ("time", "timestamp", "ts", "@timestamp", "t") if name in record
    ][:1]
    for names in (("level", "severity", "lvl"), ("msg", "message", "event")):
        for name in names:
            if name in record:
                value = str(record.pop(name))
                parts.append(value.upper() if names[0] == "level" and value.isalpha() else value)
                break
    for name, value in record.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        parts.append(f'{name}="{text}"' if " " in text else f"{name}={text}")
    return " ".join(parts).replace("\n", "\\n")


def time_of(line: str) -> str:
    """The time stamp a line begins with, or ""."""
    found = STAMP.match(line)
    if found:
        return found["time"]
    bracketed = re.search(r"\[(\d\d/\w{3}/\d{4}:[^\]]+)\]", line[:120])
    return bracketed[1] if bracketed else ""
