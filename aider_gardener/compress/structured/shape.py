"""What the items of an array have in common, which of them differ, and how to name those left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

OUTLIER_LIMIT = 5
RARE_SHARE = 0.02
"""A value is rare when at most this share of an array's items (or one item) has it."""

SAMPLE_ITEMS = 20_000
"""Of longer arrays this many items, from the head, are looked at."""

NAMES = (
    "name",
    "id",
    "key",
    "title",
    "path",
    "file",
    "filePath",
    "filename",
    "address",
    "slug",
    "uid",
    "code",
    "url",
    "repo",
)
IDENTITIES_CHARS = 90
SUMMARY_FIELDS, SUMMARY_CHARS = 5, 200


def describe(value: Any) -> str:
    """What the document is at its top: "array of 40" or "object of 12 keys"."""
    if isinstance(value, list):
        return f"array of {len(value)}"
    return f"object of {len(value)} keys"


def same_shape(items: Sequence[Any]) -> bool:
    """True when nearly all items are of one type, and objects have most of their keys in common."""
    items = items[:SAMPLE_ITEMS]
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
    items = items[:SAMPLE_ITEMS]
    if len(items) < 8:
        return []
    shapes = Counter(_shape(item) for item in items)
    odd = [
        index
        for index, item in enumerate(items)
        if shapes[_shape(item)] <= max(1, RARE_SHARE * len(items)) and len(shapes) <= 5
    ]
    votes = Counter(odd)
    if all(isinstance(item, dict) for item in items):
        for values in _fields(items).values():
            votes.update(_odd_values(values))
    elif all(isinstance(item, int | float) and not isinstance(item, bool) for item in items):
        votes.update(_odd_values(list(items)))
    ranked = sorted(votes, key=lambda index: (-votes[index], index))
    return sorted(ranked[:OUTLIER_LIMIT])


def _fields(records: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """The values of each field of like records, of the fields one level down too."""
    fields: dict[str, list[Any]] = {}
    for key, example in list(records[0].items())[:30]:
        fields[str(key)] = values = [record.get(key) for record in records]
        if isinstance(example, dict):
            for inner in list(example)[:10]:
                fields[f"{key}.{inner}"] = [
                    value.get(inner) if isinstance(value, dict) else None for value in values
                ]
    return fields


def _odd_values(values: list[Any]) -> list[int]:
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == len(values) and len(set(numbers)) > 5:
        return _far_numbers(numbers)
    scalars = [_scalar(value) for value in values]
    counts = Counter(scalars)
    if len(counts) < 2 or counts.most_common(1)[0][1] < 0.8 * len(values):
        return []
    rare = {value for value, number in counts.items() if number <= max(1, RARE_SHARE * len(values))}
    return [index for index, value in enumerate(scalars) if value in rare][:OUTLIER_LIMIT]


def _scalar(value: Any) -> Any:
    """What makes two values of a field the same: short lists by what they hold, objects by their keys."""
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, list):
        return tuple(str(item)[:40] for item in value[:4]) if len(value) <= 4 else "[…]"
    return tuple(map(str, list(value)[:8]))


def _far_numbers(numbers: list[Any]) -> list[int]:
    ordered = sorted(numbers)
    low, middle, high = (ordered[len(ordered) * part // 4] for part in (1, 2, 3))
    spread = high - low
    if not spread:
        return []
    return [index for index, number in enumerate(numbers) if abs(number - middle) > 6 * spread][
        :OUTLIER_LIMIT
    ]


def identities(items: Sequence[Any]) -> str:
    """The names of like records in a few words, or "" when they have none."""
    records = [item for item in items if isinstance(item, dict)]
    if not records or len(records) < len(items):
        return ""
    for name in NAMES:
        values = [record.get(name) for record in records[:SAMPLE_ITEMS]]
        if not all(isinstance(value, str | int) and not isinstance(value, bool) for value in values):
            continue
        if len(set(values)) < 0.6 * len(values):
            continue
        if all(isinstance(value, int) for value in values):
            return f"{name} {min(values)}..{max(values)}"  # type: ignore[type-var]  # reason: all are int
        shown = ", ".join(str(value)[:40] for value in values[:12])
        return (
            shown if len(shown) <= IDENTITIES_CHARS else shown[:IDENTITIES_CHARS].rsplit(", ", 1)[0] + ", …"
        )
    return ""


def summary_of(items: Sequence[Any]) -> str:
    """The ranges of the numbers and the counts of the words that like records hold, or ""."""
    if len(items) < 6 or not all(isinstance(item, dict) for item in items):
        return ""
    told = []
    for name, values in _fields(items[:SAMPLE_ITEMS]).items():
        text = _range(values)
        if text:
            told.append(f"{name} {text}")
    text = "; ".join(told[:SUMMARY_FIELDS])
    return f"all {len(items)}: {text}"[:SUMMARY_CHARS] if told else ""


def _range(values: Sequence[Any]) -> str:
    present = [value for value in values if value is not None]
    if (
        not present
        or len(present) < 0.8 * len(values)
        or any(isinstance(value, dict | list) for value in present)
    ):
        return ""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        return f"{min(present)}..{max(present)}" if len(set(present)) > 3 else ""
    counts = Counter(json_word(value) for value in present)
    if 2 <= len(counts) <= 4:
        return " ".join(f"{word[:24]}×{number}" for word, number in counts.most_common(4))
    return ""


def json_word(value: Any) -> str:
    """A scalar as JSON writes it, a string without its quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)
