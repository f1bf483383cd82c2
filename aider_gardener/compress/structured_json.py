"""A parsed JSON value in short: shapes instead of repetition, rare items whole, deep parts counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

LINE_CHARS = 110
"""An object or array that fits on so long a line is written on one."""

OUTLIER_LIMIT = 3
RARE_SHARE = 0.02
"""A value is rare when at most this share of an array's items (or one item) has it."""

NAMED_LIMIT, NAMED_CHARS, NAMED_NODES = 12, 160, 200_000

Path = tuple["str | int", ...]


@dataclass(frozen=True)
class Limits:
    """How much of a document to show: the first `items` of an array, `depth` levels, `chars` of a
    string, `keys` of an object below the first level."""

    items: int
    depth: int
    chars: int
    keys: int


class Raw(str):
    """Text to be written as it stands: a note between values, not a string of the document."""


def describe(value: Any) -> str:
    """What the document is at its top: "array of 40" or "object of 12 keys"."""
    if isinstance(value, list):
        return f"array of {len(value)}"
    return f"object of {len(value)} keys"


def abridge(value: Any, limits: Limits) -> str:
    """The value as JSON-like text."""
    return write(_short(value, limits, 0), 0)


def _short(value: Any, limits: Limits, depth: int) -> Any:
    if isinstance(value, str):
        return _short_string(value, limits.chars)
    if isinstance(value, dict):
        if depth >= limits.depth:
            return Raw(f"{{… {_plural(len(value), 'key')} …}}") if value else value
        keys = list(value)
        shown = keys if depth == 0 or len(keys) <= limits.keys + 2 else keys[: limits.keys]
        if depth == 0 and len(keys) > 4 * limits.keys:
            shown = keys[: 4 * limits.keys]
        if len(keys) > 12 and len(shown) > limits.items and same_shape(list(value.values())):
            shown = list(
                dict.fromkeys([*keys[: limits.items], *(keys[i] for i in outliers(list(value.values())))])
            )
        short = {key: _short(value[key], limits, depth + 1) for key in shown}
        if len(shown) < len(keys):
            rest = [key for key in keys if key not in short]
            names = ", ".join(str(key)[:24] for key in rest[:6])
            short[Raw("…")] = Raw(
                f"{_plural(len(rest), 'more key')}: {names}{', …' if len(rest) > 6 else ''}"
            )
        return short
    if isinstance(value, list):
        return _short_list(value, limits, depth)
    return value


def _short_string(value: str, limit: int) -> str:
    if len(value) <= limit + 20:
        return value
    return f"{value[: limit * 2 // 3]} … {len(value)} characters … {value[-limit // 4 :]}"


def _short_list(items: list[Any], limits: Limits, depth: int) -> Any:
    if depth >= limits.depth and items:
        return Raw(f"[… {_plural(len(items), 'item')} …]")
    if len(items) <= limits.items + 1:
        return [_short(item, limits, depth + 1) for item in items]
    if (
        all(isinstance(item, int | float | str | bool | None) and len(str(item)) < 24 for item in items)
        and len(items) <= 4 * limits.items
    ):
        return items
    kept = list(dict.fromkeys([*range(limits.items), *outliers(items)]))
    short: list[Any] = []
    last = -1
    for index in sorted(kept):
        if index > last + 1:
            short.append(Raw(f"… {index - last - 1} more of the same shape"))
        short.append(_short(items[index], limits, depth + 1))
        last = index
    if last < len(items) - 1:
        short.append(
            Raw(f"… {len(items) - 1 - last} more{' of the same shape' if same_shape(items) else ''}")
        )
    return short


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def same_shape(items: Sequence[Any]) -> bool:
    """True when nearly all items are of one type, and objects have most of their keys in common."""
    if not items:
        return False
    if not all(isinstance(item, dict) for item in items):
        return Counter(_shape(item) for item in items).most_common(1)[0][1] >= 0.7 * len(items)
    keys = Counter(key for item in items for key in item)
    common = sum(number for number in keys.values() if number >= 0.5 * len(items))
    return common >= 0.6 * sum(keys.values())


def _shape(item: Any) -> Any:
    return tuple(sorted(map(str, item)))[:30] if isinstance(item, dict) else type(item).__name__


def outliers(items: Sequence[Any]) -> list[int]:
    """Indexes of up to three items that differ: another shape, a rare value in a field that is nearly
    constant, a number far from the others."""
    if len(items) < 8:
        return []
    found: list[int] = []
    shapes = Counter(_shape(item) for item in items)
    for index, item in enumerate(items):
        if shapes[_shape(item)] <= max(1, RARE_SHARE * len(items)) and len(shapes) <= 5:
            found.append(index)
    records = [item for item in items if isinstance(item, dict)]
    if len(records) == len(items):
        for key in list(records[0])[:30]:
            found.extend(_odd_values([item.get(key) for item in records]))
    elif all(isinstance(item, int | float) and not isinstance(item, bool) for item in items):
        found.extend(_odd_values(list(items)))
    return sorted(dict.fromkeys(found))[:OUTLIER_LIMIT]


def _odd_values(values: list[Any]) -> list[int]:
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == len(values) and len(set(numbers)) > 5:
        return _far_numbers(numbers)
    scalars = [
        value if isinstance(value, str | int | float | bool) or value is None else "…" for value in values
    ]
    counts = Counter(scalars)
    if len(counts) < 2 or counts.most_common(1)[0][1] < 0.8 * len(values):
        return []
    rare = {value for value, number in counts.items() if number <= max(1, RARE_SHARE * len(values))}
    return [index for index, value in enumerate(scalars) if value in rare][:OUTLIER_LIMIT]


def _far_numbers(numbers: list[Any]) -> list[int]:
    ordered = sorted(numbers)
    low, middle, high = (ordered[len(ordered) * part // 4] for part in (1, 2, 3))
    spread = high - low
    if not spread:
        return []
    return [index for index, number in enumerate(numbers) if abs(number - middle) > 6 * spread][
        :OUTLIER_LIMIT
    ]


def write(value: Any, indent: int) -> str:
    """A shortened value as text: one line where it fits, two spaces a level otherwise."""
    if isinstance(value, Raw):
        return str(value)
    if not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, dict):
        parts = [f"{_key(key)}: {write(item, indent + 1)}" for key, item in value.items()]
        opening, closing = "{", "}"
    else:
        parts = [write(item, indent + 1) for item in value]
        opening, closing = "[", "]"
    one_line = opening + ", ".join(parts) + closing
    if len(one_line) <= LINE_CHARS and "\n" not in one_line:
        return one_line
    pad = " " * (indent + 1)
    return f"{opening}\n{pad}" + f",\n{pad}".join(parts) + f"\n{' ' * indent}{closing}"


def _key(key: Any) -> str:
    return str(key) if isinstance(key, Raw) else json.dumps(str(key), ensure_ascii=False)


def named_fields(value: Any, words: Iterable[str]) -> list[str]:
    """Lines `path: value` for fields whose key is one of the words, at most twelve, breadth first."""
    wanted = frozenset(word.lower() for word in words if len(word) > 2)
    if not wanted:
        return []
    found: list[str] = []
    queue: list[tuple[str, Any]] = [("", value)]
    at = 0
    while at < len(queue) and at < NAMED_NODES and len(found) < NAMED_LIMIT:
        path, node = queue[at]
        at += 1
        if isinstance(node, dict):
            for key, item in node.items():
                here = f"{path}.{key}" if path else str(key)
                if str(key).lower() in wanted and len(found) < NAMED_LIMIT:
                    found.append(f"{here}: {_brief(item)}")
                if isinstance(item, dict | list):
                    queue.append((here, item))
        elif isinstance(node, list):
            queue.extend(
                (f"{path}[{index}]", item)
                for index, item in enumerate(node[:1000])
                if isinstance(item, dict | list)
            )
    return found


def _brief(value: Any) -> str:
    if isinstance(value, dict | list):
        text = write(_short(value, Limits(3, 2, 60, 8), 0), 0)
        text = " ".join(text.split())
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= NAMED_CHARS else text[:NAMED_CHARS] + " …"
