"""What a reader would look for in the output of tests and builds, taken without the compressors.

Used by tests and by the evaluation: `extract` lists the facts of an original, `kept` says which of them a
compressed form still holds. The scanners are plain line patterns of their own, so that a fault in a
compressor's parser cannot hide itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from aider_gardener.reading.output import legible, plain, squeeze


@dataclass(frozen=True)
class Fact:
    """One fact: its kind ("failure", "assertion", "place", "total", "error"), its words in the original.

    `keys` are the parts that must all stand in a text for the fact to be kept in it.
    """

    kind: str
    text: str
    keys: tuple[str, ...]
    place: str = ""
    """A `file:line` that must stand there besides, alone or in a list of lines behind its file."""


Scanner = Callable[[Sequence[str]], Iterator[Fact]]
KEY_CHARS = 60
OPERATOR = re.compile(r" (?:===?|!==?|<=?|>=?|(?:not )?in|is(?: not)?) ")

PYTEST_ID = re.compile(r"^(?:FAILED|ERROR) (\S+\.py(?:::.+?)?)(?: - .*)?$")
PYTEST_LINE = re.compile(r"^(?:\[gw\d+\] .*?(?:FAILED|ERROR) )?(\S+\.py::.+?) (?:FAILED|ERROR) +\[ *\d+%\]$")
PYTEST_TOTAL = re.compile(r"^=* ?(\d+ (?:passed|failed|error).*? in [\d.]+s)\b")
PYTEST_PLACE = re.compile(r"^(\S+\.py:\d+): (?:[A-Z]\w*(?:Error|Exception|Failed|Exit)\w*)$")
UNITTEST_ID = re.compile(r"^(?:FAIL|ERROR): (\w+ \([\w.]+\).*)$")
CARGO_ID = re.compile(r"^test (.+?)(?: - should panic)? \.\.\. FAILED$")
PANIC_PLACE = re.compile(r"^thread '.*?' (?:\(\d+\) )?panicked at (?:'.*', )?([^':]+:\d+:\d+)")
GO_ID = re.compile(r"^ *--- FAIL: (\S+)")
GO_LOG = re.compile(r"^\s+(\w+_test\.go:\d+): (.+)$")
NODE_ID = re.compile(r"^✖ (.+?) \([\d.]+ms\)$")
JEST_ID = re.compile(r"^ *● (.+ › .+)$")
BUN_ID = re.compile(r"^(?:✗|\(fail\)) (.+?)(?: \[[\d.]+m?s\])?$")
MAVEN_ID = re.compile(r"^\[ERROR\] ([\w.]+\.\w+) (?:--|Time).*<<< (?:FAILURE|ERROR)!")
DOTNET_ID = re.compile(r"^ +Failed (\S+) \[")
EXPECTED = re.compile(r"^\s*(?:Expected|Received|expected|actual|got|want|left|right): (.*?\S),?\s*$")
BUT_WAS = re.compile(r"expected: <(.*?)> but was: <(.*?)>")
NOT_EQUAL = re.compile(r"^\s*(\S.*) !==? (\S.*)$")

SHAPE = re.compile(r"['\"`‘“]|\b\d")
PLACE_PARTS = re.compile(r"^(.*?)(?::(\d+)(?::\d+)?|\((\d+),\d+\))$")
SEVERE_CODE = re.compile(r"E9|F[567]|F8[23]|[EF]\d{4}$")
DIAGNOSTIC = re.compile(
    r"^((?:[A-Za-z]:)?[^\s:()][^:()\n]*(?::\d+(?::\d+)?|\(\d+,\d+\))):? (?:- )?(fatal error|error"
    r"|warning)\b(?: ?\[?([A-Z]*\d+)\]?)?: (.*?)(?: \[([\w=+-]+)\])?$"
)
LINT = re.compile(r"^(\S+\.\w+:\d+:\d+): ([A-Z]{1,3}\d{2,4}):? (.*)$")
RUSTC = re.compile(r"^(error|warning)(?:\[(\w+)\])?: (.*)$")
ARROW = re.compile(r"^ *--> (\S+:\d+:\d+)$")


def extract(text: str, kind: str = "") -> list[Fact]:
    """The facts of an output, without repeats; `kind` ("test", "build") limits the scan."""
    lines = [legible(line) for line in plain(text).split("\n")]
    found: dict[tuple[str, str], Fact] = {}
    for name, scanner in SCANNERS:
        if not kind or name == kind:
            for fact in scanner(lines):
                found.setdefault((fact.kind, fact.text), fact)
    return list(found.values())


def kept(facts: Iterable[Fact], text: str) -> dict[str, tuple[int, int]]:
    """For each kind of fact: how many `text` holds, and how many there are."""
    flat = squeeze(text)
    counts: dict[str, tuple[int, int]] = {}
    for fact in facts:
        held, total = counts.get(fact.kind, (0, 0))
        counts[fact.kind] = (held + holds(flat, fact), total + 1)
    return counts


def missing(facts: Iterable[Fact], text: str) -> list[Fact]:
    """The facts that `text` does not hold."""
    flat = squeeze(text)
    return [fact for fact in facts if not holds(flat, fact)]


def holds(flat: str, fact: Fact) -> bool:
    """True when every key of the fact, and its place, stands in the text (already squeezed)."""
    return all(key in flat for key in fact.keys) and (not fact.place or holds_place(flat, fact.place))


def holds_place(flat: str, place: str) -> bool:
    """True for `file:line:column` itself, and for its line in a list behind its file: `file:3,17` or
    `file:3:1, 17:9`, the file with or without a folder that all files share."""
    if place in flat:
        return True
    found = PLACE_PARTS.match(place)
    path, line = (found[1], found[2] or found[3]) if found else (place, "")
    for name in (path, *(path[cut.end() :] for cut in re.finditer(r"[/\\]", path))):
        listed = re.escape(name) + rf":(?:\d+(?::\d+)?[, ]+(?:['\"`‘][^'\"`’]*['\"`’][, ]+)*)*{line}(?!\d)"
        if name and re.search(r"(?<![\w.-])" + listed, flat):
            return True
    return False


def _fact(kind: str, text: str, *keys: str) -> Fact:
    return Fact(kind, text, tuple(squeeze(key)[:KEY_CHARS].rstrip() for key in keys or (text,)))


def _placed(text: str, place: str, key: str) -> Fact:
    """An error at a place, told by its code or by the words before the first name in its message."""
    return Fact("error", text, (squeeze(key),), place)


def _comparison(text: str) -> Fact:
    """An assertion as a fact with both sides of its operator as keys."""
    sides = OPERATOR.split(text, maxsplit=1)
    if len(sides) == 2 and text.lower().startswith(("assert", "assertionerror")):
        return _fact("assertion", text, sides[0][:40], sides[1][:30])
    return _fact("assertion", text, text)


def _tests(lines: Sequence[str]) -> Iterator[Fact]:
    for pattern, kind in TEST_LINES:
        for line in lines:
            found = pattern.match(line)
            if found:
                yield _fact(kind, found.group(1).strip())
    yield from _assertions(lines)


TEST_LINES = (
    (PYTEST_ID, "failure"),
    (PYTEST_LINE, "failure"),
    (UNITTEST_ID, "failure"),
    (CARGO_ID, "failure"),
    (GO_ID, "failure"),
    (NODE_ID, "failure"),
    (JEST_ID, "failure"),
    (BUN_ID, "failure"),
    (MAVEN_ID, "failure"),
    (DOTNET_ID, "failure"),
    (PYTEST_TOTAL, "total"),
    (PYTEST_PLACE, "place"),
    (PANIC_PLACE, "place"),
)


def _assertions(lines: Sequence[str]) -> Iterator[Fact]:
    before = ""
    for line in lines:
        if line.startswith("E  ") and not before.startswith("E  ") and line[1:].strip():
            yield _comparison(line[1:].strip())
        go = GO_LOG.match(line)
        if go:
            yield _fact("place", go.group(1))
            yield _fact("assertion", go.group(2))
        was = BUT_WAS.search(line)
        if was:
            yield _fact("assertion", line.strip(), f"expected: <{was.group(1)}>"[:50], was.group(2)[:40])
        unequal = NOT_EQUAL.match(line)
        if unequal and not line.startswith(("E", ">", "FAILED", "SUBFAIL")):
            yield _fact("assertion", line.strip(), unequal.group(1), unequal.group(2))
        value = EXPECTED.match(line)
        if value and value.group(1) not in ("[", "{", "|-", "null"):
            yield _fact("value", value.group(1))
        before = line


def _builds(lines: Sequence[str]) -> Iterator[Fact]:
    head: re.Match[str] | None = None
    for line in lines:
        found = DIAGNOSTIC.match(line)
        lint = LINT.match(line)
        arrow = ARROW.match(line)
        if found:
            place, severity, code, message, flag = found.groups()
            tagged = re.match(r"\[(\w+)\] ", message)
            flag = tagged.group(1) if tagged else flag
            if severity == "warning":
                yield _fact(
                    "warning kind",
                    code or flag or re.sub(r"'[^']*'|‘[^’]*’|\d+", "…", message)[:40],
                    code or flag or message[:30],
                )
            else:
                yield _placed(f"{place}: {message}", place, code or flag or SHAPE.split(message)[0][:40])
        elif lint and SEVERE_CODE.match(lint.group(2)):
            yield _placed(f"{lint.group(1)} {lint.group(2)}", lint.group(1), lint.group(2))
        elif lint:
            yield _fact("finding kind", lint.group(2))
        elif arrow and head:
            if head.group(1) == "error":
                yield _fact("error", f"{arrow.group(1)} {head.group(3)}", arrow.group(1), head.group(3)[:40])
            else:
                kind = re.sub(r"`[^`]*`", "…", head.group(3))
                yield _fact("warning kind", kind, head.group(3).split("`")[0][:30])
        head = RUSTC.match(line) or (head if not arrow else None)


SCANNERS: tuple[tuple[str, Scanner], ...] = (
    ("test", _tests),
    ("build", _builds),
)
