"""Cutting a traceback's lines into units: stack frames (with their code) and other text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aider_gardener.compress.errors.library import is_library

PYTHON = re.compile(r'^([\s|+-]*)File "([^"]+)", line (\d+)(?:, in (.*)| in (.*))?$')
AT = re.compile(r"^\s*(?:\d+: )?at (.*)$")
AT_PLACE = re.compile(r"\(([^()]*)\)\s*(?:\{|~?\[.*\])?$")
GO_PLACE = re.compile(r"^\t(\S.*?\.(?:go|s|c)):\d+(?: \+0x[0-9a-f]+)?$")
GO_CALL = re.compile(r"^(?:created by )?[\w./*()\[\]·~-]+(?:\.[\w.()*\[\]·-]+)*\(.*\)$|^created by \S+")
RUST = re.compile(r"^\s*\d+: (?:0x[0-9a-f]+ - )?(\S.*)$")
RUST_AT = re.compile(r"^\s+at (\S+\.\w+:\d+(?::\d+)?)$")
RUBY = re.compile(r"^\s*(?:\d+: )?(?:from )?(\S+\.rb:\d+):in ")
CARETS = re.compile(r"^[\s|]*[\^~]+[\s^~]*$")
NOT_CODE = re.compile(
    r"^(?:[\w.]+(?:Error|Exception|Warning|Exit|Interrupt|Group|Timeout)\b|Traceback|"
    r"During handling|The above|Thread |Exception )"
)


@dataclass
class Unit:
    """A frame with its lines, or one line of other text. `own` is true for the project's frames."""

    lines: list[str]
    frame: bool = False
    own: bool = False

    def key(self) -> str:
        """What makes two frames the same: their first line without addresses."""
        return re.sub(r"0x[0-9a-f]+", "0x", self.lines[0])


def units(lines: Sequence[str], kind: str) -> list[Unit]:
    """The units of a traceback of this kind, in order."""
    if kind == "traceback-python":
        return list(_python(lines))
    if kind == "stack-go":
        return list(_go(lines))
    if kind == "stack-rust":
        return list(_rust(lines))
    return [_single(line) for line in lines]


def _python(lines: Sequence[str]) -> Iterator[Unit]:
    at = 0
    while at < len(lines):
        found = PYTHON.match(lines[at])
        if not found:
            yield Unit([lines[at]])
            at += 1
            continue
        unit = Unit([lines[at]], True, not is_library(found.group(2)))
        depth, at = len(found.group(1)), at + 1
        flat = depth == 0
        while at < len(lines) and lines[at].strip() and not PYTHON.match(lines[at]):
            bare = lines[at].lstrip(" |+-")
            if flat and ((len(unit.lines) > 1 and not CARETS.match(lines[at])) or NOT_CODE.match(bare)):
                break
            if not flat and len(lines[at]) - len(bare) <= depth:
                break
            unit.lines.append(lines[at])
            at += 1
        yield unit


def _go(lines: Sequence[str]) -> Iterator[Unit]:
    held: list[str] = []
    for line in lines:
        place = GO_PLACE.match(line)
        if place and held:
            yield Unit([*held, line], True, not (is_library(place.group(1)) or is_library(held[0])))
            held = []
            continue
        if held:
            yield Unit(held)
            held = []
        if GO_CALL.match(line):
            held = [line]
        else:
            yield Unit([line])
    if held:
        yield Unit(held)


def _rust(lines: Sequence[str]) -> Iterator[Unit]:
    frame: Unit | None = None
    for line in lines:
        place = RUST_AT.match(line)
        if place and frame is not None:
            frame.lines.append(line)
            frame.own = frame.own and not is_library(place.group(1))
            continue
        if frame is not None:
            yield frame
            frame = None
        found = RUST.match(line)
        if found:
            frame = Unit([line], True, not is_library(found.group(1)))
        else:
            yield Unit([line])
    if frame is not None:
        yield frame


def _single(line: str) -> Unit:
    found = AT.match(line)
    if found:
        inside = AT_PLACE.search(found.group(1))
        name = found.group(1)
        library = is_library(name) or bool(inside and is_library(inside.group(1)))
        return Unit(
            [line],
            True,
            not library and not name.startswith(("<anonymous>", "native", "new Promise", "Array.")),
        )
    found = RUBY.match(line)
    return Unit([line], True, not is_library(found.group(1))) if found else Unit([line])
