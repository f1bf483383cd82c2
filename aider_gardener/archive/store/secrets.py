"""What a secret looks like: formats of known tokens, private keys, credentials in URLs and headers, and
values assigned to a name that says it is a secret.

Cheap literal triggers come first; only lines that hold one are looked at with expressions. What a terminal
coloured and what was broken over lines is read as one (`Flattened`), and found where it stands.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache

from aider_gardener.archive.store.formats import FORMATS, PLACES, Format
from aider_gardener.archive.store.values import (
    CODE_LIKE,
    GETTERS,
    NOT_A_SECRET,
    entropy,
    is_noise,
    is_plausible,
    is_secret_name,
    is_weak,
    is_wordy,
    kind_of,
)

Found = tuple[int, int, str]
"""Start, end and kind of a secret in a text."""

KNOWN = "known"
PLACEHOLDER = re.compile(r"\[redacted:[a-z-]+:[0-9a-f]{6}\]")

COLOUR = re.compile(r"(?:\x1b|\\u001b)\[[0-9;?]{0,40}[@-~]")
COLOURS = ("\x1b[", "\\u001b[")
"""A colour as a terminal gets it, and as JSON writes it."""
CONTINUES = re.compile(r"\\\r?\n[ \t]{0,80}")
OPENED = re.compile(r"\([ \t]{0,9}\r?\n[ \t]{0,80}(?=[\"'])")
NEXT_STRING = re.compile(r"\n[ \t]{0,80}(?:\+[ \t]{0,20})?([\"'])")
NEXT_LINE = re.compile(r"\n[ \t>|+]{0,80}")

SECRET_NAMES = (
    "password", "passwd", "passphrase", "pwd", "pass", "secret", "token", "credential", "api_key", "apikey",
    "api-key", "access_key", "accesskey", "access-key", "auth_key", "authkey", "private_key", "privatekey",
    "private-key", "client_key", "client-key", "account_key", "service_key", "signing_key", "encryption_key",
    "master_key", "app_key", "license_key", "shared_key", "webhook_key", "consumer_key", "subscription-key",
    "deploy_key", "-auth", "auth-key",
)  # fmt: skip
IDENTIFIER = r"(?<![\w.-])(?!env:)([A-Za-z_][\w.-]{1,80})"
QUOTED = re.compile(
    rf"{IDENTIFIER}[\"'`\]]{{0,3}}\s{{0,9}}(?::\s{{0,2}}[\w.\[\]|]{{1,30}}\s{{0,2}}(?==))?(?::=|=>|[:=]=?=?|!==?)"
    r"\s{0,9}[\w.]{0,12}?([\"'`])([^\"'`\n]{4,4000})\2"
)
CALLED = re.compile(rf"{IDENTIFIER}[\"'`\]]{{0,3}}\s{{0,9}}\(\s{{0,9}}([\"'`])([^\"'`\n]{{4,4000}})\2")
PAIR = re.compile(r"([\"'])([A-Za-z_][\w.-]{1,80})\1\s{0,9},\s{0,20}([\"'])([^\"'`\n]{4,4000})\3")
SHELL = re.compile(r"(?<![\w$])([A-Z][A-Z0-9_]{1,80})=([^\s\"'`$()<>{}\[\],;&|]{4,4000})")
INLINE = re.compile(rf"{IDENTIFIER}=(?![=>])([^\s\"'`<>,;&(){{}}\[\]]{{4,4000}})(?=[\s;&\"'<>,)]|$)")
CONFIG = re.compile(
    r"^[\s>+-]{0,80}(?:export\s{1,9}|set\s{1,9}|-\s{1,9})?[\"']?([A-Za-z_][\w.-]{1,80})[\"']?\s{0,20}[:=]\s{0,20}"
    r"([^\s\"'`]{4,4000})\s{0,20}(?:#.*)?$"
)
HEADER = re.compile(
    r"(?i)(?<![\w-])((?:[a-z]{1,20}-){1,5}(?:token|secret|auth|password)|"
    r"(?:[a-z]{1,20}-){0,4}(?:api|auth|access|subscription|functions|private|signing|service|client|app)-?key)[\"']?\s{0,4}:\s{0,4}[\"']?([^\s\"',;]{16,400})"
)
ELEMENT = re.compile(r"<([A-Za-z_][\w.-]{1,80})>([^\s<>&]{4,4000})</\1>")
SPACED = re.compile(r"^\s{0,20}(password)\s{1,9}(\S{4,100})\s{0,20}$")
NAMED = re.compile(rf"(?i)\b(?:key|name|variable)[\"']?[ \t]{{0,4}}[:=]?[ \t]{{0,4}}[\"']?{IDENTIFIER}[\"']?")
VALUE = re.compile(
    r"(?i)(?<![\w-])(?:value|default)[\"']?[ \t]{0,9}[:=][ \t]{0,9}"
    r"(?:([\"'])([^\"'\n]{4,4000})\1|([^\s\"'#,{}<>/]{4,4000}))"
)
NAMED_ENDS = re.compile(r"\n\s{0,40}(?:\n|[}\]])")
NAMED_WITHIN_CHARS = 200
"""So far behind its name a value may stand."""
BLOCK = re.compile(
    r"(?m)^([ \t-]{0,80})[\"']?([A-Za-z_][\w.-]{1,80})[\"']?:[ \t]{0,9}[|>][+-]?\d?[ \t]{0,9}\r?\n"
)
BLOCK_LINES = 200

_SIGN = r"[\w-]{0,40}[\"'`\]]{0,2}\s{0,9}(?::=|=>|={1,3}|!==?|[:(,>])\s{0,9}"
_QUOTED_OR = r"(?:(?:[\w.]{0,8}[\"'`])[^\s\"'`]{4}|"
ASSIGNMENT = re.compile(
    rf"(?i)(?:pass|pwd){_SIGN}{_QUOTED_OR}[^\s\"'`]{{4}})"
    rf"|(?:secret|token|credential|key|auth){_SIGN}(?:[\w.\[\]|]{{1,30}}\s{{0,2}}=\s{{0,4}})?{_QUOTED_OR}(?![\d.]+(?:\W|$))[^\s\"'`]{{8}})"
    r"|(?:pass|pwd)[\w-]{0,9}: ?\w{1,20} ?=|password\s{1,9}\S{4}"
)
"""A cheap look at a line: is anything assigned to, or compared with, a secret's name at all?"""

KEY_BEGINS = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 [A-Z ]{0,20}PRIVATE KEY ----"
)
KEY_ENDS = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
KEY_LINE = re.compile(r"(?:[A-Za-z-]{1,30}: [^\n]*\n|[\s>|+\-\"',\\]|[A-Za-z0-9+/=]+)*")
KEY_CHARS = 60_000
"""So long a private key may be, its frame of line numbers, quotes and colours included."""
KEY_TAIL = re.compile(
    r"[\s>|+\-\"',]{0,40}(?:\d{1,6}[:-]\s{0,8})?([A-Za-z0-9+/=]{1,120})[\"',+\\ \t\r]{0,20}"
)
KEY_TAIL_LINES, LEAST_KEY_LINE = 200, 40
LONG_RUN = re.compile(r"[A-Za-z0-9+/=]{16,}")
PUTTY_KEY = re.compile(r"Private-Lines: \d{1,4}[ \t\r]*\n((?:[A-Za-z0-9+/=]+\r?\n?)+)")
CONTINUED = re.compile(r"\r?\n[ \t>|+]{0,80}([A-Za-z0-9+/=_-]{4,})[ \t]{0,20}(?=\r?\n|$)")
IN_TERNARY = re.compile(r"\?[\"']")
PORTS = re.compile(r"[\d.]+(?::[\d.]+)+(?:/\w+)?")
LONG_WORD = re.compile(r"\w{20}")
RUN = re.compile(r"[A-Za-z0-9+/=_-]+")
BASE64 = re.compile(r"[A-Za-z0-9+/=_.-]{40,}")

LINE_MARKS = ("define", "auth", "cookie", "<password", "value")


class Flattened:
    """A text without some of its spans, and where what is left stands in the whole."""

    def __init__(self, text: str, spans: Iterable[tuple[int, int]]) -> None:
        parts, at, removed = [], 0, 0
        self.cuts: list[int] = []
        self.removed = [0]
        for start, end in sorted(spans):
            if start < at:
                continue
            parts.append(text[at:start])
            self.cuts.append(start - removed)
            removed += end - start
            self.removed.append(removed)
            at = end
        self.text = "".join([*parts, text[at:]]) if self.cuts else text

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a span of the flat text stands in the whole one, all that was cut within it included."""
        return self._whole(start), self._whole(end - 1) + 1

    def _whole(self, offset: int) -> int:
        return offset + self.removed[bisect_right(self.cuts, offset)]


def within_values(text: str) -> Iterator[tuple[int, int]]:
    """What may stand within a value and is no part of it: a colour, the end of a line that is continued, that
    of a string that goes on in the next line."""
    if any(begin in text for begin in COLOURS):
        yield from (match.span() for match in COLOUR.finditer(text))
    if "\\\n" in text or "\\\r\n" in text:
        yield from (match.span() for match in CONTINUES.finditer(text))
    for match in OPENED.finditer(text):
        if text[max(0, match.start() - 9) : match.start()].rstrip(" \t").endswith("="):
            yield match.span()
    for match in NEXT_STRING.finditer(text):
        before = len(text[max(0, match.start() - 40) : match.start()].rstrip(" \t\r\\+"))
        quote = max(0, match.start() - 40) + before - 1
        if before and text[quote] == match.group(1) and text[quote + 1 : match.start()].count("+") <= 1:
            yield quote, match.end()


def within_copies(text: str) -> Iterator[tuple[int, int]]:
    """What may stand within a copy of a secret that is known: colours and every end of a line."""
    if any(begin in text for begin in COLOURS):
        yield from (match.span() for match in COLOUR.finditer(text))
    for match in NEXT_LINE.finditer(text):
        start = match.start()
        start -= start > 0 and text[start - 1] == "\r"
        yield start - (start > 0 and text[start - 1] == "\\"), match.end()


def find(text: str) -> list[Found]:
    """Every secret of a text; spans may overlap."""
    flat = Flattened(text, within_values(text))
    found = [(*flat.span(start, end), kind) for start, end, kind in _found(flat.text) if start < end]
    done = [match.span() for match in PLACEHOLDER.finditer(text)] if "[redacted:" in text else []
    return [item for item in found if not any(item[0] < end and start < item[1] for start, end in done)]


def _found(text: str) -> Iterator[Found]:
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    yield from _keys(text, lowered)
    yield from _blocks(text, lowered)
    yield from _named_values(text, lowered)
    present, starts = _candidate_lines(lowered)
    for start in starts:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        for a, b, kind in _in_line(text[start:end], lowered[start:end], present):
            yield start + a, _continued(text, start + a, start + b), kind


def _keys(text: str, lowered: str) -> Iterator[Found]:
    """Private keys: what stands between the lines that name them, or before the last or after the first."""
    if "private key" in lowered:
        stop = 0
        for begin in KEY_BEGINS.finditer(text):
            if begin.start() >= stop:
                stop = _key_end(text, begin.end())
                if stop > begin.end():
                    yield begin.end(), stop, "private-key"
        for end in KEY_ENDS.finditer(text):
            start = _key_start(text, end.start())
            if start < end.start():
                yield start, end.start(), "private-key"
    if "private-lines:" in lowered:
        for match in PUTTY_KEY.finditer(text):
            yield match.start(1), match.end(1), "private-key"


def _key_end(text: str, start: int) -> int:
    """Where the key that begins here ends; `start` where there is none but the words."""
    last = min(len(text), start + KEY_CHARS)
    stop = text.find("----", start, last)
    if stop >= 0 and KEY_ENDS.match(text, stop) and _is_key(text[start:stop]):
        return stop
    body = KEY_LINE.match(text, start, last if stop < 0 else stop)
    end = body.end() if body else start
    return end if _is_key(text[start:end]) else start


def _is_key(body: str) -> bool:
    """Whether what stands between the lines that name a key is mostly runs of its characters."""
    runs = LONG_RUN.findall(body)
    if 2 * sum(map(len, runs)) <= len(body):
        return False
    return any(len(run) >= 32 or any(map(str.isdigit, run)) for run in runs)


def _key_start(text: str, end: int) -> int:
    """Where the lines of a key begin whose end alone is shown; `end` where there are none."""
    start, at = end, text.rfind("\n", 0, end) + 1
    for number in range(KEY_TAIL_LINES):
        line_start = text.rfind("\n", 0, max(0, at - 1)) + 1
        match = KEY_TAIL.fullmatch(text, line_start, max(line_start, at - 1))
        if match is None:
            break
        if len(match.group(1)) >= LEAST_KEY_LINE:
            start = match.start(1)
        elif number:
            break
        at = line_start
    return start


def _blocks(text: str, lowered: str) -> Iterator[Found]:
    """Values that a YAML file folds over the lines below their name."""
    if not any(mark in text for mark in ("|\n", ">\n", "|-", ">-", "|+", ">+", "|\r", ">\r")):
        return
    for match in BLOCK.finditer(text):
        if not is_secret_name(match.group(2)):
            continue
        least, at, end, parts = len(match.group(1)), match.end(), match.end(), list[str]()
        while at < len(text) and len(parts) < BLOCK_LINES:
            line_end = text.find("\n", at)
            line_end = len(text) if line_end < 0 else line_end
            line = text[at:line_end]
            if line.strip() and len(line) - len(line.lstrip()) <= least:
                break
            parts.append(line.strip())
            end = line_end if line.strip() else end
            at = line_end + 1
        value = "".join(parts)
        if "-----" not in value and is_plausible(match.group(2), value[:4_000], quoted=False):
            start = match.end() + len(text[match.end() : end]) - len(text[match.end() : end].lstrip())
            yield start, end, kind_of(match.group(2))


def _named_values(text: str, lowered: str) -> Iterator[Found]:
    """Values that stand beside the word "value" or "default", behind another that names them."""
    for word in ("value", "default"):
        at = lowered.find(word)
        while at >= 0:
            value = VALUE.match(text, at)
            name = _name_before(text, at) if value else ""
            if value and name:
                group = 2 if value.group(2) else 3
                if is_plausible(name, value.group(group), quoted=group == 2):
                    yield *value.span(group), kind_of(name)
            at = lowered.find(word, at + len(word))


def _name_before(text: str, at: int) -> str:
    """The secret's name that the value here belongs to; "" where the nearest name is none of a secret."""
    names = list(NAMED.finditer(text, max(0, at - NAMED_WITHIN_CHARS), at))
    if not names or not is_secret_name(names[-1].group(1)):
        return ""
    return "" if NAMED_ENDS.search(text, names[-1].end(), at) else names[-1].group(1)


def _continued(text: str, start: int, end: int) -> int:
    """Where a secret ends that goes on, in its line or in lines of nothing but its own characters."""
    if not BASE64.search(text, max(start, text.rfind("\n", start, end) + 1), end):
        return end
    rest = RUN.match(text, end)
    end = rest.end() if rest else end
    while True:
        match = CONTINUED.match(text, end)
        if match is None:
            return end
        line = match.group(1)
        mixed = any(map(str.isdigit, line)) and any(map(str.isupper, line)) and any(map(str.islower, line))
        if not (mixed and len(line) >= 16) and not line.endswith("="):
            return end
        end = match.end(1)


@lru_cache(maxsize=1)
def _triggers() -> dict[str, tuple[Format, ...]]:
    """The words that make a line worth reading, each with the formats that it is of."""
    formats: dict[str, tuple[Format, ...]] = dict.fromkeys((*SECRET_NAMES, *LINE_MARKS), ())
    for item in FORMATS:
        for trigger in item.triggers:
            formats[trigger] = (*formats.get(trigger, ()), item)
    return formats


def _candidate_lines(lowered: str) -> tuple[tuple[str, ...], list[int]]:
    """The triggers of formats that a text holds, and where the lines begin that hold any trigger."""
    starts: set[int] = set()
    present: list[str] = []
    for trigger, longer in _shortest_triggers().items():
        at = lowered.find(trigger)
        if at >= 0:
            present += [word for word in (trigger, *longer) if _triggers()[word] and word in lowered]
        while at >= 0:
            starts.add(lowered.rfind("\n", 0, at) + 1)
            end = lowered.find("\n", at)
            at = lowered.find(trigger, end) if end >= 0 else -1
    return tuple(dict.fromkeys(present)), sorted(starts)


@lru_cache(maxsize=1)
def _shortest_triggers() -> dict[str, tuple[str, ...]]:
    """The triggers that hold no other one, each with those that hold it."""
    words = _triggers()
    shortest = [word for word in words if not any(other != word and other in word for other in words)]
    return {word: tuple(other for other in words if other != word and word in other) for word in shortest}


LONG_LINE = 4_000
OVERLAP = 500


def _in_line(line: str, fold: str, present: tuple[str, ...]) -> list[Found]:
    if len(line) > LONG_LINE:
        return _in_long_line(line, fold, present)
    return list(_found_in_line(line, fold, present))


def _in_long_line(line: str, fold: str, present: tuple[str, ...]) -> list[Found]:
    """A long line (minified code, one-line JSON) is searched in pieces that overlap."""
    found = []
    for at in range(0, len(line), LONG_LINE - OVERLAP):
        piece, folded = line[at : at + LONG_LINE], fold[at : at + LONG_LINE]
        found += [(at + a, at + b, kind) for a, b, kind in _found_in_line(piece, folded, present)]
    return found


@lru_cache(maxsize=4_096)
def _found_in_line(line: str, fold: str, present: tuple[str, ...]) -> tuple[Found, ...]:
    found = list(_formats(line, fold, present))
    if ASSIGNMENT.search(line):
        found += _assigned(line)
    return tuple(found)


def _formats(line: str, fold: str, present: tuple[str, ...]) -> Iterator[Found]:
    triggers = _triggers()
    looked_at = dict.fromkeys(item for trigger in present if trigger in fold for item in triggers[trigger])
    for item in looked_at:
        for start, end in item.matches(line):
            value = line[start:end]
            if item not in PLACES or not _is_idle(item.kind, value):
                yield start, end, item.kind


def _is_idle(kind: str, value: str) -> bool:
    """Whether what stands in a secret's place is none: a template, a word, the port of `http://a:8080@x`, a
    dummy of one character."""
    if NOT_A_SECRET.match(value) or is_weak(value):
        return True
    if kind == "url-password" and value.isdigit() and len(value) <= 5:
        return True
    if PORTS.fullmatch(value) or (kind == "authorization" and is_wordy(value.rstrip("="))):
        return True
    return kind != "password" and entropy(value) < 2.5


def _assigned(line: str) -> Iterator[Found]:
    for match in QUOTED.finditer(line):
        if IN_TERNARY.match(line, max(0, match.start(1) - 2)):
            continue
        if is_secret_name(match.group(1)) and is_plausible(match.group(1), match.group(3), quoted=True):
            yield match.start(3), match.end(3), kind_of(match.group(1))
    for pattern, name_group, value_group in ((CALLED, 1, 3), (PAIR, 2, 4)):
        for match in pattern.finditer(line):
            name, value = match.group(name_group), match.group(value_group)
            if not any(map(str.isdigit, value)) or GETTERS.match(name) or not is_secret_name(name):
                continue
            if is_plausible(name, value, quoted=is_noise(value)):
                yield match.start(value_group), match.end(value_group), kind_of(name)
    for match in SHELL.finditer(line):
        name, value = match.groups()
        if is_secret_name(name) and is_plausible(name, value, quoted=True) and not CODE_LIKE.search(value):
            yield match.start(2), match.end(2), kind_of(name)
    for match in INLINE.finditer(line):
        name, value = match.groups()
        argument = line[match.end() : match.end() + 1] in (",", ")") and re.fullmatch(
            r"[A-Za-z_][\w.]*", value
        )
        if is_secret_name(name) and not argument and is_plausible(name, value, quoted=False):
            yield match.start(2), match.end(2), kind_of(name)
    for pattern in (CONFIG, HEADER, ELEMENT, SPACED):
        for match in pattern.finditer(line):
            name, value = match.groups()
            quoted = pattern is ELEMENT or (pattern is HEADER and LONG_WORD.search(value) is not None)
            if (pattern is HEADER or is_secret_name(name)) and is_plausible(name, value, quoted=quoted):
                yield match.start(2), match.end(2), kind_of(name)
