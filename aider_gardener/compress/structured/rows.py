"""YAML, TOML and whatever does not parse, in short: by lines, their indentation and their sections."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aider_gardener.messages import Focus

LINE_CHARS = 240
TABLE = re.compile(r"\s*\[\[([^\]]+)\]\]")
SECTION = re.compile(r"\s*\[\[?[^\]=]+\]\]?\s*(?:#.*)?$")
LOCK_NAME, LOCK_VERSION = re.compile(r"name = \"([^\"]+)\""), re.compile(r"version = \"([^\"]+)\"")
ROW_LIMIT = 50_000
"""Lines behind so many are counted, not looked at."""

TABLES_CHARS = 4_000
"""The names of repeated tables are listed in so many characters."""


@dataclass(frozen=True)
class Limits:
    """How much of a document to show: the first `items` of a list, `depth` levels, `chars` of a line,
    `keys` of a group below the first level."""

    items: int
    depth: int
    chars: int
    keys: int


LEVELS = (
    Limits(3, 5, 200, 40),
    Limits(2, 4, 120, 24),
    Limits(2, 3, 80, 14),
    Limits(1, 3, 60, 10),
    Limits(1, 2, 48, 8),
    Limits(1, 2, 40, 4),
    Limits(1, 1, 40, 3),
)
"""How much to show, tried in order until the result is short enough."""


@dataclass(frozen=True)
class Row:
    """A line with its depth: the number of less indented lines it stands under."""

    text: str
    depth: int
    item: bool


def read_rows(text: str, kind: str) -> list[Row]:
    """The lines that are not blank with their depth; repeated TOML tables become one counting line."""
    lines = text.splitlines()
    if kind == "toml":
        lines = _toml(lines)
    rows: list[Row] = []
    stack: list[int] = []
    rest = len(lines) - ROW_LIMIT
    for line in lines[:ROW_LIMIT]:
        bare = line.strip()
        if not bare:
            continue
        indent = len(line) - len(line.lstrip())
        item = bare[:2] == "- "
        place = indent * 2 + item + (1 if kind == "toml" and not SECTION.match(line) else 0)
        while stack and stack[-1] >= place:
            stack.pop()
        rows.append(Row(line.rstrip(), len(stack), item))
        stack.append(place)
    if rest > 0:
        rows.append(Row(f"# … {rest} more lines", 0, False))
    return rows


def abridge_rows(rows: Sequence[Row], limits: Limits, focus: Focus) -> str:
    """The rows with what is deep or repeated counted instead. Linear in their number."""
    wanted = (*(word for word in focus.words if len(word) > 3), *(path.lower() for path in focus.paths))
    if len(rows) <= 1 or max(len(row.text) for row in rows) * 2 > sum(len(row.text) for row in rows):
        return "\n".join(_cut(row.text, 4 * limits.chars) for row in rows)
    return "\n".join(_fold(rows, limits, wanted))


def _cut(line: str, size: int) -> str:
    if len(line) <= size:
        return line
    return f"{line[: size * 2 // 3]} … {len(line) - size} characters … {line[-size // 3 :]}"


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
        if (inside or over) and not (
            wanted and any(word in row.text[:LINE_CHARS].lower() for word in wanted)
        ):
            if not hidden:
                hidden_depth, hidden_indent = row.depth, row.text[: len(row.text) - len(row.text.lstrip())]
            hidden += 1
            items += row.item and row.depth == hidden_depth
            continue
        flush()
        if not inside:
            hidden_depth = -1
        shown.append(row.text if row.text.startswith("# … ") else _cut(row.text, limits.chars + 40))
    flush()
    return shown


def _toml(lines: list[str]) -> list[str]:
    """Of repeated tables the first whole, of the others name and version or the count."""
    shown: list[str] = []
    seen: dict[str, list[str]] = {}
    name = ""
    block: list[str] = []
    for line in [*lines, "[end]"]:
        if not SECTION.match(line):
            block.append(line)
            continue
        if name and name in seen:
            seen[name].append(_brief("\n".join(block)))
        else:
            shown.extend(block)
            if name:
                seen[name] = []
        match = TABLE.match(line)
        name, block = (match[1].strip(), [line]) if match else ("", [line])
    for table, others in seen.items():
        if others:
            listed = ", ".join(dict.fromkeys(other for other in others if other))
            shown.append(
                f"# … {len(others)} more [[{table}]]{': ' + listed if listed else ''}"[:TABLES_CHARS]
            )
    return shown


def _brief(block: str) -> str:
    name, version = LOCK_NAME.search(block), LOCK_VERSION.search(block)
    return f"{name[1]}{' ' + version[1] if version else ''}" if name else ""
