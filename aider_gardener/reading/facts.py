"""What a reader must not lose of the output of tests and builds: what failed, where, and what was compared.

Taken without the compressors, by plain line patterns: a fault in a compressor's parser cannot hide itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from aider_gardener.reading.late import late
from aider_gardener.reading.output import legible, plain, squeeze


class Fact(NamedTuple):
    """One fact: its kind ("failure", "assertion", "place", "error"), its words in the original.

    `keys` are the parts that must all stand in a text for the fact to be kept in it.
    """

    kind: str
    text: str
    keys: tuple[str, ...]
    place: str = ""
    """A `file:line` that must stand there besides, alone or in a list of lines behind its file."""


KEY_CHARS = 60
OPERATOR = late(r" (?:===?|!==?|<=?|>=?|(?:not )?in|is(?: not)?) ")

PYTEST_ID = late(r"^(?:FAILED|ERROR) (\S+\.py(?:::.+?)?)(?: - .*)?$")
PYTEST_LINE = late(r"^(?:\[gw\d+\] .*?(?:FAILED|ERROR) )?(\S+\.py::.+?) (?:FAILED|ERROR) +\[ *\d+%\]$")
PYTEST_PLACE = late(r"^(\S+\.py:\d+): (?:[A-Z]\w*(?:Error|Exception|Failed|Exit)\w*)$")
UNITTEST_ID = late(r"^(?:FAIL|ERROR): (\w+ \([\w.]+\).*)$")
CARGO_ID = late(r"^test (.+?)(?: - should panic)? \.\.\. FAILED$")
PANIC_PLACE = late(r"^thread '.*?' (?:\(\d+\) )?panicked at (?:'.*', )?([^':]+:\d+:\d+)")
GO_ID = late(r"^ *--- FAIL: (\S+)")
GO_LOG = late(r"^\s+(\w+_test\.go:\d+): (.+)$")
NODE_ID = late(r"^✖ (.+?) \([\d.]+ms\)$")
JEST_ID = late(r"^ *● (.+ › .+)$")
BUN_ID = late(r"^(?:✗|\(fail\)) (.+?)(?: \[[\d.]+m?s\])?$")
MAVEN_ID = late(r"^\[ERROR\] ([\w.]+\.\w+) (?:--|Time).*<<< (?:FAILURE|ERROR)!")
DOTNET_ID = late(r"^ +Failed (\S+) \[")
BUT_WAS = late(r"expected: <(.*?)> but was: <(.*?)>")
NOT_EQUAL = late(r"^\s*(\S.*) !==? (\S.*)$")

SHAPE = late(r"['\"`‘“]|\b\d")
PLACE_PARTS = late(r"^(.*?)(?::(\d+)(?::\d+)?|\((\d+),\d+\))$")
SEVERE_CODE = late(r"E9|F[567]|F8[23]|[EF]\d{4}$")
DIAGNOSTIC = late(
    r"^((?:[A-Za-z]:)?[^\s:()][^:()\n]*(?::\d+(?::\d+)?|\(\d+,\d+\))):? (?:- )?(?:fatal )?error"
    r"\b(?: ?\[?([A-Z]*\d+)\]?)?: (.*?)(?: \[([\w=+-]+)\])?$"
)
LINT = late(r"^(\S+\.\w+:\d+:\d+): ([A-Z]{1,3}\d{2,4}):? (.*)$")
RUSTC = late(r"^(error|warning)(?:\[\w+\])?: (.*)$")
ARROW = late(r"^ *--> (\S+:\d+:\d+)$")


def extract(text: str) -> list[Fact]:
    """The facts of an output, without repeats."""
    found: dict[tuple[str, str], Fact] = {}
    for fact in _facts(plain(text)):
        found.setdefault((fact.kind, fact.text), fact)
    return list(found.values())


def _facts(text: str) -> Iterator[Fact]:
    def has(words: Iterable[str]) -> bool:
        return any(map(text.__contains__, words))

    patterns = [(pattern, kind) for words, pattern, kind in TEST_LINES if has(words)]
    scanners = [scanner for words, scanner in SCANNERS if has(words)]
    lines = [legible(line) for line in text.split("\n")] if patterns or scanners else []
    for pattern, kind in patterns:
        for line in lines:
            found = pattern.match(line)
            if found:
                yield _fact(kind, found.group(1).strip())
    for scanner in scanners:
        yield from scanner(lines)


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


TEST_LINES = (
    ((".py",), PYTEST_ID, "failure"),
    ((".py::",), PYTEST_LINE, "failure"),
    (("FAIL: ", "ERROR: "), UNITTEST_ID, "failure"),
    (("... FAILED",), CARGO_ID, "failure"),
    (("--- FAIL: ",), GO_ID, "failure"),
    (("✖ ",), NODE_ID, "failure"),
    (("● ",), JEST_ID, "failure"),
    (("✗ ", "(fail) "), BUN_ID, "failure"),
    (("<<< ",), MAVEN_ID, "failure"),
    ((" Failed ",), DOTNET_ID, "failure"),
    ((".py:",), PYTEST_PLACE, "place"),
    (("panicked at ",), PANIC_PLACE, "place"),
)
"""Words of which one stands in every such line, its pattern, and the kind of fact that it states."""


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
        before = line


def _builds(lines: Sequence[str]) -> Iterator[Fact]:
    head: re.Match[str] | None = None
    for line in lines:
        found, lint, arrow = DIAGNOSTIC.match(line), LINT.match(line), ARROW.match(line)
        if found:
            place, code, message, flag = found.groups()
            tagged = re.match(r"\[(\w+)\] ", message)
            key = code or (tagged.group(1) if tagged else flag) or SHAPE.split(message)[0][:40]
            yield _placed(f"{place}: {message}", place, key)
        elif lint and SEVERE_CODE.match(lint.group(2)):
            yield _placed(f"{lint.group(1)} {lint.group(2)}", lint.group(1), lint.group(2))
        elif arrow and head and head.group(1) == "error":
            yield _fact("error", f"{arrow.group(1)} {head.group(2)}", arrow.group(1), head.group(2)[:40])
        head = RUSTC.match(line) or (head if not arrow else None)


SCANNERS = ((("E  ", "_test.go:", "> but was: <", " !="), _assertions), (("error", ": E", ": F"), _builds))
"""Words of which one stands in each text with an assertion, or with an error of a build; what finds these."""
