"""JSON, YAML, TOML, CSV: keys, shape, outliers and the fields the user named stay, the repetition goes.

The result looks like the format it came from and begins with a marker line that says it is abridged.

Fields that the user named stay at any depth of a document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from aider_gardener.compress.base import Context, omitted, unchanged
from aider_gardener.compress.documents import DETAILS, Document
from aider_gardener.compress.documents.apis import npm_lock, openapi, package
from aider_gardener.compress.documents.deployments import cloudformation, compose, kubernetes
from aider_gardener.compress.documents.notebooks import notebook
from aider_gardener.compress.documents.pipelines import circleci, github, gitlab
from aider_gardener.compress.frame import estimate, touches
from aider_gardener.compress.prose import has_marker
from aider_gardener.compress.structured.outline import outline, write_env, write_json, write_yaml
from aider_gardener.compress.structured.rows import LEVELS, abridge_rows, abridge_table, read_rows
from aider_gardener.compress.structured.shape import describe
from aider_gardener.messages import Compressed, ContentClass, Focus
from aider_gardener.reading.yaml import read_yaml

READERS = (
    npm_lock,
    openapi,
    cloudformation,
    package,
    kubernetes,
    notebook,
    compose,
    github,
    circleci,
    gitlab,
)
"""Readers of documents of a known kind; the first that knows one has it."""

WHOLE_TOKENS = 120
"""Data up to this size stays whole."""

LARGE_TOKENS, HUGE_TOKENS = 2_000, 50_000
LARGE_SHARE, SMALL_SHARE, HUGE_SHARE = 0.22, 0.6, 0.1
"""The share of a text's tokens that its abridged form may have: at LARGE_TOKENS, near none, and from
HUGE_TOKENS on."""

KNOWN_SHARE = 0.42
"""The share of a document of a known kind between SET_TOKENS / 2 and LARGE_TOKENS."""

SET_TOKENS, SET_SHARE = 800, 0.9
"""Up to that size everything that a person set stays, if it can be written in so much of the text."""

FIRST_TRY, NEXT_TRY, TRIES = 1.0, 0.8, 6
"""An outline is made for so much of the room, and for less as long as it turns out too long."""

ASKED_LINES = 5
"""So many lines about the focus are given in full where the others are not."""

PARSED_CHARS = 20_000_000
TABLES = {"csv": ",", "tsv": "\t"}
_COMMENT = re.compile(r"(\"(?:[^\"\\\n]|\\.)*\"?)|//[^\n]*|/\*.*?(?:\*/|\Z)", re.S)
_LAST_COMMA = re.compile(r"(\"(?:[^\"\\\n]|\\.)*\"?)|,(?=\s*[\]}])")

FOUND_LIMIT, VALUE_CHARS, NODE_LIMIT = 12, 160, 200_000
LIST_ITEMS = 1_000
PATH_CHARS = 400
"""A value longer than this is data: it is not searched for a path."""


def compress(text: str, ctx: Context) -> Compressed:
    """The abridged form of a document; short ones stay whole."""
    if (
        has_marker(text)
        or len(text) <= WHOLE_TOKENS
        or (len(text) < WHOLE_TOKENS * 12 and ctx.count(text) <= WHOLE_TOKENS)
    ):
        return unchanged(text, ContentClass.STRUCTURED, ctx.kind)
    tokens = estimate(text, ctx.count)
    limit = round(tokens * share(tokens))
    small = round(tokens * SET_SHARE) if tokens <= SET_TOKENS else limit
    middle = SET_TOKENS // 2 < tokens < LARGE_TOKENS
    most_known = round(tokens * KNOWN_SHARE) if middle else limit
    room = len(text) * (2.5 if tokens <= SET_TOKENS else limit / max(1, tokens))
    best: tuple[str, str] | None = None
    for what, body, known in _attempts(text, ctx, room):
        best = what, body
        limit = most_known if known else small
        if len(body) <= 12 * limit and estimate(body, ctx.count) <= limit:
            break
    if best is None:
        return unchanged(text, ContentClass.STRUCTURED, ctx.kind)
    what, body = best
    shown = f"{omitted(f'{what}, abridged from {text.count(chr(10)) + 1} lines', ctx.entry_id)}\n{body}"
    return Compressed(shown, ContentClass.STRUCTURED, ctx.kind, {"lines": body.count("\n") + 1})


def share(tokens: int) -> float:
    """The share of a text of `tokens` tokens that its abridged form may have."""
    if tokens < LARGE_TOKENS:
        return LARGE_SHARE + (SMALL_SHARE - LARGE_SHARE) * (1 - tokens / LARGE_TOKENS)
    beyond = min(1.0, (tokens - LARGE_TOKENS) / (HUGE_TOKENS - LARGE_TOKENS))
    return LARGE_SHARE + (HUGE_SHARE - LARGE_SHARE) * beyond


def _attempts(text: str, ctx: Context, chars: float) -> Iterator[tuple[str, str, bool]]:
    """(what it is, abridged body, whether its kind is known), from the most detailed to the tersest.

    `chars` is about the room.
    """
    kind = ctx.kind or _kind_of(text)
    if kind in TABLES:
        mark = TABLES[kind] if kind == "tsv" else "," if text.count(",") >= text.count(";") else ";"
        yield kind, abridge_table(text, mark), True
        return
    value = _value(text, kind)
    if not isinstance(value, dict | list) or not value:
        rows = read_rows(text, kind)
        for limits in LEVELS if len(rows) < 20_000 else LEVELS[-3:]:
            yield kind or "text", abridge_rows(rows, limits, ctx.focus), True
        return
    named = named_fields(value, ctx.focus)
    known = known_document(value)
    for detail in range(DETAILS if known else 0):
        assert known is not None
        lines = known.lines(detail)
        asked = [line for line in (known.lines(0) if detail else ()) if touches(line, ctx.focus)]
        yield known.name, "\n".join([*lines, *asked[:ASKED_LINES], *named]), True
    write = {"yaml": write_yaml, "env": write_env}.get(kind, write_json)
    room = chars * FIRST_TRY - sum(map(len, named))
    for _ in range(TRIES):
        body = write(outline(value, int(room), ctx.focus))
        yield f"{kind} {describe(value)}", "\n".join([body, *named]), False
        room *= NEXT_TRY


def known_document(value: Any) -> Document | None:
    """The document as one of a known kind, or None."""
    return next((found for reader in READERS if (found := reader(value)) is not None), None)


def _kind_of(text: str) -> str:
    return "json" if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[") else "yaml"


def _value(text: str, kind: str) -> Any:
    """The parsed value of JSON in any of its dialects or of YAML, or None."""
    if kind == "yaml":
        return read_yaml(text)
    if kind == "env":
        pairs = (line.partition("=") for line in text.splitlines())
        return {key: value for key, mark, value in pairs if mark}
    if len(text) > PARSED_CHARS:
        return None
    if kind == "jsonl" or kind == "ndjson":
        try:
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            return None
    if kind not in ("json", "") or _kind_of(text) != "json":
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
