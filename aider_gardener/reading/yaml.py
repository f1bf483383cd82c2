"""YAML read into plain values, within bounds.

Scalars stay the text they are, tags stand before them (`!Ref Name`), aliases stay `*name`: nothing is
resolved, so a document cannot grow while it is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

FAST_CHARS, SLOW_CHARS = 250_000, 25_000
"""Up to this size YAML is parsed: with the C parser, and without it."""

DEPTH_LIMIT = 60
"""Deeper nesting is not read: parsers of YAML are quadratic there."""
_STANDARD = "tag:yaml.org,2002:"


def read_yaml(text: str) -> Any:
    """The value of a YAML text, a list of values where it holds several documents; None when it can't be
    read, is too large or nests too deep. Never raises."""
    try:
        import yaml  # reason: loaded only where YAML is met
    except ImportError:
        return None
    loader = getattr(yaml, "CSafeLoader", None)
    if len(text) > (FAST_CHARS if loader else SLOW_CHARS):
        return None
    try:
        found = list(_documents(yaml.parse(text, Loader=loader or yaml.SafeLoader)))
    except (yaml.YAMLError, UnicodeError, ValueError, RecursionError, OverflowError):
        return None
    return found[0] if len(found) == 1 else found or None


def _documents(events: Iterator[Any]) -> Iterator[Any]:
    """The documents of a stream of events, built without recursion."""
    stack: list[list[Any]] = []
    for event in events:
        name = type(event).__name__
        if name == "DocumentStartEvent":
            stack = [[]]
        elif name == "DocumentEndEvent":
            if stack[0] and stack[0][0] != "":
                yield stack[0][0]
        elif name in ("SequenceStartEvent", "MappingStartEvent"):
            if len(stack) > DEPTH_LIMIT:
                raise ValueError("nested too deep")
            stack.append([name == "MappingStartEvent", _tag(event)])
        elif name in ("SequenceEndEvent", "MappingEndEvent"):
            mapping, tag, *items = stack.pop()
            value = _mapping(items) if mapping else _placeholder(items)
            stack[-1].append({tag: value} if tag else value)
        elif name == "ScalarEvent":
            tag = _tag(event)
            stack[-1].append(f"{tag} {event.value}" if tag else _scalar(event))
        elif name == "AliasEvent":
            stack[-1].append(f"*{event.anchor}")


def _placeholder(items: list[Any]) -> Any:
    """The items, or what stands for a secret as the text that it is."""
    first = items[0] if len(items) == 1 else None
    return f"[{first}]" if isinstance(first, str) and first.startswith("redacted:") else items


def _mapping(items: list[Any]) -> dict[str, Any]:
    keys = (key if isinstance(key, str) else json.dumps(key, default=str)[:80] for key in items[::2])
    return dict(zip(keys, items[1::2], strict=False))


def _tag(event: Any) -> str:
    return event.tag if event.tag and event.tag != "!" and not event.tag.startswith(_STANDARD) else ""


def _scalar(event: Any) -> Any:
    """Plain numbers and truth values as such, so that outliers are seen; everything else as text."""
    value: str = event.value
    if event.style or not value or len(value) > 18:
        return value
    if value in ("true", "false"):
        return value == "true"
    if re.fullmatch(r"-?(?:0|[1-9]\d*)", value):
        return int(value)
    if re.fullmatch(r"-?\d+\.\d+", value) and len(value) < 12 and repr(float(value)) == value:
        return float(value)
    return value
