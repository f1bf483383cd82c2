"""YAML, TOML and whatever does not parse, in short: by lines, their indentation and their sections."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aider_gardener.compress.structured_json import Limits

LINE_CHARS = 240
TABLE = re.compile(r"\s*\[\[([^\]]+)\]\]")
SECTION = re.compile(r"\s*\[\[?[^\]=]+\]\]?\s*(?:#.*)?$")
LOCK_NAME, LOCK_VERSION = re.compile(r"name = \"([^\"]+)\""), re.compile(r"version = \"([^\"]+)\"")
ITEM = re.compile(r"\s*- ")
FOLDED = re.compile(r"… \d+ ")


@dataclass(frozen=True)
class Row:
    """A line with its depth: the number of less indented lines it stands under."""

    text: str
    depth: int
    item: bool


def abridge_lines(text: str, kind: str, limits: Limits, words: Iterable[str]) -> str:
    """The text with repeated sections counted and deep or repeated lines folded. Linear in its size."""
    lines = text.splitlines()
    wanted = tuple(word for word in words if len(word) > 3)
    if kind == "toml":
        lines = _toml(lines, limits)
    if len(lines) <= 1 or max(map(len, lines)) * 2 > len(text):
        return "\n".join(_cut(line, 4 * limits.chars) for line in lines)
    rows = _rows(lines)
    return "\n".join(_fold(rows, limits, wanted))


def _cut(line: str, size: int) -> str:
    if len(line) <= size:
        return line
    return f"{line[: size * 2 // 3]} … {len(line) - size} characters … {line[-size // 3 :]}"


def _rows(lines: Sequence[str]) -> list[Row]:
    rows: list[Row] = []
    stack: list[int] = []
    for line in lines:
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        item = bool(ITEM.match(line))
        place = indent * 2 + (1 if item else 0)
        while stack and stack[-1] >= place:
            stack.pop()
        rows.append(Row(line.rstrip(), len(stack), item))
        stack.append(place)
    return rows


def _fold(rows: Sequence[Row], limits: Limits, wanted: tuple[str, ...]) -> list[str]:
    """Below the depth limit nothing, of items and of keys in a group the first ones."""
    shown: list[str] = []
    seen: dict[int, int] = {}
    hidden, hidden_depth, hidden_indent, items = 0, -1, "", 0

    def flush() -> None:
        nonlocal hidden, items
        if hidden:
            what = f"{items} more items" if items > 1 else f"{hidden} more lines"
            shown.append(f"{hidden_indent}# … {what} …")
        hidden = items = 0

    for row in rows:
        for deeper in [depth for depth in seen if depth > row.depth]:
            del seen[deeper]
        if hidden and hidden_depth >= 0 and row.depth < hidden_depth:
            flush()
            hidden_depth = -1
        seen[row.depth] = seen.get(row.depth, 0) + 1
        allowed = limits.items if row.item else limits.keys * (3 if row.depth == 0 else 1)
        inside = hidden_depth >= 0 and row.depth > hidden_depth
        over = row.depth >= limits.depth or seen[row.depth] > allowed
        if (inside or over) and not (wanted and any(word in row.text[:LINE_CHARS].lower() for word in wanted)):
            if not hidden:
                hidden_depth, hidden_indent = row.depth, row.text[: len(row.text) - len(row.text.lstrip())]
            hidden += 1
            items += row.item and row.depth == hidden_depth
            continue
        flush()
        if not inside:
            hidden_depth = -1
        shown.append(_cut(row.text, limits.chars + 40))
    flush()
    return shown


def _toml(lines: list[str], limits: Limits) -> list[str]:
    """Repeated tables: the first whole, of the others name and version or the count."""
    shown: list[str] = []
    name, block, seen = "", [], {}  # type: str, list[str], dict[str, list[str]]
    for line in [*lines, "[end]"]:
        if not SECTION.match(line):
            block.append(line if block or name else line)
            continue
        if name and name in seen:
            seen[name].append(_brief("\n".join(block)))
        else:
            shown.extend(_section(block, limits))
            if name:
                seen[name] = []
        match = TABLE.match(line)
        name, block = (match[1].strip(), [line]) if match else ("", [line] if line != "[end]" else [])
    for table, others in seen.items():
        if others:
            listed = [other for other in others if other][: 30 * limits.items]
            shown.append(f"# … {len(others)} more [[{table}]]: {', '.join(listed)}"[: 200 + 900 * limits.items] + " …")
    return shown


def _brief(block: str) -> str:
    name, version = LOCK_NAME.search(block), LOCK_VERSION.search(block)
    return f"{name[1]}{' ' + version[1] if version else ''}" if name else ""


def _section(block: list[str], limits: Limits) -> list[str]:
    """A table's head and first keys."""
    solid = [line for line in block if line.strip()]
    allowed = limits.keys + 1
    if len(solid) <= allowed + 1:
        return solid
    return [*solid[:allowed], f"# … {len(solid) - allowed} more lines …"]
