"""The outline of a parsed document: what is near the top, rare or asked about opens first, the rest is
counted where it stands.

A document is a tree of which only the root is open at first. The part that tells most for its place is
opened next, as long as the result stays within its size: parts near the top before deep ones, the first
of many like ones and those that differ before the others. What is shown is then written as the document is:
as JSON, YAML or the lines of an environment.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from aider_gardener.compress.frame import plural
from aider_gardener.compress.structured.shape import identities, outliers, same_shape, summary_of
from aider_gardener.messages import Focus

ITEMS, KEYS, TOP_KEYS = 3, 24, 100
"""So many items of a long array, keys of an object, and keys of the whole document are shown at most."""

ALIKE_KEYS = 12
"""An object with more keys whose values are all alike is shown as an array is."""

SHORT_CHARS, LONG_CHARS = 60, 200
"""What is shown of a long string before and after it is opened."""

LINE_CHARS, YAML_LINE_CHARS = 110, 100
"""An object or array that fits on so long a line is written on one."""

DEPTH_LIMIT = 40
TRIES = 400
"""So many parts that don't fit are passed over before the outline is done."""

_PLAIN = re.compile(r"[^\s\"'#&*!|>%@`{}\[\],?:-][^\n]*|-?\d[\d.:_-]*|/[^\n]*")
REDACTED = re.compile(r"\[redacted:[^\[\]\s]*\]")
_QUOTE = re.compile(r": |:$| #|\s$|^(?:true|false|null|yes|no|~|on|off)$", re.IGNORECASE)


class Raw(str):
    """Text to be written as it stands: a note between values, not a string of the document."""


@dataclass
class _Part:
    """A value of the document and, once it is open, what is shown of it."""

    value: Any
    depth: int
    shown: list[tuple[Any, _Part]] = field(default_factory=list)
    opened: bool = False
    room: int = 0

    def closes(self) -> bool:
        """True when something of it can be opened."""
        value = self.value
        return (
            bool(value)
            if isinstance(value, dict | list)
            else isinstance(value, str) and len(value) > SHORT_CHARS + 20
        )


def outline(value: Any, chars: int, focus: Focus) -> Any:
    """The value with what lies deep or repeats replaced by notes, in about `chars` characters of text."""
    root = _Part(value, 0, room=chars // 3)
    waiting: list[tuple[float, int, _Part]] = [(0.0, 0, root)]
    number = tries = 0
    room = chars
    while waiting and tries < TRIES:
        rank, _, part = heapq.heappop(waiting)
        children = _children(part)
        cost = _cost(part, children)
        if cost > room:
            children = _fitting(children, room - part.room) if part is root or cost < 3 * room else []
            cost = _cost(part, children)
            if not children:
                tries += 1
                continue
        room -= cost
        part.opened, part.shown = True, [(key, child) for key, child, _ in children]
        for key, child, extra in children:
            if child.closes() and child.depth < DEPTH_LIMIT:
                number += 1
                near = 3.0 if _asked(key, child.value, focus) else 0.0
                heapq.heappush(waiting, (max(rank, part.depth) + 1 + extra - near, number, child))
    return _written(root)


def _asked(key: Any, value: Any, focus: Focus) -> bool:
    """True when the key, or a short value beside it, is what the user is about."""
    if not focus.words and not focus.paths:
        return False
    names = [str(key).lower()]
    if isinstance(value, dict):
        names += [
            str(value[name]).lower()[:200]
            for name in ("name", "path", "file", "id", "filePath")
            if name in value
        ]
    return any(name in focus.words or any(path.lower() in name for path in focus.paths) for name in names)


def _children(part: _Part) -> list[tuple[Any, _Part, float]]:
    """(key or index, part, how much later than its neighbours it opens) for what an open part shows."""
    value, depth = part.value, part.depth + 1
    if isinstance(value, dict):
        keys = list(value)
        if len(keys) > ALIKE_KEYS and same_shape(list(value.values())):
            odd = outliers(list(value.values()))
            chosen = list(dict.fromkeys([*range(ITEMS), *odd]))
            return [(keys[at], _Part(value[keys[at]], depth), _later(at, odd)) for at in sorted(chosen)]
        most = TOP_KEYS if depth == 1 else KEYS
        return [(key, _Part(value[key], depth), late) for key, late in _first_of_each(value, keys[:most])]
    if isinstance(value, list):
        if len(value) <= ITEMS + 1 or _few_words(value):
            return [(at, _Part(item, depth), _late(item)) for at, item in enumerate(value)]
        odd = outliers(value)
        chosen = list(dict.fromkeys([*range(ITEMS), *odd]))
        return [(at, _Part(value[at], depth), _later(at, odd)) for at in sorted(chosen)]
    return []


def _first_of_each(value: dict[Any, Any], keys: Sequence[Any]) -> list[tuple[Any, float]]:
    """The keys with how late they open: an object with the keys of an earlier one later than others."""
    seen: set[tuple[str, ...]] = set()
    found = []
    for key in keys:
        item = value[key]
        shape = tuple(map(str, list(item)[:20])) if isinstance(item, dict) and len(item) > 1 else ()
        found.append((key, 1.5 if shape in seen else _late(item)))
        seen |= {shape} if shape else set()
    return found


def _few_words(items: Sequence[Any]) -> bool:
    return len(items) <= 12 and all(
        not isinstance(item, dict | list) and len(str(item)) < 24 for item in items
    )


def _later(at: int, odd: Sequence[int]) -> float:
    return 0.0 if at == 0 or at in odd else 1.5


def _late(value: Any) -> float:
    return 2.0 if isinstance(value, str) else 0.0


def _fitting(children: list[tuple[Any, _Part, float]], room: int) -> list[tuple[Any, _Part, float]]:
    kept = []
    for child in children:
        room -= _width(child[0], child[1])
        if room < 0:
            break
        kept.append(child)
    return kept


def _cost(part: _Part, children: Sequence[tuple[Any, _Part, float]]) -> int:
    if isinstance(part.value, str):
        return min(LONG_CHARS, len(part.value)) - SHORT_CHARS
    rest = len(part.value) - len(children)
    return sum(_width(key, child) for key, child, _ in children) + (60 if rest else 0)


def _width(key: Any, part: _Part) -> int:
    """About how many characters a closed part takes beside its key."""
    value = part.value
    named = len(key) + 3 if isinstance(key, str) else 1
    if isinstance(value, dict | list):
        return named + (16 if value else 2) + min(part.depth, 8)
    return (
        named
        + (min(len(value), SHORT_CHARS + 24) + 2 if isinstance(value, str) else len(str(value)))
        + min(part.depth, 8)
    )


def _written(root: _Part) -> Any:
    """The tree as a value with notes. As deep as it was opened, so never deeper than DEPTH_LIMIT."""
    value = root.value
    if isinstance(value, str):
        return short_string(value, LONG_CHARS if root.opened else SHORT_CHARS)
    if isinstance(value, dict):
        return _written_object(root)
    return _written_array(root) if isinstance(value, list) else value


def _written_object(part: _Part) -> Any:
    value = part.value
    if not part.opened:
        return Raw(f"{{… {plural(len(value), 'key')} …}}") if value else value
    short: dict[Any, Any] = {key: _written(child) for key, child in part.shown}
    rest = [key for key in value if key not in short]
    if rest:
        short[Raw("…")] = Raw(f"{plural(len(rest), 'more key')}: {_names(rest, max(90, part.room))}")
    return short


def _names(keys: Sequence[Any], chars: int) -> str:
    told: list[str] = []
    for key in keys:
        chars -= min(len(str(key)), 40) + 2
        if chars < 0:
            return ", ".join([*told, "…"])
        told.append(short_string(str(key), 20))
    return ", ".join(told)


def _written_array(part: _Part) -> Any:
    items = part.value
    if not part.opened:
        return Raw(f"[… {plural(len(items), 'item')} …]") if items else items
    short: list[Any] = []
    last = -1
    shown = {at for at, _ in part.shown}
    hidden = [item for at, item in enumerate(items) if at not in shown]
    told = f": {identities(hidden)}" if hidden and identities(hidden) else ""
    alike = " of the same shape" if same_shape(items) else ""
    for at, child in part.shown:
        if at > last + 1:
            short.append(Raw(f"… {at - last - 1} more{alike}{told}"))
            told = ""
        short.append(_written(child))
        last = at
    if last < len(items) - 1:
        short.append(Raw(f"… {len(items) - 1 - last} more{alike}{told}"))
    told = summary_of(items) if hidden and part.depth <= 2 else ""
    return [*short, Raw(f"… {told}")] if told else short


def short_string(value: str, limit: int) -> str:
    """The string, or its beginning and end around its length."""
    if len(value) <= limit + 20:
        return value
    return f"{value[: limit * 2 // 3]} … {len(value)} characters … {value[-limit // 4 :]}"


def write_json(value: Any, indent: int = 0) -> str:
    """A shortened value as JSON: one line where it fits, one space a level otherwise."""
    if isinstance(value, Raw):
        return str(value)
    if not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, dict):
        parts = [f"{_key(key)}: {write_json(item, indent + 1)}" for key, item in value.items()]
        opening, closing = "{", "}"
    else:
        parts = [write_json(item, indent + 1) for item in value]
        opening, closing = "[", "]"
    one_line = opening + ", ".join(parts) + closing
    if len(one_line) <= LINE_CHARS and "\n" not in one_line:
        return one_line
    pad = " " * (indent + 1)
    return f"{opening}\n{pad}" + f",\n{pad}".join(parts) + f"\n{' ' * indent}{closing}"


def _key(key: Any) -> str:
    return str(key) if isinstance(key, Raw) else json.dumps(str(key), ensure_ascii=False)


def write_yaml(value: Any, indent: int = 0) -> str:
    """A shortened value as YAML: a part that fits on a line in flow style, else in block style."""
    return "\n".join(_block(value, "  " * indent))


def write_env(value: Any) -> str:
    """A shortened object as `KEY=value` lines; as a comment where nothing but a remark is left of it."""
    if not isinstance(value, dict):
        return f"# {value}"
    return "\n".join(f"# {key} {item}" if _note(key) else f"{key}={item}" for key, item in value.items())


def _block(value: Any, pad: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from (
                _entry(f"{pad}{key_text(key)}", item, pad) if not _note(key) else (f"{pad}# {key} {item}",)
            )
    elif isinstance(value, list) and value:
        for item in value:
            if isinstance(item, Raw) and item.startswith("…"):
                yield f"{pad}# {item}"
            else:
                yield from _item(item, pad)
    else:
        yield pad + flow(value)


def _note(key: Any) -> bool:
    return isinstance(key, Raw)


def _entry(head: str, item: Any, pad: str) -> Iterator[str]:
    one_line = flow(item)
    if not isinstance(item, dict | list) or not item or len(head) + len(one_line) + 2 <= YAML_LINE_CHARS:
        yield f"{head}: {one_line}"
        return
    yield f"{head}:"
    yield from _block(item, pad + ("  " if isinstance(item, dict) else ""))


def _item(item: Any, pad: str) -> Iterator[str]:
    one_line = flow(item)
    if not isinstance(item, dict | list) or not item or len(pad) + len(one_line) + 2 <= YAML_LINE_CHARS:
        yield f"{pad}- {one_line}"
        return
    lines = list(_block(item, pad + "  "))
    yield f"{pad}- {lines[0][len(pad) + 2 :]}"
    yield from lines[1:]


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(_pair(key, item) for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and not _QUOTE.search(value) and not re.search(r"[,\[\]{}]", value)
        return value if plain or REDACTED.fullmatch(value) else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, default=str)


def _pair(key: Any, item: Any) -> str:
    return f"{key} {item}" if _note(key) else f"{key_text(key)}: {flow(item)}"


def key_text(key: Any) -> str:
    """A key as it is written."""
    text = str(key)
    return (
        text if text and not re.search(r": |[\s\"'#{}\[\],]", text) else json.dumps(text, ensure_ascii=False)
    )
