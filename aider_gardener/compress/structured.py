"""JSON, YAML, TOML, CSV: keys, shape, outliers and the fields the user named stay, the repetition goes.

The result looks like the format it came from and begins with a marker line that says it is abridged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from aider_gardener.compress.base import Context, omitted, unchanged
from aider_gardener.compress.prose import has_marker
from aider_gardener.compress.structured_csv import abridge_table
from aider_gardener.compress.structured_json import Limits, abridge, describe, named_fields
from aider_gardener.compress.structured_known import known_document
from aider_gardener.compress.structured_lines import abridge_rows, read_rows
from aider_gardener.messages import Compressed, ContentClass

WHOLE_TOKENS = 120
"""Data up to this size stays whole."""

LARGE_CHARS = 8_000
"""From here on (about 2,000 tokens) the result may have LARGE_SHARE of the text."""

LARGE_SHARE, SMALL_SHARE = 0.22, 0.6

LEVELS = (
    Limits(3, 5, 200, 40),
    Limits(2, 4, 120, 24),
    Limits(2, 3, 80, 14),
    Limits(1, 3, 60, 10),
    Limits(1, 2, 48, 8),
    Limits(1, 2, 40, 4),
)
"""How much to show, tried in order until the result is short enough."""

LEVELS_CHARS = 1_000_000
"""Of longer texts only the tersest two are tried."""

TABLES = {"csv": ",", "tsv": "\t"}
_COMMENT = re.compile(r"(\"(?:[^\"\\\n]|\\.)*\")|//[^\n]*|/\*.*?\*/", re.S)
_LAST_COMMA = re.compile(r"(\"(?:[^\"\\\n]|\\.)*\")|,(?=\s*[\]}])")


def compress(text: str, ctx: Context) -> Compressed:
    """The abridged form of a document; short ones stay whole."""
    if (
        has_marker(text)
        or len(text) <= WHOLE_TOKENS
        or (len(text) < WHOLE_TOKENS * 12 and ctx.count(text) <= WHOLE_TOKENS)
    ):
        return unchanged(text, ContentClass.STRUCTURED, ctx.kind)
    limit = int(len(text) * share(len(text)))
    best: tuple[str, str] | None = None
    for what, body in _attempts(text, ctx):
        best = what, body
        if len(body) <= limit:
            break
    if best is None:
        return unchanged(text, ContentClass.STRUCTURED, ctx.kind)
    what, body = best
    shown = f"{omitted(f'{what}, abridged from {text.count(chr(10)) + 1} lines', ctx.entry_id)}\n{body}"
    return Compressed(shown, ContentClass.STRUCTURED, ctx.kind, {"lines": body.count("\n") + 1})


def share(chars: int) -> float:
    """The share of a text of `chars` characters that its abridged form may have."""
    if chars >= LARGE_CHARS:
        return LARGE_SHARE
    return LARGE_SHARE + (SMALL_SHARE - LARGE_SHARE) * (1 - chars / LARGE_CHARS)


def _attempts(text: str, ctx: Context) -> Iterator[tuple[str, str]]:
    """(what it is, abridged body), from the most detailed to the tersest."""
    kind = ctx.kind or _kind_of(text)
    if kind in TABLES:
        yield (
            kind,
            abridge_table(
                text,
                ","
                if kind == "csv" and text.count(",") >= text.count(";")
                else TABLES[kind]
                if kind == "tsv"
                else ";",
            ),
        )
        return
    value = _value(text, kind)
    levels = LEVELS if len(text) <= LEVELS_CHARS else LEVELS[-2:]
    if value is None:
        rows = read_rows(text, kind)
        for limits in levels:
            yield kind or "text", abridge_rows(rows, limits, ctx.focus.words)
        return
    named = named_fields(value, ctx.focus.words)
    known = known_document(value)
    if known:
        yield known[0], "\n".join([*known[1], *named])
    for limits in levels:
        body = abridge(value, limits)
        yield f"{kind} {describe(value)}", "\n".join([body, *named])


def _kind_of(text: str) -> str:
    return "json" if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[") else "yaml"


def _value(text: str, kind: str) -> Any:
    """The parsed value of JSON in any of its dialects, or None."""
    if kind == "jsonl" or kind == "ndjson":
        try:
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            return None
    if kind not in ("json", ""):
        return None
    if _kind_of(text) != "json":
        return None
    for read in (str, _without_comments):
        try:
            value = json.loads(read(text.lstrip("\ufeff")))
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict | list) else None
    return None


def _without_comments(text: str) -> str:
    """JSON with comments and last commas as strict JSON."""
    bare = _COMMENT.sub(lambda match: match[1] or "", text)
    return _LAST_COMMA.sub(lambda match: match[1] or "", bare)
