"""A shortened value written as YAML: a part that fits on a line in flow style, else in block style."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from aider_gardener.compress.structured.outline import Raw

LINE_CHARS = 100
_PLAIN = re.compile(r"[^\s\"'#&*!|>%@`{}\[\],?:-][^\n]*|-?\d[\d.:_-]*|/[^\n]*")
_QUOTE = re.compile(r": |:$| #|\s$|^(?:true|false|null|yes|no|~|on|off)$", re.IGNORECASE)


def write_yaml(value: Any, indent: int = 0) -> str:
    """A shortened value as YAML: a part that fits on a line in flow style, else in block style."""
    return "\n".join(_block(value, "  " * indent))


def write_env(value: Any) -> str:
    """A shortened object as `KEY=value` lines."""
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
    if not isinstance(item, dict | list) or not item or len(head) + len(one_line) + 2 <= LINE_CHARS:
        yield f"{head}: {one_line}"
        return
    yield f"{head}:"
    yield from _block(item, pad + ("  " if isinstance(item, dict) else ""))


def _item(item: Any, pad: str) -> Iterator[str]:
    one_line = flow(item)
    if not isinstance(item, dict | list) or not item or len(pad) + len(one_line) + 2 <= LINE_CHARS:
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
        return value if plain else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, default=str)


def _pair(key: Any, item: Any) -> str:
    return f"{key} {item}" if _note(key) else f"{key_text(key)}: {flow(item)}"


def key_text(key: Any) -> str:
    """A key as it is written."""
    text = str(key)
    return (
        text if text and not re.search(r": |[\s\"'#{}\[\],]", text) else json.dumps(text, ensure_ascii=False)
    )
