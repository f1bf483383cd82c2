"""Fields that the user named, at any depth of a document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from aider_gardener.compress.structured.outline import outline, write_json
from aider_gardener.messages import Focus

FOUND_LIMIT, VALUE_CHARS, NODE_LIMIT = 12, 160, 200_000
LIST_ITEMS = 1_000
PATH_CHARS = 400
"""A value longer than this is data: it is not searched for a path."""


def named_fields(value: Any, focus: Focus) -> list[str]:
    """Lines `path: value` for fields whose key is a word of the focus, and values that name one of its
    paths; at most twelve, breadth first."""
    words = frozenset(word.lower() for word in focus.words if len(word) > 2)
    if not words and not focus.paths:
        return []
    found: list[str] = []
    for path, key, item in _fields(value):
        if str(key).lower() in words or _names_path(key, item, focus.paths):
            found.append(f"{path}: {_brief(item)}")
            if len(found) == FOUND_LIMIT:
                break
    return found


def _names_path(key: Any, item: Any, paths: frozenset[str]) -> bool:
    text = item if isinstance(item, str) else key if isinstance(key, str) else ""
    return bool(text) and len(text) <= PATH_CHARS and any(path in text for path in paths)


def _fields(value: Any) -> Iterator[tuple[str, Any, Any]]:
    """(path, key, value) of every field and item, breadth first, up to NODE_LIMIT containers."""
    queue: list[tuple[str, Any]] = [("", value)]
    at = 0
    while at < len(queue) and at < NODE_LIMIT:
        path, node = queue[at]
        at += 1
        if isinstance(node, dict):
            pairs = [(f"{path}.{key}" if path else str(key), key, item) for key, item in node.items()]
        elif isinstance(node, list):
            pairs = [(f"{path}[{index}]", index, item) for index, item in enumerate(node[:LIST_ITEMS])]
        else:
            continue
        yield from pairs
        queue.extend((here, item) for here, _, item in pairs if isinstance(item, dict | list))


def _brief(value: Any) -> str:
    if isinstance(value, dict | list):
        text = " ".join(write_json(outline(value, VALUE_CHARS, Focus())).split())
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= VALUE_CHARS else text[:VALUE_CHARS] + " …"
