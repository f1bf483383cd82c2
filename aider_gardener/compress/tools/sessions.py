"""Sessions with a database at a prompt or from a script: PostgreSQL, MySQL, MariaDB, SQLite.

Errors with what belongs to them, transactions and what changed nothing stay; results go as tables, described
tables as their columns without those that say nothing, and of equal answers the first with their number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import plural
from aider_gardener.compress.pieces import MUST, Reading
from aider_gardener.compress.tools import plans
from aider_gardener.compress.tools.tables import Table, TableRows, close_up, table_at, tell

ERROR = re.compile(
    r"^(?:psql:\S*?:?\d*: |mysql: \[?|mysqldump: )?(?:ERROR|FATAL|PANIC|ERREUR|FEHLER)\b|^ERROR \d+ \(|"
    r"^(?:Error|Parse error|Runtime error|SQL error)\b.*[:(]|^Warning \(|^(?:psql: )?error: |"
    r"^(?:\w+ )?(?:WARNING|Warning|WARNUNG)\b"
)
BELONGS = re.compile(
    r"^(?:psql:\S*?:?\d*: )?(?:DETAIL|HINT|CONTEXT|QUERY|STATEMENT|CONSTRAINT|TABLE|SCHEMA|LOCATION|LINE \d+|"
    r"NOTICE|TIPP|ZEILE \d+|LIGNE \d+|DÉTAIL|ASTUCE)\b"
)
CARET = re.compile(r"^\s*\^(?:--- .*)?$")
ANSWER = re.compile(
    r"^(?:(?:INSERT \d+|UPDATE|DELETE|SELECT|MERGE|COPY|MOVE|FETCH) \d+|"
    r"(?:CREATE|DROP|ALTER|GRANT|REVOKE|SET|TRUNCATE|COMMENT|ANALYZE|VACUUM|REINDEX)(?: [A-Z]+){0,3}|"
    r"Query OK, .*|Rows matched: .*|Records: \d+.*|Database changed|Bye|Pager usage is off\.)$"
)
CHANGES = re.compile(
    r"^(?:BEGIN|START TRANSACTION|COMMIT|ROLLBACK|SAVEPOINT|ABORT|Empty set|\(0 rows\))", re.IGNORECASE
)
IDLE = re.compile(
    r"^Access method: |^(?:Type \"help\"|psql \(|SSL connection|Copyright|Oracle is|affiliates|owners|"
    r"Your MySQL connection|Your MariaDB|Commands end with|Server version|Welcome to the|Type 'help;'|"
    r"SQLite version|Enter \"\.help\"|Reading table information|You can turn off)"
)
PROMPT = re.compile(r"^(?:(?:mysql|sqlite|MariaDB \[[^\]]*\])>|[\w$-]+[=\-(*^!'\"][#>*!$]+) ?")
IDLE_COLUMNS = frozenset(
    {"Collation", "Storage", "Compression", "Stats target", "Description", "Privileges", "Comment"}
)
STATEMENTS = 60
ALIKE = 2
"""Of statements that differ in values only so many stay for themselves."""

CHANGING = re.compile(r"'[^']*'|\d+(?:\.\d+)?")
TOOK = re.compile(r"^Time: (\d+(?:\.\d+)?) ms")
SLOW_MS = 1_000.0


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Statements, errors and results of a session."""
    lines = TableRows(lines)
    reading = Reading(gaps=True, room=1.6)
    answers: Counter[str] = Counter()
    last_of: dict[str, int] = {}
    counts: Counter[str] = Counter()
    shapes: Counter[str] = Counter()
    solid = [at for at, line in enumerate(lines) if line.strip()]
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
            continue
        found = None if _is_text(line) else table_at(lines, at)
        if found:
            at = found[1]
            counts["results"] += 1
            counts["rows"] += 0 if _is_described(found[0]) else len(found[0].lines)
            _tell_result(found[0], reading, ctx)
            continue
        counts["errors"] += bool(ERROR.match(line))
        last = at in solid[-3:]
        took = TOOK.match(line)
        if took:
            reading.add(at, line, MUST if last or float(took[1]) >= SLOW_MS else 0.3)
        elif ANSWER.match(line):
            answers[line] += 1
            last_of[line] = at
            reading.add(at, line, MUST if answers[line] == 1 or last else 0.5)
        else:
            shape = CHANGING.sub("0", line[:300])
            shapes[shape] += 1
            _tell_line(lines, at, counts, reading, last=last, alike=shapes[shape])
        at += 1
    for answer, number in answers.items():
        if number > 2:
            reading.add(last_of[answer] + 0.5, f"… `{answer}` {number} times in all")
    close_up(reading, lines)
    told = [
        plural(counts[name], word)
        for name, word in (("results", "result"), ("errors", "error"))
        if counts[name]
    ]
    if counts["rows"]:
        told.append(plural(counts["rows"], "row"))
    reading.summary = ", ".join(told) or plural(len(solid), "line")
    reading.kept = {name: number for name, number in counts.items() if number and name != "statements"}
    return reading


def _is_text(line: str) -> bool:
    return bool(
        ERROR.match(line)
        or BELONGS.match(line)
        or ANSWER.match(line)
        or CHANGES.match(line)
        or PROMPT.match(line)
    )


def _tell_line(
    lines: Sequence[str], at: int, counts: Counter[str], reading: Reading, *, last: bool, alike: int
) -> None:
    line = lines[at]
    following = next((one for one in lines[at + 1 : at + 3] if one.strip()), "")
    if IDLE.match(line):
        weight = 0.4
    elif CARET.match(line):
        weight = 3.5
    elif ERROR.match(line) or BELONGS.match(line) or CHANGES.match(line) or ERROR.match(following) or last:
        weight = MUST if counts["errors"] <= STATEMENTS or last else 6.0
    else:
        counts["statements"] += 1
        weight = MUST if counts["statements"] <= STATEMENTS and alike <= ALIKE else 3.0 - min(2.0, alike / 50)
    shown = line if CARET.match(line) or line.startswith('    "') else line.strip()
    reading.add(at, shown, weight)


def _tell_result(table: Table, reading: Reading, ctx: Context) -> None:
    if table.names and table.names[0] == "QUERY PLAN":
        for at, line in table.head:
            reading.add(at, line.strip())
        plans.tell(list(zip(table.at, table.lines, strict=True)), reading)
        for at, line in table.tail:
            reading.add(at, line)
        return
    if _is_described(table):
        _tell_described(table, reading)
        return
    tell(table, reading, ctx.focus)


def _is_described(table: Table) -> bool:
    return {"Column", "Type"} <= set(table.names) or table.names[:2] == ["Field", "Type"]


def _tell_described(table: Table, reading: Reading) -> None:
    """The columns of a described table: each with what is said of it."""
    keep = [
        at
        for at, name in enumerate(table.names)
        if name not in IDLE_COLUMNS and any(at < len(row) and row[at] for row in table.cells)
    ]
    told = [
        " ".join(row[column] for column in keep if column < len(row) and row[column]) for row in table.cells
    ]
    reading.add(table.head[0][0] if table.head else table.at[0], [f"  {one}" for one in told])
    for at, line in table.tail:
        reading.add(at, line)
