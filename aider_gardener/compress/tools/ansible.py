"""Ansible's runs: failed and unreachable hosts with what the module said, changed tasks, and the recap."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import plural
from aider_gardener.compress.pieces import MUST, Reading
from aider_gardener.compress.tools.packing import packed
from aider_gardener.reading.alarms import alarming

HEAD = re.compile(r"^(?P<what>PLAY|TASK|RUNNING HANDLER) (?:\[(?P<name>.*)\] )?\*{3,}")
STATUS = re.compile(
    r"^(?P<status>ok|changed|skipping|included|rescued): (?:\[(?P<host>[^\]]+)\]|.* for )(?P<rest>.*)$"
)
TROUBLE = re.compile(
    r"^(?:fatal|failed|unreachable): \[(?P<host>[^\]]+)\](?P<item> \(item=.*?\))?:? ?"
    r"(?P<how>[A-Z]+!)? ?=> ?(?P<said>.*)$"
)
RECAP = re.compile(r"^(?P<host>\S+)\s+: (?P<counts>ok=\d+ .*)$")
TROUBLED = re.compile(r"\b(?:unreachable|failed|rescued|ignored)=[1-9]")
ABOUT = re.compile(
    r"^(?:\.\.\.ignoring|NO MORE HOSTS LEFT|NO HOSTS|ERROR! |\[WARNING\]|\[ERROR\]|FAILED - RETRYING|"
    r"to retry, use|"
    r"ASYNC FAILED|An exception occurred|The error appears|The offending line|"
    r"skipping: no hosts matched|Origin: )"
)
WORTH = (
    "item",
    "cmd",
    "msg",
    "rc",
    "stderr",
    "stdout",
    "module_stderr",
    "module_stdout",
    "exception",
    "reason",
    "results",
)
"""What is told of a module's answer; how it was called, and the lines once more, are not."""

SAID_CHARS = 380
MOST_ROWS = 24
FEW_CHANGED, FEW_HOSTS = 20, 40
"""So many changed tasks stay; up to so many hosts the whole recap does, beyond them those with trouble."""


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Plays, tasks with trouble or changes, what failed modules said, warnings, and the recap by host."""
    reading = Reading()
    tasks = failures = 0
    head = -1
    named: set[int] = set()
    changed: dict[int, list[str]] = {}
    recap: list[int] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        title = HEAD.match(line)
        trouble = TROUBLE.match(line)
        status = STATUS.match(line)
        end = at + 1
        if title:
            head, tasks = at, tasks + (title["what"] != "PLAY")
            if title["what"] == "PLAY":
                reading.add(at, line.rstrip("* "), MUST if "RECAP" in line else 6.0)
        elif trouble:
            failures += 1
            end = _end(lines, at + 1)
            if head >= 0 and head not in named:
                named.add(head)
                reading.add(head, lines[head].rstrip("* "))
            reading.add(at, list(_told(lines[at:end], trouble)))
        elif RECAP.match(line):
            recap.append(at)
        elif status:
            if status["status"] == "changed" and head >= 0:
                changed.setdefault(head, []).append(status["host"] or "")
        elif ABOUT.match(line):
            reading.add(at, line)
        elif alarming(line):
            reading.add(at, line, MUST if failures or head < 0 else 6.0)
        at = end
    if not (tasks or recap or failures or reading.pieces):
        return None
    for row, hosts in changed.items():
        told = packed(dict.fromkeys(f"[{host}]" for host in hosts), lead="changed: ")
        reading.add(
            row,
            [*([] if row in named else [lines[row].rstrip("* ")]), *told],
            MUST if len(changed) <= FEW_CHANGED else 5.0,
        )
    clear = [row for row in recap if not TROUBLED.search(lines[row])]
    for row in recap:
        if len(recap) <= FEW_HOSTS or row not in clear:
            reading.add(row, re.sub(r" {2,}", " ", lines[row]))
    if len(recap) > FEW_HOSTS and clear:
        names = packed((lines[row].split()[0] for row in clear), lead="without trouble: ")
        reading.add(recap[0] - 0.5, names)
    reading.summary = ", ".join(
        part for part in (plural(tasks, "task"), plural(len(recap), "host") if recap else "") if part
    )
    reading.kept = {"failures": failures}
    return reading


def _end(lines: Sequence[str], at: int) -> int:
    """The row behind what a module said over several lines."""
    end = at
    while (
        end < len(lines)
        and lines[end].strip()
        and not (
            STATUS.match(lines[end])
            or TROUBLE.match(lines[end])
            or HEAD.match(lines[end])
            or ABOUT.match(lines[end])
        )
    ):
        end += 1
    return end


def _told(rows: Sequence[str], trouble: re.Match[str]) -> Iterator[str]:
    """A failure as its host and what the module said of it."""
    said = "\n".join([trouble["said"], *rows[1:]]).strip()
    start = rows[0][: trouble.start("said")]
    try:
        answer = json.loads(said)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        yield rows[0]
        kept = [
            row for row in rows[1:] if not re.match(r'^\s*"?(?:invocation|changed|start|end|delta)"?:', row)
        ]
        loud = [row for row in kept[MOST_ROWS // 2 : -MOST_ROWS // 2] if alarming(row)]
        yield from (
            kept
            if len(kept) <= MOST_ROWS
            else [*kept[: MOST_ROWS // 2], *loud[:MOST_ROWS], *kept[-MOST_ROWS // 2 :]]
        )
        return
    parts = [
        f'"{key}": {json.dumps(answer[key], ensure_ascii=False)}'
        for key in WORTH
        if answer.get(key) not in (None, "", [])
    ]
    if not parts:
        parts = [
            f'"{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in list(answer.items())[:8]
        ]
    first = start + "{" + parts[0]
    if sum(map(len, parts)) + len(start) < SAID_CHARS:
        yield start + "{" + ", ".join(parts) + "}"
        return
    yield from _wrapped(first)
    for part in parts[1:]:
        yield from _wrapped("  " + part)


def _wrapped(text: str) -> Iterator[str]:
    """A long answer by the lines it holds, those at both ends and those that tell of trouble."""
    if len(text) <= SAID_CHARS:
        yield text
        return
    pieces = [piece for piece in text.split("\\n") if piece.strip()]
    loud = [piece for piece in pieces[4:-10] if alarming(piece)][:MOST_ROWS]
    yield from pieces if len(pieces) <= 14 else [*pieces[:4], *loud, *pieces[-10:]]
