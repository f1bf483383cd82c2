"""Dumps of databases as SQL: of each table its columns, keys and the number of its rows with the first one.

Rows are counted where they stand, as lines of COPY or as values of INSERT.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from aider_gardener.compress.base import Context, unchanged
from aider_gardener.compress.frame import allowance, estimate, framed, plural, untouched
from aider_gardener.compress.pieces import LARGE_SHARE, MUST, SMALL_SHARE, Reading, chosen
from aider_gardener.messages import Compressed, ContentClass
from aider_gardener.reading.output import clip

DUMP = re.compile(
    r"^-- (?:PostgreSQL database dump|MySQL dump|MariaDB dump|Dumped from)|^/\*M?!\d+ SET |"
    r"^PRAGMA foreign_keys=OFF;\n"
    r"BEGIN TRANSACTION;|^COPY \S+ \(.*\) FROM stdin;",
    re.MULTILINE,
)
HEAD_CHARS = 20_000
CREATE = re.compile(r"^CREATE (?:UNLOGGED |TEMPORARY )?TABLE (?:IF NOT EXISTS )?([^\s(]+) ?\(", re.IGNORECASE)
COPY = re.compile(r"^COPY (\S+) \((.*)\) FROM stdin;")
INSERT = re.compile(
    r"^(?:INSERT|REPLACE) (?:IGNORE )?INTO ([^\s(]+) ?(?:\([^)]*\) ?)?VALUES ?", re.IGNORECASE
)
VALUES = re.compile(r"'(?:[^'\\]|\\.|'')*'|[()]")
ALTER = re.compile(r"^ALTER TABLE (?:ONLY )?(\S+)$|^ALTER TABLE (?:ONLY )?(\S+) (ADD .*)", re.IGNORECASE)
OTHER = re.compile(
    r"^CREATE (?:OR REPLACE )?(?:UNIQUE )?(INDEX|VIEW|FUNCTION|TRIGGER|TYPE|SEQUENCE|EXTENSION|"
    r"MATERIALIZED VIEW|PROCEDURE|SCHEMA|POLICY)\b.*",
    re.IGNORECASE,
)
ABOUT = re.compile(
    r"^-- (?:Dumped (?:from|by)|MySQL dump|MariaDB dump|Host:|Server version|Dump completed)", re.IGNORECASE
)
STRAY = re.compile(r"error|warning|denied|failed|couldn't", re.IGNORECASE)
ROW_CHARS, COLUMN_CHARS = 240, 140
MOST_COLUMNS = 40


@dataclass
class _Table:
    at: int
    name: str
    columns: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    rows: int = 0
    first: str = ""


def is_dump(text: str) -> bool:
    """True for SQL that a program wrote to restore a database from."""
    return bool(DUMP.search(text[:HEAD_CHARS]))


def compress(text: str, ctx: Context, cls: ContentClass = ContentClass.CODE) -> Compressed:
    """A dump in short; what is none stays whole."""
    whole = untouched(text, ctx, cls, ctx.kind)
    if whole:
        return whole
    reading = _read(text)
    if not reading.pieces:
        return unchanged(text, cls, ctx.kind)
    budget = 2 * allowance(estimate(text, ctx.count), LARGE_SHARE, SMALL_SHARE)
    body = chosen(reading, budget, ctx)
    return framed(text, f"SQL dump: {reading.summary}", body, ctx, cls, ctx.kind, reading.kept)


def _read(text: str) -> Reading:
    reading = Reading()
    tables: dict[str, _Table] = {}
    others: Counter[str] = Counter()
    inside: _Table | None = None
    copying: _Table | None = None
    inserting: _Table | None = None
    altering = ""
    for at, line in enumerate(text.split("\n")):
        if copying is not None:
            if line.rstrip("\r") == "\\.":
                copying = None
            else:
                copying.rows += 1
                copying.first = copying.first or clip(line.rstrip("\r"), ROW_CHARS)
            continue
        line = line.rstrip()
        if inside is not None:
            inside = _column(inside, line)
            continue
        if not line:
            continue
        if inserting is not None:
            inserting.rows += _values(line)
            inserting.first = inserting.first or clip(line.strip(), ROW_CHARS)
            inserting = None if line.endswith(";") else inserting
            continue
        insert = INSERT.match(line[:2_000])
        if insert:
            table = tables.setdefault(_bare(insert[1]), _Table(at, _bare(insert[1])))
            table.rows += _values(line[insert.end() :])
            table.first = table.first or clip(_first_value(line[insert.end() :]), ROW_CHARS)
            inserting = None if line.endswith(";") else table
            continue
        line = clip(line, 2_000)
        created, copied, altered = CREATE.match(line), COPY.match(line), ALTER.match(line)
        if created:
            name = _bare(created[1])
            inside = tables[name] = tables.get(name) or _Table(at, name)
            if line.endswith(");"):
                inside.columns = [clip(line[created.end() : -2], 600)]
                inside = None
        elif copied:
            copying = tables.setdefault(_bare(copied[1]), _Table(at, _bare(copied[1])))
            copying.columns = copying.columns or [copied[2]]
        elif altered:
            altering = _bare(altered[1] or altered[2])
            if altered[3] and altering in tables:
                tables[altering].keys.append(clip(altered[3].rstrip(";"), COLUMN_CHARS))
        elif line.lstrip().startswith("ADD CONSTRAINT") and altering in tables:
            tables[altering].keys.append(
                clip(line.strip().removeprefix("ADD CONSTRAINT ").rstrip(";"), COLUMN_CHARS)
            )
        elif ABOUT.match(line):
            reading.add(at, line)
        elif other := OTHER.match(line):
            others[other[1].lower()] += 1
            reading.add(at, clip(line, 200), 5.0)
        elif not line.startswith(
            ("--", "/*", "SET ", "ALTER ", "SELECT ", "LOCK ", "UNLOCK ", "DROP ")
        ) and STRAY.search(line[:400]):
            reading.add(at, clip(line, 300), 4.0)
    for number, table in enumerate(tables.values()):
        _tell(table, reading, MUST if number < 60 else 4.0)
    total = sum(table.rows for table in tables.values())
    parts = [
        plural(len(tables), "table"),
        plural(total, "row"),
        *(plural(n, what) for what, n in others.items()),
    ]
    reading.summary = ", ".join(parts).replace("indexs", "indexes")
    reading.kept = {"tables": len(tables)}
    return reading


def _column(table: _Table, line: str) -> _Table | None:
    """Read a line of a table's definition; None behind the last."""
    bare = line.strip()
    if bare.startswith(")"):
        return None
    bare = clip(bare.rstrip(","), COLUMN_CHARS)
    keyed = re.match(
        r"(?:PRIMARY |UNIQUE |FULLTEXT |FOREIGN )?KEY\b|CONSTRAINT\b|UNIQUE\b|CHECK\b|FOREIGN\b", bare, re.I
    )
    (table.keys if keyed else table.columns).append(bare) if bare else None
    return table


def _tell(table: _Table, reading: Reading, weight: float) -> None:
    columns = ", ".join(table.columns[:MOST_COLUMNS])
    more = f", … {len(table.columns) - MOST_COLUMNS} more" if len(table.columns) > MOST_COLUMNS else ""
    rows = f"{plural(table.rows, 'row')}; " if table.rows else ""
    reading.add(table.at, f"table {table.name}: {rows}{columns}{more}", weight)
    if table.keys:
        reading.add(table.at + 0.1, f"  keys: {'; '.join(table.keys[:20])}", weight)
    if table.first:
        reading.add(table.at + 0.2, f"  first row: {table.first}", weight)


def _bare(name: str) -> str:
    return name.replace('"', "").replace("`", "").rstrip(";(")


def _values(text: str) -> int:
    """How many rows an INSERT has: brackets that open outside of strings and of other brackets."""
    rows = depth = 0
    for found in VALUES.finditer(text):
        if found[0] == "(":
            rows += depth == 0
            depth += 1
        elif found[0] == ")":
            depth = max(0, depth - 1)
    return rows


def _first_value(text: str) -> str:
    depth = 0
    for found in VALUES.finditer(text[:20_000]):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if depth == 0:
            return text[: found.end()]
    return text[:ROW_CHARS]
