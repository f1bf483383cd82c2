"""Log records from their lines (a stamped line and what follows it, or a whole traceback), and families of
their templates: kinds of lines that say the same of different things, told as one.

A flood of errors whose words differ (`failed to load order 7`, `failed to save invoice 9`) has too many
kinds to show each. Templates of one severity and length that share most of their words are a family:
it is written once, with the words that vary and how often the commonest of them occur.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from aider_gardener.compress.logs.templates import Template
from aider_gardener.compress.places import frame_place, is_library
from aider_gardener.reading.detectors import LEVEL
from aider_gardener.reading.lineshape import STAMP
from aider_gardener.reading.output import clip

TRACE_HEAD = re.compile(
    r"^\s*(?:Exception Group )?Traceback \(most recent call last\):|^Exception in thread "
)
TRACE_LINE = re.compile(r"^(?:\s+\S|$|During handling|The above exception|Traceback|Caused by: |\t)")
EXCEPTION = re.compile(
    r"^\s*[\w.]*(?:Error|Exception|Warning|Exit|Interrupt|Failure|Timeout)\b.*|^Caused by: .*"
)

SHARED_WORDS = 0.4
"""Two templates are of a family when so many of their words are the same."""

LEAST_KINDS = 4
WORDS_TOLD, CHOICES, RARE = 3, 40, 10
"""So many of the commonest words are told, and as many of those that are RARE times rarer than they."""
TOLD_CHARS = 300
MOST_FAMILIES = 60
"""A template is compared with so many families at most, so that the time stays linear."""


@dataclass
class LogRecord:
    """A log record: its first line, and the lines that belong to it."""

    line: str
    rest: list[str] = field(default_factory=list)


def records(lines: Sequence[str]) -> list[LogRecord]:
    """Group lines into records. In a log without stamps only tracebacks are joined."""
    head = [line for line in lines[:400] if line.strip()]
    stamped = sum(1 for line in head if STAMP.match(line) or LEVEL.match(line)) >= 0.5 * max(1, len(head))
    found: list[LogRecord] = []
    tracing = False
    for line in lines:
        if not line.strip():
            continue
        starts = bool(STAMP.match(line) or LEVEL.match(line)) if stamped else False
        if starts:
            tracing = False
        elif found and stamped and (line[0] in " \t" or tracing or TRACE_HEAD.match(line)):
            tracing = tracing or bool(TRACE_HEAD.match(line))
            found[-1].rest.append(line)
            continue
        elif tracing and found:
            if TRACE_LINE.match(line) or EXCEPTION.match(line):
                found[-1].rest.append(line)
                tracing = not (EXCEPTION.match(line) and line[0] not in " \t")
                continue
            tracing = False
        elif TRACE_HEAD.match(line):
            tracing = True
        found.append(LogRecord(line))
    return found


def rest_digest(record: LogRecord, most: int) -> list[str]:
    """What the further lines of a record say: exception lines, the last project frames, else the first."""
    exceptions = [line.strip() for line in record.rest if EXCEPTION.match(line)]
    places = [place for line in record.rest if (place := frame_place(line)) and not is_library(place)]
    if exceptions or places:
        told = [clip(line, 300) for line in exceptions[-most:]]
        if places:
            told.append("at " + " > ".join(dict.fromkeys([places[0], *places[-2:]])))
        return told
    told = [clip(line.strip(), 200) for line in record.rest[:most]]
    if len(record.rest) > most:
        told.append(f"… {len(record.rest) - most} more lines")
    return told


@dataclass
class Family:
    """Templates that are alike: the words they share, None where they differ, and what stood there.

    `members` are the first rows of the templates."""

    severity: str
    words: list[str | None]
    values: list[Counter[str]]
    at: float
    kinds: int = 0
    lines: int = 0
    members: list[int] = field(default_factory=list)

    def takes(self, words: Sequence[str]) -> bool:
        """True when enough of the words stand where the family has the same."""
        same = sum(1 for own, word in zip(self.words, words, strict=True) if own == word)
        return same >= SHARED_WORDS * len(words)

    def add(self, template: Template, words: Sequence[str]) -> None:
        """Take in a template; where its word differs the family has no word of its own any more."""
        times = len(template.at)
        for place, word in enumerate(words):
            if self.words[place] != word:
                self.words[place] = None
            if len(self.values[place]) < CHOICES or word in self.values[place]:
                self.values[place][word] += times
        self.kinds += 1
        self.lines += times
        self.members.append(template.at[0])

    def told(self) -> str:
        """The family on one line: its shared words, with counts and the commonest of what varies."""
        text = " ".join("<*>" if word is None else word.replace("\0", "#") for word in self.words)
        varied = [
            _commonest(values)
            for word, values in zip(self.words, self.values, strict=True)
            if word is None and len(values) < CHOICES
        ]
        which = f": {'; '.join(varied)}".replace("\0", "#") if varied else ""
        return clip(f"{self.lines} lines of {self.kinds} kinds like: {text}{which}", TOLD_CHARS)


def _commonest(values: Counter[str]) -> str:
    ranked = values.most_common()
    rare = [pair for pair in ranked[WORDS_TOLD:] if RARE * pair[1] <= ranked[0][1]][-WORDS_TOLD:]
    told = [f"{word.strip(',:;') or word}×{number}" for word, number in [*ranked[:WORDS_TOLD], *rare]]
    return " ".join([*told, "…"] if len(values) > len(told) else told)


def families(templates: Sequence[Template]) -> list[Family]:
    """The families of errors and warnings with at least LEAST_KINDS kinds, in order."""
    found: dict[tuple[str, int], list[Family]] = {}
    for template in templates:
        if not template.severity:
            continue
        words = template.key.split()[:60]
        group = found.setdefault((template.severity, len(words)), [])
        family = next((one for one in group[:MOST_FAMILIES] if one.takes(words)), None)
        if family is None:
            family = Family(template.severity, list(words), [Counter() for _ in words], template.at[0] + 0.5)
            group.append(family)
        family.add(template, words)
    return sorted(
        (one for group in found.values() for one in group if one.kinds >= LEAST_KINDS), key=lambda one: one.at
    )
