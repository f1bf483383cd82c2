"""Changes of JSON text in single places: all else in the file stays byte for byte as its owner wrote it.

An edit is found in the text, not by writing parsed values anew, so that order, indentation, line ends and the
spelling of numbers outlive it, and so that taking it back gives the text from before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Place = Sequence["str | int"]
"""Keys and positions from the outermost object inwards."""

BOM = "\ufeff"
INDENT = "  "
"""Of a file that has none to go by."""
_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Edit:
    """`new` in the place of `old`, `at` characters from the beginning of the text."""

    at: int
    old: str
    new: str


@dataclass(frozen=True)
class _Part:
    """A member of an object or an item of an array, as offsets: where it begins, its value, its end."""

    key: str | int
    start: int
    value: int
    end: int


@dataclass(frozen=True)
class _Box:
    """An object or array: the offsets of its brackets, and what stands in it."""

    opened: int
    closed: int
    parts: tuple[_Part, ...]

    def part(self, key: str | int) -> _Part | None:
        """Its part of this key. Raises ValueError for one that is there twice."""
        found = [part for part in self.parts if part.key == key]
        if len(found) > 1:
            raise ValueError(f"{key!r} stands twice in one object")
        return found[0] if found else None


def parsed(text: str) -> dict[str, Any]:
    """The object that a text holds. Raises ValueError, whose message says in a few words what is wrong."""
    try:
        value = json.loads(text.removeprefix(BOM), parse_constant=_refused)
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON: {error.msg}, line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def put(text: str, path: Place, value: Any) -> Edit:
    """The edit that sets the member at `path`, in place of what is there, else after its last neighbour.

    Objects missing on the way are made. Raises ValueError where a value on the way is no object.
    """
    at = _root(text)
    for depth, key in enumerate(path):
        box = _box(text, at, "{")
        part = box.part(key)
        if part is None:
            for outer in reversed(path[depth + 1 :]):
                value = {outer: value}
            return _insertion(text, box, f"{_compact(key)}: ", value)
        at, end = part.value, part.end
    return Edit(at, text[at:end], _compact(value))


def append(text: str, path: Place, item: Any) -> Edit:
    """The edit that adds an item at the end of the array at `path`, which is made if it is missing."""
    at: int = _root(text)
    for key in path:
        part = _box(text, at, "{").part(key)
        if part is None:
            return put(text, path, [item])
        at = part.value
    return _insertion(text, _box(text, at, "["), "", item)


def drop(text: str, path: Place) -> Edit:
    """The edit that takes out what stands at `path`, with the comma beside it. KeyError if nothing does."""
    at = _root(text)
    for key in path[:-1]:
        at = _found(_box(text, at), key).value
    box = _box(text, at)
    part = _found(box, path[-1])
    index = box.parts.index(part)
    if len(box.parts) == 1:
        start, end = box.opened + 1, box.closed
    elif index == len(box.parts) - 1:
        start, end = box.parts[index - 1].end, part.end
    else:
        start, end = part.start, box.parts[index + 1].start
    return Edit(start, text[start:end], "")


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text after these edits, one after the other."""
    for edit in edits:
        text = text[: edit.at] + edit.new + text[edit.at + len(edit.old) :]
    return text


def undone(text: str, edits: Sequence[Edit]) -> str:
    """The text from before these edits: the way back of `applied`."""
    return applied(text, [Edit(edit.at, edit.new, edit.old) for edit in reversed(edits)])


def _refused(name: str) -> Any:
    raise ValueError(f"no JSON: {name}")


def _found(box: _Box, key: str | int) -> _Part:
    part = box.part(key)
    if part is None:
        raise KeyError(key)
    return part


def _root(text: str) -> int:
    return _skip(text, 1 if text.startswith(BOM) else 0)


def _skip(text: str, at: int) -> int:
    """The offset of the next character that is no blank."""
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _box(text: str, at: int, brackets: str = "{[") -> _Box:
    """The object or array that begins at an offset of a text that is known to be JSON."""
    if text[at] not in brackets:
        needed = {"{": "an object", "[": "a list"}.get(brackets, "an object or a list")
        raise ValueError(f"{text[at : at + 20]!r} stands where {needed} is needed")
    parts: list[_Part] = []
    position = _skip(text, at + 1)
    while text[position] not in "]}":
        start = position
        key: str | int = len(parts)
        if text[at] == "{":
            key, position = _DECODER.raw_decode(text, position)
            position = _skip(text, _skip(text, position) + 1)
        _, end = _DECODER.raw_decode(text, position)
        parts.append(_Part(key, start, position, end))
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return _Box(at, position, tuple(parts))


def _insertion(text: str, box: _Box, before: str, value: Any) -> Edit:
    """A new last part of a box, laid out as its neighbours are, else as the outermost object is."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if box.parts:
        gap = text[box.opened + 1 : box.parts[0].start]
        at = box.parts[-1].end
        if "\n" not in gap:
            return Edit(at, "", f", {before}{_compact(value)}")
        indent = gap[gap.rindex("\n") + 1 :]
        return Edit(at, "", f",{newline}{indent}{before}{_spread(text, value, newline + indent)}")
    at, blank = box.opened + 1, text[box.opened + 1 : box.closed]
    unit = _unit(text)
    if unit is None:
        return Edit(at, blank, before + _compact(value))
    outer = _indent_of_line(text, box.opened)
    inner = newline + outer + unit
    return Edit(at, blank, f"{inner}{before}{_spread(text, value, inner)}{newline}{outer}")


def _unit(text: str) -> str | None:
    """By how much one level is indented, or None where the outermost object stands on one line."""
    box = _box(text, _root(text))
    if not box.parts:
        return INDENT
    gap = text[box.opened + 1 : box.parts[0].start]
    return gap[gap.rindex("\n") + 1 :] if "\n" in gap else None


def _indent_of_line(text: str, at: int) -> str:
    """The blanks at the beginning of the line that an offset is in."""
    line = text[text.rfind("\n", 0, at) + 1 : at].removeprefix(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _spread(text: str, value: Any, newline: str) -> str:
    """A value over several lines, each after the first begun by `newline`."""
    unit = _unit(text)
    return json.dumps(value, ensure_ascii=False, indent=INDENT if unit is None else unit).replace(
        "\n", newline
    )


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
