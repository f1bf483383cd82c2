"""What the keys of documents tell: whose values a reader needs, whose hardly anybody reads, what is trouble.

By the words of a key, so that `containerPort`, `host_port` and `Host Port` are one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from functools import lru_cache

from aider_gardener.reading.alarms import alarm

NAMING = frozenset("name id title file path kind url hostname".split())
"""What tells one item of a list from the others."""

TELLING = frozenset(
    """name version image replicas status state phase reason message msg error errors result conclusion
    severity rule limits limit memory cpu port ports host url endpoint schema path command cmd
    entrypoint run uses script scripts needs engine engines on requires total count summary profiles env
    environment secret config current latest wanted desired available unavailable taints unschedulable
    capacity removed method disk strategy tag replace kind license mode type schedule role action
    principal database title conditions events verdict triggers jobs services paths dependencies restart
    exit code oom killed cve fixed installed outcome""".split()
)
DULL = frozenset(
    """uid uuid hash sha integrity digest checksum etag resolved wheels sdist created updated modified
    generation managed annotations suppressed fixable gravatar avatar termination column fingerprint
    signature revision timestamp usage deprecated suggestions description example examples source
    namespace probe started finished apiversion resourceversion nodetype endline endcolumn messageid
    creationtimestamp lastheartbeattime""".split()
)
CHAFF = frozenset("annotations managed suggestions links wheels sdist integrity hashes examples".split())
"""What stands below these is worth nothing either."""

SETTINGS = frozenset(
    "threshold max min limit policy on allowed retries handler handling ignore timeout".split()
)
"""With one of these words a key says what is to be done in case of trouble, not that there is any."""

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
NOTHING = re.compile(
    r"(?:null|none|~|\[\]|\{\}|\"\"|''|<none>|<unset>|\(known after apply\)|)[,;]?", re.IGNORECASE
)
CALM = re.compile(r"\W*(?:false|no|0|ok)\W*", re.IGNORECASE)
HOLDS = re.compile(r"\W*(?:true|yes|[1-9]\d*)\W*", re.IGNORECASE)

PAIR = re.compile(r"([\w$./-]{1,60})[\"']?\s?[:=]\s?(\"[^\"]*\"|[^\s,{}\[\]][^,{}\[\]]*)")

CHANGED = re.compile(r"(?:[+~-] |-/\+ |\+/?- )")
ACTION = re.compile(r"# \S+ (?:will|must) be |.*# forces replacement")
FOLLOWS = re.compile(r".*(?:=|->) (?:null|\(known after apply\))$")
SUMS_UP = re.compile(
    r"(?:Plan: \d|(?:Apply|Destroy) complete|No changes\b|\d+ changes?\b.*\bunchanged\b|"
    r"(?:Planning|Execution) [Tt]ime:|\d+ (?:director(?:y|ies)|packages|dependencies)\b|"
    r".{0,80}\b\d+ to (?:add|create|update|change|delete|destroy|replace)\b)"
)
"""How a plan's lines begin that tell of a change; what it does and why; what goes with what is deleted or not
known yet; how it sums up, as do trees of files."""

TOLD, UNTOLD, EMPTY, ODD = 3.0, -2.0, -3.0, 3.0

FEWEST_VALUES, MANY_VALUES = 4, 12
"""Of so many values one may be odd; the odd one of many is worth ODD more, that of fewer less."""


@lru_cache(maxsize=10_000)
def words(key: str) -> frozenset[str]:
    """The words of a key, in small letters, and the key itself."""
    return frozenset([word.lower() for word in WORD.findall(key)] + [key.strip("\"'").lower()])


def names(key: str) -> bool:
    """True for a key that says which item it is."""
    return bool(words(key) & NAMING)


def chaff(key: str, value: str) -> bool:
    """True for a key below which nothing is of worth."""
    return bool(words(key) & CHAFF) or (value[:1] in ("|", ">") and told(key) < 0)


def told(key: str, value: str = " ") -> float:
    """What a key makes a line worth more, or less."""
    if NOTHING.fullmatch(value):
        return EMPTY
    if words(key) & DULL:
        return UNTOLD
    return TOLD if words(key) & TELLING else 0.0


def trouble(line: str, key: str, value: str) -> str:
    """ "error", "warning" or "": what a line with a key tells of."""
    if NOTHING.fullmatch(value) or CALM.fullmatch(value):
        return ""
    found = words(key)
    if found & SETTINGS:
        return alarm(value)
    if HOLDS.fullmatch(value):
        return "error" if {"exit", "code"} <= found else alarm(" ".join(found))
    return alarm(line)


class Values:
    """The values that the same keys have in the lines of a document."""

    def __init__(self, lines: Iterable[tuple[int, int, str, str]]) -> None:
        """Each line is its row, its level, its key and its text."""
        self._pairs = {row: _pairs(level, key, text) for row, level, key, text in lines}
        self._often = Counter(place for pairs in self._pairs.values() for place, _ in pairs)
        self._values: defaultdict[Hashable, Counter[str]] = defaultdict(Counter)
        for pairs in self._pairs.values():
            for place, value in pairs:
                if self._often[place] >= FEWEST_VALUES:
                    self._values[place][value] += 1
        self._odd: dict[Hashable, float] = {}
        for place, counted in self._values.items():
            total = self._often[place]
            if len(counted) * 3 <= total + 2 and max(counted.values()) * 2 > total:
                self._odd[place] = ODD * min(1, total / MANY_VALUES)

    def odd(self, row: int) -> tuple[float, list[str]]:
        """What a line is worth more as its values are unlike the others', and these values."""
        found = [
            (self._odd[place], value)
            for place, value in self._pairs.get(row, ())
            if place in self._odd and self._values[place][value] == 1
        ]
        return max((worth for worth, _ in found), default=0.0), [value for _, value in found]

    def sorting(self, row: int) -> list[str]:
        """The values of a line that are of a few kinds among all lines."""
        return [
            value
            for place, value in self._pairs[row]
            if 1 < len(self._values.get(place, ())) <= max(2, self._often[place] // 3)
        ]


def _pairs(level: int, key: str, text: str) -> list[tuple[Hashable, str]]:
    """The keys of a line, each with how often it stood in the line before, and their values; and the keys."""
    seen: Counter[str] = Counter()
    pairs: list[tuple[Hashable, str]] = []
    for inner, value in PAIR.findall(text):
        seen[inner] += 1
        pairs.append(((level, inner, seen[inner]), value.strip()))
    return [*pairs, ((level, key), " ".join(seen))] if "{" in text else pairs
