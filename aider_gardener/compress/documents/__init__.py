"""Documents of a known kind, in dense lines of the fields that matter: one module per family.

Each reader takes a parsed value and returns a Document or None. Values may be of any type anywhere, so
readers reach them through `mapping` and `items`, and write a few of them on a line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Lines = list[str]

LINE_LIMIT = 400
"""Of more lines of one kind the first ones are written."""


@dataclass(frozen=True)
class Document:
    """What a document is, and its lines at a detail of 0 (most) to DETAILS - 1 (least)."""

    name: str
    lines: Callable[[int], Lines]


DETAILS = 4


def mapping(value: Any, *path: str) -> dict[str, Any]:
    """The object at a path of keys, or an empty one."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def items(value: Any, *path: str) -> list[Any]:
    """The array at a path of keys, or an empty one."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, list) else []


def word(value: Any, size: int = 60) -> str:
    """A value on one line, at most `size` characters; a string without quotes."""
    if isinstance(value, str):
        text = " ".join(value.split())
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= size else text[: size - 1] + "…"


def listed(values: Iterable[Any], most: int = 12, size: int = 60) -> str:
    """Values with commas between, at most `most` of them."""
    words = [word(value, size) for value in values]
    more = f", … {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def joined(parts: Iterable[str]) -> str:
    """The parts that are not empty, with semicolons between."""
    return "; ".join(part for part in parts if part)


def limited(lines: Sequence[str], most: int = LINE_LIMIT) -> Lines:
    """The lines, of more than `most` the first and their number."""
    return list(lines) if len(lines) <= most else [*lines[:most], f"… {len(lines) - most} more"]
